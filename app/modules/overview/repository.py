"""Overviews in the store, one for each connection and reader."""

from collections.abc import Mapping

from pydantic import JsonValue

from app.core.ids import id_of
from app.core.storage.claims import Claims
from app.core.storage.documents import Documents
from app.core.storage.port import Equals, Query, Storage
from app.modules.overview.model import KeptOverview

_PAGE = 200


class OverviewRepository:
    """Access is checked by the service, not here."""

    def __init__(self, storage: Storage) -> None:
        self._overviews = Documents(storage, "overviews", KeptOverview)
        self.claims = Claims(self._overviews, "due_at")
        """Those to compute by now."""

    async def find(self, owner: str, connection_id: str) -> KeptOverview | None:
        return await self._overviews.get(overview_id(owner, connection_id))

    async def put(self, kept: KeptOverview) -> None:
        await self._overviews.put(kept)

    async def change(self, kept: KeptOverview, changes: Mapping[str, JsonValue]) -> KeptOverview | None:
        """Returns None if it is gone."""
        return await self._overviews.change(kept.id, changes)

    async def of_connection(self, connection_id: str) -> list[KeptOverview]:
        found = self._overviews.all(Query([Equals("db_connection_id", connection_id)], limit=_PAGE))
        return [each async for each in found]

    async def delete_all(self, owner: str) -> None:
        await self._overviews.delete(Equals("owner", owner))


def overview_id(owner: str, connection_id: str) -> str:
    return id_of(connection_id, owner)
