"""Runs the schedules that are due and sends the notices that wait, until it is stopped."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.core.tasks import Loops, end_tasks
from app.modules.schedules.model import Schedule
from app.modules.schedules.running import Runs

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Schedules that run at a time, in a process."""

_LOOK_SECONDS = 5.0
"""Time between two looks for what is due or waits. The notices of a schedule are sent when it has run."""


class Sender(Protocol):
    """Sends notices or events to one kind of receivers."""

    async def deliver_due(self, now: int) -> None:
        """Send what waits. Any number of processes may do so. Raises `StorageUnavailable`."""


class ScheduleWorker:
    """Any number of them, in as many processes, share the schedules."""

    def __init__(self, runs: Runs, senders: Sequence[Sender]) -> None:
        self._runs = runs
        self._senders = senders
        self._loops = Loops("schedules")
        self._running: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._loops.every(_LOOK_SECONDS, "take", self._take)
        for each in self._senders:
            self._loops.every(_LOOK_SECONDS, type(each).__name__, partial(deliver_due, each))

    async def stop(self) -> None:
        """Stop what runs. Another worker runs it again when its lease ends."""
        await self._loops.end()
        await end_tasks(self._running)

    async def _take(self) -> None:
        room = AT_ONCE - len(self._running)
        if room == 0:
            return
        for schedule in await self._runs.claim(room):
            task = asyncio.create_task(self._run(schedule), name=f"schedules: run {schedule.id}")
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, schedule: Schedule) -> None:
        try:
            await self._runs.run(schedule)
        except StorageUnavailable as error:
            logger.warning("schedule %s runs later: %s", schedule.id, error)
        except Exception:
            logger.exception("schedule %s could not be run", schedule.id)
        else:
            logger.info("schedule %s has run", schedule.id)
            with suppress(StorageUnavailable):  # then the next look sends it
                await asyncio.gather(*map(deliver_due, self._senders))


async def deliver_due(sender: Sender) -> None:
    """Send what waits now. Raises `StorageUnavailable`."""
    await sender.deliver_due(now_ms())
