"""Events of a run: one discriminated union, from the step that emits an event to the frame on the wire."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from graph.answer import Claims, Offer, Understanding
from graph.state import Rows

Step = Literal[
    "loading_context",
    "generating_sql",
    "executing_sql",
    "repairing_sql",
    "analyzing",
    "summarizing",
    "saving",
]
RunOutcome = Literal["complete", "failed", "cancelled"]


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


class Status(_Event):
    """A step has begun, `at` in UTC; `message` is for people, `run_id` for coming back to this stream.

    In step `repairing_sql`, `failed_sql` is the statement to be repaired and `error` what is wrong with it.
    Both are null in every other step.
    """

    event: Literal["status"] = "status"
    step: Step
    message: str
    run_id: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    failed_sql: str | None = None
    error: str | None = None


class TextChunk(_Event):
    """A piece of text from the model. The whole text follows as a `sql` or `analysis` chunk."""

    event: Literal["chunk"] = "chunk"
    type: Literal["text"] = "text"
    content: str
    channel: Literal["sql", "analysis"]


class SqlChunk(_Event, Understanding):
    """The whole statement about to run, with how the question was understood."""

    event: Literal["chunk"] = "chunk"
    type: Literal["sql"] = "sql"
    content: str


class ResultsChunk(_Event):
    """The first rows of the result. If there are fewer than `row_count`, fetch the rest by reference."""

    event: Literal["chunk"] = "chunk"
    type: Literal["results"] = "results"
    content: Rows


class ChartChunk(_Event):
    """A Vega-Lite specification with its data inline."""

    event: Literal["chunk"] = "chunk"
    type: Literal["chart"] = "chart"
    content: dict[str, JsonValue]


class AnalysisChunk(_Event):
    """The whole analysis, or the whole reply to small talk, in Markdown."""

    event: Literal["chunk"] = "chunk"
    type: Literal["analysis"] = "analysis"
    content: str


class ClaimsChunk(_Event):
    """The figures, names and comparisons of the `analysis` chunk, each checked against all kept rows."""

    event: Literal["chunk"] = "chunk"
    type: Literal["claims"] = "claims"
    content: Claims


class ClarificationChunk(_Event, Offer):
    """A question back to the user, which ends the turn, with the readings to choose from if there are any."""

    event: Literal["chunk"] = "chunk"
    type: Literal["clarification"] = "clarification"
    content: str


class SuggestionsChunk(_Event):
    """Suggested questions, complete enough to be sent unchanged."""

    event: Literal["chunk"] = "chunk"
    type: Literal["suggestions"] = "suggestions"
    content: list[str]


FINDING_CHUNKS: dict[str, type[ClaimsChunk | ChartChunk | SuggestionsChunk]] = {
    "claims": ClaimsChunk,
    "chart": ChartChunk,
    "suggestions": SuggestionsChunk,
}
"""The chunk of each field of `Findings`, in the order in which a run emits them."""


class Reset(_Event):
    """Discard everything shown for this run so far. The completed parts are emitted again."""

    event: Literal["reset"] = "reset"
    reason: str


class RunError(BaseModel):
    """Why a run failed, as a problem object (RFC 9457)."""

    model_config = ConfigDict(frozen=True)

    type: str
    title: str
    status: int
    detail: str
    retryable: bool


class Failure(_Event, RunError):
    """An error, as a problem object (RFC 9457).

    `done.status` tells whether the run still has an answer, for example by the built-in writer when the
    model is unavailable.
    """

    event: Literal["error"] = "error"


class Done(_Event):
    """The end of the stream, emitted once, after everything else is durable.

    `tokens_used` counts every model call of the run, including failed calls and the rolling summary. The
    title and the memory of the conversation are written later and count only in the day's tokens.
    """

    event: Literal["done"] = "done"
    run_id: str
    session_id: str
    message_id: str
    status: RunOutcome
    tokens_used: int
    elapsed_ms: int


Chunk = Annotated[
    TextChunk
    | SqlChunk
    | ResultsChunk
    | ChartChunk
    | AnalysisChunk
    | ClaimsChunk
    | ClarificationChunk
    | SuggestionsChunk,
    Field(discriminator="type"),
]
SessionEvent = Annotated[Status | Chunk | Reset | Failure | Done, Field(discriminator="event")]
