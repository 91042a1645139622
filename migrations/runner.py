"""Applies the numbered steps that a store lacks, in order, and records them in the store.

A new step is a module `mNNNN_name.py` with a `migrate` of its own and an entry in `STEPS`; a short one needs
no module. A step that has been on the main branch is never rewritten, and its number is never used again:
stores remember both.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from app.core.clock import now_ms
from app.core.errors import CannotRun
from app.core.ids import id_of, new_id
from app.core.pairs import pair_keys
from app.core.storage.lease import Lease
from app.core.storage.port import Collection, Document, DocumentExists, Field, Query, Storage
from migrations import (
    m0001_initial,
    m0002_investigations,
    m0003_rules,
    m0004_approvals,
    m0005_mcp_tools,
    m0006_memory,
    m0007_schedules,
    m0009_earlier_forms,
    m0010_instance_keys,
    m0011_deliveries,
    m0012_comments,
    m0013_overviews,
    m0014_unkept_sessions,
    m0015_keyed_requests,
    m0016_webhooks,
)
from migrations.backfill import Progress, backfill

_RECORDS = Collection("migrations", [Field("number", "integer")])
_LEASE_ID = str(UUID(int=1))
_LEASE_MS = 30_000
_LOOK_AGAIN_SECONDS = 0.1
_CREATED = Field("created_at", "integer")
_UPDATED = Field("updated_at", "integer")


@dataclass(frozen=True)
class MigrationStep:
    """One change of the store. It is applied again if it was interrupted."""

    number: int
    name: str
    apply: Callable[[Storage, Progress], Awaitable[None]]


def _adding(fields: Mapping[str, Sequence[Field]]) -> Callable[[Storage, Progress], Awaitable[None]]:
    """Returns a step that declares fields of collections. Documents of before are found by those that they
    have.
    """

    async def migrate(storage: Storage, progress: Progress) -> None:
        for number, (collection, added) in enumerate(fields.items(), 1):
            await storage.add_fields(collection, added)
            await progress(number, len(fields))

    return migrate


async def _key_metadata(storage: Storage, progress: Progress) -> None:
    """Set the keys by which sessions and runs of before are found by their metadata."""

    def key(document: Document) -> Document:
        metadata = document.get("metadata")
        if document.get("metadata_keys") or not isinstance(metadata, dict) or not metadata:
            return document
        return {**document, "metadata_keys": [*pair_keys(metadata)]}

    for collection in ("sessions", "runs"):
        await backfill(storage, collection, key, progress=progress)


STEPS: Sequence[MigrationStep] = (
    MigrationStep(1, "initial", m0001_initial.migrate),
    MigrationStep(2, "investigations", m0002_investigations.migrate),
    MigrationStep(3, "rules", m0003_rules.migrate),
    MigrationStep(4, "approvals", m0004_approvals.migrate),
    MigrationStep(5, "mcp_tools", m0005_mcp_tools.migrate),
    MigrationStep(6, "memory", m0006_memory.migrate),
    MigrationStep(7, "schedules", m0007_schedules.migrate),
    MigrationStep(9, "earlier_forms", m0009_earlier_forms.migrate),
    MigrationStep(10, "instance_keys", m0010_instance_keys.migrate),
    MigrationStep(11, "deliveries", m0011_deliveries.migrate),
    MigrationStep(12, "comments", m0012_comments.migrate),
    MigrationStep(13, "overviews", m0013_overviews.migrate),
    MigrationStep(14, "unkept_sessions", m0014_unkept_sessions.migrate),
    MigrationStep(15, "keyed_requests", m0015_keyed_requests.migrate),
    MigrationStep(16, "webhooks", m0016_webhooks.migrate),
    MigrationStep(17, "bytes_read", _adding({"usage": [Field("bytes_read", "integer")]})),
    MigrationStep(
        18,
        "lists",
        _adding(
            {
                "boards": [_CREATED],
                "schedules": [_UPDATED],
                "webhooks": [_UPDATED],
                "examples": [_CREATED, _UPDATED],
                "glossary": [_CREATED, _UPDATED],
                "instructions": [_CREATED, _UPDATED],
                "facts": [_CREATED],
                "database_connections": [_CREATED],
                "api_keys": [_CREATED],
                "runs": [Field("metadata_keys", "keywords")],
            }
        ),
    ),
    MigrationStep(19, "metadata_keys", _key_metadata),
)

RETIRED = frozenset(
    {
        (2, "knowledge"),
        (3, "many_processes"),
        (4, "usage"),
        (5, "identity"),
        (6, "titles_and_memories"),
        (7, "order"),
        (8, "model_choices"),
    }
)
"""Steps that followed an earlier `initial`. They were replaced by one new `initial`, and the numbers up to 7
were used again; `earlier_forms` does what the present ones leave undone in a store that has these.
"""
_LAST_OF_EARLIER = "conversation_memories"
"""Collection that the last of the earlier steps and the present `initial` create."""
_OTHER_STORE = "give this one another store (KAI_DATA_DIR, KAI_TYPESENSE__PREFIX)."


class StoreTooNew(CannotRun):
    """The store was written by a newer KAI. Upgrade this one, or give it another store."""


class StoreTooOld(CannotRun):
    """The store lacks steps that this KAI needs. Run `kai migrate`."""


class StoreUnknown(CannotRun):
    """The store has steps that are no earlier ones of this KAI's. Give it another store."""


def silent(_: MigrationStep) -> Progress:
    """Returns what reports nothing."""

    async def progress(done: int, total: int) -> None:
        """Report nothing."""

    return progress


async def missing_steps(storage: Storage, steps: Sequence[MigrationStep] = STEPS) -> list[MigrationStep]:
    """Returns the steps that the store lacks, by number and name. Raises `StoreTooNew` or `StoreUnknown`."""
    await storage.create_collection(_RECORDS)
    records = (await storage.query(_RECORDS.name, Query(limit=1_000))).items
    done = {
        (number, str(record["name"])) for record in records if isinstance(number := record["number"], int)
    }
    known = {(step.number, step.name) for step in steps}
    if unknown := done - known - RETIRED:
        number, name = max(unknown)
        if number > steps[-1].number:
            raise StoreTooNew(
                f"The store has step {number}, and this KAI knows steps up to {steps[-1].number}. "
                f"Upgrade KAI, or {_OTHER_STORE}"
            )
        raise StoreUnknown(
            f"The store has step {number} by the name {name!r}, which this KAI does not know. Nothing was "
            f"changed. Keep the store for the KAI that wrote it, and {_OTHER_STORE}"
        )
    if (1, "initial") in done and not await _has_collection(storage, _LAST_OF_EARLIER):
        raise StoreUnknown(
            f"The store has no {_LAST_OF_EARLIER}: a KAI wrote it that is too old for this one. Nothing was "
            f"changed. Keep the store for that KAI, and {_OTHER_STORE}"
        )
    return [step for step in steps if (step.number, step.name) not in done]


async def _has_collection(storage: Storage, name: str) -> bool:
    """True if the store has the collection. Another process may have created it since this one looked."""
    try:
        await storage.get(name, _LEASE_ID)
    except KeyError:
        return False
    return True


async def check_up_to_date(storage: Storage) -> None:
    """Raises `StoreTooOld` or `StoreTooNew`."""
    if missing := await missing_steps(storage):
        raise StoreTooOld(
            f"The store is older than this KAI (steps missing: {len(missing)}). Run: kai migrate"
        )


async def migrate(
    storage: Storage,
    steps: Sequence[MigrationStep] = STEPS,
    watch: Callable[[MigrationStep], Progress] = silent,
) -> list[int]:
    """Bring the store up to date. Returns the numbers of the steps that this call applied.

    Of several processes that start at once, one applies the steps and the others wait for it. It holds a
    lease, which each report of progress renews; if it dies, the lease expires after 30 s.
    Raises `StoreTooNew`.
    """
    applied: list[int] = []
    while await missing_steps(storage, steps):
        lease = Lease(storage, _LEASE_ID, new_id(), for_ms=_LEASE_MS)
        if not await lease.take():
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            continue
        try:
            for step in await missing_steps(storage, steps):
                await step.apply(storage, _renewed(lease, watch(step)))
                await _record(storage, step)
                applied.append(step.number)
        finally:
            await lease.release()
    await storage.create_collection(
        _RECORDS
    )  # declares the collection to this storage, which may only have waited
    return applied


def _renewed(lease: Lease, progress: Progress) -> Progress:
    async def renewed(done: int, total: int) -> None:
        await lease.renew()
        await progress(done, total)

    return renewed


async def _record(storage: Storage, step: MigrationStep) -> None:
    record_id = id_of(str(UUID(int=step.number)), step.name)
    record: Document = {"id": record_id, "number": step.number, "name": step.name}
    with suppress(DocumentExists):  # the lease expired, and another process was faster
        await storage.create(_RECORDS.name, {**record, "applied_at": now_ms()})
