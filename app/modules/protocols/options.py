"""What clients send beside a question, in every protocol: the object `kai`, and what KAI does not read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from app.http.routes import Body
from app.modules.records.model import ALL_SOURCES, Mode, Run, Session, ToolSource
from app.modules.rules.schemas import RuleName
from app.modules.session.schemas import ToolSelection

SESSION_HEADER = "X-Kai-Session"
IGNORED_HEADER = "X-Kai-Ignored"
_MOST_IGNORED = 20
_MAX_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


class QuestionOptions(Body):
    """What a client may choose for one question."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"mode": "agent"}]})

    mode: Mode | None = None
    """Mode of the question. Left out: that of the assistant, or else of the session."""
    rules: Annotated[list[RuleName], Field(max_length=20)] = Field(default_factory=list)
    """Names of rules that apply to the question, also if they are manual."""
    tools: ToolSelection | None = None
    """Where the tools of an investigation may come from. Left out: from everywhere."""

    @property
    def tool_sources(self) -> Sequence[ToolSource]:
        return ALL_SOURCES if self.tools is None else self.tools.sources()


class WithOptions(Body):
    """An object of a client's own fields, of which KAI reads `kai` alone."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    kai: QuestionOptions | None = None
    """What the client chooses for this question."""


def own_object(given: object) -> object:
    """Clients send null, or something of another form, for what they leave out."""
    return given if isinstance(given, dict | WithOptions) else {}


def options_in(mode: Mode | None, chosen: QuestionOptions | None) -> QuestionOptions:
    """Returns what is chosen for one question: in this mode, if none is chosen."""
    options = chosen or QuestionOptions()
    return options.model_copy(update={"mode": options.mode or mode})


def named_fields(fields: Mapping[str, JsonValue], prefix: str) -> list[str]:
    """Returns the names of the fields that hold anything, such as `configurable.user_id`."""
    return [f"{prefix}.{name}" for name, value in fields.items() if value not in (None, "", [], {})]


def ignored_names(names: Iterable[str]) -> tuple[str, ...]:
    """Returns names as a header can have them, each once; at most 20, of 64 characters each."""
    found = dict.fromkeys(_NOT_IN_NAMES.sub("?", name[:_MAX_NAME]) for name in names)
    return tuple(found)[:_MOST_IGNORED]


def question_headers(session: Session, run: Run) -> dict[str, str]:
    """Returns the headers of every answer to a question: its session, and what was not read."""
    ignored = {IGNORED_HEADER: ", ".join(run.ignored)} if run.ignored else {}
    return {SESSION_HEADER: session.id, **ignored}
