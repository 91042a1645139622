"""The store on Typesense, with one Typesense collection for each collection.

Typesense matches loosely, so every document found is compared with the conditions again. Typesense has no
conditional writes; `typesense_compare_and_set` explains how a patch is atomic.
"""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from pydantic import JsonValue
from typesense import AsyncClient

from app.core.storage import typesense_layout as layout
from app.core.storage.paging import Order, check_limit, check_vector, read_cursor, write_cursor
from app.core.storage.port import (
    AnyOf,
    Collection,
    Condition,
    Document,
    DocumentExists,
    Equals,
    Field,
    Page,
    is_uuid,
    meets,
)
from app.core.storage.typesense_client import translated_errors
from app.core.storage.typesense_compare_and_set import CompareAndSet, Documents
from typesense_checkpoint.collection import MAX_HITS, TypesenseCollection
from typesense_checkpoint.searches import Search

_CATALOG = "collections0"
_REFILLED_AT_ONCE = 1_000
_COMPARED_VECTORS = 100  # with fewer the index misses near ones
_COMPARED_EXACTLY = 10_000  # documents that meet the conditions; of more, the index alone finds the nearest


class TypesenseStorage:
    """Implements `Storage` on Typesense collections whose names begin with `prefix`."""

    def __init__(self, client: AsyncClient, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._collections: dict[str, Collection] = {}
        self._patches = CompareAndSet(TypesenseCollection(client, f"{prefix}patches0"), self._known)
        self._catalog: TypesenseCollection[layout.Row] = TypesenseCollection(client, f"{prefix}{_CATALOG}")

    async def open(self) -> None:
        """Create the internal collections, and read the declared ones.

        Raises `StorageUnavailable`; it is a `StorageRefused` when the key is wrong.
        """
        with translated_errors():
            await self._patches.make()
            await self._catalog.create_if_missing([layout.stored(layout.DOCUMENT)])
            for kept in await self._catalog.find_all({}):
                collection = layout.collection_of(kept)
                self._collections[collection.name] = collection

    async def _collection(self, name: str) -> Collection:
        if name not in self._collections:
            await self.open()  # another process may have made it since
        return self._collections[name]

    def _documents(self, name: str) -> TypesenseCollection[layout.Row]:
        return TypesenseCollection(self._client, f"{self._prefix}{name}")

    async def _known(self, name: str) -> Documents:
        return Documents(await self._collection(name), self._documents(name))

    # Collections

    def collections(self) -> Sequence[str]:
        return list(self._collections)

    async def create_collection(self, collection: Collection) -> None:
        with translated_errors():
            await self.open()
            kept = self._collections.get(collection.name)
            if kept is None:
                await self._documents(collection.name).create_if_missing(layout.fields_of(collection))
                await self._remember(collection)
            elif any(field not in kept.fields for field in collection.fields):
                raise ValueError(f"the collection {collection.name!r} exists with other fields")

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        kept = await self._collection(collection)
        wanted = [*kept.fields, *(field for field in fields if field not in kept.fields)]
        extended = Collection(collection, wanted)
        with translated_errors():
            await self._documents(collection).add_fields(
                [layout.declared(field) for field in fields if field.kind != "text"]
            )
        self._collections[collection] = extended
        cursor: str | None = None
        while True:
            page = await self.query(collection, [], limit=_REFILLED_AT_ONCE, cursor=cursor)
            await self.put(collection, page.items)
            if (cursor := page.next_cursor) is None:
                break
        with translated_errors():
            await self._remember(extended)

    async def _remember(self, collection: Collection) -> None:
        """Record a collection in the catalog. Call it last, so that everything in the catalog exists."""
        await self._catalog.write([layout.catalog_entry(collection)], "upsert")
        self._collections[collection.name] = collection

    # Documents

    async def get(self, collection: str, document_id: str) -> Document | None:
        documents = await self._known(collection)
        if not is_uuid(document_id):
            return None
        with translated_errors():
            return await self._patches.get(documents, document_id)

    async def create(self, collection: str, document: Document) -> None:
        revision = uuid4().hex
        row = layout.row(await self._collection(collection), document, revision)
        documents = self._documents(collection)
        with translated_errors():
            (created,) = await documents.write([row], "create")
            if not created:
                (found,) = await documents.find({"filter_by": f"id:={document['id']}"})
                # An earlier try of this call may have created it, its answer lost: then the revision is ours.
                if not found or found[0][layout.REVISION] != revision:
                    raise DocumentExists(str(document["id"]))

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        kept = await self._collection(collection)
        rows = [layout.row(kept, document, uuid4().hex) for document in documents]
        target = self._documents(collection)
        ids = [str(document["id"]) for document in documents]
        self._patches.drop_known(target, ids)
        with translated_errors():
            await target.write(rows, "upsert")
        self._patches.drop_known(target, ids)

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
    ) -> Document | None:
        documents = await self._known(collection)
        if not is_uuid(document_id):
            return None
        with translated_errors():
            return await self._patches.apply(
                documents, document_id, {**changes, "id": document_id}, where=where
            )

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        if not where:
            raise ValueError("a deletion needs a condition")
        compiled = layout.compile_all(await self._collection(collection), where)
        if compiled is None:
            return 0
        documents = self._documents(collection)
        with translated_errors():
            deleted = await documents.delete(compiled)
            await self._patches.forget(documents, [each for each in _ids(where) if is_uuid(each)])
        return deleted

    # Questions

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        compiled = layout.compile_all(await self._collection(collection), where)
        if compiled is None:
            return 0
        with translated_errors():
            return await self._documents(collection).count(compiled)

    async def query(
        self,
        collection: str,
        where: Sequence[Condition],
        *,
        order_by: str = "id",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        check_limit(limit)
        kept = await self._collection(collection)
        order = Order.of(kept, order_by, descending=descending)
        place = None if cursor is None else read_cursor(cursor, order)
        compiled = layout.compile_all(kept, where)
        if compiled is None:
            return Page([], None)
        further = [compiled] if compiled else []
        if place is not None:
            further.append(layout.beyond(order, place))
        search: Search = {"filter_by": " && ".join(further), "sort_by": layout.sorting(order)}
        found = await self._find(kept, search, where, limit=limit + 1)
        if len(found) <= limit:
            return Page(found, None)
        return Page(found[:limit], write_cursor(order, order.place_of(found[limit - 1])))

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        check_limit(limit)
        kept = await self._collection(collection)
        wanted = list(dict.fromkeys(reversed(layout.words(words))))[::-1]
        compiled = layout.compile_all(kept, where)
        if not wanted or compiled is None:
            return []
        search: Search = {
            "q": " ".join(wanted),
            "query_by": layout.WORDS,
            "filter_by": compiled,
            "num_typos": 0,
            "drop_tokens_threshold": 0,
            "typo_tokens_threshold": 0,
            "sort_by": f"_text_match:desc,{layout.HIGH}:desc,{layout.LOW}:desc",
        }
        found = await self._find(kept, search, where, limit=limit)
        return [document for document in found if layout.has_words(kept, document, wanted)]

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Document]:
        check_limit(limit)
        kept = await self._collection(collection)
        check_vector(kept.field(field), vector)
        compiled = layout.compile_all(kept, where)
        if compiled is None:
            return []
        numbers = ",".join(repr(float(each)) for each in vector)
        compared = max(limit, _COMPARED_VECTORS)
        query = f"{field}:([{numbers}], k:{compared}, flat_search_cutoff:{_COMPARED_EXACTLY})"
        return await self._find(kept, {"vector_query": query, "filter_by": compiled}, where, limit=limit)

    async def _find(
        self, collection: Collection, search: Search, where: Sequence[Condition], *, limit: int
    ) -> list[Document]:
        """Returns the first matches of one request, without those that do not meet the conditions exactly."""
        searches: list[Search] = [
            {
                **search,
                "page": page + 1,
                "per_page": min(limit, MAX_HITS),
                "include_fields": layout.DOCUMENT,
            }
            for page in range(-(-limit // MAX_HITS))
        ]
        with translated_errors():
            found = await self._documents(collection.name).find(*searches)
        documents = [layout.document_of(each) for page in found for each in page]
        exact = [each for each in documents if all(meets(each, condition, collection) for condition in where)]
        return exact[:limit]


def _ids(where: Sequence[Condition]) -> list[str]:
    """Returns the document ids in the conditions."""
    ids: list[str] = []
    for condition in where:
        match condition:
            case Equals(field="id", value=str(value)):
                ids.append(value)
            case AnyOf(field="id", values=values):
                ids.extend(values)
    return ids
