"""Links in the store."""

from collections.abc import Mapping, Sequence

from app.core.storage.documents import Documents, adapter_of
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import AnyOf, Condition, Document, Equals, Query, Storage
from app.modules.analysis.chart.specification import mapping
from app.modules.analysis.chart.stored import read_earlier_computed
from app.modules.sharing.model import ShareLink


class LinkRepository:
    """Access is checked by the service, not here."""

    def __init__(self, storage: Storage) -> None:
        self._links = Documents(storage, "links", ShareLink, write=_document, upgrade=_upgrade)

    async def add(self, link: ShareLink) -> ShareLink:
        """Returns the link that is stored."""
        return await self._links.create(link)

    async def count(self, owner: str) -> int:
        return await self._links.count(Equals("owner", owner))

    async def find(self, link_id: str) -> ShareLink | None:
        return await self._links.get(link_id)

    async def page(self, owner: str, wanted: ListRequest) -> Listed[ShareLink]:
        return await self._links.list_page([Equals("owner", owner)], wanted)

    async def links_to(self, owner: str, thing_ids: Sequence[str]) -> list[ShareLink]:
        """Returns at most 100 links of the owner to any of these things, newest first."""
        own: list[Condition] = [Equals("owner", owner), AnyOf("thing_id", thing_ids)]
        return await self._links.first(Query(own, order_by="created_at", descending=True))

    async def delete(self, link: ShareLink) -> None:
        await self._links.delete(Equals("id", link.id))

    async def delete_all(self, owner: str) -> None:
        await self._links.delete(Equals("owner", owner))


def _upgrade(stored: Document) -> Mapping[str, object]:
    """A link of before has the option of a computed chart beside the choice."""
    charts = {
        answer_id: {
            "choice": read_earlier_computed(mapping(chart).get("choice"), mapping(chart).get("option"))
        }
        for answer_id, chart in mapping(stored.get("charts")).items()
    }
    return {**stored, "charts": charts}


def _document(link: ShareLink) -> Document:
    document: Document = adapter_of(ShareLink).dump_python(link, mode="json")
    return document
