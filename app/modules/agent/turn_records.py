"""Steps and calls of one turn, read from the store once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.modules.records.steps import (
    CallRecord,
    CallStatus,
    InvestigationRecords,
    KeptResult,
    StepRecord,
    call_id_of,
)


@dataclass
class TurnRecords:
    """The records of one turn, read from the store once. `message_id` names the turn."""

    records: InvestigationRecords
    message_id: str

    def __post_init__(self) -> None:
        self._steps: dict[int, StepRecord] = {}
        self._calls: dict[str, CallRecord] = {}

    async def find(self, step: int) -> StepRecord | None:
        """Returns a step, with its calls at hand."""
        if step not in self._steps:
            found = await self.records.step(self.message_id, step)
            if found is None:
                return None
            for call in await self.records.calls_of(found):
                self._calls[call.id] = call
            self._steps[step] = found
        return self._steps[step]

    async def up_to(self, step: int) -> list[StepRecord]:
        """Returns the steps from 0 up to this one, as far as they are stored."""
        found = [await self.find(each) for each in range(step + 1)]
        return [each for each in found if each is not None]

    async def keep(self, step: StepRecord, calls: Sequence[CallRecord] = ()) -> StepRecord:
        """Store a step, unless it is stored already. Returns the stored one, with its calls at hand."""
        kept, stored = await self.records.keep(step, calls)
        self._steps[kept.step] = kept
        self._calls.update({call.id: call for call in stored})
        return kept

    def known(self, call_id: str) -> CallRecord | None:
        """Returns a call as it was read or written last. Its status may have changed since."""
        return self._calls.get(call_id)

    async def call(self, call_id: str) -> CallRecord | None:
        """Returns a call. One that had not ended when it was read is read again."""
        known = self._calls.get(call_id)
        if known is None or not known.has_ended:
            known = await self.records.call(call_id)
            if known is not None:
                self._calls[call_id] = known
        return known

    async def change_call(
        self, call: CallRecord, changes: Mapping[str, JsonValue], was: Sequence[CallStatus]
    ) -> CallRecord | None:
        return self._noted(await self.records.change_call(call, changes, was))

    async def end_call(
        self, call: CallRecord, changes: Mapping[str, JsonValue], was: Sequence[CallStatus]
    ) -> CallRecord | None:
        return self._noted(await self.records.end_call(call, changes, was))

    async def lose(self, call: CallRecord) -> CallRecord | None:
        return self._noted(await self.records.lose(call))

    def _noted(self, changed: CallRecord | None) -> CallRecord | None:
        if changed is not None:
            self._calls[changed.id] = changed
        return changed

    def calls_of(self, step: StepRecord) -> list[CallRecord]:
        """Returns the calls of a step that was read."""
        return [self._calls[call_id] for call_id in step.call_ids if call_id in self._calls]

    def call_id(self, step: int, position: int) -> str:
        return call_id_of(self.message_id, step, position)

    async def find_result(self, call_id: str) -> KeptResult | None:
        """Returns the shape of the rows of a call."""
        call = await self.call(call_id)
        return None if call is None else call.result
