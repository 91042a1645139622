"""Ends background tasks."""

import asyncio
from collections.abc import Iterable


async def end_tasks(tasks: Iterable[asyncio.Task[object]]) -> None:
    """Cancel the tasks until all have ended; repeats, because a library may swallow a cancellation."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
