"""A Redis that has been demoted is left for the primary that its address leads to by then."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from app.core.best_effort_cache import best_effort_cache
from app.core.rates import Policy, open_rates
from app.core.settings import RedisSettings
from tests.support import redis_server as program
from tests.support.fault_proxy import FaultProxy, fault_proxy
from tests.support.redis_server import RedisServer, running_redis
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(
    not program.installed(), reason="Redis is not installed: apt-get install redis-server"
)


@pytest.fixture
async def address(redis_server: RedisServer) -> AsyncGenerator[FaultProxy]:
    """An address that leads to a Redis."""
    redis_server.empty()
    async with fault_proxy(redis_server.port) as proxy:
        yield proxy


async def fail_over(address: FaultProxy, demoted: RedisServer, promoted: RedisServer) -> None:
    """Open connections stay with the demoted one."""
    async with Redis.from_url(demoted.url) as redis:
        await redis.replicaof("127.0.0.1", promoted.port)
    address.target_port = promoted.port


@pytest.fixture
async def promoted(redis_server: RedisServer, tmp_path: Path) -> AsyncGenerator[RedisServer]:
    with running_redis(tmp_path) as other:
        yield other
        async with Redis.from_url(redis_server.url) as redis:
            await redis.replicaof("NO", "ONE")


async def test_the_cache_is_written_to_the_new_primary(
    redis_server: RedisServer, address: FaultProxy, promoted: RedisServer
) -> None:
    url = f"redis://127.0.0.1:{address.port}/0"
    async with best_effort_cache(url, timedelta(hours=1)) as cache, Redis.from_url(promoted.url) as there:
        await cache.put("one", b"before")
        await fail_over(address, redis_server, promoted)

        async def is_written() -> bool:
            await cache.put("two", b"after")
            return await there.get("two") == b"after"

        await until(is_written)


async def test_rates_are_counted_by_the_new_primary(
    redis_server: RedisServer, address: FaultProxy, promoted: RedisServer
) -> None:
    settings = RedisSettings(url=SecretStr(f"redis://127.0.0.1:{address.port}/0"))
    policy = Policy("requests", 3, window_seconds=60)
    async with open_rates(settings, [policy]) as rates, Redis.from_url(promoted.url) as there:

        async def is_counted() -> bool:
            return await rates.count("requests", "ada") is not None

        await until(is_counted)
        await fail_over(address, redis_server, promoted)

        async def is_counted_there() -> bool:
            return await is_counted() and bool(await there.keys("*"))

        await until(is_counted_there)
