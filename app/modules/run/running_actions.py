"""Actions under way: calls of tools that may have an effect which cannot be repeated."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class ActionsUnderWay:
    """The actions of this process. A worker that stops waits for them; each has a time limit of its own."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    @property
    def any(self) -> bool:
        return self._count > 0

    @contextmanager
    def one_more(self) -> Generator[None]:
        """An action is under way within the block."""
        self._count += 1
        self._none.clear()
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def ended(self) -> None:
        """Returns when no action is under way."""
        await self._none.wait()
