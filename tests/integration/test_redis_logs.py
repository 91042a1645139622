"""Logs of runs in Redis: prompt while little is said, few writes when much is."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from app.core.bus.redis_client import redis_client
from app.core.bus.redis_keys import RedisKeys
from app.core.bus.redis_logs import RedisLogs
from app.core.ids import new_id
from tests.support.redis_server import RedisServer

GATHERED_SECONDS = 0.05


@asynccontextmanager
async def logs(server: RedisServer) -> AsyncGenerator[RedisLogs]:
    async with redis_client(server.url) as redis:
        opened = RedisLogs(redis, RedisKeys("logs:"))
        try:
            yield opened
        finally:
            await opened.aclose()


async def test_the_first_events_of_a_run_are_heard_elsewhere_without_being_gathered(
    redis_server: RedisServer,
) -> None:
    run_id = new_id()
    async with logs(redis_server) as saying, logs(redis_server) as hearing, hearing.follow(run_id) as log:
        writer, heard = saying.writer(run_id, 1), log.read(0, lambda: False)
        start = time.monotonic()
        for number in range(8):
            writer.append("status", str(number))
            assert (await asyncio.wait_for(anext(heard), 5)).data == str(number)
        assert time.monotonic() - start < 7 * GATHERED_SECONDS
        await writer.end("done", "{}")


async def test_what_is_said_fast_is_few_entries_and_all_of_it_is_heard(redis_server: RedisServer) -> None:
    run_id = new_id()
    async with logs(redis_server) as saying, logs(redis_server) as hearing, hearing.follow(run_id) as log:
        writer = saying.writer(run_id, 1)
        for number in range(300):
            writer.append("chunk", str(number))
            await asyncio.sleep(0.001)
        await writer.end("done", "{}")
        said = [entry.data async for entry in log.read(0, lambda: False)]
        async with redis_client(redis_server.url) as redis:
            entries = await redis.xlen(RedisKeys("logs:").log(run_id))
    assert said == [*map(str, range(300)), "{}"]
    assert entries < 30
