"""Facts as they are read: by id, by page, by words and by meaning."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.core.clock import now_ms
from app.core.cursor import cut_page
from app.core.storage.documents import read_pages
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import AnyOf, Condition, Equals, Storage
from app.modules.database_connection.errors import ConnectionNotFound, PersonUnknown
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.errors import FactUnknown
from app.modules.memory.fact_access import FactAccess
from app.modules.memory.fact_choice import is_stale
from app.modules.memory.fact_repository import LIVING, FactRepository, not_expired, readers_of_connection
from app.modules.memory.model import FactGroup, FactKind, FactStatus, NewFact, StoredFact
from app.modules.memory.scopes import Groups, Scope
from app.modules.memory.vectors import FactVectors

_SEARCHED = 250
_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class FactFilter:
    """Selects facts. Without a status: those that are active, and those that wait."""

    scope: Scope | None = None
    kind: FactKind | None = None
    connection_id: str | None = None
    status: FactStatus | None = None
    message_id: str | None = None
    session_id: str | None = None
    words: str | None = None


class FactReading:
    """Methods with a `reader` raise `FactUnknown` for a fact that this reader may not read."""

    def __init__(
        self,
        storage: Storage,
        groups: Groups,
        connections: DatabaseConnections,
        *,
        access: FactAccess,
    ) -> None:
        self.repository = FactRepository(storage)
        self.vectors = FactVectors(storage)
        self.access = access
        self._groups = groups
        self._connections = connections

    # Groups

    def session_group(self, owner: str, session_id: str) -> FactGroup:
        return FactGroup(self._groups.session(owner, session_id), "session", owner)

    def workspace_group(self, owner: str, connection_id: str) -> FactGroup:
        return FactGroup(self._groups.workspace(owner, connection_id), "workspace", owner)

    def user_group(self, owner: str) -> FactGroup:
        return FactGroup(self._groups.user(owner), "user", owner)

    def shared_group(self, connection_id: str) -> FactGroup:
        """The group of a connection. The caller checks who may read or write it."""
        return FactGroup(self._groups.shared(connection_id), "shared", None)

    def group_of(self, fact: NewFact | StoredFact) -> FactGroup:
        match fact.scope:
            case "session":
                return self.session_group(fact.owner, str(fact.source.session_id))
            case "workspace":
                return self.workspace_group(fact.owner, str(fact.connection_id))
            case "user":
                return self.user_group(fact.owner)
            case "shared":
                return self.shared_group(str(fact.connection_id))

    # Of a reader

    async def get(self, reader: str, fact_id: str) -> StoredFact:
        fact = await self.repository.find(fact_id)
        if fact is None or fact.status == "forgotten" or is_expired(fact):
            raise FactUnknown
        if not self.group_of(fact).holds(fact) or not await self.access.is_readable(reader, fact):
            raise FactUnknown
        return fact

    async def page(self, reader: str, wanted: FactFilter, request: ListRequest) -> Listed[StoredFact]:
        """Returns a page of what the reader may read; with words the best match first, of the best 250
        matches.
        """
        readers = await self.access.readers(reader, wanted.scope, wanted.connection_id)
        where = [AnyOf("readers", sorted(readers)), not_expired(now_ms()), *_conditions(wanted)]
        if wanted.words is None:
            found = await self.repository.page(where, request)
        else:
            matches = await self.repository.search(wanted.words, [*where, *request.where], limit=_SEARCHED)
            found = cut_page(matches, request)
        return replace(found, items=[each for each in found.items if self._is_listed(each, reader, readers)])

    async def first(self, reader: str, wanted: FactFilter, limit: int) -> list[StoredFact]:
        """Returns the first page of what the reader may read, latest change or best match first."""
        return (await self.page(reader, wanted, ListRequest(order_by="updated_at", limit=limit))).items

    async def all_of(self, owner: str) -> list[StoredFact]:
        """Returns the facts that an owner has written, of every status, latest change first."""
        where = [Equals("owner", owner), not_expired(now_ms())]
        request = ListRequest(order_by="updated_at", limit=_PAGE)
        found = [fact async for fact in read_pages(partial(self.repository.page, where), request)]
        own = [fact for fact in found if fact.owner == owner and self.group_of(fact).holds(fact)]
        return [fact for fact in own if fact.status != "forgotten"]

    async def stale(self, reader: str, facts: Sequence[StoredFact]) -> frozenset[str]:
        """Returns the ids of facts about a table or column that the latest scan of their database lacks.

        Before a first scan, and where nothing says what the reader knows of the tables, no fact is stale.
        """
        about = [fact for fact in facts if fact.about and fact.connection_id is not None]
        names: dict[str, frozenset[str]] = {}
        for connection_id in {str(fact.connection_id) for fact in about}:
            try:
                connection = await self._connections.repository.get(reader, connection_id)
                schema = await self._connections.known_schema(connection)
            except (ConnectionNotFound, PersonUnknown):
                continue
            if schema is not None:
                names[connection_id] = _names_in(schema)
        return frozenset(
            fact.id
            for fact in about
            if (known := names.get(str(fact.connection_id))) is not None
            and is_stale(fact.about, partial(_has_name, known))
        )

    def _is_listed(self, fact: StoredFact, reader: str, readers: set[str]) -> bool:
        if not self.group_of(fact).holds(fact):
            return False
        if fact.scope == "shared":
            return readers_of_connection(str(fact.connection_id)) in readers
        return fact.owner == reader

    # Of groups

    async def by_words(self, groups: Sequence[FactGroup], words: Sequence[str], *, limit: int) -> list[str]:
        """Returns the ids of facts of groups that have some of the words. Rare words count more."""
        scores: defaultdict[str, float] = defaultdict(float)
        for fact_ids in await self.repository.with_words(groups, words, now_ms(), limit=limit):
            for fact_id in fact_ids:
                scores[fact_id] += 1 / len(fact_ids)
        return sorted(scores, key=lambda fact_id: (-scores[fact_id], fact_id))[:limit]

    async def by_meaning(
        self, groups: Sequence[FactGroup], model: str, vector: Sequence[float], *, limit: int
    ) -> list[str]:
        """Returns the ids of the facts of groups whose vectors are nearest. Not all of them are active."""
        near = await self.vectors.nearest(groups, model, vector, limit=limit)
        return [each.document_id for each in near]

    async def active(self, groups: Sequence[FactGroup], fact_ids: Sequence[str]) -> list[StoredFact]:
        """Returns the active facts among these of the groups, in the order of the ids."""
        found = await self.repository.active(groups, fact_ids, now_ms()) if fact_ids else []
        superseded = {fact.supersedes for fact in found}  # an interrupted change has left it active
        return [fact for fact in found if fact.id not in superseded]

    async def latest(self, group: FactGroup, *, limit: int) -> list[StoredFact]:
        """Returns the active facts of a group that were changed last, latest first."""
        return await self.repository.latest(group, now_ms(), limit=limit)

    async def has_any(self, group: FactGroup) -> bool:
        """True if the group has a fact of any status."""
        return await self.repository.has_any(group)


def is_expired(fact: StoredFact) -> bool:
    return fact.expires_at is not None and fact.expires_at <= now_ms()


def _names_in(schema: Schema) -> frozenset[str]:
    """Returns the names of tables, and of columns as `table.column`, in one case."""
    named = [(name, table) for table in schema.tables for name in {table.name, table.in_database.text}]
    tables = {name.casefold() for name, _ in named}
    columns = {f"{name}.{each.name}".casefold() for name, table in named for each in table.columns}
    return frozenset(tables | columns)


def _has_name(names: frozenset[str], name: str) -> bool:
    return name.casefold() in names


def _conditions(wanted: FactFilter) -> list[Condition]:
    values = {
        "scope": wanted.scope,
        "kind": wanted.kind,
        "connection_id": wanted.connection_id,
        "source_message_id": wanted.message_id,
        "source_session_id": wanted.session_id,
    }
    chosen: list[Condition] = [Equals(name, value) for name, value in values.items() if value is not None]
    return [*chosen, AnyOf("status", LIVING if wanted.status is None else [wanted.status])]
