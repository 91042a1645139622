"""A store that counts and times the operations of any other store."""

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Histogram
from pydantic import JsonValue

from app.core.storage.port import (
    Amend,
    Collection,
    Condition,
    Document,
    Field,
    Near,
    Page,
    Query,
    Storage,
    StorageUnavailable,
)


class MeasuredStorage:
    """Implements `Storage` by another store, recording duration and outcome of each operation."""

    def __init__(self, store: Storage, registry: CollectorRegistry) -> None:
        self._store = store
        self._seconds = Histogram(
            "kai_store_operation_duration_seconds",
            "Of an operation on KAI's own store, tries included",
            ["operation", "outcome"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10),
            registry=registry,
        )

    def collections(self) -> Sequence[str]:
        return self._store.collections()

    async def create_collection(self, collection: Collection) -> None:
        with self._timed("create_collection"):
            await self._store.create_collection(collection)

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        with self._timed("add_fields"):
            await self._store.add_fields(collection, fields)

    async def get(self, collection: str, document_id: str) -> Document | None:
        with self._timed("get"):
            return await self._store.get(collection, document_id)

    async def create(self, collection: str, document: Document) -> None:
        with self._timed("create"):
            await self._store.create(collection, document)

    async def create_missing(self, collection: str, documents: Sequence[Document]) -> None:
        with self._timed("create_missing"):
            await self._store.create_missing(collection, documents)

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        with self._timed("put"):
            await self._store.put(collection, documents)

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
        with self._timed("patch"):
            return await self._store.patch(
                collection, document_id, changes, where=where, also=also, amend=amend
            )

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        with self._timed("delete"):
            return await self._store.delete(collection, where)

    async def forget_earlier(self, collection: str, document_id: str) -> None:
        with self._timed("forget_earlier"):
            await self._store.forget_earlier(collection, document_id)

    async def scrub(self) -> None:
        with self._timed("scrub"):
            await self._store.scrub()

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        with self._timed("count"):
            return await self._store.count(collection, where)

    async def query(self, collection: str, query: Query) -> Page:
        with self._timed("query"):
            return await self._store.query(collection, query)

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        with self._timed("search"):
            return await self._store.search(collection, words, where, limit=limit)

    async def search_ids(
        self, collection: str, queries: Sequence[str], where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Sequence[str]]:
        with self._timed("search_ids"):
            return await self._store.search_ids(collection, queries, where, limit=limit)

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Near]:
        with self._timed("nearest"):
            return await self._store.nearest(collection, field, vector, where=where, limit=limit)

    @contextmanager
    def _timed(self, operation: str) -> Generator[None]:
        """Record an operation. A refusal by the rules of `Storage`, as `DocumentExists`, counts as ok."""
        began = time.monotonic()
        outcome = "ok"
        try:
            yield
        except StorageUnavailable:
            outcome = "unavailable"
            raise
        finally:
            self._seconds.labels(operation, outcome).observe(time.monotonic() - began)
