"""A bus of simulated servers: a queue with leases, logs that are fenced by attempt, and completed messages.

They keep the promises of the ports and no others.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from app.core.bus.completed import KINDS, Completed, Kind, Notice
from app.core.bus.event_log import Attempt, Entry, EventLog, entries, first_id
from app.core.bus.port import BusUnavailable, LeasedRun, RenewedLease, RunRef
from tests.simulation.world import Server, Unreachable, World

T = TypeVar("T")

LEASE_SECONDS = 3.0
_AGAIN_SECONDS = 0.25
_FAREWELL_SECONDS = 5.0


async def _asked(world: World, server: Server, what: str, act: Callable[[], T]) -> T:
    try:
        return await world.request(server, what, act)
    except Unreachable as error:
        raise BusUnavailable(str(error)) from error


async def _news(news: asyncio.Event, seconds: float) -> None:
    """Wait for something new; it costs the simulation less than to ask again and again."""
    news.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(max(seconds, 0.01)):
            await news.wait()


@dataclass
class QueueData:
    """What the server of the queue holds."""

    waiting: OrderedDict[RunRef, None] = field(default_factory=OrderedDict)
    leased: dict[RunRef, float] = field(default_factory=dict)
    first: set[RunRef] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)
    watchers: list["asyncio.Queue[str]"] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, ref: RunRef, *, first: bool) -> None:
        if ref not in self.waiting and ref not in self.leased:
            self.waiting[ref] = None
            if first:
                self.first.add(ref)
            self.news.set()

    def take(self, now: float) -> LeasedRun | None:
        expired = [ref for ref, until in self.leased.items() if until <= now]
        if expired:
            ref = min(expired, key=lambda ref: self.leased[ref])
        elif self.waiting:
            ref, _ = self.waiting.popitem(last=False)
        else:
            return None
        self.leased[ref] = now + LEASE_SECONDS
        first = ref in self.first
        self.first.discard(ref)
        return LeasedRun(ref, first)

    def ack(self, ref: RunRef) -> None:
        self.waiting.pop(ref, None)
        self.leased.pop(ref, None)
        self.first.discard(ref)
        self.cancelled.discard(ref.run_id)

    def requeue(self, leased: LeasedRun) -> None:
        self.leased.pop(leased.ref, None)
        self.put(leased.ref, first=leased.first)
        self.waiting.move_to_end(leased.ref, last=False)

    def forget(self) -> None:
        self.waiting.clear()
        self.leased.clear()
        self.first.clear()
        self.cancelled.clear()


class SimulatedQueue:
    """Implements `RunQueue`."""

    def __init__(self, world: World, data: QueueData, logs: "LogData") -> None:
        self._world = world
        self._data = data
        self._logs = logs

    async def put(self, ref: RunRef, *, first: bool) -> None:
        await self._ask(f"put {ref.run_id[-4:]} first={first}", lambda: self._data.put(ref, first=first))

    async def take(self, patience_seconds: float) -> LeasedRun | None:
        loop = self._world.loop
        until = loop.time() + patience_seconds
        while True:
            leased = await self._ask("take", lambda: self._data.take(loop.time()))
            if leased is not None or loop.time() >= until:
                return leased
            first = min(self._data.leased.values(), default=until)
            await _news(self._data.news, min(until, first) - loop.time())

    async def renew(self, attempts: Sequence[tuple[RunRef, int]]) -> Sequence[RenewedLease]:
        def act() -> list[RenewedLease]:
            renewed: list[RenewedLease] = []
            for ref, attempt in attempts:
                lost = self._logs.latest_attempt(ref.run_id) > attempt
                if not lost:
                    self._data.leased[ref] = self._world.loop.time() + LEASE_SECONDS
                    self._data.waiting.pop(ref, None)
                renewed.append(RenewedLease(ref, lost=lost, cancelled=ref.run_id in self._data.cancelled))
            return renewed

        return await self._ask("renew", act)

    async def ack(self, ref: RunRef) -> None:
        await self._ask(f"ack {ref.run_id[-4:]}", lambda: self._data.ack(ref))

    async def requeue(self, leased: LeasedRun) -> None:
        await self._ask(f"requeue {leased.ref.run_id[-4:]}", lambda: self._data.requeue(leased))

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        known = self._data
        asked = sorted(refs, key=lambda ref: ref.run_id)
        return await self._ask(
            "missing", lambda: [ref for ref in asked if ref not in known.waiting and ref not in known.leased]
        )

    async def waiting(self) -> int:
        return await self._ask("waiting", lambda: len(self._data.waiting))

    async def cancel(self, run_id: str) -> None:
        def act() -> None:
            self._data.cancelled.add(run_id)
            for each in self._data.watchers:
                each.put_nowait(run_id)

        await self._ask(f"cancel {run_id[-4:]}", act)

    async def cancellations(self) -> AsyncIterator[str]:
        seen: asyncio.Queue[str] = asyncio.Queue()
        self._data.watchers.append(seen)
        while True:
            yield await seen.get()

    async def ping(self) -> None:
        await self._ask("ping", lambda: None)

    async def _ask(self, what: str, act: Callable[[], T]) -> T:
        return await _asked(self._world, self._world.queue, what, act)


@dataclass
class LogData:
    """What the server of the logs holds, by run. `copies` are pushed what is new."""

    logs: dict[str, EventLog] = field(default_factory=dict)

    def log(self, run_id: str) -> EventLog:
        return self.logs.setdefault(run_id, EventLog())

    def latest_attempt(self, run_id: str) -> int:
        log = self.logs.get(run_id)
        return 0 if log is None or log.last_id == 0 else (log.last_id - 1) // (first_id(1) - 1)

    def append(self, run_id: str, attempt: int, new: Sequence[Entry], *, ended: bool) -> bool:
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

    async def _push(self, run_id: str, attempt: int, new: Sequence[Entry], *, ended: bool) -> bool:
        names = " ".join(entry.event for entry in new)
        return await self._world.request(
            self._world.logs,
            f"append {run_id[-4:]} attempt {attempt}: {names}",
            lambda: self._data.append(run_id, attempt, new, ended=ended),
        )

    async def _read(self, run_id: str, copy: EventLog) -> None:
        def act() -> tuple[list[Entry], bool]:
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
    """Publishes what is appended in its own time, as the writer over Redis does."""

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


@dataclass
class CompletedData:
    """Events by kind, each with the end of its lease (0: waits) and its tries."""

    events: dict[Kind, dict[int, tuple[Completed, float, int]]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    published: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def publish(self, event: Completed) -> None:
        self.published += 1
        for waiting in self.events.values():
            waiting[self.published] = (event, 0.0, 0)
        self.news.set()

    def take(self, kind: Kind, now: float) -> Notice | None:
        for number, (event, until, tries) in self.events[kind].items():
            if until <= now:
                self.events[kind][number] = (event, now + LEASE_SECONDS, tries + 1)
                return Notice(event, str(number), tries + 1)
        return None

    def renew(self, kind: Kind, notice: Notice, now: float) -> None:
        number = int(notice.receipt)
        if number in self.events[kind] and self.events[kind][number][2] == notice.tries:
            self.events[kind][number] = (notice.event, now + LEASE_SECONDS, notice.tries)


class SimulatedCompleted:
    """Implements `CompletedEvents`."""

    def __init__(self, world: World, data: CompletedData) -> None:
        self._world = world
        self._data = data

    async def publish(self, event: Completed) -> None:
        await self._ask(f"publish {event.run_id[-4:]}", lambda: self._data.publish(event))

    async def take(self, kind: Kind, patience_seconds: float) -> Notice | None:
        loop = self._world.loop
        until = loop.time() + patience_seconds
        while True:
            notice = await self._ask(f"take {kind}", lambda: self._data.take(kind, loop.time()))
            if notice is not None or loop.time() >= until:
                return notice
            await _news(self._data.news, until - loop.time())

    async def renew(self, kind: Kind, notice: Notice) -> None:
        await self._ask(f"renew {kind}", lambda: self._data.renew(kind, notice, self._world.loop.time()))

    async def ack(self, kind: Kind, notice: Notice) -> None:
        await self._ask(f"ack {kind}", lambda: self._data.events[kind].pop(int(notice.receipt), None))

    async def _ask(self, what: str, act: Callable[[], T]) -> T:
        return await _asked(self._world, self._world.completed, what, act)
