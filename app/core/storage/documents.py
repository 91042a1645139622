"""The documents of a collection as records of one class."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Generic, TypeVar

from pydantic import JsonValue, TypeAdapter

from app.core.keyed_ids import is_of_key
from app.core.storage.edits import current_edit, version_of
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Condition, Document, DocumentExists, Query, Storage

Record = TypeVar("Record")
_adapters: dict[object, TypeAdapter[Any]] = {}


class Documents(Generic[Record]):
    """Records in one collection. Methods fail as those of `Storage` do.

    `write` returns the document of a record. `upgrade` returns a document that was written by an earlier
    release as it is written now. `read` validates it.
    """

    def __init__(
        self,
        storage: Storage,
        collection: str,
        kind: type[Record],
        *,
        write: Callable[[Any], Document] = asdict,
        upgrade: Callable[[Document], Mapping[str, object]] | None = None,
    ) -> None:
        self._storage = storage
        self._collection = collection
        self._kind = kind
        self._write = write
        self._upgrade = upgrade

    def read(self, document: Document) -> Record:
        return adapter_of(self._kind).validate_python(self._upgrade(document) if self._upgrade else document)

    async def get(self, record_id: str) -> Record | None:
        found = await self._storage.get(self._collection, record_id)
        return None if found is None else self.read(found)

    async def create(self, record: Record) -> Record:
        """Returns the record that is stored: in a keyed request, that of another try if there is one.

        Raises `DocumentExists`.
        """
        document = self._write(record)
        try:
            await self._storage.create(self._collection, document)
        except DocumentExists:
            record_id = str(document["id"])
            if not is_of_key(record_id) or (found := await self.get(record_id)) is None:
                raise
            return found
        return record

    async def add(self, record: Record) -> bool:
        """Store a record unless one of its id is stored. Returns False if one is."""
        try:
            await self._storage.create(self._collection, self._write(record))
        except DocumentExists:
            return False
        return True

    async def add_missing(self, records: Sequence[Record]) -> None:
        """Store, in one write, the records whose ids are not stored yet."""
        await self._storage.create_missing(self._collection, [self._write(each) for each in records])

    async def put(self, *records: Record) -> None:
        await self._storage.put(self._collection, [self._write(each) for each in records])

    async def change(
        self,
        record_id: str,
        changes: Mapping[str, JsonValue],
        where: Sequence[Condition] = (),
        *,
        also: Sequence[tuple[str, Document]] = (),
    ) -> Record | None:
        """Returns the changed record. Returns None if it is gone or does not meet the conditions."""
        changed = await self._storage.patch(self._collection, record_id, changes, where=where, also=also)
        return None if changed is None else self.read(changed)

    async def edit(
        self, record_id: str, changes: Mapping[str, JsonValue], where: Sequence[Condition] = ()
    ) -> Record | None:
        """Change a record for a user: its `version` is one more.

        Returns the changed record. Returns None if it is gone or does not meet the conditions.

        Raises `ChangedMeanwhile` if the user has seen another version than the record has.
        """
        edit = current_edit()
        changed = await self._storage.patch(
            self._collection, record_id, changes, where=where, amend=edit.apply
        )
        if changed is None:
            if edit.expected is not None and (found := await self._storage.get(self._collection, record_id)):
                edit.check(version_of(found))
            return None
        edit.wrote(version_of(changed))
        return self.read(changed)

    async def replace(self, record: Record, where: Sequence[Condition] = ()) -> bool:
        """Write all fields of a stored record. Returns False if it is gone or meets not all conditions."""
        record_id, changes = self._parted(record)
        return await self._storage.patch(self._collection, record_id, changes, where=where) is not None

    async def rewrite(self, record: Record) -> bool:
        """Write all fields of a stored record for a user. Returns False if it is gone.

        Raises what `edit` raises.
        """
        record_id, changes = self._parted(record)
        changes.pop("version")
        return await self.edit(record_id, changes) is not None

    def _parted(self, record: Record) -> tuple[str, Document]:
        """Returns the id of a record, and its other fields."""
        changes = self._write(record)
        return str(changes.pop("id")), changes

    async def delete(self, *where: Condition) -> int:
        return await self._storage.delete(self._collection, where)

    async def count(self, *where: Condition) -> int:
        return await self._storage.count(self._collection, where)

    async def page(self, query: Query) -> tuple[list[Record], str | None]:
        """Returns a page of records and the cursor of the next one (None on the last page)."""
        page = await self._storage.query(self._collection, query)
        return [self.read(each) for each in page.items], page.next_cursor

    async def list_page(self, own: Sequence[Condition], wanted: ListRequest) -> Listed[Record]:
        """Returns a page of the records that meet the conditions of a list and those of a caller."""
        found, next_cursor = await self.page(wanted.query(own))
        total = await self.count(*own, *wanted.where) if wanted.is_counted else None
        return Listed(found, next_cursor, total)

    async def first(self, query: Query) -> list[Record]:
        """Returns the records of the first page."""
        return (await self.page(query))[0]

    async def all(self, query: Query) -> AsyncGenerator[Record]:
        """Yields the records of all pages."""
        async for document in all_documents(self._storage, self._collection, query):
            yield self.read(document)

    async def search(self, words: str, where: Sequence[Condition], *, limit: int) -> list[Record]:
        """Returns the records that contain all words, best first."""
        found = await self._storage.search(self._collection, words, where, limit=limit)
        return [self.read(each) for each in found]


async def all_documents(storage: Storage, collection: str, query: Query) -> AsyncGenerator[Document]:
    """Yields the documents of all pages. `limit` is the size of a page."""
    async for page in all_pages(storage, collection, query):
        for each in page:
            yield each


async def all_pages(storage: Storage, collection: str, query: Query) -> AsyncGenerator[Sequence[Document]]:
    while True:
        page = await storage.query(collection, query)
        if page.items:
            yield page.items
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


async def read_pages(
    read: Callable[[ListRequest], Awaitable[Listed[Record]]], request: ListRequest
) -> AsyncGenerator[Record]:
    """Yields the items of a page and of all that follow it."""
    while True:
        page = await read(request)
        for each in page.items:
            yield each
        if page.next_cursor is None:
            return
        request = replace(request, cursor=page.next_cursor)


def adapter_of(kind: type[Record]) -> TypeAdapter[Record]:
    """Built with the first record of the kind that is read or written: it takes some milliseconds."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]
