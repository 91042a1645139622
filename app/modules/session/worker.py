"""Takes runs from the queue and answers them, so many at a time, until it is stopped."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from prometheus_client import Gauge

from app.core.bus.port import BusUnavailable, Delivery, RunQueue, Ticket
from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.core.tasks import end_tasks
from app.modules.session.execution import Execution
from app.modules.session.model import Run, Session
from app.modules.session.repository import SessionRepository
from app.modules.session.turns import Turns
from graph.errors import CheckpointsUnavailable

logger = logging.getLogger(__name__)

KEEP_SECONDS = 1.0
"""How often leases are renewed and cancellations looked for."""

SWEEP_SECONDS = 30.0
_PATIENCE_SECONDS = 1.0
_AGAIN_SECONDS = 1.0


class Worker:
    """Any number of them, in as many processes, share one queue."""

    def __init__(
        self,
        turns: Turns,
        repository: SessionRepository,
        queue: RunQueue,
        execution: Callable[[Session, Run], Execution],
        concurrency: int,
        waiting: Gauge,
    ) -> None:
        self._turns = turns
        self._repository = repository
        self._queue = queue
        self._execution = execution
        self._room = asyncio.Semaphore(concurrency)
        self._waiting = waiting
        self._executions: dict[Ticket, Execution] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []

    def start(self) -> None:
        endless = (self._take, self._keep, self._cancel, self._sweep)
        self._loops = [asyncio.create_task(each()) for each in endless]

    async def stop(self, drain_seconds: float) -> None:
        """Take no more runs, let those under way end, and hand over those that do not in this time."""
        taking, *others = self._loops
        await end_tasks([taking])
        if self._answering:
            await asyncio.wait(self._answering, timeout=drain_seconds / 2)
        for execution in self._executions.values():
            execution.drain()
        if self._answering:
            await asyncio.wait(self._answering, timeout=drain_seconds / 2)
        for execution in self._executions.values():
            execution.stop("handed over")
        await asyncio.gather(*self._answering, return_exceptions=True)
        await end_tasks(others)

    async def sweep(self, before: int) -> None:
        """Put in again what the queue has forgotten of runs that have not moved since then (epoch ms)."""
        held = {
            Ticket(session.id, session.active_run_id): session
            async for session in self._repository.held(before)
            if session.active_run_id is not None
        }
        missing = await self._queue.missing(held)
        if missing:
            await asyncio.sleep(2 * KEEP_SECONDS)  # for who is at it to find its lease again
        for ticket in await self._queue.missing(missing):
            await self._queue.put(ticket, first=False)
        waiting = {run.session_id async for run in self._repository.all_open_runs(before)}
        for session_id in waiting - {ticket.session_id for ticket in held}:
            await self._turns.start_next(session_id)

    async def _take(self) -> None:
        while True:
            await self._room.acquire()
            delivery: Delivery | None = None
            try:
                delivery = await self._queue.take(_PATIENCE_SECONDS)
            except BusUnavailable as error:
                logger.warning("no runs are taken: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
            finally:
                if delivery is None:
                    self._room.release()
            if delivery is not None:
                answering = asyncio.create_task(self._answer(delivery))
                self._answering.add(answering)
                answering.add_done_callback(self._answered)

    def _answered(self, answering: asyncio.Task[None]) -> None:
        self._answering.discard(answering)
        self._room.release()
        if not answering.cancelled() and (error := answering.exception()) is not None:
            logger.error("a run could not be answered", exc_info=error)

    async def _answer(self, delivery: Delivery) -> None:
        ticket = delivery.ticket
        try:
            taken = await self._turns.take_up(delivery)
            if taken is None:
                return
            execution = self._executions[ticket] = self._execution(*taken)
            try:
                result = await execution.run()
            finally:
                del self._executions[ticket]
            if result == "over":
                await self._queue.remove(ticket)
                await self._repository.share_latest(ticket.session_id)
            elif result == "ending":
                await self._queue.give_back(Delivery(ticket, first=False))
            elif result == "handed over":
                await self._turns.hand_over(taken[1])
                await self._queue.give_back(Delivery(ticket, first=False))
        except (StorageUnavailable, CheckpointsUnavailable) as error:
            logger.warning("run %s waits for the store: %s", ticket.run_id, error)
            await asyncio.sleep(_AGAIN_SECONDS)
            await self._queue.give_back(delivery)
        except BusUnavailable as error:
            logger.warning("run %s: %s", ticket.run_id, error)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            with suppress(BusUnavailable):  # what comes of that, the next time tells
                self._waiting.set(await self._queue.waiting())
                if not self._executions:
                    continue
                attempts = [(ticket, each.attempt) for ticket, each in self._executions.items()]
                for kept in await self._queue.keep(attempts):
                    if (execution := self._executions.get(kept.ticket)) is None:
                        continue
                    if kept.lost:
                        execution.stop("lost")
                    elif kept.cancelled:
                        execution.stop("cancelled")

    async def _cancel(self) -> None:
        async for run_id in self._queue.cancellations():
            for ticket, execution in self._executions.items():
                if ticket.run_id == run_id:
                    execution.stop("cancelled")

    async def _sweep(self) -> None:
        while True:
            try:
                await self.sweep(before=now_ms() - round(SWEEP_SECONDS * 1_000))
            except (StorageUnavailable, BusUnavailable) as error:
                logger.warning("forgotten runs were not looked for: %s", error)
            await asyncio.sleep(SWEEP_SECONDS)
