"""Examples, terms and instructions in the store: three collections of one shape."""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from pydantic import JsonValue

from app.core.cursor import cut_page
from app.core.storage.documents import Documents
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Condition, Equals, Query, Storage
from app.modules.context_store.errors import EntryUnknown
from app.modules.context_store.model import Example, Instruction, Term

_SEARCHED_MATCHES = 250
MAX_ENTRIES = 1_000
"""Entries of a kind that are read for a question, the latest first."""

Entry = TypeVar("Entry", Example, Term, Instruction)


class Entries(Generic[Entry]):
    """Stored entries of one kind, of all owners. Access is checked by the service, not here."""

    def __init__(self, storage: Storage, collection: str, kind: type[Entry]) -> None:
        self._documents: Documents[Entry] = Documents(storage, collection, kind)
        self._kind = kind.__name__.lower()

    async def save(self, entry: Entry) -> None:
        await self._documents.put(entry)

    def unknown(self) -> EntryUnknown:
        return EntryUnknown(kind=self._kind)

    async def get(self, entry_id: str) -> Entry:
        """Raises `EntryUnknown` if there is no entry with this id."""
        found = await self._documents.get(entry_id)
        if found is None:
            raise self.unknown()
        return found

    async def change(self, entry: Entry, changes: Mapping[str, JsonValue]) -> Entry:
        """Returns the changed entry. Raises `EntryUnknown` if it was deleted meanwhile."""
        changed = await self._documents.change(entry.id, changes)
        if changed is None:
            raise self.unknown()
        return changed

    async def edit(self, entry: Entry, changes: Mapping[str, JsonValue]) -> Entry:
        """Change an entry for its owner. Raises `EntryUnknown` if it was deleted meanwhile."""
        changed = await self._documents.edit(entry.id, changes)
        if changed is None:
            raise self.unknown()
        return changed

    async def delete(self, entry: Entry, where: Sequence[Condition] = ()) -> None:
        await self._documents.delete(Equals("id", entry.id), *where)

    async def delete_all(self, where: Sequence[Condition]) -> None:
        await self._documents.delete(*where)

    async def page(self, where: Sequence[Condition], wanted: ListRequest) -> Listed[Entry]:
        return await self._documents.list_page(where, wanted)

    async def search(self, words: str, where: Sequence[Condition], wanted: ListRequest) -> Listed[Entry]:
        """Returns a page of the entries that contain all words, best matches first.

        Only the best 250 matches can be reached, and are counted.
        """
        found = await self._documents.search(words, [*where, *wanted.where], limit=_SEARCHED_MATCHES)
        return cut_page(found, wanted)

    async def latest(
        self, db_connection_id: str, filters: Sequence[Condition] = (), limit: int = MAX_ENTRIES
    ) -> list[Entry]:
        """Returns the entries of a connection, newest first."""
        where = [Equals("db_connection_id", db_connection_id), *filters]
        return await self._documents.first(Query(where, descending=True, limit=limit))
