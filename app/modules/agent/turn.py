"""What the parts of one turn's investigation share."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.core.ids import new_id
from app.core.llm.model import LanguageModel, ToolCall
from app.core.markdown import without_images
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.sheets import TurnSheets
from app.modules.agent.turn_records import TurnRecords
from app.modules.context_store.service import ContextStore
from app.modules.memory.facts import Facts
from app.modules.records.model import Mode, Run
from app.modules.records.steps import CallRecord, StepKind, StepRecord, cut_text, new_step
from app.modules.run.running_actions import ActionsUnderWay
from app.modules.tools.context import SessionDatabases
from app.modules.tools.history import ConversationHistory
from app.modules.tools.parsing import ParsedCall, parse_call
from app.modules.tools.registry import ToolRegistry
from app.modules.tools.results import TurnResults
from app.modules.tools.tool import Tool
from app.modules.usage.service import Allowances
from graph.state import Context, Rows

_REPEATED = 2
"""A call that was made so often with the same arguments is not made again."""


@dataclass(frozen=True, kw_only=True)
class InvestigationSettings:
    """What all investigations of a process share."""

    model: LanguageModel
    registry: ToolRegistry
    limits: InvestigationLimits
    actions: ActionsUnderWay = field(default_factory=ActionsUnderWay)
    allowances: Allowances | None = None
    """The tokens of owners. None: they are not limited."""
    approval_minutes: float = 30
    """Minutes after which a call that waits can no longer be approved."""
    facts: Facts | None = None
    """None where no facts are kept."""


ReadMode = Callable[[], Awaitable[Mode]]
"""Reads the mode that counts now. Raises `StorageUnavailable`, and `Replaced` in an attempt that another has
replaced: only its successor knows what people decide about the calls.
"""


@dataclass(frozen=True, kw_only=True)
class InvestigatedTurn:
    """One attempt at one turn. `mode` is that of the question; `read_mode` reads what it is now.

    `read_mode` is None if the mode does not change.
    """

    settings: InvestigationSettings
    records: TurnRecords
    results: TurnResults
    sheets: TurnSheets
    databases: SessionDatabases
    knowledge: ContextStore
    history: ConversationHistory
    run: Run
    mode: Mode = "ask"
    read_mode: ReadMode | None = None
    attempt: str = field(default_factory=new_id)

    def offered(self) -> Mapping[str, Tool]:
        return self.settings.registry.offered(self.mode, self.run.tool_sources)

    def parsed(self, call: CallRecord, mode: Mode) -> ParsedCall:
        """Raises `CallRefused`, also for a tool that may no longer be called."""
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        offered = self.settings.registry.offered(mode, self.run.tool_sources)
        return parse_call(ToolCall("", call.tool, arguments), offered)

    def earlier(self, call: CallRecord, steps: Sequence[StepRecord]) -> CallRecord | None:
        """Returns the latest of earlier calls with the same arguments, if there were several."""
        same = [
            each
            for step in steps
            for each in self.records.calls_of(step)
            if each.tool == call.tool and each.used_arguments == call.arguments and each.has_ended
        ]
        return same[-1] if len(same) >= _REPEATED else None

    def record(
        self,
        step: int,
        kind: StepKind,
        text: str,
        *,
        fault: str = "",
        call_ids: Sequence[str] = (),
        tokens_used: int = 0,
        context: Context | None = None,
        options: Sequence[str] = (),
    ) -> StepRecord:
        return replace(
            new_step(self.run, step, kind, text=without_images(text), model=self.settings.model.name),
            fault=fault,
            call_ids=list(call_ids),
            tokens_used=tokens_used,
            context=context,
            options=list(options),
        )

    async def read_head(self, call: CallRecord) -> Rows | None:
        return None if call.result is None else await self.results.head(call.id, call.result)

    def waited_ms(self, steps: Sequence[StepRecord]) -> int:
        """Returns how long people took, which counts for no limit."""
        waited = 0
        for step in steps:
            asked = [call for call in self.records.calls_of(step) if call.asked_at is not None]
            decided = [call.decided_at for call in asked if call.decided_at is not None]
            if decided:
                waited += max(decided) - min(call.asked_at or 0 for call in asked)
        return waited


def said_before(earlier: CallRecord) -> str:
    return cut_text(
        f"{earlier.text}\n(This call was made before with the same arguments. This is its result.)"
    )
