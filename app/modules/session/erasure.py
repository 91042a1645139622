"""Forgetting of sessions: everything that belongs to them, also what is written late.

A process that was frozen, or a request that the store does seconds after its timeout, may write for a
session that is deleted. So its id is kept for a day, and what was written for it is deleted again: soon, and
then at growing intervals. That also completes a deletion whose process has died.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.bus.port import EventLogs
from app.core.clock import now_ms
from app.core.storage.claims import Claims
from app.core.storage.documents import Documents
from app.core.storage.port import Equals, Storage, StorageUnavailable
from app.modules.context_store.service import ContextStore
from app.modules.memory.erasure import MemoryForgetting
from app.modules.records.model import Session
from app.modules.records.repository import SessionRepository
from graph.errors import CheckpointsUnavailable

logger = logging.getLogger(__name__)

_SWEPT_AFTER_MS = (15_000, 60_000, 600_000, 3_600_000, 86_400_000)
"""Times after a deletion at which late writes are looked for."""

LOGGED_MS = 2 * 3_600_000
"""Age of runs of which there may be logs. Logs are kept for less."""

SWEEP_SECONDS = 15.0
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
        self._forgotten = Documents(storage, _NAME, ForgottenSession)
        self._due = Claims(self._forgotten, "due_at")
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
        await self._forgotten.put(forgotten)
        await self._delete([forgotten])

    async def is_forgotten(self, session_id: str) -> bool:
        """Returns True if a session of this id was deleted, and late writes for it are still looked for."""
        return await self._forgotten.get(session_id) is not None

    async def sweep(self) -> None:
        """Delete what was written late for sessions that were deleted.

        Raises `StorageUnavailable`, also in place of `CheckpointsUnavailable`, and `BusUnavailable`.
        """
        due = await self._due.due(now_ms(), _SWEPT_AT_ONCE, where=[Equals("kind", "session")])
        taken = [each for each in due if await self._take(each)]
        if not taken:
            return
        try:
            await self._delete(taken)
        except CheckpointsUnavailable as error:
            raise StorageUnavailable(str(error)) from error
        last = [each for each in taken if _due_after(each) is None]
        for each in last:
            await self._forgotten.delete(Equals("id", each.id))

    async def _take(self, forgotten: ForgottenSession) -> bool:
        """Returns False if another process looks at this one. The last time is taken again after a minute."""
        due_at = _due_after(forgotten) or now_ms() + _SWEPT_AFTER_MS[1]
        return await self._due.change(forgotten, {"due_at": due_at}) is not None

    async def _delete(self, forgotten: Sequence[ForgottenSession]) -> None:
        ids = [each.id for each in forgotten]
        for each in ids:
            await self._states.forget(each)
        await self._memories.forget_sessions(ids)
        await self._context.proposals.forget_sessions(ids)
        await self._logs.erase([run_id for each in forgotten for run_id in each.run_ids])
        await self._repository.delete(ids)
        await self._storage.scrub()


def _due_after(forgotten: ForgottenSession) -> int | None:
    """Returns the time of the sweep that follows the due one. None after the last one."""
    later = [forgotten.at + after for after in _SWEPT_AFTER_MS if forgotten.at + after > forgotten.due_at]
    return min(later, default=None)
