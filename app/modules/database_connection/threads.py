"""Runs blocking drivers in a bounded number of threads. A thread stops when its task is cancelled."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

T = TypeVar("T")

_FIRST_SECONDS = 60.0


class Stop:
    """Signals blocking work to end: at its deadline, or as soon as it is abandoned.

    The working thread restarts the clock, which starts at a minute. Any thread may abandon and check.
    """

    def __init__(self) -> None:
        self._abandoned = threading.Event()
        self.after(_FIRST_SECONDS)

    def after(self, seconds: float) -> None:
        """Extend the deadline to this many seconds from now."""
        self.seconds = seconds
        self._deadline = time.monotonic() + seconds

    def abandon(self) -> None:
        self._abandoned.set()

    @property
    def abandoned(self) -> bool:
        return self._abandoned.is_set()

    @property
    def due(self) -> bool:
        return self.abandoned or time.monotonic() >= self._deadline


class DatabaseThreads:
    """At most `limit` running threads. Later calls wait and can be cancelled while waiting."""

    def __init__(self, limit: int) -> None:
        self._limiter = anyio.CapacityLimiter(limit)

    async def run(self, work: Callable[[Stop], T]) -> T:
        """Run the work and return its result. On cancellation the work is stopped and awaited first."""
        async with self._limiter:
            stop = Stop()
            thread = asyncio.create_task(
                run_sync(work, stop, limiter=anyio.CapacityLimiter(1)), name="database thread"
            )
            try:
                return await asyncio.shield(thread)
            finally:
                stop.abandon()
                await _ended(thread)


async def _ended(thread: "asyncio.Future[T]") -> None:
    """Wait for a thread that was asked to stop, also if the waiting task is cancelled again."""
    with anyio.CancelScope(shield=True):
        while not thread.done():
            try:
                await asyncio.wait([thread])
            except asyncio.CancelledError:
                continue
    if not thread.cancelled():
        thread.exception()  # retrieved, so that asyncio does not log it: the cancelled task does not need it
