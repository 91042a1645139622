"""Events of a run: one discriminated union, from the step that emits an event to the frame on the wire."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from graph.answer import DatabaseCost, Effort, Interpretation, Offer, References, StatementDetails
from graph.described import Described
from graph.state import Action, CallOutcome, Code, Link, NamedFact, Rows, StoredFindings, UsedContext

Step = Literal[
    "waiting",
    "loading_context",
    "generating_sql",
    "executing_sql",
    "repairing_sql",
    "analyzing",
    "summarizing",
    "investigating",
    "using_tool",
    "waiting_for_approval",
    "saving",
]
RunOutcome = Literal["complete", "failed", "cancelled", "awaiting_approval"]
Decision = Literal["approved", "denied", "expired", "withdrawn"]


class _Event(Described):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
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
    tokens_used: int = 0
    """Tokens that the run had used when the step began."""


class _Chunk(_Event):
    event: Literal["chunk"] = "chunk"
    """Name of the event."""


class TextChunk(_Chunk):
    """A piece of text from the model. The whole text follows as a `sql` or `analysis` chunk."""

    type: Literal["text"] = "text"
    """Kind of the chunk."""
    content: str
    """The piece of text."""
    channel: Literal["sql", "analysis", "investigation"]
    """The text that the piece belongs to. Text of channel `investigation` precedes the calls of a step, and
    no chunk repeats it.
    """


class SqlChunk(_Chunk, Interpretation, StatementDetails):
    """The whole statement about to run, with the interpretation of the question."""

    type: Literal["sql"] = "sql"
    """Kind of the chunk."""
    content: str
    """The statement."""
    tool_call_id: str | None = None
    """Id of the call of an investigation that runs it. Null for the statement of the answer."""


class ResultsChunk(_Chunk):
    """The first rows of the result. If there are fewer than `row_count`, fetch the rest by reference."""

    type: Literal["results"] = "results"
    """Kind of the chunk."""
    content: Rows
    """The first rows, and the number of all."""
    tool_call_id: str | None = None
    """Id of the call of an investigation that has fetched them. Null for the rows of the answer."""


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


class HeadlineChunk(_Chunk):
    """The first statement of the `analysis` chunk in at most twelve words."""

    type: Literal["headline"] = "headline"
    """Kind of the chunk."""
    content: str
    """The headline, in Markdown."""


class ReferencesChunk(_Chunk):
    """The sources of the statements of the `analysis` chunk: what was computed from which cells."""

    type: Literal["references"] = "references"
    """Kind of the chunk."""
    content: References


class LeftOutChunk(_Chunk):
    """Why parts of the model's choice of statements were left out."""

    type: Literal["left_out"] = "left_out"
    """Kind of the chunk."""
    content: list[str]
    """The reasons, one sentence each."""


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


class ContextChunk(_Chunk):
    """What the statement's author knew of the database, by names and ids."""

    type: Literal["context"] = "context"
    """Kind of the chunk."""
    content: UsedContext
    """Tables, and entries of the glossary, the instructions and the verified examples."""


class FindingsChunk(_Chunk):
    """What an investigation found, each computed from the result that it names."""

    type: Literal["findings"] = "findings"
    """Kind of the chunk."""
    content: StoredFindings
    """The findings, in the model's order."""


class CodeChunk(_Chunk):
    """Code that an investigation wrote for the user. KAI has not run it."""

    type: Literal["code"] = "code"
    """Kind of the chunk."""
    content: list[Code]
    """The pieces of code, in the model's order."""


class LinkChunk(_Chunk):
    """Tables, results and databases that an investigation points at."""

    type: Literal["link"] = "link"
    """Kind of the chunk."""
    content: list[Link]
    """The links, in the model's order."""


class ActionChunk(_Chunk):
    """What an investigation proposes to do next. Nothing of it happens until the user clicks."""

    type: Literal["action"] = "action"
    """Kind of the chunk."""
    content: list[Action]
    """The actions, in the model's order."""


FindingKind = (
    HeadlineChunk
    | ReferencesChunk
    | LeftOutChunk
    | FindingsChunk
    | ChartChunk
    | SuggestionsChunk
    | CodeChunk
    | LinkChunk
    | ActionChunk
)

FINDING_CHUNKS: dict[str, type[FindingKind]] = {
    "headline": HeadlineChunk,
    "references": ReferencesChunk,
    "left_out": LeftOutChunk,
    "findings": FindingsChunk,
    "chart": ChartChunk,
    "suggestions": SuggestionsChunk,
    "code": CodeChunk,
    "link": LinkChunk,
    "action": ActionChunk,
}
"""The chunk of each field of `Findings`, in the order in which a run emits them."""


class ToolCalled(_Event):
    """A step of an investigation calls a tool."""

    event: Literal["tool_call"] = "tool_call"
    """Name of the event."""
    tool_call_id: str
    """Id of the call."""
    step: int
    """Number of the step, from 1."""
    name: str
    """Name of the tool."""
    category: str
    """Category of the tool, such as `read`. Empty for a tool that does not exist."""
    arguments: dict[str, JsonValue]
    """Arguments of the call. Empty if those of the model could not be read."""
    requires_approval: bool = False
    """A person has to approve the call before it runs."""


class ToolReturned(_Event):
    """A call of a tool has ended."""

    event: Literal["tool_result"] = "tool_result"
    """Name of the event."""
    tool_call_id: str
    """Id of the call."""
    status: CallOutcome
    """How the call ended. One that was denied, has expired or was withdrawn never ran; of one that is
    `unknown`, KAI does not know whether it had its effect.
    """
    content: str
    """The text that the model reads, at most 6,000 characters."""
    is_error: bool
    """The text says what went wrong."""
    result_id: str | None = None
    """Id of the rows that the call has fetched. Null if it has none."""
    elapsed_ms: int
    """Milliseconds that the call took."""


class Confirmation(_Event):
    """A call that waits until a person approves or denies it. Nothing of it has run."""

    event: Literal["confirmation"] = "confirmation"
    """Name of the event."""
    confirmation_id: str
    """Id of the confirmation, which is that of the call."""
    tool_name: str
    """Name of the tool."""
    description: str
    """What the call will do, in words of KAI or of the tool's author."""
    arguments: dict[str, JsonValue]
    """Every argument of the call, in full."""
    destination: str
    """Where the arguments go: a database, or the address of a server."""
    warnings: list[str]
    """What speaks for a second look, such as text in an argument that was read from a database."""
    call_hash: str
    """SHA-256 of exactly what is proposed. The decision repeats it."""
    expires_at: datetime
    """Time after which the call can no longer be approved, in UTC."""


class ConfirmationDecided(_Event):
    """A call that has waited is decided."""

    event: Literal["confirmation_decided"] = "confirmation_decided"
    """Name of the event."""
    confirmation_id: str
    """Id of the confirmation."""
    decision: Decision
    """What was decided: by a person (`approved`, `denied`), by time, or because the turn has ended."""
    edited_arguments: dict[str, JsonValue] | None = None
    """All arguments with which an approved call runs, if the person has changed them. Null otherwise."""


class Progress(_Event):
    """Progress of a call that takes long, at most one a second for a call; or of a whole documentation."""

    event: Literal["progress"] = "progress"
    """Name of the event."""
    tool_call_id: str | None = None
    """Id of the call. Null for the progress of a whole documentation."""
    message: str
    """What the call does just now, for users."""
    fraction: float
    """Part of the work that is done, from 0 to 1; -1 if unknown."""


class Memory(_Event):
    """Facts that KAI remembers: those that the answer uses, or that were kept or refused."""

    event: Literal["memory"] = "memory"
    """Name of the event."""
    action: Literal["used", "kept", "refused"]
    """What has become of the facts. `used`: the model reads them with the question."""
    facts: list[NamedFact]
    """The facts. At most ten."""
    reason: str | None = None
    """The reason of a refusal, for users. Null for every other action."""


class Reset(_Event):
    """Discard everything shown for this run so far. The completed parts are emitted again."""

    event: Literal["reset"] = "reset"
    """Name of the event."""
    reason: str
    """Reason of the reset, for users."""


class RunError(Described):
    """Error of a failed run, as a problem object (RFC 9457)."""

    model_config = ConfigDict(frozen=True)

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


class Done(_Event, Effort, DatabaseCost):
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
    """Tokens of every model call of the run, including failed calls and the rolling summary."""
    cached_tokens: int | None = None
    """Of these, the prompts' tokens that the model's provider read from its cache, in the last attempt at the
    run. Null if the provider reports none.
    """
    elapsed_ms: int
    """Milliseconds from the question to the end of the run."""


Chunk = Annotated[
    TextChunk
    | SqlChunk
    | ResultsChunk
    | ChartChunk
    | AnalysisChunk
    | HeadlineChunk
    | ReferencesChunk
    | LeftOutChunk
    | ClarificationChunk
    | SuggestionsChunk
    | FindingsChunk
    | CodeChunk
    | LinkChunk
    | ActionChunk
    | ContextChunk,
    Field(discriminator="type"),
]
AnyEvent = (
    Status
    | Chunk
    | ToolCalled
    | ToolReturned
    | Confirmation
    | ConfirmationDecided
    | Progress
    | Memory
    | Reset
    | Failure
    | Done
)
SessionEvent = Annotated[AnyEvent, Field(discriminator="event")]
