"""Bodies of questions that wait for their answer, of answers and of runs."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from app.http.routes import ResponseBody, Text, Time
from app.modules.answers.service import FollowedRun, FoundAnswer, RunState
from app.modules.records.model import Mode, ProtocolName
from app.modules.session.schemas import ConfirmationBody, MessageBody, SessionQuery
from graph.events import RunError

MOST_ROWS = 1_000
"""Rows of an answer in one response."""
DEFAULT_ROWS = 100

Rows = Annotated[int, Field(ge=0, le=MOST_ROWS)]


class WaitingQuery(SessionQuery):
    """A question to a session, whose answer is waited for."""

    rows: Rows = DEFAULT_ROWS
    """The most rows of the answer. All are at `.../messages/{message_id}/rows`."""


class NewAsk(WaitingQuery):
    """A question without a session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "Top 5 products by revenue"}]})

    database: Annotated[Text, Field(max_length=300)] | None = None
    """Id or name of the database connection. Left out: the only one."""
    keep: bool = False
    """`true` keeps the session. Otherwise it is in no list, has no title and no memory, and is deleted after
    24 hours.
    """

    @model_validator(mode="after")
    def _check_database(self) -> Self:
        if self.database is not None and self.db_connection_id is not None:
            raise ValueError("name the database once: in `database` or in `db_connection_id`")
        return self


class AnswerBody(MessageBody):
    """An answer with the first of its rows."""

    session_id: str
    """Id of the session."""
    rows: list[list[JsonValue]]
    """The first rows, in the order of `columns`; `row_count` counts all."""
    confirmations: list[ConfirmationBody]
    """Calls that wait for an approval, in status `awaiting_approval`."""

    @classmethod
    def of(cls, found: FoundAnswer) -> "AnswerBody":
        given = {"rows": found.rows, "confirmations": found.confirmations}
        return cls.model_validate({**dict(found.message), **given})


class RunBody(ResponseBody):
    """A run: a question on its way to an answer."""

    run_id: Annotated[str, Field(validation_alias="id")]
    """Id of the run."""
    session_id: str
    """Id of the session."""
    message_id: str
    """Id of the answer's message, which is stored when the run ends."""
    query: Annotated[str, Field(validation_alias="question")]
    """The question."""
    status: RunState
    """State of the run. `queued`: it waits for its session or for a worker."""
    mode: Mode
    """Mode of the question."""
    protocol: ProtocolName
    """How the question came in."""
    metadata: dict[str, JsonValue]
    """The client's own JSON object."""
    ignored: list[str]
    """Names of what the client has sent beside the question and KAI does not read."""
    created_at: Time
    """Time of the question."""
    ended_at: Time | None
    """Time of the end. Null while the run is queued or running."""
    tokens_used: int
    """Tokens of the run."""
    error: RunError | None
    """Error of a failed run. Null for others."""

    @classmethod
    def of(cls, followed: FollowedRun) -> "RunBody":
        return cls.model_validate({**vars(followed.run), "status": followed.state})
