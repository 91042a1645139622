"""Sessions, runs and messages as they are kept; times are epoch milliseconds."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from graph.state import Claim, Column, Cut, Option

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
class RunError:
    """Why a run failed, as its `error` event said it."""

    type: str
    title: str
    status: int
    detail: str
    retryable: bool


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

    @property
    def place(self) -> tuple[int, str]:
        """Its place among the runs that wait for one session."""
        return self.created_at, self.message_id


@dataclass(frozen=True)
class Message:
    """A line of the history: a question (role human), or what was answered (role assistant).

    `sequence` orders the messages of a session: that of a turn's question is twice the turn's number, and its
    answer follows. A question that waits has no turn yet and stands behind all others.
    The rows of a result are kept apart, in chunks; `row_count` is None when there is no result.
    """

    id: str
    owner: str
    session_id: str
    run_id: str
    role: Literal["human", "assistant"]
    query: str
    created_at: int
    sequence: int
    status: Outcome = "complete"
    route: Literal["sql", "rows", "clarify", "chat"] = "sql"
    sql: str | None = None
    dialect: str = ""
    explanation: str = ""
    standalone_question: str = ""
    corrections: list[str] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    row_count: int | None = None
    truncated: bool = False
    cut_by: Cut | None = None
    results_summary: str | None = None
    analysis: str | None = None
    claims: list[Claim] = field(default_factory=list)
    chart: dict[str, JsonValue] | None = None
    suggestions: list[str] = field(default_factory=list)
    clarification: str | None = None
    options: list[Option] = field(default_factory=list)
    error: RunError | None = None
    tokens_used: int = 0
    elapsed_ms: int = 0


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
