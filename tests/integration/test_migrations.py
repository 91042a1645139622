"""Numbered steps bring a store up to date, once each."""

import asyncio
from pathlib import Path

import pytest

from app.core.storage.port import Collection, Field, Storage
from app.core.storage.sqlite import open_sqlite
from migrations.runner import STEPS, Step, StoreTooNew, migrate


async def add_notes(storage: Storage) -> None:
    await storage.create_collection(Collection("notes", [Field("owner", "keyword")]))


LATER = [*STEPS, Step(len(STEPS) + 1, "notes", add_notes)]


async def test_a_fresh_store_gets_every_step_and_a_current_one_none(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "store.db") as storage:
        assert await migrate(storage) == [step.number for step in STEPS]
        assert await migrate(storage) == []
        assert await migrate(storage, LATER) == [LATER[-1].number]


async def test_two_starters_at_once_end_with_one_record_a_step(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "store.db") as one, open_sqlite(tmp_path / "store.db") as two:
        await asyncio.gather(migrate(one), migrate(two))
        assert len((await one.query("migrations", [])).items) == len(STEPS)


async def test_a_store_of_a_newer_program_is_refused_with_the_cure(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "store.db") as storage:
        await migrate(storage, LATER)
        with pytest.raises(StoreTooNew, match="Upgrade KAI"):
            await migrate(storage)


def test_steps_are_numbered_without_gaps() -> None:
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))
