"""Sessions, runs and messages as they are kept; times are epoch milliseconds."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from graph.answer import Answer
from graph.events import RunError

Mode = Literal["ask", "agent"]
SessionStatus = Literal["idle", "processing", "error", "closed"]
RunStatus = Literal["open", "complete", "failed", "cancelled"]
Rating = Literal["up", "down"]
Outcome = Literal["complete", "failed", "cancelled"]
TitledBy = Literal["person", "question", "first_exchange", "conversation"]
"""What a title came from: a person, whose title stays; the first question as it was asked; or a model, once
by the first exchange and once more by what the conversation has grown to."""


@dataclass(frozen=True)
class Session:
    """A conversation about one database; `active_run_id` names the run that holds it.

    `fence` grows with every attempt at a run: writes of earlier attempts are discarded.
    `turns` counts the turns that got a number, and `turn` is the number of the one that holds the session,
    or held it last: only a run that holds the session has a number, so no two have the same.
    """

    id: str
    owner: str
    db_connection_id: str
    title: str | None
    mode: Mode
    metadata: dict[str, JsonValue]
    created_at: int
    updated_at: int
    status: SessionStatus = "idle"
    active_run_id: str | None = None
    fence: int = 0
    titled_by: TitledBy | None = None
    """None while there is no title."""
    turn: int = 0
    turns: int = 0
    summary: str | None = None
    """Of the exchanges that the model is no longer shown in full."""


@dataclass(frozen=True)
class Run:
    """A question, open until it is answered: waiting for its session, or holding it.

    `attempt` grows each time it is taken up again; `handovers` are those attempts that ended because
    their worker was stopped, and count as no failure.
    """

    id: str
    owner: str
    session_id: str
    message_id: str
    question: str
    created_at: int
    status: RunStatus = "open"
    attempt: int = 1
    handovers: int = 0
    cancel_requested: bool = False
    ended_at: int | None = None
    error: RunError | None = None
    tokens_used: int = 0
    traceparent: str | None = None
    """Of the request that asked it."""
    idempotency_key: str | None = None
    sql: str | None = None
    """The analyst's own statement, run instead of a written one."""
    database_claim: str | None = None
    """Of the token it was asked with; it chooses the role in a database."""

    @property
    def place(self) -> tuple[int, str]:
        """Its place among the runs that wait for one session."""
        return self.created_at, self.message_id


class MessageFields(BaseModel):
    """What messages have in the store and on the wire, beside the fields of an answer."""

    model_config = ConfigDict(
        frozen=True, use_attribute_docstrings=True, json_schema_serialization_defaults_required=True
    )

    id: str
    """Id of the message."""
    run_id: str
    """Id of the run that answers the question."""
    role: Literal["human", "assistant"]
    """`human` for a question, `assistant` for its answer."""
    query: str
    """The question."""
    status: Outcome = "complete"
    """How the run ended."""
    error: RunError | None = None
    """Why the run failed. Null if it did not fail."""
    tokens_used: int = 0
    """Tokens of the run, as in its `done` event. Title and memory of the session are not included."""
    elapsed_ms: int = 0
    """Milliseconds from the question to the end of its run."""


class Message(Answer, MessageFields):
    """A line of the history: a question (role human), or what was answered (role assistant).

    `sequence` orders the messages of a session: that of a turn's question is twice the turn's number, and its
    answer follows. A question that waits has no turn yet and stands behind all others.
    """

    owner: str
    session_id: str
    created_at: int
    sequence: int


@dataclass(frozen=True)
class Feedback:
    """What the owner thinks of an answer; one per message, the latest counts."""

    id: str
    owner: str
    session_id: str
    message_id: str
    rating: Rating
    comment: str | None
    corrected_sql: str | None
    created_at: int
