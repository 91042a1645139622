"""Quotas of owners: checked before runs and sessions begin. Tokens are counted when they are spent."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakValueDictionary

from app.core.clock import now_ms
from app.core.llm.calls import metered
from app.core.storage.port import StorageUnavailable
from app.modules.usage.errors import BytesSpent, TokensSpent, TooManyRuns, TooManySessions
from app.modules.usage.repository import DayUsage, UsageRepository

_Summed = Literal["sessions", "day"]

_DAY_MS = 86_400_000
_PART_OF_DAY = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Quotas:
    """Limits of each owner; None is no limit. `runs` are open runs, waiting ones included."""

    runs: int | None
    sessions: int | None
    tokens_per_day: int | None
    bytes_per_day: int | None = None
    """Bytes that databases read for statements, as far as they say so."""


@dataclass(frozen=True)
class Usage:
    """Current usage of an owner. `day_ends_at` is the next midnight UTC in epoch milliseconds."""

    runs: int
    sessions: int
    tokens_today: int
    bytes_today: int
    day_ends_at: int


@dataclass(eq=False)
class _Beginning:
    """The runs of an owner that begin in this process, one at a time."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: int = 0


@dataclass(frozen=True)
class CountedRuns:
    """Open runs of an owner, and how many had begun in this process before they were counted."""

    runs: int
    begun: int
    of: _Beginning


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
        self._locks: WeakValueDictionary[tuple[_Summed, str], asyncio.Lock] = WeakValueDictionary()
        self._beginning: WeakValueDictionary[str, _Beginning] = WeakValueDictionary()
        """By owner."""

    async def count_runs(self, owner: str) -> CountedRuns | None:
        """Count the open runs ahead of `new_run`, together with other reads. None if they are not limited."""
        if self.quotas.runs is None:
            return None
        beginning = self._beginning.setdefault(owner, _Beginning())
        begun = beginning.begun
        return CountedRuns(await self._repository.runs(owner), begun, beginning)

    @asynccontextmanager
    async def new_run(self, owner: str, counted: CountedRuns | None = None) -> AsyncGenerator[None]:
        """Check the quotas; begin a run within the block. Raises `TokensSpent`, `BytesSpent` or
        `TooManyRuns`.

        What was counted ahead is counted again if this process has begun a run of the owner since.
        """
        await self.check_tokens(owner)
        await self.check_bytes(owner)
        if self.quotas.runs is None:
            yield
            return
        beginning = self._beginning.setdefault(owner, _Beginning())
        async with beginning.lock:
            is_known = counted is not None and (counted.of, counted.begun) == (beginning, beginning.begun)
            runs = counted.runs if counted and is_known else await self._repository.runs(owner)
            if runs >= self.quotas.runs:
                raise TooManyRuns(self.quotas.runs)
            beginning.begun += 1
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
        if tokens and self.quotas.tokens_per_day is not None:
            await self._count(owner, DayUsage(tokens=tokens))

    async def read(self, owner: str, bytes_read: int | None) -> None:
        """Count bytes that a database read in the owner's day. Lost with a warning as tokens are."""
        if bytes_read:
            await self._count(owner, DayUsage(bytes_read=bytes_read))

    async def _count(self, owner: str, counted: DayUsage) -> None:
        try:
            async with self._lock("day", owner):  # a lock is faster than retries
                await self._repository.add(owner, self._clock() // _DAY_MS, counted)
        except StorageUnavailable:
            logger.warning("the store is unavailable: %s is not counted for its day", counted)

    async def is_much(self, owner: str, tokens: int) -> bool:
        """True if tokens are more than a third of what is left of the owner's day. False without a limit."""
        limit = self.quotas.tokens_per_day
        if limit is None:
            return False
        used = await self._repository.counted(owner, self._clock() // _DAY_MS)
        return _PART_OF_DAY * tokens > limit - used.tokens

    async def usage(self, owner: str) -> Usage:
        day = self._clock() // _DAY_MS
        runs, sessions, counted = await asyncio.gather(
            self._repository.runs(owner), self._repository.sessions(owner), self._day_usage(owner, day)
        )
        return Usage(
            runs=runs,
            sessions=sessions,
            tokens_today=counted.tokens,
            bytes_today=counted.bytes_read,
            day_ends_at=(day + 1) * _DAY_MS,
        )

    async def _day_usage(self, owner: str, day: int) -> DayUsage:
        """Returns what a day has used. Without a limit no sum of tokens is stored, so the runs are added
        up.
        """
        counted = await self._repository.counted(owner, day)
        if self.quotas.tokens_per_day is not None:
            return counted
        return counted._replace(tokens=await self._repository.tokens_of_runs(owner, day * _DAY_MS))

    def _lock(self, counted: _Summed, owner: str) -> asyncio.Lock:
        return self._locks.setdefault((counted, owner), asyncio.Lock())

    async def check_tokens(self, owner: str) -> None:
        """Raises `TokensSpent`."""
        limit, now = self.quotas.tokens_per_day, self._clock()
        if limit is None or (await self._repository.counted(owner, now // _DAY_MS)).tokens < limit:
            return
        raise TokensSpent(limit, *_end_of_day(now))

    async def check_bytes(self, owner: str) -> None:
        """Raises `BytesSpent`."""
        limit, now = self.quotas.bytes_per_day, self._clock()
        if limit is None or (await self._repository.counted(owner, now // _DAY_MS)).bytes_read < limit:
            return
        raise BytesSpent(limit, *_end_of_day(now))


def _end_of_day(now: int) -> tuple[int, int]:
    """Returns the next midnight UTC in epoch milliseconds, and the seconds until then."""
    midnight = (now // _DAY_MS + 1) * _DAY_MS
    return midnight, -((now - midnight) // 1_000)
