"""Vectors of memories in the store, under their sessions' ids."""

from collections.abc import Sequence

from app.core.storage.port import Condition, Document, Equals, Field, Storage
from app.core.storage.vector_index import VectorIndex
from app.modules.memory.model import Memory

_PREFIX = "memory_vectors"
_FIELDS = [Field("owner", "keyword"), Field("session_id", "keyword"), Field("model", "keyword")]


def is_of_memory_vectors(collection: str) -> bool:
    return collection.startswith(_PREFIX)


class MemoryVectors:
    """Vectors of memories. A search finds those of one owner and one model only."""

    def __init__(self, storage: Storage) -> None:
        self._index = VectorIndex(storage, _PREFIX, _FIELDS)

    async def keep(self, memory: Memory, model: str, vector: Sequence[float]) -> None:
        document: Document = {
            "id": memory.id,
            "owner": memory.owner,
            "session_id": memory.session_id,
            "model": model,
        }
        await self._index.keep([document], [vector])

    async def nearest(self, owner: str, model: str, vector: Sequence[float], *, limit: int) -> list[str]:
        """Returns the ids of the sessions with the nearest memories, nearest first."""
        mine = [Equals("owner", owner), Equals("model", model)]
        found = await self._index.nearest(vector, mine, limit=limit)
        return [str(each["session_id"]) for each in found]

    async def drop(self, size: int, where: Condition) -> None:
        """Delete the vectors of this length that meet the condition."""
        await self._index.drop([where], dimensions=size)
