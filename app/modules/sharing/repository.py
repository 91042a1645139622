"""Links in the store."""

from dataclasses import asdict

from pydantic import TypeAdapter

from app.core.storage.port import Equals, Storage
from app.modules.sharing.model import Link

_LINK = TypeAdapter(Link)


class LinkRepository:
    """Access is checked by the service, not here."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def add(self, link: Link) -> None:
        await self._storage.create("links", asdict(link))

    async def count(self, owner: str) -> int:
        return await self._storage.count("links", [Equals("owner", owner)])

    async def find(self, link_id: str) -> Link | None:
        found = await self._storage.get("links", link_id)
        return None if found is None else _LINK.validate_python(found)

    async def page(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Link], str | None]:
        """Newest first."""
        page = await self._storage.query(
            "links",
            [Equals("owner", owner)],
            order_by="created_at",
            descending=True,
            limit=limit,
            cursor=cursor,
        )
        return [_LINK.validate_python(each) for each in page.items], page.next_cursor

    async def delete(self, link: Link) -> None:
        await self._storage.delete("links", [Equals("id", link.id)])

    async def delete_all(self, owner: str) -> None:
        await self._storage.delete("links", [Equals("owner", owner)])
