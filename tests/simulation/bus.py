"""A bus of simulated servers: jobs with leases, logs that are fenced by attempt, and decisions.

They keep the promises of the ports and no others.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from app.core.bus.event_log import Attempt, EventLog, LogEntry, entries, first_id
from app.core.bus.port import ERASED, FOLLOW_UPS, BusUnavailable, Decision, Kind, LeasedJob, RunRef
from app.core.clock import now_ms
from tests.simulation.clocks import EPOCH_MS
from tests.simulation.loop import CURRENT, Process
from tests.simulation.world import Server, Unreachable, World

T = TypeVar("T")

LEASE_SECONDS = 3.0
KEPT_SECONDS = 20
"""For successors, in the place of ten minutes: longer than any request may be late."""

_HOLDER_SECONDS = 2.0
_AGAIN_SECONDS = 0.25
_FAREWELL_SECONDS = 5.0


async def _asked(world: World, server: Server, what: str, act: Callable[[], T]) -> T:
    try:
        return await world.request(server, what, act)
    except Unreachable as error:
        raise BusUnavailable(str(error)) from error


async def _has_news(news: asyncio.Event, seconds: float) -> bool:
    """Wait for something new; it costs the simulation less than to ask again and again."""
    news.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(max(seconds, 0.01)):
            return await news.wait()
    return False


@dataclass
class Jobs:
    """What the server holds of one kind of jobs, by number: what waits, in turn, and the ends of leases."""

    waiting: OrderedDict[int, LeasedJob] = field(default_factory=OrderedDict)
    leased: dict[int, tuple[float, LeasedJob]] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, number: int, job: LeasedJob) -> None:
        self.waiting[number] = job
        self.news.set()

    def take(self, now: float) -> tuple[int, LeasedJob] | None:
        """The next job; one whose lease has expired goes first."""
        expired = [number for number, (until, _) in self.leased.items() if until <= now]
        if expired:
            number = min(expired, key=lambda each: self.leased[each][0])
            job = self.leased[number][1]
            job = replace(job, first=False, tries=job.tries + 1)
        elif self.waiting:
            number, job = self.waiting.popitem(last=False)
        else:
            return None
        self.leased[number] = (now + LEASE_SECONDS, job)
        return number, job

    def expire(self, number: int, at: float) -> None:
        """Give the lease another end. A job that is gone stays so."""
        if number in self.leased:
            self.leased[number] = (at, self.leased[number][1])
            self.news.set()

    def refs(self) -> set[RunRef]:
        return {job.ref for job in (*self.waiting.values(), *(job for _, job in self.leased.values()))}

    def ends_next(self) -> float | None:
        return min((until for until, _ in self.leased.values()), default=None)


@dataclass
class QueueData:
    """What the server of the queue holds. A job's number is as the sequence of a message."""

    jobs: dict[Kind, Jobs] = field(default_factory=lambda: {"run": Jobs(), "title": Jobs(), "memory": Jobs()})
    watchers: list["asyncio.Queue[str]"] = field(default_factory=list)
    holders: dict[str, list["SimulatedQueue"]] = field(default_factory=dict)
    """Those that answer for a run, by its id."""
    number: int = 0
    emptied_at: int = 0

    def put(self, ref: RunRef, *, first: bool) -> None:
        """A run that is there already stays as it is."""
        if ref not in self.jobs["run"].refs():
            self._add(LeasedJob("run", ref, first, tries=1))

    def publish(self, ref: RunRef) -> None:
        for kind in FOLLOW_UPS:
            self._add(LeasedJob(kind, ref, first=True, tries=1, added_at=now_ms()))

    def _add(self, job: LeasedJob) -> None:
        self.number += 1
        self.jobs[job.kind].add(self.number, job)

    def forget(self, now: float) -> None:
        """The server has lost its data. What its clients hold is no job any more."""
        for each in self.jobs.values():
            each.waiting.clear()
            each.leased.clear()
        self.emptied_at = EPOCH_MS + round(now * 1_000)


class SimulatedQueue:
    """Implements `JobQueue`."""

    def __init__(self, world: World, data: QueueData) -> None:
        self._world = world
        self._data = data
        self._process: Process | None = CURRENT.get()
        self._held: dict[tuple[Kind, RunRef], int] = {}
        """The numbers of the jobs of this process."""

    async def put(self, ref: RunRef, *, first: bool) -> None:
        await self._ask(f"put {ref.run_id[-4:]} first={first}", lambda: self._data.put(ref, first=first))

    async def publish_completed(self, ref: RunRef) -> None:
        await self._ask(f"publish {ref.run_id[-4:]}", lambda: self._data.publish(ref), self._world.completed)

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        loop, jobs = self._world.loop, self._data.jobs[kind]
        server = self._world.queue if kind == "run" else self._world.completed
        until = loop.time() + patience_seconds
        while True:
            taken = await self._ask(f"take {kind}", lambda: jobs.take(loop.time()), server)
            if taken is not None:
                return self._hold(*taken)
            if loop.time() >= until:
                return None
            expires = min(until, jobs.ends_next() or until)
            if not await _has_news(jobs.news, expires - loop.time()) and expires == until:
                return None

    def _hold(self, number: int, job: LeasedJob) -> LeasedJob | None:
        key = (job.kind, job.ref)
        is_known = key in self._held  # this process was late to renew
        self._held[key] = number
        if is_known:
            return None
        if job.first and job.kind == "run":
            self._answer_for(job)
        return job

    async def is_under_way(self, leased: LeasedJob) -> bool:
        if leased.kind != "run":
            return False
        number = self._held[leased.kind, leased.ref]

        def act() -> bool | None:
            """None: some process holds the run and does not answer."""
            others = [each for each in self._data.holders.get(leased.ref.run_id, []) if each.is_there()]
            for each in others:
                each.hear(leased, number)
            return any(each.is_awake() for each in others) or (None if others else False)

        is_held = await self._ask(f"who holds {leased.ref.run_id[-4:]}", act)
        if is_held:
            self._held.pop((leased.kind, leased.ref), None)
            return True
        if is_held is None:
            await asyncio.sleep(_HOLDER_SECONDS)
        self._answer_for(leased)
        return False

    def is_there(self) -> bool:
        """The connection of the process is open."""
        return self._process is None or self._process.state != "dead"

    def is_awake(self) -> bool:
        return self._process is None or self._process.state == "alive"

    def hear(self, leased: LeasedJob, number: int) -> None:
        """Take over the lease that another process was given; a paused process does so when it goes on."""
        inside = self._world.loop.outside.copy()
        inside.run(CURRENT.set, self._process)

        def take_over() -> None:
            if (leased.kind, leased.ref) in self._held:
                self._held[leased.kind, leased.ref] = number

        self._world.loop.call_soon(take_over, context=inside)

    async def renew(self, leased: Collection[LeasedJob]) -> None:
        """Each by a message that the server does not answer."""
        numbers = [(each.kind, self._held.get((each.kind, each.ref))) for each in leased]

        def act() -> None:
            for kind, number in numbers:
                if number is not None:
                    self._data.jobs[kind].expire(number, self._world.loop.time() + LEASE_SECONDS)

        await self._ask("renew", act)

    async def ack(self, leased: LeasedJob) -> None:
        number = self._release(leased)
        what = f"ack {leased.kind} {leased.ref.run_id[-4:]}"
        await self._settle(what, number, lambda: self._data.jobs[leased.kind].leased.pop(number or 0, None))

    async def requeue(self, leased: LeasedJob, *, delay_seconds: float = 0) -> None:
        number = self._release(leased)
        loop = self._world.loop
        what = f"requeue {leased.kind} {leased.ref.run_id[-4:]}"
        await self._settle(
            what,
            number,
            lambda: self._data.jobs[leased.kind].expire(number or 0, loop.time() + delay_seconds),
        )

    async def drop(self, leased: LeasedJob) -> None:
        self._release(leased)

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        asked = sorted(refs, key=lambda ref: ref.run_id)

        def act() -> list[RunRef]:
            there = self._data.jobs["run"].refs()
            return [ref for ref in asked if ref not in there]

        return await self._ask("missing", act)

    async def waiting(self) -> int:
        return await self._ask("waiting", lambda: len(self._data.jobs["run"].waiting))

    async def emptied_at(self) -> int:
        return await self._ask("emptied at", lambda: self._data.emptied_at)

    async def cancel(self, run_id: str) -> None:
        def act() -> None:
            for each in self._data.watchers:
                each.put_nowait(run_id)

        await self._ask(f"cancel {run_id[-4:]}", act)

    async def cancellations(self) -> AsyncIterator[str]:
        seen: asyncio.Queue[str] = asyncio.Queue()
        self._data.watchers.append(seen)
        while True:
            yield await seen.get()

    async def check(self) -> None:
        await self._ask("check", lambda: None)

    def _answer_for(self, leased: LeasedJob) -> None:
        self._data.holders.setdefault(leased.ref.run_id, []).append(self)

    def _release(self, leased: LeasedJob) -> int | None:
        holders = self._data.holders.get(leased.ref.run_id, [])
        if leased.kind == "run" and self in holders:
            holders.remove(self)
        return self._held.pop((leased.kind, leased.ref), None)

    async def _settle(self, what: str, number: int | None, act: Callable[[], T]) -> None:
        if number is not None:
            await self._ask(what, act)

    async def _ask(self, what: str, act: Callable[[], T], server: Server | None = None) -> T:
        return await _asked(self._world, server or self._world.queue, what, act)


Loss = Literal["purge", "new stream", "rollback"]
"""How decisions are lost. `purge`: all are deleted, and numbers go on. `new stream`: the stream is lost and
made again. `rollback`: a server that has crashed has lost the latest; only this breaks connections."""


@dataclass
class DecisionData:
    """What the server of decisions holds: all that was decided, in turn, of which the last of each document
    counts.
    """

    made: list[tuple[str, Decision]] = field(default_factory=list)
    latest: dict[str, Decision] = field(default_factory=dict)
    number: int = 0
    connections: int = 0
    unerased: set[str] = field(default_factory=set)
    """Documents that could not be erased, or that a server that went back has no longer erased: what was
    decided is kept until it expires.
    """

    def decide(self, document: str, value: str, after: int) -> int | None:
        latest = self.latest.get(document)
        if (0 if latest is None else latest.number) != after:
            return latest.number if latest is not None and latest.value == value else None
        return self._append(document, value)

    def erase(self, documents: Sequence[str]) -> None:
        for document in documents:
            if document in self.latest:
                self._append(document, ERASED)

    def _append(self, document: str, value: str) -> int:
        self.number += 1
        self.latest[document] = decision = Decision(self.number, value)
        self.made.append((document, decision))
        return decision.number

    def lose(self, loss: Loss, now: float, kept: float) -> None:
        """With `rollback`, the part `kept` of all decisions is left."""
        if loss == "rollback":
            left = round(len(self.made) * kept)
            self.unerased.update(name for name, lost in self.made[left:] if lost.value == ERASED)
            self.made = self.made[:left]
            self.number = self.made[-1][1].number if self.made else self.number
            self.connections += 1
        else:
            self.made = []
        if loss == "new stream":
            self.number = EPOCH_MS * 1_000 + round(now * 1e6)
        self.latest = dict(self.made)


class SimulatedDecisions:
    """Implements `Decisions`."""

    may_lose = True

    def __init__(self, world: World, data: DecisionData) -> None:
        self._world = world
        self._data = data

    @property
    def connections(self) -> int:
        return self._data.connections

    async def decide(self, document: str, value: str, after: int) -> int | None:
        what = f"decide {_short(document)} after {after % 10_000}"
        return await self._ask(what, lambda: self._data.decide(document, value, after), writes=True)

    async def find(self, document: str) -> Decision | None:
        return await self._ask(f"find {_short(document)}", lambda: self._data.latest.get(document))

    async def erase(self, documents: Sequence[str]) -> None:
        try:
            await self._ask(f"erase {len(documents)}", lambda: self._data.erase(documents), writes=True)
        except BusUnavailable:
            self._data.unerased.update(documents)
            raise

    async def _ask(self, what: str, act: Callable[[], T], *, writes: bool = False) -> T:
        """A request never arrives over another connection than its own."""
        connections = self._data.connections

        def act_on_connection() -> tuple[T] | None:
            return (act(),) if self._data.connections == connections else None

        try:
            done = await self._world.request(self._world.decisions, what, act_on_connection, writes=writes)
        except Unreachable as error:
            raise BusUnavailable(str(error)) from error
        if done is None:
            raise BusUnavailable("the connection to the decisions is broken")
        return done[0]


def _short(document: str) -> str:
    name, document_id = document.split(".")
    return f"{name} <{document_id[-4:]}>"


@dataclass
class LogData:
    """What the server of the logs holds, by run. `copies` are pushed what is new."""

    logs: dict[str, EventLog] = field(default_factory=dict)

    def log(self, run_id: str) -> EventLog:
        return self.logs.setdefault(run_id, EventLog())

    def latest_attempt(self, run_id: str) -> int:
        log = self.logs.get(run_id)
        return 0 if log is None or log.last_id == 0 else (log.last_id - 1) // (first_id(1) - 1)

    def append(self, run_id: str, attempt: int, new: Sequence[LogEntry], *, ended: bool) -> bool:
        """False when the log has ended, or belongs to a later attempt."""
        log = self.log(run_id)
        if new and new[-1].id <= log.last_id and self.latest_attempt(run_id) == attempt:
            return True  # a repetition
        if log.ended or self.latest_attempt(run_id) > attempt:
            return False
        log.extend(new, ended=ended)
        return True


class SimulatedLogs:
    """Implements `EventLogs`."""

    def __init__(self, world: World, data: LogData) -> None:
        self._world = world
        self._data = data
        self._publishing: set[asyncio.Task[None]] = set()

    def writer(self, run_id: str, attempt: int) -> "SimulatedWriter":
        log, leaving = EventLog(), asyncio.Event()
        publishing = asyncio.create_task(self._publish(run_id, attempt, log, leaving))
        self._publishing.add(publishing)
        publishing.add_done_callback(self._publishing.discard)
        return SimulatedWriter(log, attempt, publishing, leaving)

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        new = entries(first_id(attempt), said)
        try:
            await self._push(run_id, attempt, new, ended=ended)
        except Unreachable:
            return

    @asynccontextmanager
    async def follow(self, run_id: str) -> AsyncGenerator[EventLog]:
        copy = EventLog()
        try:
            await self._read(run_id, copy)
        except Unreachable as error:
            self._world.note(str(error))
        reading = asyncio.create_task(self._follow(run_id, copy))
        try:
            yield copy
        finally:
            reading.cancel()

    async def latest_attempts(self, run_ids: Collection[str]) -> Mapping[str, int]:
        def act() -> dict[str, int]:
            found = {run_id: self._data.latest_attempt(run_id) for run_id in run_ids}
            return {run_id: attempt for run_id, attempt in found.items() if self._data.log(run_id).last_id}

        return await _asked(self._world, self._world.logs, "latest attempts", act) if run_ids else {}

    async def expire(self, run_ids: Collection[str]) -> None:
        await self.erase(run_ids)

    async def erase(self, run_ids: Collection[str]) -> None:
        def act() -> None:
            for run_id in run_ids:
                self._data.logs.pop(run_id, None)

        await _asked(self._world, self._world.logs, "erase", act)

    async def aclose(self) -> None:
        if self._publishing:
            await asyncio.wait(self._publishing, timeout=_FAREWELL_SECONDS)

    async def _publish(self, run_id: str, attempt: int, log: EventLog, leaving: asyncio.Event) -> None:
        pushed = 0
        while True:
            new, ended = list(log.after(pushed)), log.ended
            if not new:
                if leaving.is_set():
                    return
                await log.news()
                continue
            try:
                if not await self._push(run_id, attempt, new, ended=ended) or ended:
                    return
            except Unreachable:
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            pushed = new[-1].id

    async def _push(self, run_id: str, attempt: int, new: Sequence[LogEntry], *, ended: bool) -> bool:
        names = " ".join(entry.event for entry in new)
        return await self._world.request(
            self._world.logs,
            f"append {run_id[-4:]} attempt {attempt}: {names}",
            lambda: self._data.append(run_id, attempt, new, ended=ended),
        )

    async def _read(self, run_id: str, copy: EventLog) -> None:
        def act() -> tuple[list[LogEntry], bool]:
            log = self._data.log(run_id)
            return list(log.after(copy.last_id)), log.ended

        new, ended = await self._world.request(self._world.logs, f"read {run_id[-4:]}", act)
        if new or ended:
            copy.extend(new, ended=ended)

    async def _follow(self, run_id: str, copy: EventLog) -> None:
        """What is new is read when there is some; the wait for it costs the simulation nothing."""
        while not copy.ended:
            log = self._data.log(run_id)
            if log.last_id <= copy.last_id and not log.ended:
                await log.news()
            try:
                await self._read(run_id, copy)
            except Unreachable:
                await asyncio.sleep(_AGAIN_SECONDS)


class SimulatedWriter(Attempt):
    """Publishes what is appended in its own time, as the writer over NATS does."""

    def __init__(
        self, log: EventLog, attempt: int, publishing: "asyncio.Task[None]", leaving: asyncio.Event
    ) -> None:
        super().__init__(log, attempt)
        self._publishing = publishing
        self._leaving = leaving

    async def end(self, event: str, data: str) -> None:
        self._extend(event, data, ended=True)
        self._leaving.set()
        await asyncio.wait({self._publishing}, timeout=_FAREWELL_SECONDS)

    def leave(self) -> None:
        self._leaving.set()
        self._log.wake_readers()
