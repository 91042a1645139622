"""Decisions that outlive their server's data: each process makes those again that it has made or read.

Meanwhile another may have decided otherwise. Then the successor that was lost has no effect, but may still be
written late. So it gets the other one as its own successor, which repairs its document.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress

from app.core.bus.port import ERASED, BusUnavailable, Decisions, document_of

REMEMBERED_SECONDS = 60.0
"""Longer than a write to the store may be late."""


class RememberedDecisions:
    """Implements `Decisions` by others. After a break of their connection nothing is asked of them before all
    that this process remembers is decided again.
    """

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._restored_epoch = decisions.epoch
        self._restoring = asyncio.Lock()
        self._seen: OrderedDict[str, tuple[float, str]] = OrderedDict()
        """With the time of each, oldest first."""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def epoch(self) -> int:
        return self._decisions.epoch

    async def decide(self, key: str, value: str) -> bool:
        await self.restore()
        is_first = await self._decisions.decide(key, value)
        if is_first:
            self._remember(key, value)
        return is_first

    async def find(self, key: str) -> str | None:
        await self.restore()
        found = await self._decisions.find(key)
        if found is not None:
            self._remember(key, found)
        return found

    async def old(self, limit: int) -> Sequence[str]:
        await self.restore()
        return await self._decisions.old(limit)

    async def drop(self, keys: Sequence[str]) -> None:
        await self._decisions.drop(keys)

    async def erase(self, documents: Sequence[str]) -> None:
        erased = frozenset(documents)
        for key, (at, _) in self._seen.items():
            if document_of(key) in erased:
                self._seen[key] = (at, ERASED)
        await self.restore()
        await self._decisions.erase(documents)

    def _remember(self, key: str, value: str) -> None:
        now = time.monotonic()
        self._seen.setdefault(key, (now, value))
        while now - next(iter(self._seen.values()))[0] > REMEMBERED_SECONDS:
            self._seen.popitem(last=False)

    def restore_soon(self) -> None:
        """Do so in the background."""
        task = asyncio.create_task(self._try_to_restore(), name="nats: restore decisions")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _try_to_restore(self) -> None:
        with suppress(BusUnavailable):  # the next caller tries again
            await self.restore()

    async def restore(self) -> None:
        """Decide again what is remembered, if the connection has broken. Raises `BusUnavailable`."""
        if self._restored_epoch == self.epoch:
            return
        async with self._restoring:
            while self._restored_epoch != (epoch := self.epoch):
                for key, (_, value) in list(self._seen.items()):
                    if not await self._decisions.decide(key, value):
                        await self._replace(key, value)
                self._restored_epoch = epoch

    async def _replace(self, key: str, lost: str) -> None:
        """Make the decision that has come in the place of a lost one the lost one's successor."""
        if lost != ERASED and (other := await self._decisions.find(key)) is not None:
            await self._decisions.decide(f"{document_of(key)}.{json.loads(lost)[0]}", other)
        self._seen.pop(key, None)
