"""Consents to remember outside of KAI: of one owner, for one database, to one endpoint."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.ids import id_of
from app.core.storage.documents import Documents
from app.core.storage.port import Condition, Equals, Query, Storage
from app.modules.memory.turns import MemoryTurn

TEXT_VERSION = 1
TEXT = (
    "KAI sends your questions about this database and its answers, and the facts that you ask it to "
    "remember, to the graph memory service named here. The service keeps them, has a language model read "
    "them, and may give what it derives back to KAI for your later questions. Your name as KAI knows it goes "
    "along; rows, and passwords and keys that KAI recognizes, do not. You can withdraw this at any time and "
    "have it erased. The service may fail to erase, and KAI then says so."
)
"""What a person consents to. A change of its meaning is another version, which voids earlier consents."""

_NAME = "consents"


@dataclass(frozen=True, kw_only=True)
class Consent:
    """`credential` names what the owner was signed in with. It is no secret."""

    id: str
    owner: str
    connection_id: str
    endpoint: str
    granted_at: int
    credential: str
    text_version: int


class Consents:
    """Consents in the store. Every read names the owner."""

    def __init__(self, storage: Storage) -> None:
        self._consents = Documents(storage, _NAME, Consent)

    async def grant(
        self, owner: str, connection_id: str, endpoint: str, *, credential: str, now: int
    ) -> Consent:
        """A repeated consent keeps the time of the first."""
        known = await self.find(owner, connection_id, endpoint)
        if known is not None and known.text_version == TEXT_VERSION:
            return known
        consent = Consent(
            id=_id(owner, connection_id, endpoint),
            owner=owner,
            connection_id=connection_id,
            endpoint=endpoint,
            granted_at=now,
            credential=credential,
            text_version=TEXT_VERSION,
        )
        await self._consents.put(consent)
        return consent

    async def find(self, owner: str, connection_id: str, endpoint: str) -> Consent | None:
        """A consent to any version of the text."""
        found = await self._consents.get(_id(owner, connection_id, endpoint))
        return None if found is None or found.owner != owner else found

    async def page(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Consent], str | None]:
        found, following = await self._consents.page(
            Query([Equals("owner", owner)], limit=limit, cursor=cursor)
        )
        return [each for each in found if each.owner == owner], following

    async def withdraw(self, owner: str, connection_id: str) -> int:
        """Delete the owner's consents for a database, to any endpoint. Returns their number."""
        return await self.delete([Equals("owner", owner), Equals("connection_id", connection_id)])

    async def delete(self, where: Sequence[Condition]) -> int:
        return await self._consents.delete(*where)


def _id(owner: str, connection_id: str, endpoint: str) -> str:
    return id_of(connection_id, json.dumps([owner, endpoint]))


@dataclass(frozen=True)
class OutsideMemory:
    """What a database's owner has decided about it. `name` is the database's."""

    allowed: bool
    name: str


class ConnectionReader(Protocol):
    async def outside_memory(self, reader: str, connection_id: str) -> OutsideMemory | None:
        """Returns None if there is no such connection, or the reader may not use it.

        Raises `StorageUnavailable`.
        """


@dataclass(frozen=True)
class Permit:
    """What may be sent: turns since `since` (epoch ms)."""

    since: int
    connection_name: str


class Gate:
    """Opens for an owner and a database if both have agreed to this very endpoint."""

    def __init__(self, consents: Consents, connections: ConnectionReader, endpoint: str) -> None:
        self._consents = consents
        self._connections = connections
        self._endpoint = endpoint

    async def permit(self, owner: str, connection_id: str | None) -> Permit | None:
        """Returns None if nothing may be sent or asked. Raises `StorageUnavailable`."""
        if connection_id is None:
            return None
        consent = await self._consents.find(owner, connection_id, self._endpoint)
        if consent is None or consent.text_version != TEXT_VERSION:
            return None
        outside = await self._connections.outside_memory(owner, connection_id)
        if outside is None or not outside.allowed:
            return None
        return Permit(consent.granted_at, outside.name)

    async def permit_turn(self, turn: MemoryTurn) -> Permit | None:
        """Returns the permit of the turn's database. None if nothing of it or of a further database of the
        session may be sent, or the turn is from before. Raises `StorageUnavailable`.
        """
        permits = [await self.permit(turn.owner, each) for each in (turn.connection_id, *turn.also)]
        if any(permit is None or turn.at < permit.since for permit in permits):
            return None
        return permits[0]
