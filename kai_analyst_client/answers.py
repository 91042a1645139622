"""The answer to a question, gathered from the events of its run."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from kai_analyst_client.errors import Problem, error_of
from kai_analyst_client.schema import (
    Action,
    ClarificationChunk,
    Code,
    Column,
    Confirmation,
    ConfirmationDecided,
    Done,
    Event,
    Failure,
    Finding,
    Option,
    Reference,
    Reset,
    ResourceLink,
    ResultsChunk,
    SqlChunk,
    UsedContext,
)

_PARTS = (
    "action",
    "analysis",
    "chart",
    "code",
    "context",
    "findings",
    "headline",
    "left_out",
    "link",
    "references",
    "suggestions",
)
"""Kinds of chunks that are the answer's field of that name."""


@dataclass(kw_only=True)
class Answer:
    """An answer. `rows` are the first 100; `kai.rows(answer)` reads all.

    With status `awaiting_approval` the calls in `confirmations` wait for `kai.sessions.decide`. An `error`
    of a complete answer is one that the answer came in spite of.
    """

    session_id: str = ""
    message_id: str = ""
    run_id: str = ""
    status: Literal["complete", "failed", "cancelled", "awaiting_approval"] | str = "failed"
    sql: str | None = None
    dialect: str = ""
    explanation: str = ""
    columns: list[Column] = field(default_factory=list)
    rows: list[list[JsonValue]] = field(default_factory=list)
    row_count: int | None = None
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None
    chart: dict[str, JsonValue] | None = None
    analysis: str | None = None
    headline: str | None = None
    references: list[Reference] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    code: list[Code] = field(default_factory=list)
    link: list[ResourceLink] = field(default_factory=list)
    action: list[Action] = field(default_factory=list)
    context: UsedContext | None = None
    clarification: str | None = None
    options: list[Option] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    confirmations: list[Confirmation] = field(default_factory=list)
    error: Failure | None = None
    tokens_used: int = 0
    elapsed_ms: int = 0


def add_event(answer: Answer, event: Event) -> Answer:
    """Returns the answer with what an event says, which is a new one after a `reset`."""
    match event:
        case Reset():
            return Answer()
        case SqlChunk(tool_call_id=None):
            answer.sql = event.content
            answer.dialect = event.dialect
            answer.explanation = event.explanation
        case ResultsChunk(tool_call_id=None):
            answer.columns = event.content.columns
            answer.rows = event.content.rows
            answer.row_count = event.content.row_count
            answer.truncated = event.content.truncated
            answer.cut_by = event.content.cut_by
        case ClarificationChunk():
            answer.clarification = event.content
            answer.options = event.options
        case Confirmation():
            answer.confirmations = [*answer.confirmations, event]
        case ConfirmationDecided():
            decided = event.confirmation_id
            answer.confirmations = [each for each in answer.confirmations if each.confirmation_id != decided]
        case Failure():
            answer.error = event
        case Done():
            answer.session_id = event.session_id
            answer.message_id = event.message_id
            answer.run_id = event.run_id
            answer.status = event.status
            answer.tokens_used = event.tokens_used
            answer.elapsed_ms = event.elapsed_ms
        case _ if event.event == "chunk" and event.type in _PARTS:
            setattr(answer, event.type, event.content)
        case _:
            pass
    return answer


def answered(answer: Answer) -> Answer:
    """Returns the answer of an ended run. Raises the run's error if it failed."""
    if answer.status != "failed":
        return answer
    found = answer.error
    problem = Problem.model_validate(
        {
            "type": found.type if found else "urn:kai:turn-failed",
            "title": found.title if found else "The run failed",
            "status": found.status if found else 500,
            "detail": found.detail if found else "",
            "session_id": answer.session_id,
            "message_id": answer.message_id,
            "run_id": answer.run_id,
        }
    )
    raise error_of(problem)
