"""Session bodies and answers on the wire; times are RFC 3339 in UTC."""

import json
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
)

from app.core.settings import MAX_STATEMENT_CHARACTERS
from app.http.routes import Body, PageOf, ResponseBody, Text, Time, not_null, storable
from app.modules.agent.records import CallStatus, StepKind
from app.modules.session.model import MessageFields, Mode, SessionStatus
from graph.answer import Answer
from graph.state import Column, Cut

MAX_QUERY_CHARACTERS = 8_000
MAX_METADATA_BYTES = 16 * 1024


def _small(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError as error:
        raise ValueError("the metadata contains half a surrogate pair") from error
    if size > MAX_METADATA_BYTES:
        raise ValueError(f"the metadata takes {size} bytes; {MAX_METADATA_BYTES} are allowed")
    return metadata


Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
]
Also = Annotated[list[Annotated[Text, Field(max_length=100)]], Field(max_length=3)]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_small)]
QuestionText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_CHARACTERS),
    AfterValidator(storable),
]


class NewSession(Body):
    """A session to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"db_connection_id": "019ab1c2-0000-7000-8000-000000000000", "title": "Q4 review"}]
        }
    )

    db_connection_id: Annotated[Text, Field(max_length=100)]
    """Id of the database connection."""
    title: Title | None = None
    """Title of the session. Left out: the first question titles it."""
    mode: Mode = "ask"
    """Stored with the session. Both modes answer in the same way."""
    also: Also = Field(default_factory=list)
    """Ids of up to three further database connections, which investigations may read."""
    metadata: Metadata = Field(default_factory=dict)
    """Any JSON object of the client's, at most 16 KiB."""


class SessionChange(Body):
    """Changes of a session. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Revenue by region"}]})

    title: Title | None = None
    """The new title; no generated title replaces it. Null removes the title."""
    mode: Mode | None = None
    """The new mode."""
    also: Also | None = None
    """The new list of further database connections."""
    metadata: Metadata | None = None
    """The new metadata, which replaces the old."""
    status: Literal["idle", "closed"] | None = None
    """`closed` closes the session, `idle` opens it again."""

    _given = field_validator("mode", "also", "metadata", "status", mode="before")(not_null)


class SessionQuery(Body):
    """A question to a session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "Top 5 products by revenue"}]})

    query: QuestionText
    """The question in plain language."""
    on_busy: Literal["reject", "enqueue", "interrupt"] = "reject"
    """Reaction to another run of the session: `reject` (409), `enqueue` (wait for it) or `interrupt`
    (cancel it).
    """
    sql: Annotated[Text, Field(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)] | None = None
    """Statement of the user to run in place of a generated one, under the same guard and limits."""


class NewFeedback(Body):
    """A rating of an answer. The latest replaces earlier ones."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rating": "up"}]})

    rating: Literal["up", "down"]
    """The rating."""
    comment: Annotated[Text, Field(max_length=4_000)] | None = None
    """Comment for the owner of the database."""
    corrected_sql: Annotated[Text, Field(max_length=64 * 1024)] | None = None
    """Statement that would have been right. Blank counts as none."""

    @field_validator("corrected_sql")
    @classmethod
    def _not_blank(cls, sql: str | None) -> str | None:
        return None if sql is None or not sql.strip() else sql


class SessionBody(ResponseBody):
    """A conversation about one database."""

    id: str
    """Id of the session."""
    db_connection_id: str
    """Id of the database connection."""
    title: str | None
    """Title of the session. Null until it has one."""
    mode: Mode
    """Stored with the session. Both modes answer in the same way."""
    also: list[str]
    """Ids of further database connections, which investigations may read."""
    status: SessionStatus
    """State of the session. In `error` the latest run failed; the next question may still be asked."""
    metadata: dict[str, JsonValue]
    """The client's own JSON object."""
    active_run_id: str | None
    """Id of the run that holds the session. Null if there is none."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest question, answer or change."""


class MessageBody(Answer, MessageFields):
    """A question, or its answer. The rows are fetched by the id of the message."""

    model_config = ConfigDict(from_attributes=True)

    timestamp: Annotated[Time, Field(validation_alias="created_at")]
    """Time of the question, or of the end of its run."""


class SessionWithHistory(SessionBody):
    """A session with a page of its messages."""

    summary: str | None
    """Summary of the exchanges that the model no longer reads in full. Null until there are any."""
    messages: PageOf[MessageBody]
    """A page of messages, newest last. Its cursor leads to older ones."""


class RowsPage(ResponseBody):
    """A page of the rows of an answer."""

    columns: list[Column]
    """Columns of the rows, in order."""
    items: list[list[JsonValue]]
    """Rows of the page; one list of values each, in the order of the columns."""
    row_count: int
    """Number of stored rows."""
    truncated: bool
    """A limit cut the result."""
    cut_by: Cut | None
    """The limit that cut the result: `rows` or `bytes` if rows are missing, `values` if long values are
    cut. Null otherwise.
    """
    next_cursor: str | None
    """Cursor of the next page. Null on the last page."""


class ToolCallBody(ResponseBody):
    """A call of a tool."""

    id: str
    """Id of the call, and of the rows that it has fetched."""
    name: Annotated[str, Field(validation_alias="tool")]
    """Name of the tool. `unknown_tool` for one that does not exist."""
    category: str
    """Category of the tool. Empty for a tool that does not exist."""
    arguments: dict[str, JsonValue]
    """Arguments of the call. Empty if those of the model could not be read."""
    status: CallStatus
    """State of the call."""
    content: Annotated[str, Field(validation_alias="text")]
    """The text that the model has read."""
    is_error: bool
    """The text says what went wrong."""
    columns: list[Column]
    """Columns of the rows that the call has fetched. Empty if there are none."""
    row_count: int | None
    """Number of those rows. Null if there are none."""
    elapsed_ms: int
    """Milliseconds that the call took."""


class StepBody(ResponseBody):
    """A step of an investigation."""

    step: int
    """Number of the step, from 1."""
    kind: StepKind
    """What the step did: `calls` of tools, the `answer`, a `question` to the user, or a `fault`: a reply of
    the model that could not be used.
    """
    text: str
    """What the model wrote."""
    fault: str
    """What was wrong with the reply. Empty if nothing was."""
    tool_calls: list[ToolCallBody]
    """Calls of the step, in the model's order."""
    tokens_used: int
    """Tokens of the step."""
    created_at: Time
    """Time at which the model's reply was stored."""


class Investigated(ResponseBody):
    """The steps of an answer's investigation."""

    items: list[StepBody]
    """The steps, in order. Empty for an answer without an investigation."""


class FeedbackBody(ResponseBody):
    """A stored rating of an answer."""

    message_id: str
    """Id of the rated answer."""
    rating: Literal["up", "down"]
    """The rating."""
    comment: str | None
    """Comment for the owner of the database. Null if there is none."""
    corrected_sql: str | None
    """Statement that would have been right. Null if there is none."""
    created_at: Time
    """Time of the rating."""


class CheckpointBody(ResponseBody):
    """A state of the session that a fork can start from."""

    id: str
    """Id of the checkpoint."""
    created_at: datetime
    """Time of creation."""
    step: int
    """Number of the step in the session."""
    next_steps: list[str]
    """Steps that would follow. Empty at the end of a turn."""
    query: str | None
    """The question of the turn. Null before the first."""
    message_id: str | None
    """Id of the answer that the turn writes. Null before the first turn."""
