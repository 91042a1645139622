"""Bodies of the routes of reports."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from app.core.values.dates import time_zones
from app.http.routes import Body, Text
from app.modules.reports.model import MAX_PARTS, MAX_ROWS, ReportFormat
from app.modules.reports.words import ReportLanguage

Id = Annotated[Text, Field(min_length=1, max_length=100)]


class AnswerPart(Body):
    """An answer of the session with its question."""

    kind: Literal["answer"] = "answer"
    """Kind of the part."""
    message_id: Id
    """Id of the answer."""
    heading: Annotated[Text, Field(max_length=300)] | None = None
    """Heading in place of the question."""


class PinPart(Body):
    """A pin of the board."""

    kind: Literal["pin"] = "pin"
    """Kind of the part."""
    pin_id: Id
    """Id of the pin."""
    heading: Annotated[Text, Field(max_length=300)] | None = None
    """Heading in place of the pin's title."""


class TextPart(Body):
    """Own text between the answers."""

    kind: Literal["text"] = "text"
    """Kind of the part."""
    markdown: Annotated[Text, Field(min_length=1, max_length=20_000)]
    """Markdown. HTML and images in it stay text."""


ReportPart = Annotated[AnswerPart | PinPart | TextPart, Field(discriminator="kind")]


class NewReport(Body):
    """What a report holds, in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "session_id": "01970000-0000-7000-8000-000000000000",
                    "title": "Sales in May",
                    "format": "html",
                    "parts": [
                        {"kind": "text", "markdown": "## Summary\n\nRevenue grew."},
                        {"kind": "answer", "message_id": "01970000-0000-7000-8000-000000000001"},
                    ],
                }
            ]
        }
    )

    session_id: Id | None = None
    """Session of the answers. Give it or `board_id`."""
    board_id: Id | None = None
    """Board of the pins."""
    title: Annotated[Text, Field(min_length=1, max_length=300)] | None = None
    """Title. Default: that of the session or board."""
    format: ReportFormat = "html"
    """`html`: one file that opens from disk and prints as PDF; `markdown`; `ipynb`: a Jupyter notebook."""
    parts: Annotated[list[ReportPart], Field(min_length=1, max_length=MAX_PARTS)] | None = None
    """Parts in order. Default: the latest answers of the session, oldest first, or all pins of the board."""
    rows: Annotated[int, Field(ge=0, le=MAX_ROWS)] = 200
    """Most rows of a table. The report says how many there are."""
    language: ReportLanguage = "en"
    """Language of the report's own words. Answers stay in that of their question."""
    time_zone: Annotated[Text, Field(max_length=60)] = "UTC"
    """Time zone of its times, by its IANA name."""

    @field_validator("time_zone")
    @classmethod
    def _known(cls, time_zone: str) -> str:
        if time_zone not in time_zones():
            raise ValueError("There is no such time zone. Name one of IANA, like Europe/Berlin.")
        return time_zone

    @model_validator(mode="after")
    def _about_one_thing(self) -> Self:
        if (self.session_id is None) == (self.board_id is None):
            raise ValueError("give either session_id or board_id")
        wrong = "pin" if self.board_id is None else "answer"
        if any(part.kind == wrong for part in self.parts or ()):
            raise ValueError(f"a part of kind {wrong} needs {'board_id' if wrong == 'pin' else 'session_id'}")
        return self
