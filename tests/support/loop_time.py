"""The time of an event loop, moved by a test: what a limit of time costs is counted, not measured."""

import asyncio
import time
from collections.abc import Callable

import pytest


class LoopTime:
    """Stands still until it is moved. Work that ends takes no time, and what never ends takes its limit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Belongs to the running loop, until the end of the test."""
        loop = asyncio.get_running_loop()
        self.now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: self.now)

    async def reach(self, met: Callable[[], bool], seconds: float = 60) -> None:
        """Wait while this clock stands still. Raises `TimeoutError` when it is not met in real seconds."""
        until = time.monotonic() + seconds
        while not met():
            if time.monotonic() > until:
                raise TimeoutError
            await asyncio.sleep(0)

    async def pass_limit(self, task: "asyncio.Task[object]", limit: float) -> None:
        """Check that a task that waits ends with its limit, and not before."""
        before = self.now
        self.now = before + limit - 0.001
        await self._settle()
        assert not task.done()
        self.now = before + limit
        await self.reach(task.done)

    async def _settle(self) -> None:
        """Let everything happen that is due."""
        for _ in range(20):
            await asyncio.sleep(0)
