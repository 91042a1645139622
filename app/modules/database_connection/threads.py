"""Runs blocking drivers in a bounded number of threads. A thread stops when its task is cancelled."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

import anyio

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
        self._room = asyncio.Semaphore(limit)
        self._executor = ThreadPoolExecutor(limit, thread_name_prefix="database")

    async def run(self, work: Callable[[Stop], T]) -> T:
        """Run the work and return its result. On cancellation the work is stopped and awaited first."""
        async with self._room:
            stop = Stop()
            loop = asyncio.get_running_loop()
            thread = loop.run_in_executor(self._executor, copy_context().run, work, stop)
            try:
                return await asyncio.shield(thread)
            finally:
                stop.abandon()
                if not thread.done():
                    await _ended(thread)

    def close(self) -> None:
        """Threads end once their work has."""
        self._executor.shutdown(wait=False)


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
