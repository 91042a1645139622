"""What every bus does with the events of complete messages."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from uuid import uuid4

import pytest

from app.core.bus.completed import Completed, CompletedEvents, Notice
from app.core.bus.local_completed import LocalCompletedEvents
from app.core.bus.redis_client import redis_clients
from app.core.bus.redis_completed import RedisCompletedEvents
from app.core.bus.redis_keys import RedisKeys
from tests.support.redis_server import RedisServer

LEASE_SECONDS = 0.3
SOON = 60.0

Open = Callable[[], AbstractAsyncContextManager[CompletedEvents]]
"""Opens the same bus, as another process would."""


def local(_: pytest.FixtureRequest) -> Open:
    events = LocalCompletedEvents(LEASE_SECONDS)

    @asynccontextmanager
    async def opened() -> AsyncIterator[CompletedEvents]:
        yield events

    return opened


def redis(request: pytest.FixtureRequest) -> Open:
    server: RedisServer = request.getfixturevalue("redis_server")
    keys = RedisKeys(f"t{uuid4().hex}:")

    @asynccontextmanager
    async def opened() -> AsyncIterator[CompletedEvents]:
        async with redis_clients(server.url) as client:
            yield RedisCompletedEvents(client, keys, LEASE_SECONDS)

    return opened


@pytest.fixture(params=[local, redis])
def reopen(request: pytest.FixtureRequest) -> Open:
    adapter: Callable[[pytest.FixtureRequest], Open] = request.param
    return adapter(request)


@pytest.fixture
async def events(reopen: Open) -> AsyncIterator[CompletedEvents]:
    async with reopen() as opened:
        yield opened


def event(name: str) -> Completed:
    return Completed("ann", "session", f"message {name}", f"run {name}", "complete")


async def taken(taking: Awaitable[Notice | None]) -> Notice:
    notice = await taking
    assert notice is not None
    return notice


async def test_every_kind_gets_every_event_in_order(events: CompletedEvents) -> None:
    for name in "abc":
        await events.publish(event(name))
    for kind in ("history", "memory"):
        assert [(await taken(events.take(kind, SOON))).event for _ in "abc"] == [*map(event, "abc")]


async def test_an_event_wakes_who_waits_for_it(events: CompletedEvents) -> None:
    waiting = asyncio.create_task(events.take("history", SOON))
    await asyncio.sleep(0)
    await events.publish(event("a"))
    notice = await taken(waiting)
    assert (notice.event, notice.tries) == (event("a"), 1)


async def test_where_nothing_comes_patience_ends(events: CompletedEvents) -> None:
    assert await events.take("history", 0.05) is None
    assert await events.take("history", 0) is None


async def test_two_consumers_share_the_events_of_a_kind(reopen: Open) -> None:
    async with reopen() as one, reopen() as other:
        await one.publish(event("a"))
        await one.publish(event("b"))
        shared = [await taken(each.take("memory", SOON)) for each in (one, other)]
        assert [notice.event for notice in shared] == [event("a"), event("b")]
        assert await other.take("memory", 0.05) is None


async def test_a_settled_event_does_not_come_again(events: CompletedEvents) -> None:
    await events.publish(event("a"))
    await events.ack("history", await taken(events.take("history", SOON)))
    assert await events.take("history", 2 * LEASE_SECONDS) is None


async def test_the_event_of_a_dead_consumer_goes_to_another_when_its_lease_is_over(reopen: Open) -> None:
    async with reopen() as other:
        async with reopen() as dead:
            await dead.publish(event("a"))
            first = await taken(dead.take("history", SOON))
        assert await other.take("history", 0) is None
        again = await taken(other.take("history", SOON))
        assert (again.event, first.tries, again.tries) == (event("a"), 1, 2)


async def test_a_lease_that_is_kept_does_not_run_out(reopen: Open) -> None:
    async with reopen() as one, reopen() as other:
        await one.publish(event("a"))
        notice = await taken(one.take("history", SOON))
        for _ in range(5):
            assert await other.take("history", LEASE_SECONDS / 2) is None
            await one.renew("history", notice)


async def test_who_lost_an_event_cannot_keep_it_from_the_one_who_has_it_now(reopen: Open) -> None:
    async with AsyncExitStack() as opened:
        slow, quick, third = [await opened.enter_async_context(reopen()) for _ in range(3)]
        await slow.publish(event("a"))
        lost = await taken(slow.take("history", SOON))
        await quick.ack("history", await taken(quick.take("history", SOON)))
        await slow.renew("history", lost)
        assert await third.take("history", 2 * LEASE_SECONDS) is None
