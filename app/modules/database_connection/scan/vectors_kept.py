"""Stored vectors of tables, and digests of the texts they were made from.

The digests are in a ledger per connection and model, which can be read without the vectors.
"""

from collections.abc import Iterable, Mapping, Sequence

from cachetools import LRUCache
from pydantic import TypeAdapter

from app.core.ids import id_of
from app.core.storage.port import AnyOf, Collection, Document, Equals, Field, Storage
from app.core.storage.vector_index import VectorIndex

_NAMES = 20_000
_PREFIX = "table_vectors"
_FIELDS = [Field("db_connection_id", "keyword"), Field("model", "keyword"), Field("name", "keyword")]
_DIGESTS = TypeAdapter(dict[str, str])
_LEDGERS = Collection(f"{_PREFIX}_ledgers", _FIELDS)


def is_of_vectors(collection: str) -> bool:
    """True if a collection holds vectors of tables. All of them declare `db_connection_id`."""
    return collection.startswith(_PREFIX)


class VectorsKept:
    """Vectors of one model. Those of other models are neither found nor replaced."""

    def __init__(self, storage: Storage, model: str) -> None:
        self._storage = storage
        self._index = VectorIndex(storage, _PREFIX, _FIELDS)
        self._model = model
        self._names: LRUCache[str, str] = LRUCache(_NAMES)
        """Names of tables, by the ids of their vectors."""

    async def ledger(self, connection_id: str) -> dict[str, str]:
        """Returns the digest of the embedded text, by table."""
        await self._storage.create_collection(_LEDGERS)
        found = await self._storage.get(_LEDGERS.name, id_of(connection_id, self._model))
        return {} if found is None else _DIGESTS.validate_python(found["digests"])

    async def keep_ledger(self, connection_id: str, digests: Mapping[str, str]) -> None:
        """Store the ledger. Call it after `keep`, so that all vectors that it lists exist."""
        document = self._document(connection_id, None)
        await self._storage.put(_LEDGERS.name, [{**document, "digests": dict(digests)}])

    async def keep(self, connection_id: str, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors by table, at least one, all of one length."""
        documents = [self._document(connection_id, table) for table in vectors]
        await self._index.keep(documents, list(vectors.values()))
        self._names.update({str(self._document(connection_id, each)["id"]): each for each in vectors})

    async def drop(self, connection_id: str, tables: Iterable[str]) -> None:
        await self._index.drop_all([*self._mine(connection_id), AnyOf("name", sorted(tables))])

    async def nearest(self, connection_id: str, vector: Sequence[float], limit: int) -> list[str]:
        """Returns tables, nearest first. Some may be gone from the database."""
        found = await self._index.nearest(vector, self._mine(connection_id), limit=limit)
        # A table's id follows from its name, so a name that was read once need not be read again.
        unknown = [each.document_id for each in found if each.document_id not in self._names]
        for document in await self._index.read(unknown, dimensions=len(vector)):
            self._names[str(document["id"])] = str(document["name"])
        return [name for each in found if (name := self._names.get(each.document_id)) is not None]

    def _mine(self, connection_id: str) -> list[Equals]:
        return [Equals("db_connection_id", connection_id), Equals("model", self._model)]

    def _document(self, connection_id: str, table: str | None) -> Document:
        return {
            "id": id_of(connection_id, self._model if table is None else f"{self._model}\n{table}"),
            "db_connection_id": connection_id,
            "model": self._model,
            "name": table,
        }
