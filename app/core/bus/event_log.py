"""Event log of a run, for live followers and for clients that reconnect.

Every reader has a position of its own, so a slow reader blocks nothing and costs no memory.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

IDS_PER_ATTEMPT = 1_000_000

ENDING_SECONDS = 5.0
"""How long who erases a log waits for its end."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An event as sent: `data` is one line of JSON."""

    id: int
    event: str
    data: str


def first_id(attempt: int) -> int:
    """Returns the first id of an attempt. Ids increase over all attempts of a run; attempt 0 is for events
    before the first attempt.
    """
    return attempt * IDS_PER_ATTEMPT + 1


def entries(start: int, said: Sequence[tuple[str, str]]) -> list[LogEntry]:
    """Returns entries for events (names and data), with ids from `start` on."""
    return [LogEntry(start + position, event, data) for position, (event, data) in enumerate(said)]


class EventLog:
    """The events of one run. Only its writer appends; nothing is appended after the end."""

    def __init__(self) -> None:
        self.ended = False
        self._entries: list[LogEntry] = []
        self._news = asyncio.Event()

    @property
    def last_id(self) -> int:
        """0 if the log is empty."""
        return self._entries[-1].id if self._entries else 0

    def extend(self, entries: Sequence[LogEntry], *, ended: bool = False) -> None:
        """Add entries of increasing ids, and perhaps the end. Entries that are not newer than the
        last are left out.
        """
        last = self.last_id
        new = [entry for entry in entries if entry.id > last]
        if self.ended or (entries and not new):
            return
        self._entries.extend(new)
        self.ended = ended
        self.wake_readers()

    def after(self, entry_id: int) -> Sequence[LogEntry]:
        """Returns the present entries with greater ids."""
        return self._entries[bisect_right(self._entries, entry_id, key=lambda entry: entry.id) :]

    async def read(self, after: int, stop: Callable[[], bool]) -> AsyncGenerator[LogEntry]:
        """Yields the entries of `read_batches` one by one."""
        async with aclosing(self.read_batches(after, stop)) as batches:
            async for batch in batches:
                for entry in batch:
                    yield entry

    async def read_batches(
        self, after: int, stop: Callable[[], bool], *, silence_seconds: float | None = None
    ) -> AsyncGenerator[Sequence[LogEntry]]:
        """Yields every entry with a greater id than `after`, present and future, until the end: those that
        are present at a time in one batch, and an empty one after each silence of `silence_seconds`.

        If `after` is beyond the end, yields the last entry. `stop` is called whenever readers are woken; if
        it returns true, the reading ends before the end of the log.
        """
        if self.ended and self._entries and after > self.last_id:
            after = self.last_id - 1
        while True:
            news = self._news
            if batch := self.after(after):
                yield batch
                after = batch[-1].id
            if (self.ended and after >= self.last_id) or stop():
                return
            try:
                async with asyncio.timeout(silence_seconds):
                    await news.wait()
            except TimeoutError:
                yield ()

    async def wait_for_end(self, seconds: float) -> None:
        """Returns at the end of the log, or after so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.ended:
                    await self._news.wait()

    async def news(self) -> None:
        """Wait for an entry, the end, or a call of `wake_readers`."""
        await self._news.wait()

    def wake_readers(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Attempt:
    """Appends the events of one attempt at the run, with ids of its own."""

    def __init__(self, log: EventLog, attempt: int) -> None:
        self._log = log
        self._next_id = self._first_id = first_id(attempt)

    @property
    def size(self) -> int:
        """Number of appended events."""
        return self._next_id - self._first_id

    def append(self, event: str, data: str) -> None:
        self._extend(event, data, ended=False)

    def _extend(self, event: str, data: str, *, ended: bool) -> None:
        self._log.extend([LogEntry(self._next_id, event, data)], ended=ended)
        self._next_id += 1
