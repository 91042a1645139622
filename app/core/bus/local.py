"""In-process bus: queue, logs and decisions in memory."""

import asyncio
import logging
import math
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from weakref import WeakValueDictionary

from cachetools import TTLCache

from app.core.bus.begun_runs import BegunRuns
from app.core.bus.event_log import ENDING_SECONDS, IDS_PER_ATTEMPT, Attempt, EventLog
from app.core.bus.port import (
    ERASED,
    FOLLOW_UPS,
    Decision,
    FollowUp,
    Kind,
    LeasedJob,
    LogWriter,
    RunRef,
)
from app.core.clock import now_ms

KEPT_SECONDS = 600
"""For ended logs and decisions; a known state of a document is used for a minute."""

KEPT_LOGS = 1_000

MAX_FOLLOW_UPS = 10_000
"""Of a kind that wait: the answers of some minutes under full load, or of a day before a start."""

logger = logging.getLogger(__name__)


class LocalJobs:
    """Leases do not expire: a worker that holds one lives as long as the queue itself."""

    def __init__(self, follow_ups: Sequence[FollowUp] = FOLLOW_UPS) -> None:
        """`follow_ups` are the kinds of jobs that follow each answer."""
        self._follow_ups = follow_ups
        kinds: tuple[Kind, ...] = ("run", *follow_ups)
        self._waiting: dict[Kind, _Turns] = {kind: _Turns() for kind in kinds}
        self._leased: set[RunRef] = set()
        self._news = asyncio.Event()
        self._cancelled: asyncio.Queue[str] = asyncio.Queue()
        self._made_at = now_ms()
        self._listening: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)
        """By session."""

    @asynccontextmanager
    async def runs_of(self, session_id: str) -> AsyncGenerator[asyncio.Queue[str]]:
        started: asyncio.Queue[str] = asyncio.Queue()
        self._listening[session_id].add(started)
        try:
            yield started
        finally:
            self._listening[session_id].discard(started)
            if not self._listening[session_id]:
                del self._listening[session_id]

    async def put(self, ref: RunRef, *, first: bool) -> None:
        for started in self._listening.get(ref.session_id, ()):
            started.put_nowait(ref.run_id)
        if ref not in self._leased and ref not in self._waiting["run"]:
            self._add(LeasedJob("run", ref, first, tries=1))

    async def publish_completed(self, ref: RunRef) -> None:
        for kind in self._follow_ups:
            if len(self._waiting[kind]) == MAX_FOLLOW_UPS:
                lost = self._waiting[kind].first()
                logger.warning("the %s job of run %s is left out: too many wait", kind, lost.ref.run_id)
            self._add(LeasedJob(kind, ref, first=True, tries=1, added_at=now_ms()))

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        waiting = self._waiting[kind]
        try:
            async with asyncio.timeout(patience_seconds):
                while (owner := waiting.next_owner(except_owners)) is None:
                    await self._news.wait()
        except TimeoutError:
            return None
        job = waiting.next(owner)
        if kind == "run":
            self._leased.add(job.ref)
        return job

    async def is_under_way(self, leased: LeasedJob) -> bool:
        return False

    async def renew(self, leased: Collection[LeasedJob]) -> None:
        """They do not expire."""

    async def ack(self, leased: LeasedJob) -> None:
        self._release(leased)

    async def requeue(self, leased: LeasedJob, *, delay_seconds: float = 0) -> None:
        again = replace(leased, first=False, tries=leased.tries + 1)
        if delay_seconds > 0:
            asyncio.get_running_loop().call_later(delay_seconds, self._put_back, again)
        else:
            self._put_back(again)

    async def drop(self, leased: LeasedJob) -> None:
        self._release(leased)

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        return [each for each in refs if each not in self._waiting["run"] and each not in self._leased]

    async def waiting(self) -> int:
        return len(self._waiting["run"])

    async def emptied_at(self) -> int:
        """The start of the process: those of an earlier one ended with it."""
        return self._made_at

    async def cancel(self, run_id: str) -> None:
        self._cancelled.put_nowait(run_id)

    async def cancellations(self) -> AsyncIterator[str]:
        while True:
            yield await self._cancelled.get()

    async def check(self) -> None:
        """It is there as long as the process is."""

    def _release(self, leased: LeasedJob) -> None:
        if leased.kind == "run":
            self._leased.discard(leased.ref)

    def _put_back(self, job: LeasedJob) -> None:
        self._release(job)
        self._add(job, at_front=True)

    def _add(self, job: LeasedJob, *, at_front: bool = False) -> None:
        self._waiting[job.kind].add(job, at_front=at_front)
        self._news.set()
        self._news = asyncio.Event()


class _Turns:
    """Jobs that wait. Owners take turns; the jobs of one owner keep their order."""

    def __init__(self) -> None:
        self._by_owner: OrderedDict[str, deque[LeasedJob]] = OrderedDict()
        self._refs: set[RunRef] = set()

    def __len__(self) -> int:
        return sum(map(len, self._by_owner.values()))

    def __contains__(self, ref: RunRef) -> bool:
        return ref in self._refs

    def add(self, job: LeasedJob, *, at_front: bool) -> None:
        own = self._by_owner.setdefault(job.ref.owner, deque())
        if at_front:
            own.appendleft(job)
            self._by_owner.move_to_end(job.ref.owner, last=False)
        else:
            own.append(job)
        self._refs.add(job.ref)

    def first(self) -> LeasedJob:
        """Take the first job of the owner whose turn it is. Raises `StopIteration` when there is none."""
        return self.next(next(iter(self._by_owner)))

    def next_owner(self, except_owners: Collection[str]) -> str | None:
        """The owner whose turn it is. None if no job waits but those of these owners."""
        return next((owner for owner in self._by_owner if owner not in except_owners), None)

    def next(self, owner: str) -> LeasedJob:
        """Take the first job of the owner, whose next turn comes after all others'."""
        own = self._by_owner.pop(owner)
        job = own.popleft()
        if own:
            self._by_owner[owner] = own
        self._refs.discard(job.ref)
        return job


class LocalLogs:
    """All logs of the process. Ended logs are dropped after a while. Of an earlier process, only `begun` is
    known.
    """

    def __init__(self, begun: BegunRuns | None = None) -> None:
        self._begun = begun or BegunRuns()
        self._followed: WeakValueDictionary[str, EventLog] = WeakValueDictionary()
        self._open: dict[str, EventLog] = {}
        self._ended: TTLCache[str, EventLog] = TTLCache(KEPT_LOGS, KEPT_SECONDS)

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        log = self._log(run_id)
        if not log.ended:
            self._open[run_id] = log
        return _LocalWriter(
            log, attempt, begun=lambda: self._begun.begin(run_id, attempt), ended=lambda: self._end(run_id)
        )

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        writer = self.writer(run_id, attempt)
        *before, last = said
        for event in before:
            writer.append(*event)
        await writer.end(*last) if ended else writer.append(*last)

    @asynccontextmanager
    async def follow(self, run_id: str) -> AsyncGenerator[EventLog]:
        yield self._log(run_id)

    async def latest_attempts(self, run_ids: Collection[str]) -> Mapping[str, int]:
        logs = {run_id: self._followed[run_id] for run_id in run_ids if run_id in self._followed}
        here = {run_id: log.last_id // IDS_PER_ATTEMPT for run_id, log in logs.items() if log.last_id}
        before = {run_id: attempt for run_id in run_ids if (attempt := self._begun.attempt(run_id))}
        return {**before, **here}

    async def expire(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            for logs in (self._ended, self._followed):
                logs.pop(run_id, None)

    async def erase(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            if (log := self._open.get(run_id)) is not None:
                await log.wait_for_end(ENDING_SECONDS)
            for logs in (self._open, self._ended, self._followed):
                logs.pop(run_id, None)
            self._begun.end(run_id)

    async def aclose(self) -> None:
        """Nothing waits to be published."""

    def _log(self, run_id: str) -> EventLog:
        return self._followed.setdefault(run_id, EventLog())

    def _end(self, run_id: str) -> None:
        if (log := self._open.pop(run_id, None)) is not None:  # it may be erased
            self._ended[run_id] = log
        self._begun.end(run_id)


class _LocalWriter(Attempt):
    def __init__(
        self, log: EventLog, attempt: int, *, begun: Callable[[], None], ended: Callable[[], None]
    ) -> None:
        super().__init__(log, attempt)
        self._begun = begun if attempt > 0 else None
        self._ended = ended

    def append(self, event: str, data: str) -> None:
        super().append(event, data)
        if self._begun is not None:
            self._begun()
            self._begun = None

    async def end(self, event: str, data: str) -> None:
        if not self._log.ended:
            self._extend(event, data, ended=True)
            if self._log.ended:
                self._ended()

    def leave(self) -> None:
        """The log waits for the next attempt."""


class LocalDecisions:
    """Decisions of the only process. No write of an earlier one is under way when it begins."""

    may_lose = False
    connections = 0

    def __init__(self) -> None:
        self._latest: TTLCache[str, Decision] = TTLCache(math.inf, KEPT_SECONDS, timer=time.monotonic)
        self._numbers = count(time.time_ns() // 1_000)
        """Above those of earlier processes."""

    async def decide(self, document: str, value: str, after: int) -> int | None:
        latest = self._latest.get(document)
        if (0 if latest is None else latest.number) != after:
            return latest.number if latest is not None and latest.value == value else None
        self._latest[document] = made = Decision(next(self._numbers), value)
        return made.number

    async def find(self, document: str) -> Decision | None:
        return self._latest.get(document)

    async def erase(self, documents: Sequence[str]) -> None:
        for document in documents:
            if document in self._latest:
                self._latest[document] = Decision(next(self._numbers), ERASED)
