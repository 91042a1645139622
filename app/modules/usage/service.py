"""Quotas of owners: checked before runs and sessions begin. Tokens are counted when they are spent."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from weakref import WeakValueDictionary

from app.core.clock import now_ms
from app.core.llm.calls import metered
from app.core.storage.port import StorageUnavailable
from app.modules.usage.errors import TokensSpent, TooManyRuns, TooManySessions
from app.modules.usage.repository import UsageRepository

_Counted = Literal["runs", "sessions", "tokens"]

_DAY_MS = 86_400_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Quotas:
    """Limits of each owner; None is no limit. `runs` are open runs, waiting ones included."""

    runs: int | None
    sessions: int | None
    tokens_per_day: int | None


@dataclass(frozen=True)
class Usage:
    """Current usage of an owner. `tokens_reset_at` is the next midnight UTC in epoch milliseconds."""

    runs: int
    sessions: int
    tokens_today: int
    tokens_reset_at: int


class Allowances:
    """Quotas of owners, besides rate limits.

    Checks hold a lock of this process only, so each of several processes may allow one too many.
    """

    def __init__(
        self, repository: UsageRepository, quotas: Quotas, clock: Callable[[], int] = now_ms
    ) -> None:
        self.quotas = quotas
        self._repository = repository
        self._clock = clock
        self._locks: WeakValueDictionary[tuple[_Counted, str], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def new_run(self, owner: str) -> AsyncGenerator[None]:
        """Check the quotas; begin a run within the block. Raises `TokensSpent` or `TooManyRuns`."""
        await self._check_tokens(owner)
        if self.quotas.runs is None:
            yield
            return
        async with self._lock("runs", owner):
            if await self._repository.runs(owner) >= self.quotas.runs:
                raise TooManyRuns(self.quotas.runs)
            yield

    @asynccontextmanager
    async def new_session(self, owner: str) -> AsyncGenerator[None]:
        """Check the quota; store a session within the block. Raises `TooManySessions`."""
        if self.quotas.sessions is None:
            yield
            return
        async with self._lock("sessions", owner):
            if await self._repository.sessions(owner) >= self.quotas.sessions:
                raise TooManySessions(self.quotas.sessions)
            yield

    @asynccontextmanager
    async def charged(self, owner: str) -> AsyncGenerator[None]:
        """Count the tokens of the models called within the block, where tokens are limited."""
        if self.quotas.tokens_per_day is None:
            yield
            return
        with metered() as meter:
            try:
                yield
            finally:
                await self.spent(owner, meter.tokens)

    async def spent(self, owner: str, tokens: int) -> None:
        """Count tokens in the owner's day, where tokens are limited. Lost with a warning if the store is
        unavailable."""
        if tokens == 0 or self.quotas.tokens_per_day is None:
            return
        try:
            async with self._lock("tokens", owner):  # a lock is faster than retries
                await self._repository.add_tokens(owner, self._clock() // _DAY_MS, tokens)
        except StorageUnavailable:
            logger.warning("the store is unavailable: %d tokens are not counted for their day", tokens)

    async def usage(self, owner: str) -> Usage:
        day = self._clock() // _DAY_MS
        runs, sessions, tokens = await asyncio.gather(
            self._repository.runs(owner),
            self._repository.sessions(owner),
            self._tokens(owner, day),
        )
        return Usage(runs, sessions, tokens, (day + 1) * _DAY_MS)

    async def _tokens(self, owner: str, day: int) -> int:
        """Returns the tokens of a day. Without a limit no sum is stored, so the runs are added up."""
        if self.quotas.tokens_per_day is None:
            return await self._repository.tokens_of_runs(owner, day * _DAY_MS)
        return await self._repository.tokens(owner, day)

    def _lock(self, counted: _Counted, owner: str) -> asyncio.Lock:
        return self._locks.setdefault((counted, owner), asyncio.Lock())

    async def _check_tokens(self, owner: str) -> None:
        limit, now = self.quotas.tokens_per_day, self._clock()
        if limit is None or await self._repository.tokens(owner, now // _DAY_MS) < limit:
            return
        midnight = (now // _DAY_MS + 1) * _DAY_MS
        raise TokensSpent(limit, midnight, retry_after_seconds=-((now - midnight) // 1_000))
