"""Who listens for complete messages: repeats what failed, gives up in the end, and stops between events."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from app.core.bus.completed import Completed, Kind, Notice
from app.core.bus.listener import MAX_TRIES, Listener
from app.core.bus.local_completed import LocalCompletedEvents
from app.core.storage.port import StorageUnavailable
from tests.support.waiting import until

LEASE_SECONDS = 0.05
EVENT = Completed("ann", "session 1", "message 2", "run 3", "complete")


@asynccontextmanager
async def listening(
    work: Callable[[Completed], Awaitable[None]], seconds: float = 5
) -> AsyncIterator[LocalCompletedEvents]:
    events = LocalCompletedEvents(LEASE_SECONDS)
    listener = Listener(events, "history", work, 1, LEASE_SECONDS)
    listener.start()
    yield events
    await listener.stop(seconds)


async def test_what_fails_is_tried_five_times_and_then_given_up_with_its_ids(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried: list[Completed] = []

    async def fail(event: Completed) -> None:
        tried.append(event)
        raise ValueError("a defect")

    async def given_up() -> bool:
        return any("up after" in record.message for record in caplog.records)

    with caplog.at_level(logging.ERROR):
        async with listening(fail) as events:
            await events.publish(EVENT)
            await until(given_up)
    assert tried == [EVENT] * MAX_TRIES
    said = next(record for record in caplog.records if "up after" in record.message)
    assert said.levelno == logging.ERROR
    assert all(each in said.message for each in ("session 1", "message 2", "run 3"))


async def test_a_store_that_is_unavailable_is_waited_for_and_counts_no_try() -> None:
    tries = iter([StorageUnavailable("away"), None])
    done = asyncio.Event()

    async def work(_: Completed) -> None:
        if (failure := next(tries)) is not None:
            raise failure
        done.set()

    async with listening(work) as events, asyncio.timeout(60):
        await events.publish(EVENT)
        await done.wait()


async def test_a_stop_lets_the_present_event_end_and_takes_no_other() -> None:
    begun, release, ended = asyncio.Event(), asyncio.Event(), []

    async def work(event: Completed) -> None:
        begun.set()
        await release.wait()
        ended.append(event)

    async with listening(work) as events, asyncio.timeout(60):
        await events.publish(EVENT)
        await events.publish(EVENT)
        await begun.wait()
        asyncio.get_running_loop().call_later(3 * LEASE_SECONDS, release.set)
    assert ended == [EVENT]
    assert await events.take("history", 1) is not None


async def test_a_stop_does_not_wait_for_ever_and_the_event_comes_again() -> None:
    begun = asyncio.Event()

    async def work(_: Completed) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with listening(work, seconds=0.05) as events, asyncio.timeout(60):
        await events.publish(EVENT)
        await begun.wait()
    again = await events.take("history", 5)
    assert again is not None
    assert again.tries == 2


class FaultyEvents(LocalCompletedEvents):
    """Have a defect that shows once."""

    faults = 1

    async def take(self, kind: Kind, patience_seconds: float) -> Notice | None:
        if self.faults:
            self.faults -= 1
            raise TypeError("an event of another version")
        return await super().take(kind, patience_seconds)


async def test_a_listener_goes_on_after_a_defect_in_taking_an_event(caplog: pytest.LogCaptureFixture) -> None:
    heard = asyncio.Event()

    async def work(_: Completed) -> None:
        heard.set()

    events = FaultyEvents(LEASE_SECONDS)
    listener = Listener(events, "history", work, 1, LEASE_SECONDS)
    listener.start()
    await events.publish(EVENT)
    await asyncio.wait_for(heard.wait(), 60)
    await listener.stop(5)
    assert [record.message for record in caplog.records if record.exc_info] == [
        "history failed to take a message, and goes on"
    ]
