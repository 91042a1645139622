"""Takes runs from the queue and answers a limited number of them at once, until it is stopped."""

import asyncio
import logging
import time
from dataclasses import replace

from prometheus_client import Gauge

from app.core.bus.job_worker import Disposition, JobWorker
from app.core.bus.port import BusUnavailable, EventLogs, JobQueue, LeasedJob, RunRef
from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.core.tasks import Loops
from app.modules.records.model import Run, Session
from app.modules.run.attempt import MAX_TRIES, RunAttempt
from app.modules.run.engine import RunServices
from app.modules.run.isolation import Isolation
from app.modules.run.lifecycle import ref_of
from app.modules.run.observer import Action, log_run
from app.modules.run.pending_submissions import Arrivals
from app.modules.run.retention import RETENTION_SECONDS, Retention
from app.modules.run.running_actions import ActionsUnderWay
from graph import ReadCheckpoint
from graph.errors import CheckpointsUnavailable

logger = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""Interval of checking each attempt for a later one."""

CANCELLATION_SECONDS = 5.0
"""Interval of reading the requested cancellations from the store, of attempts that last as long. Signals are
faster, but may be lost."""

SWEEP_SECONDS = 30.0

EXPIRY_SECONDS = 5.0
"""Interval of looking for calls that were not approved in time."""

_FOLLOW_UPS_MS = 24 * 3_600_000
"""Age of the answers whose follow-up jobs are published again after the queue has lost them."""

_CLOCKS_MS = 60_000
"""Difference of the clocks of a worker and of the queue, at most."""

_DECIDED_MS = 120_000
"""How far a sweep looks back before the one before it: more than clocks differ, and a change may take."""

_AGAIN_SECONDS = 1.0
_HAND_OVER_SECONDS = 5.0


class Worker:
    """A worker. Any number of workers, in any number of processes, share one queue.

    `jobs` are its runs.
    """

    def __init__(
        self,
        services: RunServices,
        queue: JobQueue,
        concurrency: int,
        *,
        waiting: Gauge,
        retention: Retention,
        owner_share: float = 1,
        actions: ActionsUnderWay | None = None,
        arrivals: Arrivals | None = None,
    ) -> None:
        self._arrivals = arrivals or Arrivals()
        self._actions = actions or ActionsUnderWay()
        self._services = services
        self._lifecycle = services.lifecycle
        self._repository = services.repository
        self._logs: EventLogs = services.logs
        self._queue = queue
        self._retention = retention
        self._waiting = waiting
        self._isolation = Isolation()
        self.jobs = JobWorker(
            queue,
            "run",
            self._answer,
            concurrency=concurrency,
            retry_seconds=_AGAIN_SECONDS,
            most_of_an_owner=max(1, int(concurrency * owner_share)),
            opened=self._isolation.opened,
        )
        self._attempts: dict[str, RunAttempt] = {}
        """By run id."""
        self._emptied_at = 0
        """The loss of jobs that the last sweep has seen to (epoch ms)."""
        self._decided_since: int | None = None
        """The next sweep looks at calls that were decided after this (epoch ms). None: at all that waits."""
        self._loops = Loops("worker")

    def start(self) -> None:
        self.jobs.start()
        every = self._loops.every
        every(CHECK_SECONDS, "count waiting runs", self._count)
        every(CHECK_SECONDS, "stop replaced attempts", self._stop_replaced)
        every(_AGAIN_SECONDS, "cancel runs", self._cancel_signalled)
        every(CANCELLATION_SECONDS, "cancel runs without a signal", self._cancel_requested)
        every(SWEEP_SECONDS, "sweep runs", self._sweep)
        every(EXPIRY_SECONDS, "expire calls", self._lifecycle.expire)
        every(_AGAIN_SECONDS, "prune checkpoints", self._retention.prune_noted)
        every(RETENTION_SECONDS, "delete old records", self._retention.sweep)

    async def stop(self, drain_seconds: float) -> None:
        """Take no further runs, wait for the running ones, and hand over those that do not end in
        this time.
        """
        await self.jobs.stop_taking()
        self._isolation.close()
        await self.jobs.wait(drain_seconds / 2)
        for attempt in self._attempts.values():
            attempt.drain()
        await self.jobs.wait(drain_seconds / 2)
        if self._actions.any:
            # An action that is cancelled leaves it unknown whether it has happened.
            await self._actions.ended()
            await self.jobs.wait(_HAND_OVER_SECONDS)
        for attempt in self._attempts.values():
            attempt.stop("handed over")
        await self.jobs.stop(_HAND_OVER_SECONDS)
        await self._loops.end()

    async def sweep(self, before: int) -> None:
        """Put runs into the queue again that it has lost and that have not changed since then (epoch ms)."""
        began = now_ms()
        held = {
            RunRef(session.owner, session.id, session.active_run_id)
            async for session in self._repository.held(before)
            if session.active_run_id is not None
        }
        for ref in await self._queue.missing(held):
            await self._queue.put(ref, first=False)
            _log(ref, "requeued", reason="the queue had lost it")
        waiting = {run.session_id async for run in self._repository.all_open_runs(before)}
        for session_id in waiting - {ref.session_id for ref in held}:
            await self._lifecycle.start_next(session_id)
        await self._lifecycle.sweep_waiting(before, self._decided_since)
        self._decided_since = began - _DECIDED_MS
        emptied_at, after = await self._queue.emptied_at(), now_ms() - _FOLLOW_UPS_MS
        if emptied_at > max(self._emptied_at, after):
            await self._publish_again(after, emptied_at)
        self._emptied_at = emptied_at

    async def _publish_again(self, after: int, emptied_at: int) -> None:
        """Publish follow-up jobs that the queue may have lost, one of each kind for each session.

        A worker does so once after its start, too: none may have been there as the jobs were lost.
        """
        before = emptied_at + _CLOCKS_MS
        ended = {
            run.session_id: ref_of(run)
            async for run in self._repository.ended_runs(after)
            if run.ended_at is not None and run.ended_at < before
        }
        for ref in ended.values():
            await self._queue.publish_completed(ref)
        if ended:
            logger.info("%d sessions of the last day get their title and memory jobs again", len(ended))

    async def _answer(self, leased: LeasedJob) -> Disposition:
        ref = leased.ref
        try:
            await self._arrivals.passed()
            leased = await self._checked(leased)
            found, latest = await asyncio.gather(
                self._lifecycle.look_up(ref),
                self._services.graph.find_latest(ref.session_id) if leased.first else _nothing(),
            )
            if found is None:
                return "done"
            session, run = found
            if run.status == "open":
                run = await self._counted(leased, session, run)
                unclean_ends = 0 if leased.first and run.attempt == 1 else run.attempt - run.handovers
                if not await self._isolation.enter(ref, 0 if unclean_ends >= MAX_TRIES else unclean_ends):
                    _log(ref, "requeued", reason="it may not begin beside others here")
                    return "later"
            taken = await self._lifecycle.take_up(leased, session, run)
            return "left" if taken is None else await self._attempt(*taken, latest)
        except (StorageUnavailable, CheckpointsUnavailable, BusUnavailable) as error:
            _log(ref, "requeued", reason=str(error))
            return "later"
        finally:
            self._isolation.leave(ref)

    async def _attempt(self, session: Session, run: Run, latest: ReadCheckpoint | None) -> Disposition:
        ref = ref_of(run)
        attempt = self._attempts[run.id] = RunAttempt(session, run, self._services, latest=latest)
        try:
            match await attempt.run():
                case "ended":
                    self._retention.note(session, run)
                    return "done"
                case "ended by another":
                    return "done"
                case "handed over":
                    await self._lifecycle.hand_over(run)
                    _log(ref, "handed_over")
                    return "again"
                case "lost":
                    _log(ref, "lost")
                    return "left"
        finally:
            del self._attempts[run.id]

    async def _checked(self, leased: LeasedJob) -> LeasedJob:
        """The job, but not `first` if the run has a log: a killed server may count deliveries from one."""
        if leased.first and (await self._logs.latest_attempts([leased.ref.run_id])).get(leased.ref.run_id):
            return replace(leased, first=False)
        return leased

    async def _counted(self, leased: LeasedJob, session: Session, run: Run) -> Run:
        """The run. A first attempt that the queue has lost before it began is counted as handed over.

        It has begun if it has an event, or else a checkpoint: the log may be lost.
        """
        if leased.first or run.attempt > 1 or run.handovers > 0:
            return run
        latest = await self._logs.latest_attempts([run.id])
        if latest.get(run.id) or await self._services.graph.has_begun(session.id, run.id):
            return run
        await self._lifecycle.hand_over(run)
        return replace(run, handovers=1)

    async def _count(self) -> None:
        self._waiting.set(await self._queue.waiting())

    async def _stop_replaced(self) -> None:
        """Stop each attempt at a run of which a later one has written to the log."""
        latest = await self._logs.latest_attempts([*self._attempts])
        for run_id, attempt in self._attempts.items():
            if latest.get(run_id, 0) > attempt.number:
                attempt.stop("lost")

    async def _cancel_signalled(self) -> None:
        async for run_id in self._queue.cancellations():
            self._stop_cancelled(run_id)

    async def _cancel_requested(self) -> None:
        before = time.monotonic() - CANCELLATION_SECONDS
        long = [run_id for run_id, each in self._attempts.items() if each.began_at < before]
        for run_id in await self._repository.cancelled_runs(long):
            self._stop_cancelled(run_id)

    def _stop_cancelled(self, run_id: str) -> None:
        if (attempt := self._attempts.get(run_id)) is not None:
            attempt.stop("cancelled")

    async def _sweep(self) -> None:
        await self.sweep(before=now_ms() - round(SWEEP_SECONDS * 1_000))


async def _nothing() -> None:
    """In place of a read."""


def _log(ref: RunRef, action: Action, reason: str | None = None) -> None:
    log_run(action, run_id=ref.run_id, session_id=ref.session_id, reason=reason)
