"""Questions that this process is storing. Turns begin after them, so that each has its first event soon."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress

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
