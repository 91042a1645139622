"""Vectors of memories in the store, under their sessions' ids."""

from collections.abc import Sequence

from app.core.storage.port import Collection, Condition, Equals, Field, Storage
from app.core.storage.vector_names import sized
from app.modules.memory.model import Memory

_PREFIX = "memory_vectors"
_FIELDS = [Field("owner", "keyword"), Field("session_id", "keyword"), Field("model", "keyword")]


def is_of_memory_vectors(collection: str) -> bool:
    return collection.startswith(_PREFIX)


class MemoryVectors:
    """Of one model's making: another one's are never found."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def keep(self, memory: Memory, model: str, vector: Sequence[float]) -> None:
        name = await self._made(len(vector))
        document = {"id": memory.id, "owner": memory.owner, "session_id": memory.session_id, "model": model}
        await self._storage.put(name, [{**document, "vector": list(vector)}])

    async def nearest(self, owner: str, model: str, vector: Sequence[float], limit: int) -> list[str]:
        """The sessions whose memories are nearest, the nearest first."""
        mine = [Equals("owner", owner), Equals("model", model)]
        name = await self._made(len(vector))
        found = await self._storage.nearest(name, "vector", vector, mine, limit=limit)
        return [str(each["session_id"]) for each in found]

    async def drop(self, size: int, where: Condition) -> None:
        """Those of this length that meet the condition."""
        await self._storage.delete(await self._made(size), [where])

    async def _made(self, size: int) -> str:
        """The collection for vectors of this length; another process may have created it, or none yet."""
        name = sized(_PREFIX, size)
        if name not in self._storage.collections():
            vector = Field("vector", "vector", size)
            await self._storage.create_collection(Collection(name, [*_FIELDS, vector]))
        return name
