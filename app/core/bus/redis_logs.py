"""The logs of runs in Redis: one stream a run, appended to by who answers it, read by who follows it.

What a run says goes out at once while that is little; what is said fast is gathered for 50 ms, so an
answer is tens of writes however many tokens it has. The writer keeps the whole log until its end: when
Redis has lost its data it is written again. A process reads all logs that it follows by one
connection; its readers share a copy.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import ormsgpack

from app.core.bus.event_log import Attempt, Entry, EventLog, entries, first_id
from app.core.bus.port import LogWriter
from app.core.bus.redis_client import BLOCKS_SECONDS, REDIS_FAILURES, RedisClients, script
from app.core.bus.redis_keys import RedisKeys
from app.core.ids import new_id
from app.core.tasks import end_tasks

logger = logging.getLogger(__name__)

KEPT_SECONDS = 600
"""Lifetime of a log after the last event of its run."""

_GATHERED_SECONDS = 0.05
_AT_ONCE = 8
"""Burst of entries. A log gets one back every 50 ms."""

_PAUSE_PER_LOG_SECONDS = 0.000_02
"""Pause between two reads: asking for a thousand logs takes 3 ms of processor time, so each read should
bring many events."""

_AGAIN_SECONDS = 0.25
_FAREWELL_SECONDS = 5
_REWRITE = -1

_Entries: TypeAlias = "Sequence[tuple[bytes, dict[bytes, bytes]]]"
_Cursors: TypeAlias = "dict[bytes | str | memoryview[int], int | bytes | str | memoryview[int]]"


class RedisLogs:
    """Needs a running event loop. `aclose` ends its tasks."""

    def __init__(self, clients: RedisClients, keys: RedisKeys) -> None:
        redis = self._redis = clients.quick
        self._patient = clients.patient
        self._keys = keys
        self._append = redis.register_script(script("append"))
        self._publishing: set[asyncio.Task[None]] = set()
        self._followed: dict[str, _Followed] = {}
        self._wake_key = keys.wake_reader(new_id())
        self._reading: asyncio.Task[None] | None = None

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        log, ending = EventLog(), asyncio.Event()
        publishing = asyncio.create_task(
            self._publish(run_id, attempt, log, ending), name=f"run {run_id}: publish events"
        )
        self._publishing.add(publishing)
        publishing.add_done_callback(self._publishing.discard)
        return _RedisWriter(log, attempt, publishing, ending)

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        with suppress(*REDIS_FAILURES):  # who follows learns it from the store
            await self._push(run_id, attempt, 0, new=entries(first_id(attempt), said), ended=ended)

    @asynccontextmanager
    async def follow(self, run_id: str) -> AsyncGenerator[EventLog]:
        followed = self._followed.setdefault(run_id, _Followed(self._keys.log(run_id)))
        followed.readers += 1
        try:
            if followed.readers == 1:
                await self._begin(followed)
            yield followed.log
        finally:
            followed.readers -= 1
            if followed.readers == 0:
                del self._followed[run_id]

    async def aclose(self) -> None:
        if self._publishing:
            await asyncio.wait(self._publishing, timeout=_FAREWELL_SECONDS)
        await end_tasks([*self._publishing, *([self._reading] if self._reading else [])])

    # Writing

    async def _publish(self, run_id: str, attempt: int, log: EventLog, ending: asyncio.Event) -> None:
        """Send appended events, until the log ends or another attempt has taken over."""
        start, pushed, failing, pace = first_id(attempt) - 1, 0, 0, _Pace()
        while True:
            new, ended = log.after(start + max(pushed, 0)), log.ended
            if not new and ending.is_set():
                return
            if not new:
                await log.news()
                continue
            try:
                outcome = await self._push(run_id, attempt, pushed, new=new, ended=ended)
            except REDIS_FAILURES:
                failing += 1
                if ending.is_set() and failing * _AGAIN_SECONDS > KEPT_SECONDS:
                    return
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            if outcome == b"rewrite":
                pushed = _REWRITE
                continue
            if ended or outcome == b"lost":
                return
            pushed, failing = new[-1].id - start, 0
            with suppress(TimeoutError):
                async with asyncio.timeout(pace.pause_seconds()):
                    await ending.wait()

    async def _push(self, run_id: str, attempt: int, before: int, new: Sequence[Entry], ended: bool) -> bytes:
        packed = ormsgpack.packb([(entry.id, entry.event, entry.data) for entry in new])
        number = new[-1].id - first_id(attempt) + 1
        arguments: list[int | bytes] = [attempt, before, number, packed, int(ended), KEPT_SECONDS]
        return cast("bytes", await self._append([self._keys.log(run_id)], arguments))

    # Reading

    async def _begin(self, followed: "_Followed") -> None:
        """Read the present entries, and restart the blocking read with all followed logs."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(), name="event logs: read")
        with suppress(*REDIS_FAILURES):
            async with self._redis.pipeline(transaction=False) as together:
                together.xrange(followed.key)
                together.xadd(self._wake_key, {"": ""}, maxlen=1, approximate=False)
                together.expire(self._wake_key, KEPT_SECONDS)
                followed.add((await together.execute())[0])

    async def _read(self) -> None:
        woken, away = "0-0", False
        while True:
            wanted = {followed.key: followed for followed in self._followed.values()}
            cursors: _Cursors = {self._wake_key: woken, **{key: each.cursor for key, each in wanted.items()}}
            try:
                answer = await self._patient.xread(cursors, block=BLOCKS_SECONDS * 1_000)
            except REDIS_FAILURES as error:
                if not away:
                    logger.warning("the logs of runs cannot be read: %s", error)
                woken, away = "0-0", True
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            away = False
            for key, new in cast("list[tuple[bytes, _Entries]]", answer or []):
                if (followed := wanted.get(key.decode())) is not None:
                    followed.add(new)
                else:
                    woken = new[-1][0].decode()
            await asyncio.sleep(len(wanted) * _PAUSE_PER_LOG_SECONDS)


class _Pace:
    """Pause of a writer before its next write."""

    def __init__(self) -> None:
        self._paid_until = 0.0

    def pause_seconds(self) -> float:
        """Returns the pause after a write: 0 if there were few writes of late."""
        now = time.monotonic()
        self._paid_until = max(self._paid_until, now - _AT_ONCE * _GATHERED_SECONDS) + _GATHERED_SECONDS
        return max(0.0, self._paid_until - now)


@dataclass
class _Followed:
    """A copy of a log for the readers of this process."""

    key: str
    log: EventLog = field(default_factory=EventLog)
    cursor: str = "0-0"
    readers: int = 0

    def add(self, new: "_Entries") -> None:
        for entry_id, fields in new:
            said = [Entry(*each) for each in ormsgpack.unpackb(fields[b"events"])]
            self.log.extend(said, ended=fields[b"ended"] == b"1")
            self.cursor = entry_id.decode()


class _RedisWriter(Attempt):
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
