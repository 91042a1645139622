"""Limits of an investigation. Reaching one ends it with an answer from what was found until then."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.modules.analysis.facts.wording import Counted
from app.modules.records.steps import StepRecord

_FAULTS_IN_A_ROW = 3


@dataclass(frozen=True, kw_only=True)
class InvestigationLimits:
    """Limits of one investigation, and of one call."""

    max_steps: int = 12
    max_calls: int = 24
    max_calls_per_step: int = 8
    parallel_calls: int = 4
    max_tokens: int = 60_000
    max_seconds: float = 300
    tool_seconds: float = 30

    def reached(self, steps: Sequence[StepRecord], now_ms: int, waited_ms: int = 0) -> Counted | None:
        """Returns the limit that the steps so far have reached, or None.

        `steps` begin with step 0. `waited_ms` is the time that people took to decide.
        """
        taken = steps[1:]
        if len(taken) >= self.max_steps:
            return Counted(self.max_steps, "limit.steps")
        if sum(len(each.call_ids) for each in taken) >= self.max_calls:
            return Counted(self.max_calls, "limit.calls")
        if sum(each.tokens_used for each in taken) >= self.max_tokens:
            return Counted(self.max_tokens, "limit.tokens")
        if now_ms - waited_ms - steps[0].created_at >= self.max_seconds * 1000:
            return Counted(round(self.max_seconds), "limit.seconds")
        latest = taken[-_FAULTS_IN_A_ROW:]
        if len(latest) == _FAULTS_IN_A_ROW and all(each.kind == "fault" for each in latest):
            return Counted(_FAULTS_IN_A_ROW, "limit.replies")
        return None

    def calls_left(self, steps: Sequence[StepRecord]) -> int:
        """Returns how many calls the next step may make."""
        return min(self.max_calls_per_step, self.max_calls - sum(len(each.call_ids) for each in steps))
