"""Access to facts: who may read and write them, and the place that a fact belongs to."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace

from app.core.errors import Problem
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.errors import FactPlaceUnclear
from app.modules.memory.fact_repository import readers_of_connection, readers_of_owner
from app.modules.memory.model import NewFact, StoredFact
from app.modules.memory.scopes import Scope

_CONNECTIONS = 1_000

SessionConnection = Callable[[str, str], Awaitable[str | None]]
"""Returns the id of the connection of an owner's session, or None if the owner has no such session."""


class FactAccess:
    """A fact belongs to its owner alone. Shared facts belong to a connection: all readers of the connection
    read them, and its owner alone writes them.
    """

    def __init__(self, connections: DatabaseConnections, find_session: SessionConnection) -> None:
        self._connections = connections
        self._find_session = find_session

    async def placed(self, new: NewFact) -> NewFact:
        """Returns the fact with the connection of its place, if the owner may write there.

        Raises `FactPlaceUnclear`, `ConnectionNotFound` or `NotTheOwner`.
        """
        return replace(new, connection_id=await self._connection_of(new), text=_tidy(new.text))

    async def placed_all(self, new: Sequence[NewFact]) -> list[NewFact | Problem]:
        """Returns for each fact what `placed` returns or raises. Each place is looked up once."""
        found: dict[Hashable, str | Problem | None] = {}
        placed: list[NewFact | Problem] = []
        for each in new:
            session_id = each.source.session_id
            place = (
                each.owner,
                each.scope,
                each.connection_id,
                session_id,
                each.source.origin,
                each.about != (),
            )
            if place not in found:
                try:
                    found[place] = await self._connection_of(each)
                except Problem as problem:
                    found[place] = problem
            connection = found[place]
            placed.append(
                connection
                if isinstance(connection, Problem)
                else replace(each, connection_id=connection, text=_tidy(each.text))
            )
        return placed

    async def _connection_of(self, new: NewFact) -> str | None:
        """Returns the connection of a fact's place. Raises what `placed` raises."""
        if new.scope == "user" and new.source.origin == "feedback":
            raise FactPlaceUnclear("Feedback is about data: give the fact the scope workspace or session.")
        if new.about and new.connection_id is None and new.scope != "session":
            raise FactPlaceUnclear("A fact about tables needs the connection that they belong to.")
        if new.scope == "session":
            if new.source.session_id is None:
                raise FactPlaceUnclear("A fact of a session needs the session's id.")
            connection_id = await self._find_session(new.owner, new.source.session_id)
            if connection_id is None:
                raise FactPlaceUnclear("There is no session with this id. Name one of yours.")
            return connection_id
        if new.connection_id is None:
            if new.scope != "user":
                raise FactPlaceUnclear(f"A fact of scope {new.scope} needs the id of a database connection.")
        elif new.scope == "shared":
            connection = await self._connections.repository.own(new.owner, new.connection_id)
            if not _shares_facts(connection):
                raise FactPlaceUnclear(
                    "The database shows each person what its policies let them see: no fact about it is "
                    "shared. Write it as an instruction of the database, which is left out for whom it names "
                    "what they may not see, or give the fact the scope workspace."
                )
        else:
            await self._connections.repository.get(new.owner, new.connection_id)
        return new.connection_id

    async def check_readable(self, reader: str, connection_id: str) -> None:
        """Raises `ConnectionNotFound`."""
        await self._connections.repository.get(reader, connection_id)

    async def check_writable(self, writer: str, fact: StoredFact) -> None:
        """Raises `NotTheOwner` for a shared fact of a connection that the writer may only read."""
        if fact.scope == "shared":
            await self._connections.repository.own(writer, str(fact.connection_id))

    async def is_readable(self, reader: str, fact: StoredFact) -> bool:
        if fact.scope != "shared":
            return fact.owner == reader
        try:
            connection = await self._connections.repository.get(reader, str(fact.connection_id))
        except ConnectionNotFound:
            return False
        return _shares_facts(connection)

    async def readers(self, reader: str, scope: Scope | None, connection_id: str | None) -> set[str]:
        """Returns the names under which the reader may read facts, of a scope and a connection if wanted."""
        own = {readers_of_owner(reader)}
        if scope not in (None, "shared"):
            return own
        if connection_id is not None:
            try:
                connection = await self._connections.repository.get(reader, connection_id)
            except ConnectionNotFound:
                return own
            return {*own, readers_of_connection(connection_id)} if _shares_facts(connection) else own
        readable = await self._connections.repository.oldest(reader, _CONNECTIONS)
        return own | {readers_of_connection(each.id) for each in readable if _shares_facts(each)}


def _shares_facts(connection: Connection) -> bool:
    """False where people see different tables: a fact may name what a reader may not know of."""
    return connection.policies is None


def _tidy(text: str) -> str:
    return " ".join(text.split())
