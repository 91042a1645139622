"""The store on Typesense, with one Typesense collection for each collection, or for several together.

Typesense matches loosely, so every document found is compared with the conditions again. Typesense has no
conditional writes; `typesense_compare_and_set` explains how a patch is atomic.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from pydantic import JsonValue
from typesense import AsyncClient

from app.core.bus.port import Decisions
from app.core.storage import typesense_layout as layout
from app.core.storage.documents import all_pages
from app.core.storage.paging import Order, check_limit, check_vector, read_cursor, write_cursor
from app.core.storage.port import (
    Amend,
    AnyOf,
    Collection,
    Condition,
    Document,
    DocumentExists,
    Equals,
    Field,
    Near,
    Page,
    Query,
    is_uuid,
    meets,
)
from app.core.storage.typesense_client import translated_errors
from app.core.storage.typesense_compare_and_set import LONGEST_TRY_SECONDS, CompareAndSet
from app.core.storage.typesense_successors import CreatedSuccessors, DecidedSuccessors, StoredCollection
from typesense_checkpoint.collection import MAX_HITS, TypesenseCollection
from typesense_checkpoint.searches import Search

_CATALOG = "collections0"
_REFILLED_AT_ONCE = 1_000
_COMPARED_VECTORS = 100  # with fewer the index misses near ones
_COMPARED_EXACTLY = 10_000  # documents that meet the conditions; of more, the index alone finds the nearest


class TypesenseStorage:
    """Implements `Storage` on Typesense collections whose names begin with `prefix`."""

    def __init__(
        self,
        client: AsyncClient,
        prefix: str,
        decisions: Decisions | None = None,
        *,
        decided: Sequence[str] = (),
    ) -> None:
        """Every process that changes the `decided` collections has to share the decisions."""
        self._client = client
        self._prefix = prefix
        self._collections: dict[str, Collection] = {}
        self._created = CreatedSuccessors(TypesenseCollection(client, f"{prefix}patches0"), self._known)
        self._by_creation = CompareAndSet(self._created)
        self._by_decision = self._by_creation
        if decisions is not None:
            self._by_decision = CompareAndSet(DecidedSuccessors(decisions))
        self._decided = frozenset(decided)
        self._catalog: TypesenseCollection[layout.Row] = TypesenseCollection(client, f"{prefix}{_CATALOG}")

    async def open(self) -> None:
        """Create the internal collections, and read the declared ones.

        Raises `StorageUnavailable`; it is a `StorageRefused` when the key is wrong.
        """
        with translated_errors():
            await self._created.make()
            await self._catalog.create_if_missing([layout.stored(layout.DOCUMENT)])
            for kept in await self._catalog.find_all({}):
                collection = layout.collection_of(kept)
                self._collections[collection.name] = collection

    async def _collection(self, name: str) -> Collection:
        if name not in self._collections:
            await self.open()  # another process may have made it since
        return self._collections[name]

    def _documents(self, collection: Collection) -> TypesenseCollection[layout.Row]:
        return TypesenseCollection(self._client, f"{self._prefix}{layout.place_of(collection)}")

    async def _known(self, name: str) -> StoredCollection:
        collection = await self._collection(name)
        return StoredCollection(collection, self._documents(collection))

    def _patches(self, collection: str) -> CompareAndSet:
        return self._by_decision if collection in self._decided else self._by_creation

    # Collections

    def collections(self) -> Sequence[str]:
        return list(self._collections)

    async def create_collection(self, collection: Collection) -> None:
        with translated_errors():
            await self.open()
            kept = self._collections.get(collection.name)
            if kept is None:
                self._check_together(collection)
                documents, fields = self._documents(collection), layout.fields_of(collection)
                await documents.create_if_missing(fields)
                if collection.together:
                    await documents.add_fields(fields)
                await self._remember(collection)
            elif any(field not in kept.fields for field in collection.fields):
                raise ValueError(f"the collection {collection.name!r} exists with other fields")

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        with translated_errors():
            await self.open()  # an interrupted call may have declared them to this process only
        kept = await self._collection(collection)
        missing = [field for field in fields if field not in kept.fields]
        if not missing:
            return
        wanted = [*kept.fields, *missing]
        extended = replace(kept, fields=wanted)
        self._check_together(extended)
        with translated_errors():
            await self._documents(kept).add_fields(
                [layout.declared(field) for field in missing if field.kind != "text"]
            )
        self._collections[collection] = extended
        async for page in all_pages(self, collection, Query(limit=_REFILLED_AT_ONCE)):
            await self.put(collection, page)
        with translated_errors():
            await self._remember(extended)

    def _check_together(self, collection: Collection) -> None:
        """Raises `ValueError` if a collection beside this one has the same field with another kind."""
        kinds = {field.name: (field.kind, field.dimensions) for field in collection.fields}
        for other in self._collections.values():
            if collection.together and other.together == collection.together:
                for field in other.fields:
                    if kinds.get(field.name, kind := (field.kind, field.dimensions)) != kind:
                        raise ValueError(f"{collection.name}.{field.name} differs from that of {other.name}")

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
            return await self._patches(collection).get(documents, document_id)

    async def create(self, collection: str, document: Document) -> None:
        kept = await self._collection(collection)
        revision = self._first_revision(collection, document)
        row = layout.row(kept, document, revision)
        documents = self._documents(kept)
        with translated_errors():
            (created,) = await documents.write([row], "create")
            if not created:
                (found,) = await documents.find({"filter_by": layout.by_id(kept, str(document["id"]))})
                # An earlier try of this call may have created it, its answer lost: then the revision is ours.
                if not found or found[0][layout.REVISION] != revision:
                    raise DocumentExists(str(document["id"]))

    async def create_missing(self, collection: str, documents: Sequence[Document]) -> None:
        kept = await self._collection(collection)
        rows = [layout.row(kept, each, self._first_revision(collection, each)) for each in documents]
        with translated_errors():
            await self._documents(kept).write(rows, "create")

    def _first_revision(self, collection: str, document: Document) -> str:
        """What only one caller creates may be stored with other changes, too: always as the same state."""
        return layout.first_revision(document) if collection in self._decided else uuid4().hex

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        kept = await self._collection(collection)
        # Above the number of every decision, so that none is taken for later.
        now = time.time_ns() // 1_000
        rows = [layout.row(kept, document, layout.numbered(uuid4().hex, now)) for document in documents]
        target = StoredCollection(kept, self._documents(kept))
        ids = [str(document["id"]) for document in documents]
        patches = self._patches(collection)
        patches.drop_known(target, ids)
        with translated_errors():
            await target.kept.write(rows, "upsert")
        patches.drop_known(target, ids)

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
        also: Sequence[tuple[str, Document]] = (),
        amend: Amend | None = None,
    ) -> Document | None:
        documents = await self._known(collection)
        if not is_uuid(document_id):
            return None
        others = [(await self._known(name), document) for name, document in also]
        with translated_errors():
            async with asyncio.timeout(LONGEST_TRY_SECONDS):
                await self._created.sweep(self._by_creation.find_written)
            changed = await self._patches(collection).apply(
                documents,
                document_id,
                {**changes, "id": document_id},
                where=where,
                also=others,
                amend=amend,
            )
        for other, document in others:
            self._patches(other.declared.name).drop_known(other, [str(document["id"])])
        return changed

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        if not where:
            raise ValueError("a deletion needs a condition")
        compiled = layout.compile_all(await self._collection(collection), where)
        if compiled is None:
            return 0
        documents = await self._known(collection)
        with translated_errors():
            ids = [each for each in _ids(where) if is_uuid(each)]
            if not ids:
                rows = await documents.kept.find_ids(compiled)
                ids = [layout.document_id(documents.declared, each) for each in rows]
            patches = self._patches(collection)
            await patches.forget(documents, ids)  # also before: if this is interrupted, the rows lead to them
            deleted = await documents.kept.delete(compiled)
            await patches.forget(documents, ids)
        return deleted

    async def forget_earlier(self, collection: str, document_id: str) -> None:
        documents = await self._known(collection)
        if is_uuid(document_id):
            with translated_errors():
                await self._patches(collection).forget_earlier(documents, document_id)

    async def scrub(self) -> None:
        """Typesense keeps its files itself."""

    # Questions

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        compiled = layout.compile_all(await self._collection(collection), where)
        if compiled is None:
            return 0
        with translated_errors():
            return await self._documents(self._collections[collection]).count(compiled)

    async def query(self, collection: str, query: Query) -> Page:
        check_limit(query.limit)
        kept = await self._collection(collection)
        order = Order.of(kept, query)
        place = None if query.cursor is None else read_cursor(query.cursor, order)
        compiled = layout.compile_all(kept, query.where)
        if compiled is None:
            return Page([], None)
        further = [compiled] if compiled else []
        if place is not None:
            further.append(layout.beyond(order, place))
        search: Search = {"filter_by": " && ".join(further), "sort_by": layout.sorting(order)}
        found = await self._find(kept, search, query.where, limit=query.limit + 1)
        if len(found) <= query.limit:
            return Page(found, None)
        last = found[query.limit - 1]
        return Page(found[: query.limit], write_cursor(order, order.place_of(last)))

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        check_limit(limit)
        kept = await self._collection(collection)
        wanted = _wanted(words)
        compiled = layout.compile_all(kept, where)
        if not wanted or compiled is None:
            return []
        found = await self._find(kept, _search(wanted, compiled), where, limit=limit)
        return [document for document in found if layout.has_words(kept, document, wanted)]

    async def search_ids(
        self, collection: str, queries: Sequence[str], where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Sequence[str]]:
        check_limit(limit)
        kept = await self._collection(collection)
        compiled = layout.compile_all(kept, where)
        if compiled is None:
            return [[] for _ in queries]
        documents = self._documents(kept)
        fields = f"id,{layout.WORDS}"

        async def search(wanted: Sequence[str]) -> Sequence[str]:
            if not wanted:
                return []
            found = await documents.find(*_pages(_search(wanted, compiled), limit, fields))
            rows = [row for page in found for row in page if layout.is_of_words(row, wanted)]
            return [layout.document_id(kept, str(row["id"])) for row in rows[:limit]]

        with translated_errors():
            return await asyncio.gather(*map(search, map(_wanted, queries)))

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Near]:
        check_limit(limit)
        kept = await self._collection(collection)
        check_vector(kept.field(field), vector)
        compiled = layout.compile_all(kept, where)
        if compiled is None:
            return []
        numbers = ",".join(repr(float(each)) for each in vector)
        compared = max(limit, _COMPARED_VECTORS)
        query = f"{field}:([{numbers}], k:{compared}, flat_search_cutoff:{_COMPARED_EXACTLY})"
        search: Search = {"vector_query": query, "filter_by": compiled}
        with translated_errors():
            found = await self._documents(kept).find_near(*_pages(search, limit, "id"))
        near = [(layout.document_id(kept, str(row["id"])), cosine) for page in found for row, cosine in page]
        return [Near(each, cosine) for each, cosine in near[:limit]]

    async def _find(
        self, collection: Collection, search: Search, where: Sequence[Condition], *, limit: int
    ) -> list[Document]:
        """Returns the first matches of one request, without those that do not meet the conditions exactly."""
        with translated_errors():
            found = await self._documents(collection).find(*_pages(search, limit, layout.DOCUMENT))
        documents = [layout.document_of(each) for page in found for each in page]
        exact = [each for each in documents if all(meets(each, condition, collection) for condition in where)]
        return exact[:limit]


def _wanted(words: str) -> list[str]:
    """Returns the words to search for, each at its last place."""
    return list(dict.fromkeys(reversed(layout.words(words))))[::-1]


def _search(wanted: Sequence[str], filter_by: str) -> Search:
    return {
        "q": " ".join(wanted),
        "query_by": layout.WORDS,
        "filter_by": filter_by,
        "num_typos": 0,
        "drop_tokens_threshold": 0,
        "typo_tokens_threshold": 0,
        "sort_by": f"_text_match:desc,{layout.HIGH}:desc,{layout.LOW}:desc",
    }


def _pages(search: Search, limit: int, fields: str) -> list[Search]:
    """Returns the searches for the first matches, of which one answer holds only so many."""
    return [
        {**search, "page": page + 1, "per_page": min(limit, MAX_HITS), "include_fields": fields}
        for page in range(-(-limit // MAX_HITS))
    ]


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
