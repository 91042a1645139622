"""Record of what an attempt has shown. No checkpoint holds the times of its steps, nor what a step has shown
that was stopped before its end.
"""

from dataclasses import dataclass, field

from pydantic import JsonValue

from app.core.clock import epoch_ms, rfc3339
from app.modules.records.model import TakenStep
from graph.answer import Interpretation, ResultHeader, StatementDetails, TurnAnswer, head_of
from graph.events import (
    AnalysisChunk,
    Failure,
    FindingKind,
    Reset,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    Status,
    TextChunk,
)
from graph.state import Rows


@dataclass
class _Shown:
    """What followers see of the answer now."""

    steps: list[Status] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    """By the position of the step that failed."""
    row_counts: dict[int, int] = field(default_factory=dict)
    sql: SqlChunk | None = None
    results: Rows | None = None
    analysis: str = ""
    found: dict[str, JsonValue] = field(default_factory=dict)


class AttemptRecord:
    """Observes the events of an attempt, in their order."""

    def __init__(self) -> None:
        self._shown = _Shown()

    def observe(self, event: SessionEvent) -> None:
        shown = self._shown
        latest = len(shown.steps) - 1
        match event:
            case Reset():
                self._shown = _Shown()
            case Status():
                shown.steps.append(event)
                if event.step == "repairing_sql":
                    shown.sql = None
            case Failure() if shown.steps:
                shown.errors[latest] = event.detail
            case SqlChunk(tool_call_id=None):
                shown.sql = event
            case ResultsChunk(tool_call_id=None):
                shown.results = event.content
                shown.row_counts[latest] = event.content["row_count"]
            case TextChunk(channel="analysis"):
                shown.analysis += event.content
            case AnalysisChunk():
                shown.analysis = event.content
            case _ if isinstance(event, FindingKind):
                shown.found[event.type] = event.model_dump()["content"]

    def timeline(self) -> list[TakenStep]:
        """Returns the steps, in order. Each has ended as the next began; nothing follows the last."""
        begun = [epoch_ms(each.at) for each in self._shown.steps]
        ends = [*begun[1:], *begun[-1:]]
        tokens = [each.tokens_used for each in self._shown.steps]
        return [
            TakenStep(
                step=each.step,
                message=each.message,
                started_at=rfc3339(start),
                ms=max(0, end - start),
                statement=each.failed_sql,
                error=each.error or self._shown.errors.get(position),
                rows=self._shown.row_counts.get(position),
                tokens=max(0, after - each.tokens_used),
            )
            for position, (each, start, end, after) in enumerate(
                zip(self._shown.steps, begun, ends, [*tokens[1:], *tokens[-1:]], strict=True)
            )
        ]

    def complement(self, answer: TurnAnswer) -> TurnAnswer:
        """Returns the answer of an attempt that was stopped or has failed, with what it has shown."""
        shown = self._shown
        more: dict[str, JsonValue] = {}
        if shown.sql is not None:
            parts = {*Interpretation.model_fields, *StatementDetails.model_fields}
            more |= shown.sql.model_dump(include=parts) | {"sql": shown.sql.content}
        if (rows := shown.results) is not None:
            more |= ResultHeader.model_validate(rows).model_dump() | {"rows_head": head_of(rows["rows"])}
        if shown.analysis:
            more |= {"analysis": shown.analysis, **shown.found}
        return answer.model_copy(update=more)
