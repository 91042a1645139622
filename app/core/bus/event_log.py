"""What each run has said, in order, for those who follow it live and those who come back later.

Readers go through the log by themselves, so a slow one holds nothing up and costs no memory.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

IDS_PER_ATTEMPT = 1_000_000
KEPT_SECONDS = 600
KEPT_LOGS = 1_000


@dataclass(frozen=True)
class Entry:
    """An event as it goes over the wire: `data` is one line of JSON."""

    id: int
    event: str
    data: str


class EventLog:
    """The events of one run; ids increase over all its attempts."""

    def __init__(self, attempt: int) -> None:
        self.first_id = (attempt - 1) * IDS_PER_ATTEMPT + 1
        self.ended_at: float | None = None
        self._entries: list[Entry] = []
        self._news = asyncio.Event()

    @property
    def size(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def append(self, event: str, data: str) -> None:
        self._entries.append(Entry(self.first_id + len(self._entries), event, data))
        self.wake_readers()

    def end(self) -> None:
        """Nothing more will be said: readers are let go after the last entry."""
        self.ended_at = time.monotonic()
        self.wake_readers()

    async def read(self, after: int, stop: Callable[[], bool]) -> AsyncGenerator[Entry]:
        """Every entry with a greater id than `after`, now and as they come, until the end.

        `stop` is asked whenever readers are woken: true lets this one go before the end.
        """
        position = min(max(0, after - self.first_id + 1), len(self._entries))
        if self.ended_at is not None and after >= self.first_id + len(self._entries):
            position = len(self._entries) - 1  # no id of this run: what it asks for can only be the end
        while True:
            news = self._news
            while position < len(self._entries):
                yield self._entries[position]
                position += 1
            if self.ended_at is not None or stop():
                return
            await news.wait()

    def wake_readers(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class EventLogs:
    """The logs of runs under way and, for a while, of those that ended lately."""

    def __init__(self) -> None:
        self._logs: dict[str, EventLog] = {}

    def open(self, run_id: str, attempt: int) -> EventLog:
        self._forget_old()
        log = self._logs[run_id] = EventLog(attempt)
        return log

    def get(self, run_id: str) -> EventLog | None:
        return self._logs.get(run_id)

    def _forget_old(self) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        ended = [(run_id, log.ended_at) for run_id, log in self._logs.items() if log.ended_at is not None]
        for position, (run_id, ended_at) in enumerate(ended):
            if ended_at >= oldest and len(ended) - position < KEPT_LOGS:
                return
            del self._logs[run_id]
