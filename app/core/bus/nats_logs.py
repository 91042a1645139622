"""The logs of runs in JetStream: a subject a run, appended to by one attempt, read by its followers.

Events go out at once while they are few; those that come fast are gathered for 50 ms, so that an answer is
tens of messages however many tokens it has. Each message names the sequence of the one before it, so the
server refuses what a replaced attempt still writes. The writer keeps the whole log until its end: what the
server has lost is written again. The followers of a log in one process share a copy.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import ormsgpack
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import APIError, NotFoundError

from app.core.bus.event_log import ENDING_SECONDS, Attempt, EventLog, LogEntry, entries, first_id
from app.core.bus.nats_connection import NATS_FAILURES, TIMEOUT_SECONDS, NatsConnection
from app.core.bus.port import BusUnavailable, LogWriter
from app.core.tasks import end_tasks

GATHERED_SECONDS = 0.05
_AT_ONCE = 8
"""This many messages may follow each other at once; a log gets one back in each 50 ms."""

_AGAIN_SECONDS = 0.25
_UNSENT_SECONDS = 600.0
"""An attempt that has left keeps trying for so long to publish its events."""

_FAREWELL_SECONDS = 5
_NOT_THE_LAST = 10071
_NO_MESSAGE = 10037

_ERASED_AT_ONCE = 32
_ERASED_ID = 0
"""Last id of a log that was erased."""
_NOTHING: bytes = ormsgpack.packb([])

_PART_BYTES = 512 * 1024
"""Of one message; a server takes 1 MiB by default. Events that are larger together come in parts."""

_ATTEMPT, _NUMBER, _ENDED, _PART = "Kai-Attempt", "Kai-Last-Id", "Kai-Ended", "Kai-Part"


@dataclass(frozen=True)
class _Last:
    """The last message of a log. `sequence` is the stream's."""

    sequence: int
    attempt: int
    entry_id: int
    ended: bool


class NatsLogs:
    """Needs a running event loop; `aclose` ends its tasks."""

    def __init__(self, connection: NatsConnection) -> None:
        self._connection = connection
        self._streams = connection.streams
        self._names = connection.names
        self._publishing: set[asyncio.Task[None]] = set()
        self._followed: dict[str, _Followed] = {}
        self._ending: set[asyncio.Task[None]] = set()
        connection.on_restored(self._read_again)

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        log, ending = EventLog(), asyncio.Event()
        publishing = asyncio.create_task(
            self._publish(run_id, attempt, log, ending), name=f"run {run_id}: publish events"
        )
        self._publishing.add(publishing)
        publishing.add_done_callback(self._publishing.discard)
        return _NatsWriter(log, attempt, publishing, ending)

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        with suppress(BusUnavailable):  # followers learn it from the store
            if attempt == 0:  # the log is empty; if an attempt has begun it meanwhile, this is refused
                await self._push(run_id, attempt, 0, entries(first_id(attempt), said), ended=ended)
                return
            last = await self._last(run_id)
            if last is None or (last.attempt <= attempt and not last.ended):
                sequence = 0 if last is None else last.sequence
                await self._push(run_id, attempt, sequence, entries(first_id(attempt), said), ended=ended)

    @asynccontextmanager
    async def follow(self, run_id: str) -> AsyncGenerator[EventLog]:
        if (followed := self._followed.get(run_id)) is None:
            followed = self._followed[run_id] = _Followed()
            self._start_reading(run_id, followed)
        followed.readers += 1
        try:
            await asyncio.wait([followed.reading], timeout=TIMEOUT_SECONDS)
            yield followed.log
        finally:
            followed.readers -= 1
            if followed.readers == 0:
                del self._followed[run_id]
                # A task, for this one may be cancelled again whenever it waits.
                ending = asyncio.create_task(followed.end(), name=f"run {run_id}: stop reading events")
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)

    async def latest_attempts(self, run_ids: Collection[str]) -> Mapping[str, int]:
        lasts = await asyncio.gather(*(self._last(run_id) for run_id in run_ids))
        return {run_id: last.attempt for run_id, last in zip(run_ids, lasts, strict=True) if last is not None}

    async def expire(self, run_ids: Collection[str]) -> None:
        for start in range(0, len(ordered := list(run_ids)), _ERASED_AT_ONCE):
            await asyncio.gather(*map(self._purge, ordered[start : start + _ERASED_AT_ONCE]))

    async def _purge(self, run_id: str) -> None:
        async with self._connection.translated_errors():
            await self._streams.purge_stream(self._names.token_streams, subject=self._names.log(run_id))

    async def erase(self, run_ids: Collection[str]) -> None:
        """An end without events takes the place of each log, so that a writer that was frozen does not write
        it again.
        """
        for start in range(0, len(ordered := list(run_ids)), _ERASED_AT_ONCE):
            await asyncio.gather(*map(self._erase, ordered[start : start + _ERASED_AT_ONCE]))

    async def _erase(self, run_id: str) -> None:
        last = await self._last(run_id)
        if last is not None and not last.ended:
            async with self.follow(run_id) as log:
                await log.wait_for_end(ENDING_SECONDS)
        while last is not None and last.entry_id != _ERASED_ID:
            await self._purge(run_id)
            try:
                await self._send(
                    run_id, last.attempt, 0, _NOTHING, number=_ERASED_ID, ended=True, part_of="1/1"
                )
            except BusUnavailable as error:
                if not _is_not_the_last(error):
                    raise
            last = await self._last(run_id)

    async def aclose(self) -> None:
        if self._publishing:
            await asyncio.wait(self._publishing, timeout=_FAREWELL_SECONDS)
        reading = [each.reading for each in self._followed.values()]
        await end_tasks([*self._publishing, *reading, *self._ending])

    # Writing

    async def _publish(self, run_id: str, attempt: int, log: EventLog, ending: asyncio.Event) -> None:
        """Push what is appended, until the log ends or another attempt has taken over."""
        start, pace = first_id(attempt) - 1, _Pace()
        pushed, sequence = start, 0
        is_placed = False
        unsent_since: float | None = None
        while True:
            new, ended = log.after(pushed), log.ended
            if not new and ending.is_set():
                return
            if not new:
                await log.news()
                continue
            try:
                if not is_placed:
                    last = await self._last(run_id)
                    if last is not None and (last.ended or last.attempt > attempt):
                        return
                    sequence = 0 if last is None else last.sequence
                    pushed = last.entry_id if last is not None and last.attempt == attempt else start
                    is_placed = True
                    continue
                sequence = await self._push(run_id, attempt, sequence, new, ended=ended)
            except BusUnavailable as error:
                # It may have arrived, the server may have lost what was before, or another attempt writes.
                is_placed = False
                if not _is_not_the_last(error):
                    now = time.monotonic()
                    unsent_since = unsent_since or now
                    if ending.is_set() and now - unsent_since > _UNSENT_SECONDS:
                        return
                    await asyncio.sleep(_AGAIN_SECONDS)
                continue
            if ended:
                return
            pushed, unsent_since = new[-1].id, None
            with suppress(TimeoutError):
                async with asyncio.timeout(pace.pause_seconds()):
                    await ending.wait()

    async def _push(
        self, run_id: str, attempt: int, after: int, new: Sequence[LogEntry], *, ended: bool
    ) -> int:
        """Append behind the message of this sequence; returns its own. Raises `BusUnavailable`."""
        packed = ormsgpack.packb([(entry.id, entry.event, entry.data) for entry in new])
        parts = [packed[start : start + _PART_BYTES] for start in range(0, len(packed), _PART_BYTES)]
        for number, part in enumerate(parts, start=1):
            is_whole = number == len(parts)
            after = await self._send(
                run_id,
                attempt,
                after,
                part,
                number=new[-1].id if is_whole else new[0].id - 1,
                ended=ended and is_whole,
                part_of=f"{number}/{len(parts)}",
            )
        return after

    async def _send(
        self, run_id: str, attempt: int, after: int, data: bytes, *, number: int, ended: bool, part_of: str
    ) -> int:
        headers = {
            _ATTEMPT: str(attempt),
            _NUMBER: str(number),
            _ENDED: str(int(ended)),
            _PART: part_of,
            Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(after),
        }
        async with self._connection.translated_errors():
            return (await self._streams.publish(self._names.log(run_id), data, headers=headers)).seq

    async def _last(self, run_id: str) -> _Last | None:
        """The leader's view, which no replica lags behind. Raises `BusUnavailable`."""
        async with self._connection.translated_errors():
            try:
                found = await self._streams.get_last_msg(self._names.token_streams, self._names.log(run_id))
            except NotFoundError as error:
                if error.err_code == _NO_MESSAGE:
                    return None
                raise
        headers = found.headers or {}
        return _Last(found.seq or 0, int(headers[_ATTEMPT]), int(headers[_NUMBER]), headers[_ENDED] == "1")

    # Reading

    def _read_again(self) -> None:
        """From the beginning, for a server that has lost data counts again; known events are left out."""
        for run_id, followed in self._followed.items():
            followed.is_current = False
            if followed.reading.done():
                self._start_reading(run_id, followed)

    def _start_reading(self, run_id: str, followed: "_Followed") -> None:
        followed.reading = asyncio.create_task(
            self._read(run_id, followed), name=f"run {run_id}: read events"
        )

    async def _read(self, run_id: str, followed: "_Followed") -> None:
        """Subscribe to a log. Returns once the copy has what was there; the rest comes without this task."""

        async def add(message: Msg) -> None:
            followed.add(message)

        while not followed.is_current:
            followed.is_current = True
            await followed.unsubscribe()
            try:
                last = await self._last(run_id)
                followed.parts.clear()
                async with self._connection.translated_errors():
                    followed.subscription = await self._streams.subscribe(
                        self._names.log(run_id),
                        stream=self._names.token_streams,
                        ordered_consumer=True,
                        cb=add,
                    )
                await followed.reach(0 if last is None else last.entry_id)
            except BusUnavailable:
                followed.is_current = False
                await asyncio.sleep(_AGAIN_SECONDS)


def _is_not_the_last(error: Exception) -> bool:
    cause = error.__cause__
    return isinstance(cause, APIError) and cause.err_code == _NOT_THE_LAST


class _Pace:
    """How long a writer waits for more before it writes again."""

    def __init__(self) -> None:
        self._paid_until = 0.0

    def pause_seconds(self) -> float:
        """After each write: 0 while there were few of late."""
        now = time.monotonic()
        self._paid_until = max(self._paid_until, now - _AT_ONCE * GATHERED_SECONDS) + GATHERED_SECONDS
        return max(0.0, self._paid_until - now)


@dataclass
class _Followed:
    """A copy of a log for the readers of this process."""

    log: EventLog = field(default_factory=EventLog)
    readers: int = 0
    is_current: bool = False
    """False once the server may have lost what the subscription follows."""
    reading: asyncio.Task[None] = field(init=False)
    """Ends when what was there is in the copy."""
    subscription: JetStreamContext.PushSubscription | None = None
    parts: list[bytes] = field(default_factory=list)
    """Of a message that has not come whole."""

    def add(self, message: Msg) -> None:
        headers = message.headers or {}
        number, count = map(int, headers[_PART].split("/"))
        if number == 1:
            self.parts.clear()
        self.parts.append(message.data)
        if number == count == len(self.parts):
            new = [LogEntry(*each) for each in ormsgpack.unpackb(b"".join(self.parts))]
            self.log.extend(new, ended=headers[_ENDED] == "1")

    async def end(self) -> None:
        await end_tasks([self.reading])
        await self.unsubscribe()

    async def unsubscribe(self) -> None:
        subscription, self.subscription = self.subscription, None
        if subscription is not None:
            with suppress(*NATS_FAILURES):
                await subscription.unsubscribe()

    async def reach(self, entry_id: int) -> None:
        """Wait until the copy has this entry, for a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while self.log.last_id < entry_id:
                    await self.log.news()


class _NatsWriter(Attempt):
    def __init__(
        self, log: EventLog, attempt: int, publishing: asyncio.Task[None], ending: asyncio.Event
    ) -> None:
        super().__init__(log, attempt)
        self._ending = ending
        self._publishing = publishing

    async def end(self, event: str, data: str) -> None:
        self._extend(event, data, ended=True)
        self._ending.set()
        await asyncio.wait({self._publishing}, timeout=_FAREWELL_SECONDS)

    def leave(self) -> None:
        self._ending.set()
        self._log.wake_readers()
