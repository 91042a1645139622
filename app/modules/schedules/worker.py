"""Runs the schedules that are due and sends the notices that wait, until it is stopped."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.core.tasks import end_tasks
from app.modules.schedules.model import Schedule
from app.modules.schedules.running import Runs
from app.modules.schedules.webhooks import Webhooks

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Schedules that run at a time, in a process."""

_LOOK_SECONDS = 5.0


class ScheduleWorker:
    """Any number of them, in as many processes, share the schedules."""

    def __init__(self, runs: Runs, webhooks: Webhooks) -> None:
        self._runs = runs
        self._webhooks = webhooks
        self._loops: list[asyncio.Task[None]] = []
        self._running: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._loops = [
            asyncio.create_task(_for_ever(self._take), name="schedules: take"),
            asyncio.create_task(_for_ever(self._deliver), name="schedules: deliver"),
        ]

    async def stop(self) -> None:
        """Stop what runs. Another worker runs it again when its lease ends."""
        await end_tasks(self._loops)
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

    async def _deliver(self) -> None:
        await self._webhooks.deliver_due(now_ms())


async def _for_ever(work: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await work()
        except StorageUnavailable as error:
            logger.info("schedules are looked at later: %s", error)
        except Exception:
            logger.exception("schedules could not be looked at")
        await asyncio.sleep(_LOOK_SECONDS)
