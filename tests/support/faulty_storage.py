"""A store of which single operations never end, fail, or return what was not asked for."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from prometheus_client import CollectorRegistry

from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Condition, Document, Near, Page, Query, Storage, StorageUnavailable

Fault = Literal["never ends", "cannot be cancelled", "fails", "lies"]


class FaultyStorage(MeasuredStorage):
    """Operations of other names work. `lie` are the documents of an operation that lies."""

    def __init__(self, store: Storage, fault: Fault, *operations: str, lie: Sequence[Document] = ()) -> None:
        super().__init__(store, CollectorRegistry())
        self._fault = fault
        self._operations = operations
        self._lie = lie
        self.reached = asyncio.Event()
        """A faulty operation was called."""
        self.released = asyncio.Event()

    async def _undergo(self, operation: str) -> bool:
        """Returns True if the operation lies."""
        if operation not in self._operations:
            return False
        self.reached.set()
        match self._fault:
            case "never ends":
                await self.released.wait()
            case "cannot be cancelled":
                while not self.released.is_set():
                    try:
                        await self.released.wait()
                    except asyncio.CancelledError:
                        continue
            case "fails":
                raise StorageUnavailable("scripted")
            case "lies":
                return True
        return False

    async def get(self, collection: str, document_id: str) -> Document | None:
        return self._lie[0] if await self._undergo("get") else await super().get(collection, document_id)

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        await self._undergo("put")
        await super().put(collection, documents)

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        return 7 if await self._undergo("count") else await super().count(collection, where)

    async def query(self, collection: str, query: Query) -> Page:
        if await self._undergo("query"):
            return Page(self._lie, None)
        return await super().query(collection, query)

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        if await self._undergo("search"):
            return self._lie
        return await super().search(collection, words, where, limit=limit)

    async def search_ids(
        self, collection: str, queries: Sequence[str], where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Sequence[str]]:
        if await self._undergo("search_ids"):
            return [[str(each["id"]) for each in self._lie] for _ in queries]
        return await super().search_ids(collection, queries, where, limit=limit)

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Near]:
        await self._undergo("nearest")
        return await super().nearest(collection, field, vector, where=where, limit=limit)
