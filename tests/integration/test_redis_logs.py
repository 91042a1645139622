"""Logs of runs in Redis: few writes however much is said."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from app.core.bus.redis_client import redis_clients
from app.core.bus.redis_keys import RedisKeys
from app.core.bus.redis_logs import RedisLogs
from app.core.ids import new_id
from tests.support.redis_server import RedisServer

GATHERING_SECONDS = 0.05
"""After a burst of eight, what is said in so long a time is one entry."""


@asynccontextmanager
async def logs(server: RedisServer) -> AsyncGenerator[RedisLogs]:
    async with redis_clients(server.url) as clients:
        opened = RedisLogs(clients, RedisKeys("logs:"))
        try:
            yield opened
        finally:
            await opened.aclose()


async def test_what_is_said_fast_is_few_entries_and_all_of_it_is_heard(redis_server: RedisServer) -> None:
    run_id = new_id()
    async with logs(redis_server) as saying, logs(redis_server) as hearing, hearing.follow(run_id) as log:
        writer = saying.writer(run_id, 1)
        start = time.monotonic()
        for number in range(300):
            writer.append("chunk", str(number))
            await asyncio.sleep(0.001)
        await writer.end("done", "{}")
        seconds = time.monotonic() - start
        said = [entry.data async for entry in log.read(0, lambda: False)]
        async with redis_clients(redis_server.url) as redis:
            entries = await redis.quick.xlen(RedisKeys("logs:").log(run_id))
    assert said == [*map(str, range(300)), "{}"]
    assert entries < 15 + seconds / GATHERING_SECONDS
