"""Outbox: what Graphiti is to remember, by ids only. Texts are read when they are sent.

Entries stay after they were sent, so that forgetting knows which groups hold what.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.core.ids import id_of
from app.core.storage.documents import Documents
from app.core.storage.port import AnyOf, Condition, Equals, Query, Range, Storage, StorageUnavailable
from app.modules.memory.scopes import GroupId, Scope

EntryKind = Literal["turn", "fact"]
"""`turn`: a question with its answer, taken in automatically. `fact`: promoted by a person, never dropped."""
EntryStatus = Literal["pending", "sent", "seen", "parked"]
"""`sent`: accepted. `seen`: kept. `parked`: given up after some tries; a fact is tried again later."""

_PAGE = 1_000


@dataclass(frozen=True, kw_only=True)
class OutboxEntry:
    """A turn or a fact that a group is to hold."""

    id: str
    owner: str
    group: GroupId
    scope: Scope
    kind: EntryKind
    subject_id: str
    """Id of the answer, or of the fact."""
    session_id: str | None
    connection_id: str
    added_at: int
    status: EntryStatus = "pending"
    tries: int = 0
    not_before: int | None = 0
    """When it may be sent (epoch ms). None for an entry that is not sent any more."""
    sent_at: int | None = None
    """When the latest try began."""
    may_have_arrived: bool = False
    """The outcome of the latest try is not known."""
    last_message: str | None = None
    """Name of the last message that was sent for it."""

    @property
    def name(self) -> str:
        """Begins the names of its messages."""
        return f"kai.{self.kind}.{self.subject_id}"


def entry_id(subject_id: str, group: GroupId) -> str:
    return id_of(subject_id, group)


@dataclass
class _Joining:
    """Entries of one caller, which are written with those of others."""

    entries: Sequence[OutboxEntry]
    is_done: bool = False
    error: StorageUnavailable | None = None


class Outbox:
    """Methods raise `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._entries = Documents(storage, "graph_outbox", OutboxEntry)
        self._writing = asyncio.Lock()
        self._joining: list[_Joining] = []
        """Entries of callers that wait for a write."""

    async def add(self, entries: Sequence[OutboxEntry]) -> None:
        """Entries that are there already stay as they are. Those of the same moment share a write."""
        joining = _Joining(entries)
        self._joining.append(joining)
        try:
            async with self._writing:
                if not joining.is_done:
                    await self._write_all()
        finally:
            self._joining = [each for each in self._joining if each is not joining]
        if joining.error is not None:
            raise joining.error

    async def _write_all(self) -> None:
        writing, self._joining = self._joining, []
        try:
            await self._entries.add_missing([entry for joining in writing for entry in joining.entries])
        except StorageUnavailable as error:
            for joining in writing:
                joining.error = error
        except BaseException:  # cancelled: the next caller that waits writes those of all others
            self._joining = [*writing, *self._joining]
            raise
        for joining in writing:
            joining.is_done = True

    async def due(self, now: int, limit: int) -> list[OutboxEntry]:
        """Entries to send, oldest first."""
        where: list[Condition] = [AnyOf("status", ["pending", "parked"]), Range("not_before", below=now + 1)]
        return await self._listed(where, "added_at", limit)

    async def claim(self, entry: OutboxEntry, *, now: int, until: int) -> OutboxEntry | None:
        """Begin a try, for this worker alone until then. None if another has begun one, or it is deleted."""
        changes: dict[str, JsonValue] = {
            "tries": entry.tries + 1,
            "sent_at": now,
            "not_before": until,
            "status": "pending",
            "may_have_arrived": True,
        }
        same: list[Condition] = [Equals("tries", entry.tries), Equals("status", entry.status)]
        return await self._entries.change(entry.id, changes, same)

    async def settle(
        self,
        entry: OutboxEntry,
        status: EntryStatus,
        *,
        not_before: int | None,
        may_have_arrived: bool = False,
        tries: int | None = None,
        last_message: str | None = None,
    ) -> None:
        """Note the outcome of a try. A deleted entry stays deleted."""
        changes: dict[str, JsonValue] = {
            "status": status,
            "not_before": not_before,
            "may_have_arrived": may_have_arrived,
            "tries": entry.tries if tries is None else tries,
            "last_message": last_message or entry.last_message,
        }
        await self._entries.change(entry.id, changes, [Equals("tries", entry.tries)])

    async def trim(self, most: int) -> int:
        """Drop turns that wait, oldest first, until at most so many entries do. Returns their number.

        Facts are never dropped, so more entries than `most` can wait.
        """
        waiting = await self._entries.count(Equals("status", "pending"))
        dropped = 0
        while waiting - dropped > most:
            where: list[Condition] = [Equals("status", "pending"), Equals("kind", "turn")]
            oldest = await self._listed(where, "added_at", min(_PAGE, waiting - dropped - most))
            if not oldest:
                break
            for entry in oldest:
                await self.settle(entry, "parked", not_before=None)
            dropped += len(oldest)
        return dropped

    async def sent(self, group: GroupId) -> list[OutboxEntry]:
        """Entries of a group that were accepted and not seen yet, in the order of sending."""
        return await self._listed([Equals("group", group), Equals("status", "sent")], "sent_at", _PAGE)

    async def latest_seen(self) -> int:
        """When the latest entry was sent that is known to be kept (epoch ms); 0 if there is none.

        The service works in the order of sending, so it has been at all that was sent before.
        """
        seen = [Equals("status", "seen")]
        entries = await self._entries.first(Query(seen, order_by="sent_at", descending=True, limit=1))
        return (entries[0].sent_at or 0) if entries else 0

    async def send_again(self, group: GroupId) -> None:
        """Everything that was sent to a group waits again."""
        async for entry in self.all([Equals("group", group), AnyOf("status", ["sent", "seen"])]):
            await self.settle(entry, "pending", not_before=0, tries=0)

    async def postpone(self, entry: OutboxEntry, until: int) -> None:
        """Let an entry wait without a try."""
        await self._entries.change(entry.id, {"not_before": until}, [Equals("tries", entry.tries)])

    async def groups_of(self, where: Sequence[Condition]) -> list[GroupId]:
        """The groups that entries were or may have been sent to."""
        groups: dict[GroupId, None] = {}
        async for entry in self.all(where):
            if entry.tries:
                groups[entry.group] = None
        return list(groups)

    def all(self, where: Sequence[Condition]) -> AsyncGenerator[OutboxEntry]:
        return self._entries.all(Query(where, limit=_PAGE))

    async def count(self, where: Sequence[Condition]) -> int:
        return await self._entries.count(*where)

    async def delete(self, where: Sequence[Condition]) -> int:
        return await self._entries.delete(*where)

    async def _listed(self, where: Sequence[Condition], order_by: str, limit: int) -> list[OutboxEntry]:
        return await self._entries.first(Query(where, order_by=order_by, limit=limit))
