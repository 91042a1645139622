"""Takes runs from the queue and answers a limited number of them at once, until it is stopped."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from prometheus_client import Gauge

from app.core.bus.port import BusUnavailable, LeasedRun, RunQueue, RunRef
from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.core.tasks import end_tasks
from app.modules.run.attempt import MAX_TRIES, AttemptResult, RunAttempt
from app.modules.run.engine import RunServices
from app.modules.run.isolation import Isolation
from app.modules.run.observer import Action, log_run
from app.modules.run.retention import Retention
from app.modules.session.model import Run, Session
from graph.errors import CheckpointsUnavailable

logger = logging.getLogger(__name__)

KEEP_SECONDS = 1.0
"""Interval of renewing leases and checking for cancellations."""

SWEEP_SECONDS = 30.0
_PATIENCE_SECONDS = 1.0
_AGAIN_SECONDS = 1.0


class Worker:
    """A worker. Any number of workers, in any number of processes, share one queue."""

    def __init__(
        self,
        services: RunServices,
        queue: RunQueue,
        concurrency: int,
        waiting: Gauge,
        *,
        retention: Retention,
    ) -> None:
        self._services = services
        self._lifecycle = services.lifecycle
        self._repository = services.repository
        self._queue = queue
        self._retention = retention
        self._room = asyncio.Semaphore(concurrency)
        self._waiting = waiting
        self._attempts: dict[RunRef, RunAttempt] = {}
        self._held: set[RunRef] = set()
        self._isolation = Isolation()
        self._not_begun: dict[RunRef, int] = {}
        """Runs that wait for their isolation, with their latest attempt."""
        self._answering: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []

    def start(self) -> None:
        loops = {
            "take runs": self._take,
            "renew leases": self._keep,
            "cancel runs": self._cancel,
            "sweep runs": self._sweep,
            "prune checkpoints": self._retention.prune_noted,
            "delete old records": self._retention.sweep_hourly,
        }
        self._loops = [
            asyncio.create_task(_for_ever(loop), name=f"worker: {name}") for name, loop in loops.items()
        ]

    async def stop(self, drain_seconds: float) -> None:
        """Take no further runs, wait for the running ones, and hand over those that do not end in
        this time.
        """
        taking, *others = self._loops
        await end_tasks([taking])
        self._isolation.close()
        await self._wait(drain_seconds / 2)
        for attempt in self._attempts.values():
            attempt.drain()
        await self._wait(drain_seconds / 2)
        for attempt in self._attempts.values():
            attempt.stop("handed over")
        await asyncio.gather(*self._answering, return_exceptions=True)
        await end_tasks(others)

    async def sweep(self, before: int) -> None:
        """Put runs into the queue again that it has lost and that have not changed since then (epoch ms)."""
        held = {
            RunRef(session.id, session.active_run_id)
            async for session in self._repository.held(before)
            if session.active_run_id is not None
        }
        missing = await self._queue.missing(held)
        if missing:
            await asyncio.sleep(2 * KEEP_SECONDS)  # so that the worker that answers it finds its lease again
        for ref in await self._queue.missing(missing):
            await self._queue.put(ref, first=False)
            _log(ref, "requeued", reason="the queue had lost it")
        waiting = {run.session_id async for run in self._repository.all_open_runs(before)}
        for session_id in waiting - {ref.session_id for ref in held}:
            await self._lifecycle.start_next(session_id)

    async def _wait(self, seconds: float) -> None:
        if self._answering:
            await asyncio.wait(self._answering, timeout=seconds)

    async def _take(self) -> None:
        while True:
            await self._room.acquire()
            leased: LeasedRun | None = None
            try:
                await self._isolation.opened()
                leased = await self._queue.take(_PATIENCE_SECONDS)
            except BusUnavailable as error:
                logger.warning("no runs are taken: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
            finally:
                # What is under way here needs no second attempt: its lease expired and was taken again.
                if leased is None or leased.ref in self._held:
                    self._room.release()
                else:
                    self._begin(leased)

    def _begin(self, leased: LeasedRun) -> None:
        self._held.add(leased.ref)
        answering = asyncio.create_task(self._answer(leased), name=f"run {leased.ref.run_id}")
        self._answering.add(answering)
        answering.add_done_callback(self._answered)

    def _answered(self, answering: asyncio.Task[None]) -> None:
        self._answering.discard(answering)
        self._room.release()
        if not answering.cancelled() and (error := answering.exception()) is not None:
            logger.error("a run could not be answered", exc_info=error)

    async def _answer(self, leased: LeasedRun) -> None:
        ref = leased.ref
        try:
            match await self._attempt(leased):
                case "ended" | "ended by another":
                    await self._queue.ack(ref)
                case "handed over":
                    await self._queue.requeue(LeasedRun(ref, first=False))
                    _log(ref, "handed_over")
                case "lost":
                    _log(ref, "lost")
                case None:
                    pass
        except (StorageUnavailable, CheckpointsUnavailable) as error:
            await asyncio.sleep(_AGAIN_SECONDS)
            await self._queue.requeue(leased)
            _log(ref, "requeued", reason=str(error))
        except BusUnavailable as error:
            logger.warning("run %s: %s", ref.run_id, error)

    async def _attempt(self, leased: LeasedRun) -> AttemptResult | None:
        """Returns None if there is nothing to do."""
        ref = leased.ref
        try:
            if (found := await self._lifecycle.look_up(leased)) is None:
                return None
            session, run = found
            if run.status == "open" and not await self._enter(leased, session, run):
                return None
            taken = await self._lifecycle.take_up(leased, session, run)
            if taken is None:
                return None
            attempt = self._attempts[ref] = RunAttempt(*taken, self._services)
            result = await attempt.run()
            if result == "handed over":
                await self._lifecycle.hand_over(taken[1])
            elif result == "ended":
                self._retention.note(*taken)
            return result
        finally:
            self._attempts.pop(ref, None)
            self._isolation.leave(ref)
            self._held.discard(ref)  # before the queue may deliver it again

    async def _enter(self, leased: LeasedRun, session: Session, run: Run) -> bool:
        """Whether the run may begin here. If not, the queue has it again."""
        unclean_ends = await self._unclean_ends(leased, session, run)
        self._not_begun[leased.ref] = run.attempt
        try:
            if await self._isolation.enter(leased.ref, 0 if unclean_ends >= MAX_TRIES else unclean_ends):
                return True
        finally:
            del self._not_begun[leased.ref]
        if unclean_ends == 0:
            await self._queue.requeue(leased)
        else:  # behind all that wait: it holds none of them up
            await self._queue.ack(leased.ref)
            await self._queue.put(leased.ref, first=False)
        _log(leased.ref, "requeued", reason="it may not begin beside others here")
        return False

    async def _unclean_ends(self, leased: LeasedRun, session: Session, run: Run) -> int:
        """Of the attempts so far. One that the queue has lost before it began is counted as handed over."""
        if leased.first and run.attempt == 1:
            return 0
        may_not_have_begun = run.attempt == 1 and run.handovers == 0
        if may_not_have_begun and not await self._services.graph.has_begun(session.id, run.id):
            await self._lifecycle.hand_over(run)
            return 0
        return run.attempt - run.handovers

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            with suppress(BusUnavailable):  # the next renewal shows the result
                self._waiting.set(await self._queue.waiting())
                attempts = [(ref, each.number) for ref, each in self._attempts.items()]
                attempts += self._not_begun.items()
                if not attempts:
                    continue
                for kept in await self._queue.renew(attempts):
                    if (attempt := self._attempts.get(kept.ref)) is None:
                        continue
                    if kept.lost:
                        attempt.stop("lost")
                    elif kept.cancelled:
                        attempt.stop("cancelled")

    async def _cancel(self) -> None:
        async for run_id in self._queue.cancellations():
            for ref, attempt in self._attempts.items():
                if ref.run_id == run_id:
                    attempt.stop("cancelled")

    async def _sweep(self) -> None:
        while True:
            try:
                await self.sweep(before=now_ms() - round(SWEEP_SECONDS * 1_000))
            except (StorageUnavailable, BusUnavailable) as error:
                logger.warning("forgotten runs were not looked for: %s", error)
            await asyncio.sleep(SWEEP_SECONDS)


def _log(ref: RunRef, action: Action, reason: str | None = None) -> None:
    log_run(action, run_id=ref.run_id, session_id=ref.session_id, reason=reason)


async def _for_ever(loop: Callable[[], Awaitable[None]]) -> None:
    """Restart a loop after any exception. Without one of its loops the process would only seem to work."""
    while True:
        try:
            await loop()
        except Exception:
            logger.exception("a loop of the worker failed and begins again")
            await asyncio.sleep(_AGAIN_SECONDS)
