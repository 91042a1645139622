"""Connections to the Redis of the bus, and its failures in the bus's own words."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from app.core.bus.port import BusUnavailable

BLOCKS_SECONDS = 2
"""How long a call may wait for something to happen; a quiet connection is looked at as often."""

_TIMEOUT_SECONDS = 3
_MAX_CONNECTIONS = 200
_RETRY = Retry(ConstantBackoff(0.05), 1)

REDIS_FAILURES = (RedisError, OSError, TimeoutError)


@asynccontextmanager
async def redis_client(url: str) -> AsyncGenerator[Redis]:
    """Connects when first used; a call that takes 3 s longer than it may wait for news has failed."""
    client = Redis.from_url(
        url,
        socket_timeout=BLOCKS_SECONDS + _TIMEOUT_SECONDS,
        socket_connect_timeout=_TIMEOUT_SECONDS,
        max_connections=_MAX_CONNECTIONS,
        retry=_RETRY,
    )
    try:
        yield client
    finally:
        await client.aclose()


@contextmanager
def translated_errors() -> Generator[None]:
    """Raises `BusUnavailable` when Redis is away, slow, full or refuses."""
    try:
        yield
    except REDIS_FAILURES as error:
        raise BusUnavailable(_told(error)) from error


def script(name: str) -> str:
    return (Path(__file__).parent / "lua" / f"{name}.lua").read_text()


def _told(error: Exception) -> str:
    if isinstance(error, ResponseError) and not isinstance(error, RedisConnectionError):
        return "Redis refuses: it may be read-only or full (KAI_REDIS__URL)."
    return "Redis does not answer (KAI_REDIS__URL)."
