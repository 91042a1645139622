"""What a run has said, in order, for those who follow it live and those who come back later.

Readers go through the log by themselves, so a slow one holds nothing up and costs no memory.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

IDS_PER_ATTEMPT = 1_000_000


@dataclass(frozen=True)
class Entry:
    """An event as it goes over the wire: `data` is one line of JSON."""

    id: int
    event: str
    data: str


def first_id(attempt: int) -> int:
    """Ids increase over all attempts of a run; attempt 0 is what is said before there is one."""
    return attempt * IDS_PER_ATTEMPT + 1


def entries(start: int, said: Sequence[tuple[str, str]]) -> list[Entry]:
    """Events (names and data) with the ids from `start` on."""
    return [Entry(start + position, event, data) for position, (event, data) in enumerate(said)]


class EventLog:
    """The events of one run. Only its writer appends; nothing is appended after the end."""

    def __init__(self) -> None:
        self.ended = False
        self._entries: list[Entry] = []
        self._news = asyncio.Event()

    @property
    def last_id(self) -> int:
        """0 while there is nothing."""
        return self._entries[-1].id if self._entries else 0

    def extend(self, entries: Sequence[Entry], *, ended: bool = False) -> None:
        """Add entries of increasing ids, and perhaps the end; what is not newer than the last is left out."""
        last = self.last_id
        new = [entry for entry in entries if entry.id > last]
        if self.ended or (entries and not new):
            return
        self._entries.extend(new)
        self.ended = ended
        self.wake_readers()

    def after(self, entry_id: int) -> Sequence[Entry]:
        """The entries there are with greater ids."""
        return self._entries[bisect_right(self._entries, entry_id, key=lambda entry: entry.id) :]

    async def read(self, after: int, stop: Callable[[], bool]) -> AsyncGenerator[Entry]:
        """Every entry with a greater id than `after`, now and as they come, until the end.

        An id beyond the end gets the last entry: what asks for it can only want the end. `stop` is asked
        whenever readers are woken: true lets this one go before the end.
        """
        if self.ended and self._entries and after > self.last_id:
            after = self.last_id - 1
        while True:
            news = self._news
            for entry in self.after(after):
                yield entry
                after = entry.id
            if (self.ended and after >= self.last_id) or stop():
                return
            await news.wait()

    async def news(self) -> None:
        """Waits for what is appended next, for the end, or for a call of `wake_readers`."""
        await self._news.wait()

    def wake_readers(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Attempt:
    """Appends to a log what one attempt at the run says, in ids of its own."""

    def __init__(self, log: EventLog, attempt: int) -> None:
        self._log = log
        self._next_id = self._first_id = first_id(attempt)

    @property
    def size(self) -> int:
        """How many events were appended."""
        return self._next_id - self._first_id

    def append(self, event: str, data: str) -> None:
        self._extend(event, data, ended=False)

    def _extend(self, event: str, data: str, *, ended: bool) -> None:
        self._log.extend([Entry(self._next_id, event, data)], ended=ended)
        self._next_id += 1
