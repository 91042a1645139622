"""Groups that Graphiti holds, with what KAI waits for or wants of each."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.core.ids import id_of
from app.core.storage.documents import Documents
from app.core.storage.port import AnyOf, Condition, Equals, Query, Range, Storage
from app.modules.memory.graphiti.outbox import OutboxEntry
from app.modules.memory.scopes import GroupId, Scope

Erase = Literal["wanted", "not_confirmed"]
"""`not_confirmed`: the service was asked to erase, and still shows something, or may do so later."""

_NAMESPACE = "6f5c1a52-7f0e-4c3c-9a35-0d8d4f3f6a10"
_PAGE = 200


@dataclass(frozen=True, kw_only=True)
class GraphGroup:
    """Times are epoch milliseconds."""

    id: str
    group: GroupId
    scope: Scope
    owner: str
    connection_id: str
    session_id: str | None
    ownership_sent_at: int | None = None
    erase: Erase | None = None
    erase_at: int | None = None
    """When it is erased next."""
    erase_wanted_at: int | None = None
    awaited_since: int | None = None
    """When the oldest entry was sent that was not seen yet. None if all were."""
    latest_name: str | None = None
    latest_sent_at: int | None = None
    """The message that was sent last, and when."""
    look_at: int | None = None
    """When the awaited entries are looked for next."""


def _id(group: GroupId) -> str:
    return id_of(_NAMESPACE, group)


class GraphGroups:
    """Methods raise `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._groups = Documents(storage, "graph_groups", GraphGroup)

    async def of_entry(self, entry: OutboxEntry) -> GraphGroup:
        """The record of the entry's group, which is created if there is none."""
        found = await self.find(entry.group)
        if found is not None:
            return found
        group = GraphGroup(
            id=_id(entry.group),
            group=entry.group,
            scope=entry.scope,
            owner=entry.owner,
            connection_id=entry.connection_id,
            session_id=entry.session_id if entry.scope == "session" else None,
        )
        is_new = await self._groups.add(group)
        return group if is_new else await self.find(entry.group) or group

    async def find(self, group: GroupId) -> GraphGroup | None:
        return await self._groups.get(_id(group))

    async def change(
        self, group: GraphGroup, changes: Mapping[str, JsonValue], where: Sequence[Condition] = ()
    ) -> GraphGroup | None:
        """Returns None if there is no such group any more, or it does not meet the conditions."""
        return await self._groups.change(group.id, changes, where)

    async def want_erased(self, group: GraphGroup, now: int) -> None:
        await self.change(group, {"erase": "wanted", "erase_at": now, "erase_wanted_at": now})

    async def to_look_at(self, now: int) -> list[GraphGroup]:
        return await self._listed([Range("look_at", below=now + 1)], "look_at")

    async def to_erase(self, now: int) -> list[GraphGroup]:
        where: list[Condition] = [
            AnyOf("erase", ["wanted", "not_confirmed"]),
            Range("erase_at", below=now + 1),
        ]
        return await self._listed(where, "erase_at")

    async def unseen_since(self, before: int) -> int:
        """Number of groups of which something was sent before then and is not seen yet."""
        return await self._groups.count(Range("awaited_since", below=before))

    async def oldest_awaited(self) -> int | None:
        """When the oldest unseen entry was sent (epoch ms)."""
        found = await self._listed([Range("awaited_since", at_least=0)], "awaited_since", 1)
        return found[0].awaited_since if found else None

    async def not_erased(self, groups: Sequence[GroupId]) -> list[GroupId]:
        """Of these groups, those that may be searched: known, and not to be erased."""
        kept: list[Condition] = [AnyOf("group", groups), Equals("erase", None)]
        known = {each.group for each in await self._groups.first(Query(kept, limit=max(1, len(groups))))}
        return [each for each in groups if each in known]

    async def count(self, where: Sequence[Condition]) -> int:
        return await self._groups.count(*where)

    def all(self, where: Sequence[Condition]) -> AsyncGenerator[GraphGroup]:
        return self._groups.all(Query(where, limit=_PAGE))

    async def delete(self, group: GraphGroup, where: Sequence[Condition] = ()) -> None:
        await self._groups.delete(Equals("id", group.id), *where)

    async def _listed(
        self, where: Sequence[Condition], order_by: str, limit: int = _PAGE
    ) -> list[GraphGroup]:
        return await self._groups.first(Query(where, order_by=order_by, limit=limit))
