"""Best-effort Redis cache; the store is the source of truth."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, RedisError

_PATIENCE_SECONDS = 0.05
"""Timeout of a command. A cache miss costs two commands, so at most 100 ms."""

_REMOVAL_SECONDS = 2.0
"""Timeout of a removal, whose failure leaves words that were deleted."""

_PAUSE_SECONDS = 1.0
_MAX_CONNECTIONS = 1_000


class BestEffortCache:
    """Cache whose methods never fail: a Redis that is unavailable or slow counts as empty for a second."""

    def __init__(self, redis: Redis, lifetime: timedelta) -> None:
        self._redis = redis
        self._lifetime = lifetime
        self._is_unavailable_until = 0.0

    async def get(self, key: str) -> bytes | None:
        async with self._attempt():
            found = None if self._is_unavailable else await self._redis.get(key)
            return found.encode() if isinstance(found, str) else found
        return None

    async def put(self, key: str, text: bytes) -> None:
        async with self._attempt():
            if not self._is_unavailable:
                await self._redis.set(key, text, ex=self._lifetime)

    async def remove(self, key: str) -> None:
        """Remove a text; tried also while Redis counts as empty. If that fails, the text stays until its
        lifetime ends.
        """
        async with self._attempt(_REMOVAL_SECONDS):
            await self._redis.delete(key)

    @property
    def _is_unavailable(self) -> bool:
        return time.monotonic() < self._is_unavailable_until

    @asynccontextmanager
    async def _attempt(self, patience_seconds: float | None = None) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(patience_seconds or _PATIENCE_SECONDS):
                yield
        except (RedisError, OSError, TimeoutError):
            self._is_unavailable_until = time.monotonic() + _PAUSE_SECONDS


@asynccontextmanager
async def best_effort_cache(url: str, lifetime: timedelta) -> AsyncGenerator[BestEffortCache]:
    """Connects when first used."""
    redis = Redis.from_url(
        url,
        max_connections=_MAX_CONNECTIONS,
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[ReadOnlyError],  # tried no more, but the connection to a demoted primary is closed
    )
    try:
        yield BestEffortCache(redis, lifetime)
    finally:
        await redis.aclose()
