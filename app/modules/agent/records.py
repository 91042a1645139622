"""Steps and calls of investigations in the store.

One record serves the next prompt, the stream after a reset, the routes, and a crash: what is stored is not
done again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, cast

from pydantic import JsonValue, TypeAdapter

from app.core.ids import id_of
from app.core.storage.port import AnyOf, Condition, Document, DocumentExists, Equals, Storage
from app.modules.tools.results import KeptResult, call_id_of
from graph.state import Context, Finding

CallStatus = Literal["proposed", "begun", "done", "failed"]
StepKind = Literal["opening", "calls", "fault", "answer", "question"]
_MOST_RECORDS = 1_000


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """A call of a tool. `text` is what the model reads; `result` is the shape of the rows that are stored
    under the id of the call.
    """

    id: str
    owner: str
    session_id: str
    message_id: str
    run_id: str
    step: int
    position: int
    tool: str
    category: str
    arguments: dict[str, JsonValue]
    status: CallStatus
    text: str = ""
    is_error: bool = False
    result: KeptResult | None = None
    chart: dict[str, JsonValue] | None = None
    created_at: int
    begun_at: int | None = None
    ended_at: int | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in ("done", "failed")

    @property
    def elapsed_ms(self) -> int:
        return max(0, (self.ended_at or 0) - (self.begun_at or self.ended_at or 0))


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A step. Step 0 holds what was found for the question before the first step. Times are epoch
    milliseconds.
    """

    id: str
    owner: str
    session_id: str
    message_id: str
    step: int
    kind: StepKind
    text: str
    """What the model wrote, or the plan. For the last step the answer or the question back."""
    fault: str = ""
    """What was wrong with the reply, in words for the model."""
    call_ids: list[str]
    model: str = ""
    tokens_used: int = 0
    created_at: int
    context: Context | None = None
    findings: list[Finding]
    main_result: str | None = None
    options: list[str]
    limit_reached: bool = False
    proposed: list[CallRecord] = field(default_factory=list)
    """The calls as they were when the step was chosen: step and calls are one document, so they are stored
    together or not at all.
    """


_STEP = TypeAdapter(StepRecord)
_CALL = TypeAdapter(CallRecord)


class InvestigationRecords:
    """Every method raises `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def keep(
        self, step: StepRecord, calls: Sequence[CallRecord] = ()
    ) -> tuple[StepRecord, Sequence[CallRecord]]:
        """Store a step and its calls, unless the step is stored already. Returns what is stored.

        A worker that was frozen may come here after another one went on without it: then its step does not
        count, and changes no call.
        """
        chosen = replace(step, proposed=list(calls))
        try:
            await self._storage.create("agent_steps", _document(chosen))
        except DocumentExists:
            kept = await self.step(step.message_id, step.step)
            return (chosen, calls) if kept is None else (kept, await self.calls_of(kept))
        await self._create(calls)
        return chosen, calls

    async def _create(self, calls: Sequence[CallRecord]) -> None:
        await asyncio.gather(*map(self._create_call, calls))

    async def _create_call(self, call: CallRecord) -> None:
        with suppress(DocumentExists):
            await self._storage.create("tool_calls", _document(call))

    async def step(self, message_id: str, step: int) -> StepRecord | None:
        found = await self._storage.get("agent_steps", step_id(message_id, step))
        return None if found is None else _STEP.validate_python(found)

    async def call(self, call_id: str) -> CallRecord | None:
        found = await self._storage.get("tool_calls", call_id)
        return None if found is None else _CALL.validate_python(found)

    async def calls_of(self, step: StepRecord) -> list[CallRecord]:
        """Returns the calls of a step, in the model's order. After a crash some may be yet to be stored."""
        found = await asyncio.gather(*map(self.call, step.call_ids))
        if None in found and step.proposed:
            await self._create(step.proposed)
            found = await asyncio.gather(*map(self.call, step.call_ids))
        return [call for call in found if call is not None]

    async def change_call(
        self, call: CallRecord, changes: Mapping[str, JsonValue], was: Sequence[CallStatus]
    ) -> CallRecord | None:
        """Returns the changed call. Returns None if its status is another one by now."""
        where: list[Condition] = [AnyOf("status", was)]
        changed = await self._storage.patch("tool_calls", call.id, changes, where=where)
        return None if changed is None else _CALL.validate_python(changed)

    async def of_message(self, message_id: str) -> list[tuple[StepRecord, list[CallRecord]]]:
        """Returns all steps of an answer with their calls, without step 0."""
        where = [Equals("message_id", message_id)]
        steps, calls = await asyncio.gather(
            self._storage.query("agent_steps", where, limit=_MOST_RECORDS),
            self._storage.query("tool_calls", where, limit=_MOST_RECORDS),
        )
        by_id = {call.id: call for call in map(_CALL.validate_python, calls.items)}
        found = sorted(map(_STEP.validate_python, steps.items), key=lambda each: each.step)
        return [
            (each, [by_id[call_id] for call_id in each.call_ids if call_id in by_id])
            for each in found
            if each.step > 0
        ]


def step_id(message_id: str, step: int) -> str:
    """Returns the id of a step: the same step of the same turn has the same id again."""
    return id_of(message_id, f"agent step {step}")


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
        changed = await self.records.change_call(call, changes, was)
        if changed is not None:
            self._calls[call.id] = changed
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


def _document(record: StepRecord | CallRecord) -> Document:
    return cast("Document", asdict(record))
