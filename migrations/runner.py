"""Applies the numbered steps that a store has not seen, in order, and records them in the store."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from app.core.clock import now_ms
from app.core.storage.port import Collection, Document, DocumentExists, Storage
from migrations import m0001_initial, m0002_knowledge

_RECORD = Collection("migrations", [])


@dataclass(frozen=True)
class Step:
    """One change of the store. It may be run again after it was broken off."""

    number: int
    name: str
    apply: Callable[[Storage], Awaitable[None]]


STEPS: Sequence[Step] = (
    Step(1, "initial", m0001_initial.migrate),
    Step(2, "knowledge", m0002_knowledge.migrate),
)


class StoreTooNew(Exception):
    """The store was written by a newer KAI. Upgrade this one, or give it another store."""


async def migrate(storage: Storage, steps: Sequence[Step] = STEPS) -> list[int]:
    """Bring the store up to date; returns the numbers of the steps applied. Raises `StoreTooNew`."""
    await storage.create_collection(_RECORD)
    records = (await storage.query(_RECORD.name, [], limit=1_000)).items
    done = {int(str(record["id"])) for record in records}
    if unknown := done - {step.number for step in steps}:
        raise StoreTooNew(
            f"The store has seen step {max(unknown)}, and this KAI knows steps up to {steps[-1].number}. "
            "Upgrade KAI, or set KAI_DATA_DIR to another folder."
        )
    missing = [step for step in steps if step.number not in done]
    for step in missing:
        await step.apply(storage)
        record: Document = {
            "id": f"{step.number:04}",
            "name": step.name,
            "applied_at": now_ms(),
        }
        with suppress(DocumentExists):  # another starter was a moment faster
            await storage.create(_RECORD.name, record)
    return [step.number for step in missing]
