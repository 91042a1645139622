"""Connections to the Redis of the bus. Its failures are raised as errors of the bus."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from app.core.bus.port import BusUnavailable
from app.core.errors import CannotRun

BLOCKS_SECONDS = 2
"""The longest that a blocking call waits. Quiet connections are checked as often."""

_TIMEOUT_SECONDS = 2
_MAX_CONNECTIONS = 64

REDIS_FAILURES = (RedisError, OSError, TimeoutError)


@dataclass(frozen=True)
class RedisClients:
    """Clients of one server: one for calls that return at once, one for blocking calls."""

    quick: Redis
    patient: Redis


@asynccontextmanager
async def redis_clients(url: str) -> AsyncGenerator[RedisClients]:
    """Connects when first used. A call that takes 2 s (beyond its own waiting time) is retried once.

    Raises `CannotRun` if the URL has a parameter that the client does not support.
    """
    clients = RedisClients(_client(url, _TIMEOUT_SECONDS), _client(url, BLOCKS_SECONDS + _TIMEOUT_SECONDS))
    try:
        yield clients
    finally:
        await clients.quick.aclose()
        await clients.patient.aclose()


def _client(url: str, timeout_seconds: float) -> Redis:
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_MAX_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,  # for one of them to be free, when many calls come at once
            socket_timeout=timeout_seconds,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(ConstantBackoff(0.05), 1),
        )
        pool.connection_class(**pool.connection_kwargs)  # not connected yet, but it takes the parameters
    except (TypeError, ValueError, RedisError):
        raise CannotRun(
            "KAI_REDIS__URL has an unknown parameter, or a parameter with an invalid value. Remove it."
        ) from None
    return Redis.from_pool(pool)


@contextmanager
def translated_errors() -> Generator[None]:
    """Raises `BusUnavailable` if Redis is unavailable, slow, full or refuses."""
    try:
        yield
    except REDIS_FAILURES as error:
        raise BusUnavailable(_reason(error)) from error


def script(name: str) -> str:
    return (Path(__file__).parent / "lua" / f"{name}.lua").read_text()


def _reason(error: Exception) -> str:
    if isinstance(error, ResponseError) and not isinstance(error, RedisConnectionError):
        return "Redis refuses: it may be read-only or full (KAI_REDIS__URL)."
    return "Redis does not answer (KAI_REDIS__URL)."
