"""Memory outside of KAI: consents, and the graph memory where it is on."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.clock import now_ms
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.memory.consent import Consents, OutsideMemory
from app.modules.memory.graphiti.forgetting import GraphForgetting
from app.modules.memory.model import StoredFact

if TYPE_CHECKING:  # it costs nothing where it is off
    from app.modules.memory.graphiti.service import Graphiti


class OutsideMemoryOfConnections:
    """Implements `ConnectionReader`."""

    def __init__(self, connections: ConnectionRepository) -> None:
        self._connections = connections

    async def outside_memory(self, reader: str, connection_id: str) -> OutsideMemory | None:
        try:
            connection = await self._connections.get(reader, connection_id)
        except ConnectionNotFound:
            return None
        return OutsideMemory(connection.has_external_memory, connection.name)


class FactsOutside:
    """Implements `FactWatch`. `find_session` returns the database of an owner's session."""

    def __init__(
        self,
        forgetting: GraphForgetting,
        graphiti: "Graphiti | None",
        find_session: Callable[[str, str], Awaitable[str | None]],
    ) -> None:
        self._forgetting = forgetting
        self._graphiti = graphiti
        self._find_session = find_session

    async def kept(self, fact: StoredFact) -> None:
        """A fact of a person goes out by the consent for the database in whose session they promoted it."""
        if self._graphiti is None:
            return
        connection_id = fact.connection_id
        if connection_id is None and fact.source.session_id is not None:
            connection_id = await self._find_session(fact.owner, fact.source.session_id)
        await self._graphiti.remember_fact(fact, connection_id)

    async def dropped(self, facts: Sequence[StoredFact]) -> None:
        for fact in facts:
            await self._forgetting.forget_facts(fact.owner, [fact.id], now_ms())


@dataclass(frozen=True, kw_only=True)
class ExternalMemory:
    consents: Consents
    connections: ConnectionRepository
    forgetting: GraphForgetting
    graphiti: "Graphiti | None"
    """None where the graph memory is off. Forgetting is then noted for the day it is on."""
    ingests: bool
    """Answered questions are sent."""

    async def outside_memory(self, reader: str, connection_id: str) -> OutsideMemory:
        """Raises `ConnectionNotFound`."""
        connection = await self.connections.get(reader, connection_id)
        return OutsideMemory(connection.has_external_memory, connection.name)

    async def withdraw(self, owner: str, connection_id: str, now: int, *, erase: bool) -> int:
        """Withdraw all consents for a database. Returns the number of groups that hold something of it."""
        groups = await self.forgetting.withdraw(owner, connection_id, now, erase=erase)
        await self.consents.withdraw(owner, connection_id)
        await self.forgetting.drop_waiting(owner, connection_id)  # those that were added meanwhile
        return groups
