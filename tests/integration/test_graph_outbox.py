"""The outbox joins what is added at the same moment, and loses nothing of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from app.core.ids import new_id
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Document, Storage, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.modules.memory.graphiti.outbox import Outbox, OutboxEntry, entry_id
from migrations.runner import migrate
from tests.support.graph_memory import GROUPS


class GatedStorage(MeasuredStorage):
    """Its writes wait until they are let through, and fail while `fails`."""

    def __init__(self, store: Storage) -> None:
        super().__init__(store, CollectorRegistry())
        self.opened = asyncio.Event()
        self.reached = asyncio.Event()
        self.fails = False
        self.writes: list[int] = []

    async def create_missing(self, collection: str, documents: Sequence[Document]) -> None:
        self.writes.append(len(documents))
        self.reached.set()
        await self.opened.wait()
        if self.fails:
            raise StorageUnavailable("scripted")
        await super().create_missing(collection, documents)


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[GatedStorage]:
    async with open_sqlite(tmp_path / "kai.db") as opened:
        await migrate(opened)
        yield GatedStorage(opened)


def entry() -> OutboxEntry:
    group = GROUPS.user("ann")
    subject = new_id()
    return OutboxEntry(
        id=entry_id(subject, group),
        owner="ann",
        group=group,
        scope="user",
        kind="fact",
        subject_id=subject,
        session_id=None,
        connection_id=new_id(),
        added_at=1,
    )


async def test_what_is_added_during_a_write_is_written_together(storage: GatedStorage) -> None:
    outbox = Outbox(storage)
    first = asyncio.create_task(outbox.add([entry()]))
    await storage.reached.wait()
    others = [asyncio.create_task(outbox.add([entry(), entry()])) for _ in range(20)]
    await asyncio.sleep(0)
    storage.opened.set()
    await asyncio.gather(first, *others)
    assert storage.writes == [1, 40]
    assert await outbox.count([]) == 41


async def test_a_write_that_fails_fails_for_all_and_can_be_repeated(storage: GatedStorage) -> None:
    outbox = Outbox(storage)
    entries = [entry() for _ in range(5)]
    storage.fails = True
    storage.opened.set()
    failed = await asyncio.gather(*(outbox.add([each]) for each in entries), return_exceptions=True)
    assert [type(each) for each in failed] == [StorageUnavailable] * 5
    storage.fails = False
    await asyncio.gather(*(outbox.add([each]) for each in entries))
    assert await outbox.count([]) == 5


async def test_a_cancelled_caller_takes_nothing_of_the_others_along(storage: GatedStorage) -> None:
    outbox = Outbox(storage)
    first = asyncio.create_task(outbox.add([entry()]))
    await storage.reached.wait()
    second, third = (asyncio.create_task(outbox.add([entry()])) for _ in range(2))
    await asyncio.sleep(0)
    storage.reached.clear()
    first.cancel()
    await asyncio.wait([first])
    await storage.reached.wait()  # the second writes for the third
    second.cancel()
    await asyncio.wait([second])
    storage.opened.set()
    await third
    assert first.cancelled()
    assert second.cancelled()
    assert await outbox.count([]) == 1
