"""Stored sessions, runs and messages. Times are epoch milliseconds."""

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
"""Source of a title: a person, whose title is never replaced; the first question; or a model, after the
first exchange and once more after the conversation has grown."""


@dataclass(frozen=True, kw_only=True)
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
    """Summary of the exchanges that the model no longer reads in full."""
    also: tuple[str, ...] = ()
    """Ids of further database connections, which investigations may read."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A question and its state. It is open until it is answered: it waits for its session, or holds it.

    `attempt` grows with each attempt; `handovers` counts those that ended because their worker was stopped,
    which are no failures.
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
    cached_tokens: int | None = None
    """Of these, tokens that the model's provider read from its cache. None if it reports none."""
    traceparent: str | None = None
    """Trace context of the request that asked the question."""
    idempotency_key: str | None = None
    sql: str | None = None
    """The user's own statement, run instead of a generated one."""
    database_claim: str | None = None
    """Claim of the token that the question was asked with. It chooses the role in a database."""
    turn: int | None = None
    """The number of its turn, if it was cancelled before it held its session."""

    @property
    def unclean_ends(self) -> int:
        """Number of earlier attempts that ended because their process died."""
        return max(0, self.attempt - 1 - self.handovers)

    @property
    def place(self) -> tuple[int, str]:
        """Sort key among the runs that wait for one session."""
        return self.created_at, self.message_id


class MessageFields(BaseModel):
    """Fields of messages in the store and on the wire, besides those of an answer."""

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
    """Outcome of the run."""
    error: RunError | None = None
    """Error of the run. Null if it did not fail."""
    tokens_used: int = 0
    """Tokens of the run, as in its `done` event. Title and memory of the session are not included."""
    elapsed_ms: int = 0
    """Milliseconds from the question to the end of its run."""


class Message(Answer, MessageFields):
    """A stored question (role human) or answer (role assistant).

    `sequence` orders the messages of a session: for a turn's question it is twice the turn's number, and
    one more for its answer. A question that waits has no turn yet and comes after all others.
    """

    owner: str
    session_id: str
    created_at: int
    sequence: int


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """The owner's rating of an answer. One per message; the latest replaces earlier ones."""

    id: str
    owner: str
    session_id: str
    message_id: str
    rating: Rating
    comment: str | None
    corrected_sql: str | None
    created_at: int
