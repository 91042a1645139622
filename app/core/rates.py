"""Rate limits per owner in fixed windows; a window begins with the first request in it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import floor

from limits import RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.errors import StorageError
from pydantic import SecretStr

from app.core.settings import RedisSettings

PATIENCE_SECONDS = 0.2
"""The longest that a request waits for a count. Seconds."""

PAUSE_SECONDS = 1.0
"""Pause after a failed request to Redis. Seconds. Requests are not counted meanwhile."""

_MAX_CONNECTIONS = 32

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Policy:
    """A limit: `quota` requests of one owner in a window of `window_seconds`."""

    name: str
    quota: int
    window_seconds: int


@dataclass(frozen=True)
class RemainingQuota:
    """State of a policy after a request. `reset_seconds` are whole seconds, at least one, until the
    window ends.
    """

    policy: Policy
    remaining: int
    reset_seconds: int
    exceeded: bool


class Rates:
    """Counts requests by owner, in Redis, or in this process without Redis.

    If Redis does not answer, nothing is counted and nothing refused: a limit must not make KAI unavailable.
    """

    def __init__(self, storage: MemoryStorage | RedisStorage, policies: Sequence[Policy]) -> None:
        self._storage = storage
        self.policies = policies
        self._asked_again_at = 0.0

    async def count(self, name: str, owner: str) -> RemainingQuota | None:
        """Count a request of an owner. Returns None if there is no such policy, or Redis does not answer."""
        policy = next((each for each in self.policies if each.name == name), None)
        if policy is None or time.monotonic() < self._asked_again_at:
            return None
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self._count(policy, owner)
        except (StorageError, TimeoutError) as error:
            self._asked_again_at = time.monotonic() + PAUSE_SECONDS
            logger.warning("Redis does not answer, so no request is refused for its rate: %s", error)
            return None

    async def _count(self, policy: Policy, owner: str) -> RemainingQuota:
        # Not by the library's strategy for this: it tells no count, and asks for it again afterwards.
        key = RateLimitItemPerSecond(policy.quota, policy.window_seconds, policy.name).key_for(owner)
        used = await self._storage.incr(key, policy.window_seconds)
        left = await self._storage.get_expiry(key) - time.time()
        # Redis rounds what is left of a window to whole seconds: one more, against early retries.
        seconds = min(max(0, floor(left)) + 1, policy.window_seconds)
        return RemainingQuota(policy, max(0, policy.quota - used), seconds, exceeded=used > policy.quota)


@asynccontextmanager
async def open_rates(redis: RedisSettings, policies: Sequence[Policy]) -> AsyncGenerator[Rates]:
    """Opens counts in Redis, shared by all its users, or in memory. Does not need Redis to open."""
    if redis.url is None:
        yield Rates(MemoryStorage(), policies)
    else:
        async with _redis_storage(redis.url, redis.prefix) as storage:
            yield Rates(storage, policies)


@asynccontextmanager
async def _redis_storage(url: SecretStr, prefix: str) -> AsyncGenerator[RedisStorage]:
    # 0.3 s, for those who have one
    from redis.asyncio import BlockingConnectionPool  # noqa: PLC0415
    from redis.asyncio.retry import Retry  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.exceptions import ReadOnlyError  # noqa: PLC0415

    pool = BlockingConnectionPool.from_url(
        url.get_secret_value(),
        max_connections=_MAX_CONNECTIONS,
        timeout=PATIENCE_SECONDS,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[ReadOnlyError],  # tried no more, but the connection to a demoted primary is closed
    )
    try:
        yield RedisStorage(
            "redis://",  # the address has the password in it, and is for the pool alone
            wrap_exceptions=True,
            implementation="redispy",
            key_prefix=f"{prefix}rates",
            connection_pool=pool,  # type: ignore[arg-type]  # documented, but not in its types
        )
    finally:
        await pool.aclose()
