"""Waiting for a store that is unavailable, in the middle of a turn."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.core.storage.port import StorageUnavailable
from app.modules.run.engine import RunStream
from graph import SessionEvent
from graph.errors import CheckpointsUnavailable
from graph.events import Status

T = TypeVar("T")

_AGAIN_SECONDS = 0.5


class StorePatience:
    """Patience of one attempt. It begins with a failure, and is whole again after a step is kept."""

    def __init__(self, stream: RunStream, seconds: float) -> None:
        self._stream = stream
        self._seconds = seconds
        self._failing_since: float | None = None
        self._steps = 0
        """Steps that have begun since the store failed last."""

    async def over(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of a call that needs the store, repeated until the store answers.

        Raises `StorageUnavailable` or `CheckpointsUnavailable` when it does not in time.
        """
        while True:
            try:
                return await call()
            except (StorageUnavailable, CheckpointsUnavailable) as error:
                await self.wait(error)

    async def wait(self, error: Exception) -> None:
        """Pause before the next try. Raises the error when the store has failed for too long."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
            message = "Waiting for the store, which is unavailable"
            self._stream.emit(Status(step="saving", message=message, run_id=self._stream.run.id))
        elif now - self._failing_since > self._seconds:
            raise error
        self._steps = 0
        await asyncio.sleep(_AGAIN_SECONDS)

    def see(self, event: SessionEvent) -> None:
        """Take an event of the turn. A second step begins only after the first is kept."""
        if isinstance(event, Status):
            self._steps += 1
            if self._steps > 1:
                self._failing_since = None
