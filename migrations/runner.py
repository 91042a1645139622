"""Applies the numbered steps that a store has not seen, in order, and records them in the store."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from app.core.clock import now_ms
from app.core.errors import CannotRun
from app.core.ids import new_id
from app.core.storage.port import Collection, Document, DocumentExists, Equals, Field, Range, Storage
from migrations import (
    m0001_initial,
    m0002_knowledge,
    m0003_many_processes,
    m0004_usage,
    m0005_identity,
    m0006_titles_and_memories,
    m0007_order,
    m0008_model_choices,
)
from migrations.backfill import Progress

_RECORDS = Collection("migrations", [Field("number", "integer")])
_LEASES = Collection("leases", [Field("holder", "keyword"), Field("until", "integer")])
_LEASE_ID = str(UUID(int=1))
_LEASE_MS = 30_000
_LOOK_AGAIN_SECONDS = 0.1


@dataclass(frozen=True)
class Step:
    """One change of the store. It may be run again after it was broken off."""

    number: int
    name: str
    apply: Callable[[Storage, Progress], Awaitable[None]]


STEPS: Sequence[Step] = (
    Step(1, "initial", m0001_initial.migrate),
    Step(2, "knowledge", m0002_knowledge.migrate),
    Step(3, "many_processes", m0003_many_processes.migrate),
    Step(4, "usage", m0004_usage.migrate),
    Step(5, "identity", m0005_identity.migrate),
    Step(6, "titles_and_memories", m0006_titles_and_memories.migrate),
    Step(7, "order", m0007_order.migrate),
    Step(8, "model_choices", m0008_model_choices.migrate),
)


class StoreTooNew(CannotRun):
    """The store was written by a newer KAI. Upgrade this one, or give it another store."""


class StoreTooOld(CannotRun):
    """The store lacks steps that this KAI needs. Run `kai migrate`."""


def _silent(_: Step) -> Progress:
    async def progress(done: int, total: int) -> None:
        """Nobody watches."""

    return progress


async def missing_steps(storage: Storage, steps: Sequence[Step] = STEPS) -> list[Step]:
    """The steps that the store has not seen. Raises `StoreTooNew`."""
    await storage.create_collection(_RECORDS)
    records = (await storage.query(_RECORDS.name, [], limit=1_000)).items
    done = {cast("int", record["number"]) for record in records}
    if unknown := done - {step.number for step in steps}:
        raise StoreTooNew(
            f"The store has seen step {max(unknown)}, and this KAI knows steps up to {steps[-1].number}. "
            "Upgrade KAI, or give it another store (KAI_DATA_DIR, KAI_TYPESENSE__PREFIX)."
        )
    return [step for step in steps if step.number not in done]


async def check_up_to_date(storage: Storage) -> None:
    """Raises `StoreTooOld` or `StoreTooNew`."""
    if missing := await missing_steps(storage):
        raise StoreTooOld(f"The store lacks {len(missing)} steps that this KAI needs. Run: kai migrate")


async def migrate(
    storage: Storage, steps: Sequence[Step] = STEPS, watch: Callable[[Step], Progress] = _silent
) -> list[int]:
    """Bring the store up to date; returns the numbers of the steps that this call has applied.

    Of several that start at once one applies the steps, and the others wait for it: it holds a lease,
    renewed as it goes on, that runs out 30 s after its death. Raises `StoreTooNew`.
    """
    applied: list[int] = []
    while await missing_steps(storage, steps):
        lease = _Lease(storage)
        if not await lease.take():
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            continue
        try:
            for step in await missing_steps(storage, steps):
                await step.apply(storage, lease.kept_during(watch(step)))
                await _record(storage, step)
                applied.append(step.number)
        finally:
            await lease.give_back()
    await storage.create_collection(_RECORDS)  # learns what others have declared while this one waited
    return applied


async def _record(storage: Storage, step: Step) -> None:
    record: Document = {"id": str(UUID(int=step.number)), "number": step.number, "name": step.name}
    with suppress(DocumentExists):  # the lease had run out, and another was a moment faster
        await storage.create(_RECORDS.name, {**record, "applied_at": now_ms()})


class _Lease:
    """The right to change the store, for as long as it is renewed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._holder = new_id()

    async def take(self) -> bool:
        await self._storage.create_collection(_LEASES)
        with suppress(DocumentExists):
            await self._storage.create(_LEASES.name, {"id": _LEASE_ID, "holder": None, "until": 0})
        return await self._patch(_LEASE_MS, Range("until", below=now_ms()))

    async def give_back(self) -> None:
        await self._patch(0, Equals("holder", self._holder))

    def kept_during(self, progress: Progress) -> Progress:
        async def renewed(done: int, total: int) -> None:
            await self._patch(_LEASE_MS, Equals("holder", self._holder))
            await progress(done, total)

        return renewed

    async def _patch(self, for_ms: int, condition: Equals | Range) -> bool:
        changes: Document = {"holder": self._holder, "until": now_ms() + for_ms}
        return await self._storage.patch(_LEASES.name, _LEASE_ID, changes, where=[condition]) is not None
