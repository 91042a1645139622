"""In-process events of completed messages. They are lost when the process ends."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.core.bus.completed import KINDS, Completed, Kind, Notice
from app.core.ids import new_id

logger = logging.getLogger(__name__)

MOST_WAITING = 1_000
"""Number of events of one kind. Here events are best-effort."""


class LocalCompletedEvents:
    def __init__(self, lease_seconds: float, kinds: Sequence[Kind] = KINDS) -> None:
        self._lease_seconds = lease_seconds
        self._boxes = {kind: _Box() for kind in kinds}

    async def publish(self, event: Completed) -> None:
        for kind, box in self._boxes.items():
            if len(box.waiting) == MOST_WAITING:
                lost = box.waiting.popleft()
                logger.warning("%s misses message %s: too many wait", kind, lost.event.message_id)
            box.waiting.append(Notice(event, new_id(), 1))
            box.news.set()

    async def take(self, kind: Kind, patience_seconds: float) -> Notice | None:
        box, until = self._boxes[kind], time.monotonic() + patience_seconds
        while (notice := box.next()) is None:
            now = time.monotonic()
            if now >= until:
                return None
            box.news.clear()
            try:
                async with asyncio.timeout(min(until, box.first_end()) - now):
                    await box.news.wait()
            except TimeoutError:
                pass
        box.leased[notice.receipt] = time.monotonic() + self._lease_seconds, notice
        return notice

    async def renew(self, kind: Kind, notice: Notice) -> None:
        leased = self._boxes[kind].leased
        if notice.receipt in leased and leased[notice.receipt][1] == notice:
            leased[notice.receipt] = time.monotonic() + self._lease_seconds, notice

    async def ack(self, kind: Kind, notice: Notice) -> None:
        self._boxes[kind].leased.pop(notice.receipt, None)


@dataclass
class _Box:
    """Events of one kind."""

    waiting: deque[Notice] = field(default_factory=deque)
    leased: dict[str, tuple[float, Notice]] = field(default_factory=dict)
    """Leased events by receipt, with the time at which the lease expires."""
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def next(self) -> Notice | None:
        now = time.monotonic()
        for receipt, (end, notice) in self.leased.items():
            if end <= now:
                del self.leased[receipt]
                return replace(notice, tries=notice.tries + 1)
        return self.waiting.popleft() if self.waiting else None

    def first_end(self) -> float:
        return min((end for end, _ in self.leased.values()), default=float("inf"))
