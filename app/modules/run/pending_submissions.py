"""Questions that this process is storing. Turns begin after them, so that each has its first event soon."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from weakref import WeakValueDictionary

from app.core.storage.port import StorageUnavailable

LONGEST_SECONDS = 0.5
"""Longest time, in seconds, that a turn waits for questions: it begins under constant load, too."""

_PASSES = 3
"""Passes of the event loop in which a request that has reached its socket becomes a question."""


class Arrivals:
    def __init__(self) -> None:
        self._open = 0
        self._passed = asyncio.Event()
        self._passed.set()

    @contextmanager
    def arriving(self) -> Generator[None]:
        """A question is being stored within the block."""
        self._open += 1
        self._passed.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._passed.set()

    async def passed(self) -> None:
        """Returns when no question is being stored, or after `LONGEST_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_SECONDS):
                while True:
                    await self._passed.wait()
                    for _ in range(_PASSES):
                        await asyncio.sleep(0)
                    if not self._open:
                        return


class Turnstiles:
    """Has this process store the questions of a session in the order of their places. A check of the waiting
    line then sees all that are before it.
    """

    def __init__(self, arrivals: Arrivals, patience_seconds: float) -> None:
        self._arrivals = arrivals
        self._patience_seconds = patience_seconds
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def enter(self, session_id: str) -> AsyncGenerator[float]:
        """One question of the session is stored within the block.

        Yields the seconds left to wait for the store. Raises `StorageUnavailable` if there are none, because
        the questions before this one are still being stored.
        """
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        began = asyncio.get_running_loop().time()
        with self._arrivals.arriving():
            try:
                async with asyncio.timeout(self._patience_seconds or None):
                    await lock.acquire()
            except TimeoutError as error:
                raise StorageUnavailable(
                    "An earlier question of this session is still being stored. Nothing of this one is "
                    "stored: ask again."
                ) from error
            try:
                yield self._patience_seconds - (asyncio.get_running_loop().time() - began)
            finally:
                lock.release()
