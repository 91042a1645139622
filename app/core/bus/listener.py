"""Processes the events of one kind, a limited number at once, until it is stopped."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from app.core.bus.completed import Completed, CompletedEvents, Kind, Notice
from app.core.bus.port import BusUnavailable
from app.core.storage.port import StorageUnavailable
from app.core.tasks import end_tasks

logger = logging.getLogger(__name__)

MAX_TRIES = 5

_PATIENCE_SECONDS = 1.0
_AGAIN_SECONDS = 1.0


class Listener:
    """A worker of one kind. Any number of them, in any number of processes, share the events of the kind."""

    def __init__(
        self,
        events: CompletedEvents,
        kind: Kind,
        work: Callable[[Completed], Awaitable[None]],
        concurrency: int,
        lease_seconds: float,
    ) -> None:
        self._events = events
        self._kind = kind
        self._work = work
        self._concurrency = concurrency
        self._keep_seconds = lease_seconds / 3
        self._stopping = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._loops = [
            asyncio.create_task(self._listen(), name=f"{self._kind}: listen")
            for _ in range(self._concurrency)
        ]

    async def stop(self, seconds: float) -> None:
        """Take no further events. Running ones may end in this time; other workers get those that do not."""
        self._stopping.set()
        await asyncio.wait(self._loops, timeout=seconds)
        await end_tasks(self._loops)

    async def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                if (notice := await self._next()) is not None:
                    await self._see_to(notice)
            except BusUnavailable as error:
                logger.warning("%s hears of no messages: %s", self._kind, error)
                await self._pause()
            except Exception:
                logger.exception("%s failed to take a message, and goes on", self._kind)
                await self._pause()

    async def _next(self) -> Notice | None:
        """Returns None if there is none in time, or the listener is to stop."""
        taking = asyncio.create_task(
            self._events.take(self._kind, _PATIENCE_SECONDS), name=f"{self._kind}: take a message"
        )
        stopping = asyncio.create_task(self._stopping.wait(), name=f"{self._kind}: wait for shutdown")
        try:
            await asyncio.wait({taking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            taking.cancel()  # an event that it still takes is delivered again
        await asyncio.gather(taking, stopping, return_exceptions=True)
        return None if taking.cancelled() else taking.result()

    async def _see_to(self, notice: Notice) -> None:
        """Handle an event. After a failure its lease is not renewed, so it is delivered again when
        that expires.
        """
        event, kind = notice.event, self._kind
        if notice.tries > MAX_TRIES:
            logger.error(
                "%s gives message %s of session %s (run %s) up after %d tries",
                *(kind, event.message_id, event.session_id, event.run_id, MAX_TRIES),
            )
            await self._events.ack(kind, notice)
            return
        keeping = asyncio.create_task(self._keep(notice), name=f"{self._kind}: renew a lease")
        try:
            await self._until_store_answers(event)
        except Exception:
            logger.exception("%s failed on message %s (try %d)", kind, event.message_id, notice.tries)
            return
        finally:
            keeping.cancel()
        await self._events.ack(kind, notice)

    async def _until_store_answers(self, event: Completed) -> None:
        """An unavailable store is no failure of the event, which waits for it."""
        while True:
            try:
                return await self._work(event)
            except StorageUnavailable as error:
                logger.warning("%s waits for the store: %s", self._kind, error)
                if self._stopping.is_set():
                    raise
                await self._pause()

    async def _keep(self, notice: Notice) -> None:
        while True:
            await asyncio.sleep(self._keep_seconds)
            with suppress(BusUnavailable):
                await self._events.renew(self._kind, notice)

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN_SECONDS):
                await self._stopping.wait()
