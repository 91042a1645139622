"""Work that repeats in the background."""

import asyncio

import pytest

from app.core.errors import CannotRun
from app.core.tasks import Loops


class Work:
    """Raises these failures, one each time (None: nothing), and then succeeds."""

    def __init__(self, *failures: Exception | None) -> None:
        self._failures = [*failures]
        self.times = 0
        self.has_succeeded = asyncio.Event()

    async def do(self) -> None:
        self.times += 1
        if not self._failures:
            self.has_succeeded.set()
        elif (failure := self._failures.pop(0)) is not None:
            raise failure


async def test_work_begins_at_once_and_ends_with_its_owner() -> None:
    work = Work()
    async with Loops("tests") as loops, asyncio.timeout(60):
        loops.every(3_600, "work", work.do)
        await work.has_succeeded.wait()
    assert work.times == 1
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "tests: work"]


async def test_an_outage_is_logged_once_and_a_defect_each_time(caplog: pytest.LogCaptureFixture) -> None:
    away = CannotRun("The store is unavailable.")
    work = Work(away, away, ZeroDivisionError(), away, ZeroDivisionError())
    async with Loops("tests") as loops, asyncio.timeout(60):
        loops.every(0, "work", work.do)
        await work.has_succeeded.wait()
    assert [each.message for each in caplog.records] == [
        "tests: work: waits and tries again: The store is unavailable.",
        "tests: work: failed and begins again",
        "tests: work: failed and begins again",
    ]


async def test_the_next_outage_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    work = Work(CannotRun("First."), None, CannotRun("Second."))
    async with Loops("tests") as loops, asyncio.timeout(60):
        loops.every(0, "work", work.do)
        await work.has_succeeded.wait()
    assert [each.message.rpartition(": ")[2] for each in caplog.records] == ["First.", "Second."]
