"""Takes jobs of one kind and does them, so many at a time, until it is stopped."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from app.core.bus.port import BusUnavailable, JobQueue, Kind, LeasedJob
from app.core.clock import now_ms
from app.core.tasks import end_tasks

Disposition = Literal["done", "again", "later", "left"]
"""`again`: another worker does it, at once; `later`: after a while; `left`: another worker has it already."""

Work: TypeAlias = Callable[[LeasedJob], Awaitable[Disposition]]

RENEW_SECONDS = 1.0
_PATIENCE_SECONDS = 1.0
_AGAIN_SECONDS = 1.0

MAX_YIELD_SECONDS = 30.0
"""Longest time that a job yields to those that matter more, so that it is done under constant load, too."""

logger = logging.getLogger(__name__)


class JobWorker:
    """Any number of them, in as many processes, share the jobs of a kind. Leases are renewed each second."""

    def __init__(
        self,
        queue: JobQueue,
        kind: Kind,
        work: Work,
        *,
        concurrency: int,
        retry_seconds: float,
        most_of_an_owner: int | None = None,
        opened: Callable[[], Awaitable[None]] | None = None,
        pause_seconds: float = 0,
        yield_to: "JobWorker | None" = None,
    ) -> None:
        """`most_of_an_owner` are the jobs of one owner at a time; `opened` returns when the next job may be
        taken.

        A job begins `pause_seconds` after it was added, and once `yield_to` has room for another of its own
        jobs, after at most `MAX_YIELD_SECONDS`. Until then it is leased, so the queue still has it.
        """
        self._queue = queue
        self._kind: Kind = kind
        self._work = work
        self._concurrency = concurrency
        self._room = asyncio.Semaphore(concurrency)
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._retry_seconds = retry_seconds
        self._most_of_an_owner = concurrency if most_of_an_owner is None else most_of_an_owner
        self._opened = opened
        self._pause_seconds = pause_seconds
        self._yield_to = yield_to
        self._not_begun: set[LeasedJob] = set()
        self._leased: dict[asyncio.Task[None], LeasedJob] = {}
        self._taking: list[asyncio.Task[None]] = []
        self._renewing: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._taking = [asyncio.create_task(self._take(), name=f"{self._kind} jobs: take")]
        self._renewing = [asyncio.create_task(self._renew(), name=f"{self._kind} jobs: renew leases")]

    async def stop_taking(self) -> None:
        """Take no more jobs. Those that have not begun are for others."""
        await end_tasks(self._taking)
        await end_tasks([doing for doing, leased in self._leased.items() if leased in self._not_begun])

    async def wait(self, seconds: float) -> None:
        """Wait until the jobs under way are done, at most so long."""
        if self._leased:
            await asyncio.wait([*self._leased], timeout=seconds)

    async def stop(self, seconds: float) -> None:
        """Take no more jobs; those under way may end in this time, and others get the rest."""
        await self.stop_taking()
        await self.wait(seconds)
        await end_tasks([*self._leased])
        await end_tasks(self._renewing)

    async def wait_for_room(self) -> None:
        """Returns when fewer jobs are under way than may be: then none waits for this worker."""
        await self._has_room.wait()

    async def _take(self) -> None:
        while True:
            await self._room.acquire()
            leased: LeasedJob | None = None
            try:
                if self._opened is not None:
                    await self._opened()
                leased = await self._queue.take(
                    self._kind, _PATIENCE_SECONDS, except_owners=self._owners_without_room()
                )
            except BusUnavailable as error:
                logger.warning("no %s jobs are taken: %s", self._kind, error)
                await asyncio.sleep(_AGAIN_SECONDS)
            except Exception:
                logger.exception("a %s job could not be taken", self._kind)
                await asyncio.sleep(_AGAIN_SECONDS)
            finally:
                if leased is None:
                    self._room.release()
                else:
                    self._begin(leased)

    def _owners_without_room(self) -> list[str]:
        owners = Counter(leased.ref.owner for leased in self._leased.values())
        return [owner for owner, jobs in owners.items() if jobs >= self._most_of_an_owner]

    def _begin(self, leased: LeasedJob) -> None:
        doing = asyncio.create_task(self._do(leased), name=f"{self._kind} job of run {leased.ref.run_id}")
        self._leased[doing] = leased
        if len(self._leased) == self._concurrency:
            self._has_room.clear()
        doing.add_done_callback(self._end)

    def _end(self, doing: asyncio.Task[None]) -> None:
        del self._leased[doing]
        self._has_room.set()
        self._room.release()

    async def _do(self, leased: LeasedJob) -> None:
        disposition: Disposition = "again"
        try:
            if not leased.first and await self._queue.is_under_way(leased):
                disposition = "left"
            else:
                await self._wait_for_turn(leased)
                disposition = await self._work(leased)
        except BusUnavailable as error:
            logger.warning("%s job of run %s: %s", self._kind, leased.ref.run_id, error)
            disposition = "later"
        except Exception:
            logger.exception("a %s job of run %s failed", self._kind, leased.ref.run_id)
            disposition = "later"
        finally:  # also when it is cancelled
            try:
                await self._settle(leased, disposition)
            except BusUnavailable as error:  # the lease expires
                logger.warning("%s job of run %s: %s", self._kind, leased.ref.run_id, error)

    async def _wait_for_turn(self, leased: LeasedJob) -> None:
        if not self._pause_seconds and self._yield_to is None:
            return
        self._not_begun.add(leased)
        try:
            waited = (now_ms() - leased.added_at) / 1_000
            # The queue's clock may differ.
            await asyncio.sleep(min(self._pause_seconds - waited, self._pause_seconds))
            if self._yield_to is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(MAX_YIELD_SECONDS):
                        await self._yield_to.wait_for_room()
        finally:
            self._not_begun.discard(leased)

    async def _settle(self, leased: LeasedJob, disposition: Disposition) -> None:
        match disposition:
            case "done":
                await self._queue.ack(leased)
            case "again":
                await self._queue.requeue(leased)
            case "later":
                await self._queue.requeue(leased, delay_seconds=self._retry_seconds)
            case "left":
                await self._queue.drop(leased)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            if self._leased:
                with suppress(BusUnavailable):  # the next second tries again
                    await self._queue.renew([*self._leased.values()])
