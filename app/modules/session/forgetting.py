"""Forgetting of sessions: everything that belongs to them, also what is written late.

A process that was frozen, or a request that the store does seconds after its timeout, may write for a
session that is deleted. So its id is kept for a day, and what was written for it is deleted again: soon, and
then at growing intervals. That also completes a deletion whose process has died.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from pydantic import TypeAdapter

from app.core.bus.port import BusUnavailable, EventLogs
from app.core.clock import now_ms
from app.core.storage.port import Condition, Equals, Range, Storage, StorageUnavailable
from app.modules.context_store.service import ContextStore
from app.modules.memory.forgetting import MemoryForgetting
from app.modules.session.model import Session
from app.modules.session.repository import SessionRepository
from graph.errors import CheckpointsUnavailable

logger = logging.getLogger(__name__)

_SWEPT_AFTER_MS = (15_000, 60_000, 600_000, 3_600_000, 86_400_000)
"""Times after a deletion at which late writes are looked for."""

LOGGED_MS = 2 * 3_600_000
"""Age of runs of which there may be logs. Logs are kept for less."""

_SWEEP_SECONDS = 15.0
_SWEPT_AT_ONCE = 20
_NAME = "forgotten"


@dataclass(frozen=True, kw_only=True)
class ForgottenSession:
    """What stays of a deleted session for a while: ids, and no words."""

    id: str
    kind: str = "session"
    run_ids: tuple[str, ...] = ()
    """Runs of which there may be logs."""
    at: int
    """When it was deleted (epoch ms)."""
    due_at: int
    """When late writes are looked for next."""


_FORGOTTEN = TypeAdapter(ForgottenSession)


class SessionStates(Protocol):
    """Checkpoints of sessions."""

    async def forget(self, session_id: str) -> None:
        """Delete all checkpoints of a session. Raises `CheckpointsUnavailable`."""


class SessionForgetting:
    """Any number of processes may sweep at once. Methods raise `StorageUnavailable`,
    `CheckpointsUnavailable` and `BusUnavailable`; they can be repeated.
    """

    def __init__(
        self,
        storage: Storage,
        repository: SessionRepository,
        states: SessionStates,
        *,
        memories: MemoryForgetting,
        context: ContextStore,
        logs: EventLogs,
    ) -> None:
        self._storage = storage
        self._repository = repository
        self._states = states
        self._memories = memories
        self._context = context
        self._logs = logs

    async def forget(self, session: Session) -> None:
        """Delete a closed session without open runs, and all that belongs to it."""
        now = now_ms()
        forgotten = ForgottenSession(
            id=session.id,
            run_ids=tuple(await self._repository.late_runs(session.id, now - LOGGED_MS)),
            at=now,
            due_at=now + _SWEPT_AFTER_MS[0],
        )
        # Stored first, so that a deletion is completed if this process dies.
        await self._storage.put(_NAME, [asdict(forgotten)])
        await self._delete([forgotten])

    async def is_forgotten(self, session_id: str) -> bool:
        """Returns True if a session of this id was deleted, and late writes for it are still looked for."""
        return await self._storage.get(_NAME, session_id) is not None

    async def sweep(self) -> None:
        """Delete what was written late for sessions that were deleted."""
        due: list[Condition] = [Equals("kind", "session"), Range("due_at", below=now_ms())]
        page = await self._storage.query(_NAME, due, order_by="due_at", limit=_SWEPT_AT_ONCE)
        taken = [each for each in map(_FORGOTTEN.validate_python, page.items) if await self._take(each)]
        if not taken:
            return
        await self._delete(taken)
        last = [each for each in taken if _due_after(each) is None]
        for each in last:
            await self._storage.delete(_NAME, [Equals("id", each.id)])

    async def sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            try:
                await self.sweep()
            except (StorageUnavailable, CheckpointsUnavailable, BusUnavailable) as error:
                logger.info("deleted sessions are looked at later: %s", error)
            except Exception:
                logger.exception("late writes of deleted sessions could not be deleted")

    async def _take(self, forgotten: ForgottenSession) -> bool:
        """Returns False if another process looks at this one. The last time is taken again after a minute."""
        due_at = _due_after(forgotten) or now_ms() + _SWEPT_AFTER_MS[1]
        same = [Equals("due_at", forgotten.due_at)]
        return await self._storage.patch(_NAME, forgotten.id, {"due_at": due_at}, where=same) is not None

    async def _delete(self, forgotten: Sequence[ForgottenSession]) -> None:
        ids = [each.id for each in forgotten]
        for each in ids:
            await self._states.forget(each)
        await self._memories.forget_sessions(ids)
        await self._context.forget_sessions(ids)
        await self._logs.erase([run_id for each in forgotten for run_id in each.run_ids])
        await self._repository.delete(ids)
        await self._storage.scrub()


def _due_after(forgotten: ForgottenSession) -> int | None:
    """Returns the time of the sweep that follows the due one. None after the last one."""
    later = [forgotten.at + after for after in _SWEPT_AFTER_MS if forgotten.at + after > forgotten.due_at]
    return min(later, default=None)
