"""Events of a run: one discriminated union, from the step that emits an event to the frame on the wire."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from graph.answer import Claims, Offer, Understanding
from graph.state import Rows

Step = Literal[
    "waiting",
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
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )


class Status(_Event):
    """A step begins."""

    event: Literal["status"] = "status"
    """Name of the event."""
    step: Step
    """The step that begins."""
    message: str
    """Description of the step, for users."""
    run_id: str
    """Id of the run, to follow it again."""
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    """Time at which the step began, in UTC."""
    failed_sql: str | None = None
    """The statement to be repaired, in step `repairing_sql`. Null in every other step."""
    error: str | None = None
    """The error of that statement, in step `repairing_sql`. Null in every other step."""
    place: int | None = None
    """The run's place in the line when it began to wait, in step `waiting`: 1 is the next to begin. Null in
    every other step.
    """


class _Chunk(_Event):
    event: Literal["chunk"] = "chunk"
    """Name of the event."""


class TextChunk(_Chunk):
    """A piece of text from the model. The whole text follows as a `sql` or `analysis` chunk."""

    type: Literal["text"] = "text"
    """Kind of the chunk."""
    content: str
    """The piece of text."""
    channel: Literal["sql", "analysis"]
    """The text that the piece belongs to."""


class SqlChunk(_Chunk, Understanding):
    """The whole statement about to run, with the interpretation of the question."""

    type: Literal["sql"] = "sql"
    """Kind of the chunk."""
    content: str
    """The statement."""


class ResultsChunk(_Chunk):
    """The first rows of the result. If there are fewer than `row_count`, fetch the rest by reference."""

    type: Literal["results"] = "results"
    """Kind of the chunk."""
    content: Rows
    """The first rows, and the number of all."""


class ChartChunk(_Chunk):
    """A Vega-Lite specification with its data inline."""

    type: Literal["chart"] = "chart"
    """Kind of the chunk."""
    content: dict[str, JsonValue]
    """The specification."""


class AnalysisChunk(_Chunk):
    """The whole analysis, or the whole reply to small talk, in Markdown."""

    type: Literal["analysis"] = "analysis"
    """Kind of the chunk."""
    content: str
    """The text. It replaces the pieces of channel `analysis`."""


class ClaimsChunk(_Chunk):
    """The figures, names and comparisons of the `analysis` chunk, each checked against all kept rows."""

    type: Literal["claims"] = "claims"
    """Kind of the chunk."""
    content: Claims


class ClarificationChunk(_Chunk, Offer):
    """A question back to the user, which ends the turn, with the readings to choose from if there are any."""

    type: Literal["clarification"] = "clarification"
    """Kind of the chunk."""
    content: str
    """The question back."""


class SuggestionsChunk(_Chunk):
    """Suggested questions, complete enough to be sent unchanged."""

    type: Literal["suggestions"] = "suggestions"
    """Kind of the chunk."""
    content: list[str]
    """The suggested questions."""


FINDING_CHUNKS: dict[str, type[ClaimsChunk | ChartChunk | SuggestionsChunk]] = {
    "claims": ClaimsChunk,
    "chart": ChartChunk,
    "suggestions": SuggestionsChunk,
}
"""The chunk of each field of `Findings`, in the order in which a run emits them."""


class Reset(_Event):
    """Discard everything shown for this run so far. The completed parts are emitted again."""

    event: Literal["reset"] = "reset"
    """Name of the event."""
    reason: str
    """Reason of the reset, for users."""


class RunError(BaseModel):
    """Error of a failed run, as a problem object (RFC 9457)."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    type: str
    """Kind of the error, such as `urn:kai:model-unavailable`. Stable: branch on it."""
    title: str
    """Short name of the error, for users."""
    status: int
    """HTTP status of errors of this kind."""
    detail: str
    """The cause in a sentence, and the cure if there is one. For users; the wording may change."""
    retryable: bool
    """The same question may succeed if it is asked again."""


class Failure(_Event, RunError):
    """An error, as a problem object (RFC 9457).

    `done.status` tells whether the run still has an answer, for example by the built-in writer when the
    model is unavailable.
    """

    event: Literal["error"] = "error"
    """Name of the event."""


class Done(_Event):
    """The end of the stream, emitted once, after everything else is durable."""

    event: Literal["done"] = "done"
    """Name of the event."""
    run_id: str
    """Id of the run."""
    session_id: str
    """Id of the session."""
    message_id: str
    """Id of the answer."""
    status: RunOutcome
    """Outcome of the run."""
    tokens_used: int
    """Tokens of every model call of the run, including failed calls and the rolling summary. The title and
    the memory of the conversation are written later and not included.
    """
    elapsed_ms: int
    """Milliseconds from the question to the end of the run."""


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
