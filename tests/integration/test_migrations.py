"""Bringing a store up to date."""

import asyncio
import pkgutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import migrations
from app.core.storage.port import Collection, Field, Storage, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from migrations import m0001_initial, m0002_knowledge
from migrations.runner import STEPS, Step, StoreTooNew, migrate


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    async with open_sqlite(tmp_path / "kai.db") as opened:
        yield opened


async def make_notes(storage: Storage) -> None:
    await storage.create_collection(Collection("notes", [Field("owner", "keyword")]))


async def add_note(storage: Storage) -> None:
    await storage.put("notes", [{"id": "welcome"}])


async def fail(_: Storage) -> None:
    raise StorageUnavailable


NOTES = (Step(1, "notes", make_notes), Step(2, "welcome", add_note))


def test_every_numbered_module_is_a_step_in_order() -> None:
    modules = sorted(each.name for each in pkgutil.iter_modules(migrations.__path__) if each.name != "runner")
    assert modules == [f"m{step.number:04}_{step.name}" for step in STEPS]
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))


async def test_a_new_store_gets_all_collections(storage: Storage) -> None:
    assert await migrate(storage) == [step.number for step in STEPS]
    for collection in [*m0001_initial.COLLECTIONS, *m0002_knowledge.COLLECTIONS]:
        for field in collection.fields:
            if field.kind != "text":
                assert (await storage.query(collection.name, [], order_by=field.name)).items == []


async def test_a_step_is_recorded_with_its_name_and_time(storage: Storage) -> None:
    before = time.time_ns() // 1_000_000
    await migrate(storage, NOTES)
    first, second = (await storage.query("migrations", [])).items
    assert (first["id"], first["name"], second["id"], second["name"]) == ("0001", "notes", "0002", "welcome")
    assert isinstance(first["applied_at"], int)
    assert before <= first["applied_at"] <= time.time_ns() // 1_000_000


async def test_a_store_that_is_up_to_date_is_left_alone(storage: Storage) -> None:
    await migrate(storage, NOTES)
    records = (await storage.query("migrations", [])).items
    assert await migrate(storage, NOTES) == []
    assert (await storage.query("migrations", [])).items == records


async def test_only_missing_steps_are_applied_and_in_order(storage: Storage) -> None:
    await migrate(storage, NOTES[:1])
    assert await migrate(storage, NOTES) == [2]
    assert await storage.get("notes", "welcome") == {"id": "welcome"}


async def test_a_step_that_failed_is_applied_next_time(storage: Storage) -> None:
    with pytest.raises(StorageUnavailable):
        await migrate(storage, [NOTES[0], Step(2, "welcome", fail)])
    assert await migrate(storage, NOTES) == [2]


async def test_a_store_newer_than_the_program_is_refused_with_the_cure_and_left_alone(
    storage: Storage,
) -> None:
    await migrate(storage, NOTES)
    with pytest.raises(StoreTooNew, match="Upgrade KAI"):
        await migrate(storage, NOTES[:1])
    assert len((await storage.query("migrations", [])).items) == 2


async def test_two_starters_at_once_record_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "kai.db"
    async with open_sqlite(path) as one, open_sqlite(path) as other:
        await asyncio.gather(migrate(one), migrate(other))
        for storage in (one, other):
            assert len((await storage.query("migrations", [])).items) == len(STEPS)
            await storage.put("sessions", [{"id": "a"}])
