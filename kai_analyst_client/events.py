"""Events of a run, as a stream yields them. A field's meaning is in KAI's OpenAPI description."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from kai_analyst_client.models import (
    Action,
    Code,
    FactKind,
    FactScope,
    Finding,
    Model,
    Option,
    Outcome,
    Reference,
    ResourceLink,
    Rows,
    StepName,
    UsedContext,
)


class Status(Model):
    """A step begins."""

    event: Literal["status"]
    step: StepName
    message: str
    run_id: str
    at: datetime
    failed_sql: str | None
    error: str | None
    place: int | None
    tokens_used: int


class _Chunk(Model):
    event: Literal["chunk"]


class TextChunk(_Chunk):
    """A piece of text from the model."""

    type: Literal["text"]
    content: str
    channel: Literal["sql", "analysis", "investigation"]


class SqlChunk(_Chunk):
    """The statement about to run; with a `tool_call_id`, that of a call of an investigation."""

    type: Literal["sql"]
    content: str
    dialect: str
    explanation: str
    standalone_question: str
    sql_pretty: str
    corrections: list[str]
    tool_call_id: str | None


class ResultsChunk(_Chunk):
    """The first rows of the result; with a `tool_call_id`, that of a call of an investigation."""

    type: Literal["results"]
    content: Rows
    tool_call_id: str | None


class ChartChunk(_Chunk):
    """A Vega-Lite specification with its data inline."""

    type: Literal["chart"]
    content: dict[str, JsonValue]


class AnalysisChunk(_Chunk):
    """The whole analysis or reply, in Markdown. It replaces the pieces of text of its channel."""

    type: Literal["analysis"]
    content: str


class HeadlineChunk(_Chunk):
    """The first statement of the analysis in a few words, in Markdown."""

    type: Literal["headline"]
    content: str


class ReferencesChunk(_Chunk):
    """What the statements of the analysis were computed from."""

    type: Literal["references"]
    content: list[Reference]


class LeftOutChunk(_Chunk):
    """Why parts of the model's choice were left out, one sentence each."""

    type: Literal["left_out"]
    content: list[str]


class ClarificationChunk(_Chunk):
    """A question back, which ends the turn."""

    type: Literal["clarification"]
    content: str
    options: list[Option]


class SuggestionsChunk(_Chunk):
    """Suggested questions."""

    type: Literal["suggestions"]
    content: list[str]


class ContextChunk(_Chunk):
    """What the statement's author knew of the database."""

    type: Literal["context"]
    content: UsedContext


class FindingsChunk(_Chunk):
    """What an investigation found."""

    type: Literal["findings"]
    content: list[Finding]


class CodeChunk(_Chunk):
    """Code that an investigation wrote for the user."""

    type: Literal["code"]
    content: list[Code]


class LinkChunk(_Chunk):
    """What an investigation points at."""

    type: Literal["link"]
    content: list[ResourceLink]


class ActionChunk(_Chunk):
    """What an investigation proposes to do next."""

    type: Literal["action"]
    content: list[Action]


class ToolCalled(Model):
    """A step of an investigation calls a tool."""

    event: Literal["tool_call"]
    tool_call_id: str
    step: int
    name: str
    category: str
    arguments: dict[str, JsonValue]
    requires_approval: bool


class ToolReturned(Model):
    """A call of a tool has ended."""

    event: Literal["tool_result"]
    tool_call_id: str
    status: Literal["done", "failed", "denied", "expired", "withdrawn", "unknown"]
    content: str
    is_error: bool
    result_id: str | None
    elapsed_ms: int


class Confirmation(Model):
    """A call that waits until a person approves or denies it."""

    event: Literal["confirmation"]
    confirmation_id: str
    tool_name: str
    description: str
    arguments: dict[str, JsonValue]
    destination: str
    warnings: list[str]
    call_hash: str
    expires_at: datetime


class ConfirmationDecided(Model):
    """A call that has waited is decided."""

    event: Literal["confirmation_decided"]
    confirmation_id: str
    decision: Literal["approved", "denied", "expired", "withdrawn"]
    edited_arguments: dict[str, JsonValue] | None


class Progress(Model):
    """Progress of a call that takes long. A `fraction` of -1 is unknown."""

    event: Literal["progress"]
    tool_call_id: str | None
    message: str
    fraction: float


class NamedFact(Model):
    """A fact that KAI remembers."""

    id: str
    kind: FactKind
    scope: FactScope
    text: str


class Memory(Model):
    """Facts that the answer uses, or that were kept or refused."""

    event: Literal["memory"]
    action: Literal["used", "kept", "refused"]
    facts: list[NamedFact]
    reason: str | None


class Reset(Model):
    """Discard everything shown for this run so far. The completed parts follow again."""

    event: Literal["reset"]
    reason: str


class Failure(Model):
    """An error. `Done.status` tells whether an answer came all the same."""

    event: Literal["error"]
    type: str
    title: str
    status: int
    detail: str
    retryable: bool


class Done(Model):
    """The end of the stream, once, after everything else is durable."""

    event: Literal["done"]
    run_id: str
    session_id: str
    message_id: str
    status: Outcome
    tokens_used: int
    cached_tokens: int | None
    elapsed_ms: int
    steps: int
    tool_calls: int
    limit_reached: bool


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
Event = Annotated[
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
    | Done,
    Field(discriminator="event"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
EVENT_NAMES = frozenset(
    {
        "status",
        "chunk",
        "tool_call",
        "tool_result",
        "confirmation",
        "confirmation_decided",
        "progress",
        "memory",
        "reset",
        "error",
        "done",
    }
)
"""Names of events that this client knows. Others are left out of streams."""
