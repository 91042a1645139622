"""The logs of runs in Redis: one stream a run, appended to by who answers it, read by who follows it.

What a run says is gathered for 50 ms, so an answer is tens of writes however many tokens it has. The
writer keeps the whole log until its end: when Redis has lost its data it is written anew. A process reads
all logs that anybody follows in it by one connection; its readers share a copy.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import ormsgpack

from app.core.bus.event_log import Entry, EventLog, entries, first_id
from app.core.bus.port import LogWriter
from app.core.bus.redis_client import BLOCKS_SECONDS, REDIS_FAILURES, RedisClients, script
from app.core.bus.redis_keys import RedisKeys
from app.core.ids import new_id
from app.core.tasks import end_tasks

logger = logging.getLogger(__name__)

KEPT_SECONDS = 600
"""A log lives so long after the last that was heard of its run."""

_GATHERED_SECONDS = 0.05
_AGAIN_SECONDS = 0.25
_FAREWELL_SECONDS = 5
_ANEW = -1

_Entries: TypeAlias = "Sequence[tuple[bytes, dict[bytes, bytes]]]"
_Cursors: TypeAlias = "dict[bytes | str | memoryview[int], int | bytes | str | memoryview[int]]"


class RedisLogs:
    """Needs a running event loop; `aclose` ends what it has started."""

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
        log, left = EventLog(), asyncio.Event()
        publishing = asyncio.create_task(self._publish(run_id, attempt, log, left))
        self._publishing.add(publishing)
        publishing.add_done_callback(self._publishing.discard)
        return _RedisWriter(log, attempt, publishing, left)

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        with suppress(*REDIS_FAILURES):  # who follows learns it from the store
            await self._push(run_id, attempt, 0, entries(first_id(attempt), said), ended)

    @asynccontextmanager
    async def follow(self, run_id: str) -> AsyncGenerator[EventLog]:
        followed = self._followed.setdefault(run_id, _Followed(self._keys.log(run_id)))
        followed.readers += 1
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        try:
            if followed.readers == 1:
                with suppress(*REDIS_FAILURES):
                    followed.add(cast("_Entries", await self._redis.xrange(followed.key)))
                await self._wake()
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

    async def _publish(self, run_id: str, attempt: int, log: EventLog, left: asyncio.Event) -> None:
        """Push what is appended, until the log ends, is left, or another attempt has taken over."""
        start, pushed, failing = first_id(attempt) - 1, 0, 0
        while True:
            new, ended = log.after(start + max(pushed, 0)), log.ended
            if not new:
                if left.is_set():
                    return
                await log.news()
                continue
            try:
                outcome = await self._push(run_id, attempt, pushed, new, ended)
            except REDIS_FAILURES:
                failing += 1
                if (ended or left.is_set()) and failing * _AGAIN_SECONDS > KEPT_SECONDS:
                    return
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            if outcome == b"anew":
                pushed = _ANEW
                continue
            if ended or outcome == b"lost":
                return
            pushed, failing = new[-1].id - start, 0
            await asyncio.sleep(_GATHERED_SECONDS)

    async def _push(self, run_id: str, attempt: int, before: int, new: Sequence[Entry], ended: bool) -> bytes:
        packed = ormsgpack.packb([(entry.id, entry.event, entry.data) for entry in new])
        number = new[-1].id - first_id(attempt) + 1
        arguments: list[int | bytes] = [attempt, before, number, packed, int(ended), KEPT_SECONDS]
        return cast("bytes", await self._append([self._keys.log(run_id)], arguments))

    # Reading

    async def _wake(self) -> None:
        """Let the reading begin again with what is followed now."""
        with suppress(*REDIS_FAILURES):
            async with self._redis.pipeline() as together:
                together.xadd(self._wake_key, {"": ""}, maxlen=1, approximate=False)
                together.expire(self._wake_key, KEPT_SECONDS)
                await together.execute()

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


class _RedisWriter:
    def __init__(
        self, log: EventLog, attempt: int, publishing: asyncio.Task[None], left: asyncio.Event
    ) -> None:
        self._log = log
        self._left = left
        self._next_id = self._first_id = first_id(attempt)
        self._publishing = publishing

    @property
    def size(self) -> int:
        return self._next_id - self._first_id

    def append(self, event: str, data: str) -> None:
        self._log.extend([Entry(self._next_id, event, data)])
        self._next_id += 1

    async def end(self, event: str, data: str) -> None:
        self._log.extend([Entry(self._next_id, event, data)], ended=True)
        await asyncio.wait({self._publishing}, timeout=_FAREWELL_SECONDS)

    def leave(self) -> None:
        self._left.set()
        self._log.wake_readers()
