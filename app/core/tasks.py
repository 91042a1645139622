"""Background tasks: work that repeats, and the end of tasks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Self

from app.core.errors import CannotRun

logger = logging.getLogger(__name__)


class Loops:
    """Work of one owner that repeats in the background until `end`, or until the block of the loops ends.

    No failure ends a loop: without one of its loops a process would only seem to work.
    """

    def __init__(self, owner: str) -> None:
        """`owner` begins the names of the tasks, and the lines of the log."""
        self._owner = owner
        self._tasks: list[asyncio.Task[None]] = []

    def every(self, seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> None:
        """Do the work now, and again so many seconds after each end."""
        task = f"{self._owner}: {name}"
        self._tasks.append(asyncio.create_task(_repeat(seconds, task, work), name=task))

    async def end(self) -> None:
        await end_tasks(self._tasks)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()


async def _repeat(seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> None:
    is_waiting = False
    while True:
        try:
            await work()
            is_waiting = False
        except CannotRun as error:
            if not is_waiting:  # an outage is logged once, not each second
                logger.warning("%s: waits and tries again: %s", name, error)
            is_waiting = True
        except Exception:
            logger.exception("%s: failed and begins again", name)
        await asyncio.sleep(seconds)


async def end_tasks(tasks: Iterable[asyncio.Task[object]]) -> None:
    """Cancel the tasks until all have ended; repeats, because a library may swallow a cancellation."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
