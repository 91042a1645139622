"""Work in threads that callers stop waiting for."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from app.core.bounded_threads import BoundedThreads, WorkTimedOut
from tests.support.waiting import until

OWNER = "alice"


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_a_caller_stops_waiting_at_the_limit_and_the_thread_is_counted_until_it_ends(
    released: threading.Event,
) -> None:
    threads = BoundedThreads(1, 0.05, "test")
    with pytest.raises(WorkTimedOut) as late:
        await threads.run(OWNER, released.wait)
    assert late.value.started
    assert threads.abandoned == 1
    with pytest.raises(WorkTimedOut) as busy:
        await threads.run(OWNER, lambda: 1)
    assert not busy.value.started
    assert threads.abandoned == 1
    released.set()

    async def is_free() -> bool:
        return threads.abandoned == 0

    await until(is_free)
    assert await BoundedThreads(1, 60, "test").run(OWNER, lambda: 2) == 2


async def test_a_cancelled_caller_leaves_at_once(released: threading.Event) -> None:
    threads = BoundedThreads(1, 60, "test")
    started = threading.Event()

    def work() -> None:
        started.set()
        released.wait()

    task = asyncio.create_task(threads.run(OWNER, work))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert threads.abandoned == 1


async def test_a_timeout_of_the_work_itself_is_passed_on() -> None:
    def work() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await BoundedThreads(1, 60, "test").run(OWNER, work)


async def test_one_owner_leaves_half_of_the_threads_to_others(released: threading.Event) -> None:
    threads = BoundedThreads(4, 60, "test")
    taken = [asyncio.create_task(threads.run(OWNER, released.wait)) for _ in range(20)]
    assert await asyncio.gather(*(threads.run("bob", lambda: 2) for _ in range(20))) == [2] * 20
    released.set()
    assert all(await asyncio.gather(*taken))


async def test_work_that_no_caller_waits_for_keeps_its_place_in_its_owners_share(
    released: threading.Event,
) -> None:
    threads = BoundedThreads(2, 0.05, "test")
    with pytest.raises(WorkTimedOut) as late:
        await threads.run(OWNER, released.wait)
    assert late.value.started
    with pytest.raises(WorkTimedOut) as waiting:
        await threads.run(OWNER, lambda: 1)
    assert waiting.value.own
    assert not waiting.value.started
    released.set()

    async def is_free() -> bool:
        with suppress(WorkTimedOut):
            return await threads.run(OWNER, lambda: True)
        return False

    await until(is_free)
