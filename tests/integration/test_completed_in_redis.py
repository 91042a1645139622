"""The stream of complete messages in Redis: bounded, and found again by itself."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from app.core.bus.completed import KINDS, Completed, Kind
from app.core.bus.port import BusUnavailable
from app.core.bus.redis_client import RedisClients, redis_clients
from app.core.bus.redis_completed import RedisCompletedEvents
from app.core.bus.redis_keys import RedisKeys
from tests.support.redis_server import RedisServer

LEASE_SECONDS = 30
EVENT = Completed("ann", "session", "message", "run", "complete")


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncIterator[RedisClients]:
    async with redis_clients(redis_server.url) as client:
        yield client


@pytest.fixture
def keys() -> RedisKeys:
    return RedisKeys(f"t{uuid4().hex}:")


def bus(redis: RedisClients, keys: RedisKeys) -> RedisCompletedEvents:
    return RedisCompletedEvents(redis, keys, LEASE_SECONDS)


async def work_off(events: RedisCompletedEvents, kind: Kind) -> int:
    settled = 0
    while (notice := await events.take(kind, 0.05)) is not None:
        await events.ack(kind, notice)
        settled += 1
    return settled


async def test_what_all_kinds_are_done_with_is_released(redis: RedisClients, keys: RedisKeys) -> None:
    for _ in range(5):
        await bus(redis, keys).publish(EVENT)
    assert await work_off(bus(redis, keys), "history") == 5
    await bus(redis, keys).take("memory", 0)
    assert await redis.quick.xlen(keys.completed) == 5
    assert await work_off(bus(redis, keys), "memory") == 4
    await bus(redis, keys).take("history", 0)
    assert await redis.quick.xlen(keys.completed) == 5  # the first is still being worked on


async def test_a_settled_stream_holds_no_more_than_its_last_event(
    redis: RedisClients, keys: RedisKeys
) -> None:
    for _ in range(5):
        await bus(redis, keys).publish(EVENT)
    for kind in KINDS:
        await work_off(bus(redis, keys), kind)
    await bus(redis, keys).take("history", 0)
    assert await redis.quick.xlen(keys.completed) == 1


async def test_events_after_redis_has_lost_its_data_are_heard(redis: RedisClients, keys: RedisKeys) -> None:
    events = bus(redis, keys)
    assert await events.take("history", 0) is None
    await redis.quick.delete(keys.completed)
    await events.publish(EVENT)
    notice = await events.take("history", 1)
    assert notice is not None
    assert notice.event == EVENT


async def test_a_redis_that_is_unavailable_is_said(keys: RedisKeys) -> None:
    async with redis_clients("redis://127.0.0.1:1/0") as unreachable:
        with pytest.raises(BusUnavailable, match="KAI_REDIS__URL"):
            await bus(unreachable, keys).publish(EVENT)
        with pytest.raises(BusUnavailable):
            await bus(unreachable, keys).take("history", 0)
