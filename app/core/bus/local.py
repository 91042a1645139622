"""In-process bus: queue and logs in memory."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from cachetools import TTLCache

from app.core.bus.event_log import Attempt, EventLog
from app.core.bus.port import LeasedRun, LogWriter, RenewedLease, RunRef

KEPT_SECONDS = 600
KEPT_LOGS = 1_000


class LocalQueue:
    """Queue in memory. Leases do not expire: a worker lives as long as the queue."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[RunRef, bool] = OrderedDict()
        self._taken: set[RunRef] = set()
        self._ready = asyncio.Condition()
        self._to_cancel: set[str] = set()
        self._cancelled: asyncio.Queue[str] = asyncio.Queue()

    async def put(self, ref: RunRef, *, first: bool) -> None:
        if ref not in self._waiting and ref not in self._taken:
            self._waiting[ref] = first
            await self._wake()

    async def take(self, patience_seconds: float) -> LeasedRun | None:
        try:
            async with asyncio.timeout(patience_seconds), self._ready:
                await self._ready.wait_for(lambda: bool(self._waiting))
                ref, first = self._waiting.popitem(last=False)
        except TimeoutError:
            return None
        self._taken.add(ref)
        return LeasedRun(ref, first)

    async def renew(self, attempts: Sequence[tuple[RunRef, int]]) -> Sequence[RenewedLease]:
        return [RenewedLease(ref, lost=False, cancelled=ref.run_id in self._to_cancel) for ref, _ in attempts]

    async def ack(self, ref: RunRef) -> None:
        self._waiting.pop(ref, None)
        self._taken.discard(ref)
        self._to_cancel.discard(ref.run_id)

    async def requeue(self, leased: LeasedRun) -> None:
        self._taken.discard(leased.ref)
        self._waiting[leased.ref] = leased.first
        self._waiting.move_to_end(leased.ref, last=False)
        await self._wake()

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        return [each for each in refs if each not in self._waiting and each not in self._taken]

    async def waiting(self) -> int:
        return len(self._waiting)

    async def cancel(self, run_id: str) -> None:
        self._to_cancel.add(run_id)
        self._cancelled.put_nowait(run_id)

    async def cancellations(self) -> AsyncIterator[str]:
        while True:
            yield await self._cancelled.get()

    async def ping(self) -> None:
        """Always available."""

    async def _wake(self) -> None:
        async with self._ready:
            self._ready.notify()


class LocalLogs:
    """All logs of the process. Ended logs are dropped after a while."""

    def __init__(self) -> None:
        self._followed: WeakValueDictionary[str, EventLog] = WeakValueDictionary()
        self._open: dict[str, EventLog] = {}
        self._ended: TTLCache[str, EventLog] = TTLCache(KEPT_LOGS, KEPT_SECONDS)

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        log = self._log(run_id)
        if not log.ended:
            self._open[run_id] = log
        return _LocalWriter(log, attempt, lambda: self._end(run_id))

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        writer = self.writer(run_id, attempt)
        *before, last = said
        for event in before:
            writer.append(*event)
        await writer.end(*last) if ended else writer.append(*last)

    @asynccontextmanager
    async def follow(self, run_id: str) -> AsyncGenerator[EventLog]:
        yield self._log(run_id)

    async def aclose(self) -> None:
        """Nothing is buffered."""

    def _log(self, run_id: str) -> EventLog:
        return self._followed.setdefault(run_id, EventLog())

    def _end(self, run_id: str) -> None:
        self._ended[run_id] = self._open.pop(run_id)


class _LocalWriter(Attempt):
    def __init__(self, log: EventLog, attempt: int, ended: Callable[[], None]) -> None:
        super().__init__(log, attempt)
        self._ended = ended

    async def end(self, event: str, data: str) -> None:
        if not self._log.ended:
            self._extend(event, data, ended=True)
            if self._log.ended:
                self._ended()

    def leave(self) -> None:
        """The log waits for the next attempt."""
