"""Deletes what finished turns leave in the store: checkpoints by number of turns, runs and rows by age.

Any number of processes may do so at once: each deletion can be repeated, and deletes nothing that a run
needs which is open.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.modules.records.model import Run, Session
from graph.errors import CheckpointsUnavailable

logger = logging.getLogger(__name__)

_MAX_DUE = 10_000
_DAY_MS = 86_400_000
RETENTION_SECONDS = 3_600.0
"""Interval of deleting old records."""

_TURNS_PER_PRUNING = 10


class Turns(Protocol):
    """The checkpoints of turns."""

    async def prune_turns(self, session_id: str, *, keep_turns: int, ended_run_id: str | None) -> None:
        """Delete the checkpoints of all turns but the latest. Raises `CheckpointsUnavailable`."""


class AgedRecords(Protocol):
    """Records that may be deleted by their age."""

    async def delete_old(self, before: int) -> int:
        """Delete records made before then (epoch ms) that no open run needs. Returns their number."""


@dataclass(frozen=True)
class Age:
    """Records that are deleted after a number of days; 0 keeps them."""

    name: str
    records: AgedRecords
    days: int


class Retention:
    """Prunes sessions whose turns have ended, and deletes old records."""

    def __init__(self, turns: Turns, keep_turns: int, ages: Sequence[Age] = ()) -> None:
        """`keep_turns` 0 prunes no checkpoint."""
        self._turns = turns
        self._keep_turns = keep_turns
        self._ages = [age for age in ages if age.days > 0]
        self._due: dict[str, str] = {}
        """Sessions to prune, each with its run that ended last."""
        self._noted = asyncio.Event()

    def note(self, session: Session, run: Run) -> None:
        """Prune the session soon if its run has ended the first turn beyond those that are kept, or the tenth
        since such a one. The session is as of the run's turn.

        What a process that stops has not pruned is pruned ten turns later.
        """
        earlier = session.turns - self._keep_turns
        is_due = self._keep_turns > 0 and earlier > 0 and earlier % _TURNS_PER_PRUNING == 1
        if is_due and len(self._due) < _MAX_DUE:
            self._due[session.id] = run.id
            self._noted.set()

    async def prune_noted(self) -> None:
        """Prune the noted sessions, one at a time, for ever."""
        while True:
            await self._noted.wait()
            self._noted.clear()
            batch = self._due
            self._due = {}
            for session_id, run_id in batch.items():
                try:
                    await self._turns.prune_turns(
                        session_id, keep_turns=self._keep_turns, ended_run_id=run_id
                    )
                except CheckpointsUnavailable as error:
                    logger.warning("checkpoints of session %s were not pruned: %s", session_id, error)

    async def sweep(self) -> None:
        """Delete the records that are too old by now."""
        for age in self._ages:
            try:
                deleted = await age.records.delete_old(now_ms() - age.days * _DAY_MS)
            except StorageUnavailable as error:
                logger.warning("old %s were not deleted: %s", age.name, error)
            else:
                if deleted:
                    logger.info("deleted %d old %s", deleted, age.name)
