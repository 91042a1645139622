"""Records of the messages whose directives were read.

A record holds no word of its message. It outlives its facts, so that the same job again brings back none that
the owner has undone; it is deleted with its session.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.storage.documents import Documents
from app.core.storage.port import AnyOf, Condition, Equals, Query, Storage
from app.modules.memory.model import FactKind

COLLECTION = "message_directives"
_MOST = 20


@dataclass(frozen=True)
class Refusal:
    """A directive that was not kept. `reason` is for users, and does not repeat the text."""

    kind: FactKind
    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class DirectiveRecord:
    """What became of the directives of a message. It has the id of the run. Times are epoch ms."""

    id: str
    owner: str
    session_id: str
    at: int
    kept: tuple[str, ...]
    """Ids of facts."""
    refused: tuple[Refusal, ...]
    reported_in: str = ""
    """Id of the message whose events name it. Empty before that."""


class DirectiveRecords:
    """Records of all owners. Every method raises `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._records = Documents(storage, COLLECTION, DirectiveRecord)

    async def known(self, run_ids: Sequence[str]) -> set[str]:
        """Returns those of the runs that have a record."""
        found = await self._records.first(Query([AnyOf("id", run_ids)], limit=max(1, len(run_ids))))
        return {each.id for each in found}

    async def add(self, record: DirectiveRecord) -> None:
        """A record that exists stays as it is."""
        await self._records.add(record)

    async def drop(self, run_id: str) -> None:
        await self._records.delete(Equals("id", run_id))

    async def unreported(self, owner: str, session_id: str, message_id: str) -> list[DirectiveRecord]:
        """Returns the records that no other message has reported, oldest first."""
        of_session: list[Condition] = [Equals("owner", owner), Equals("session_id", session_id)]
        of_session.append(AnyOf("reported_in", ["", message_id]))
        found = await self._records.first(Query(of_session, limit=_MOST))
        own = [each for each in found if (each.owner, each.session_id) == (owner, session_id)]
        return sorted(own, key=lambda each: (each.at, each.id))

    async def mark_reported(self, records: Sequence[DirectiveRecord], message_id: str) -> None:
        for record in records:
            if not record.reported_in:
                unreported = [Equals("reported_in", "")]
                await self._records.change(record.id, {"reported_in": message_id}, unreported)
