"""Documents with vectors in the store, searched by nearness.

A collection holds vectors of one length. So there is one collection per length, created on first use.
"""

from array import array
from collections.abc import Sequence

from app.core.storage.port import AnyOf, Collection, Condition, Document, Field, Near, Query, Storage

_LETTERS = str.maketrans("0123456789", "abcdefghij")
_VECTOR = "vector"


class VectorIndex:
    """Documents with the declared `fields` and one vector each. All methods raise `StorageUnavailable`."""

    def __init__(self, storage: Storage, name: str, fields: Sequence[Field]) -> None:
        self._storage = storage
        self._name = name
        self._fields = fields

    async def keep(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Store documents with their vectors: at least one, and all vectors of one length.

        Numbers are rounded to 32 bits, as they are compared.
        """
        name = await self._collection(len(vectors[0]))
        pairs = zip(documents, vectors, strict=True)
        rounded: list[Document] = [{**document, _VECTOR: [*array("f", vector)]} for document, vector in pairs]
        await self._storage.put(name, rounded)

    async def nearest(
        self, vector: Sequence[float], where: Sequence[Condition], *, limit: int
    ) -> Sequence[Near]:
        """Returns the ids of documents that meet the conditions, nearest first."""
        name = await self._collection(len(vector))
        return await self._storage.nearest(name, _VECTOR, vector, where=where, limit=limit)

    async def read(self, document_ids: Sequence[str], *, dimensions: int) -> Sequence[Document]:
        """Returns the documents of these ids, at most 1,000, in no set order."""
        if not document_ids:
            return []
        name = await self._collection(dimensions)
        page = await self._storage.query(name, Query([AnyOf("id", document_ids)], limit=len(document_ids)))
        return page.items

    async def drop(self, where: Sequence[Condition], *, dimensions: int) -> None:
        """Delete the documents with vectors of this length that meet the conditions."""
        await self._storage.delete(await self._collection(dimensions), where)

    async def drop_all(self, where: Sequence[Condition]) -> None:
        """Delete the documents that meet the conditions, from every collection that this process knows."""
        for name in self._storage.collections():
            if name.startswith(f"{self._name}_"):
                await self._storage.delete(name, where)

    async def _collection(self, dimensions: int) -> str:
        """Returns the name of the collection for vectors of this length, after creating it if necessary."""
        # Names have no digits, so the number is spelled in letters.
        name = f"{self._name}_{str(dimensions).translate(_LETTERS)}"
        if name not in self._storage.collections():
            await self._storage.create_collection(
                Collection(name, [*self._fields, Field(_VECTOR, "vector", dimensions)])
            )
        return name
