"""Vectors of memories in the store, under their sessions' ids."""

from collections.abc import Sequence

from app.core.storage.port import AnyOf, Condition, Document, Equals, Field, Near, Storage
from app.core.storage.vector_index import VectorIndex
from app.modules.memory.model import ConversationMemory, FactGroup, StoredFact
from app.modules.memory.scopes import GroupId

_PREFIX = "memory_vectors"
_FACTS = "fact_vectors"
_FACT_FIELDS = [Field("place", "keyword")]
"""Group and model in one: of two conditions SQLite may search by the wider, which is the model's."""
_FIELDS = [Field("owner", "keyword"), Field("session_id", "keyword"), Field("model", "keyword")]


def is_of_memory_vectors(collection: str) -> bool:
    return collection.startswith(_PREFIX)


class MemoryVectors:
    """Vectors of memories. A search finds those of one owner and one model only."""

    def __init__(self, storage: Storage) -> None:
        self._index = VectorIndex(storage, _PREFIX, _FIELDS)

    async def keep(self, memory: ConversationMemory, model: str, vector: Sequence[float]) -> None:
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
        return [each.document_id for each in found]

    async def drop_all(self, where: Condition) -> None:
        """Delete the vectors of any length that meet the condition, as far as this process knows lengths."""
        await self._index.drop_all([where])

    async def drop(self, size: int, where: Condition) -> None:
        """Delete the vectors of this length that meet the condition."""
        await self._index.drop([where], dimensions=size)


class FactVectors:
    """Vectors of facts, under the facts' ids. A search finds those of some groups and one model only."""

    def __init__(self, storage: Storage) -> None:
        self._index = VectorIndex(storage, _FACTS, _FACT_FIELDS)

    async def keep(self, fact: StoredFact, model: str, vector: Sequence[float]) -> None:
        await self.keep_all([fact], model, [vector])

    async def keep_all(
        self, facts: Sequence[StoredFact], model: str, vectors: Sequence[Sequence[float]]
    ) -> None:
        """Store vectors of facts: at least one, and all of one length."""
        documents: list[Document] = [{"id": fact.id, "place": _place(fact.group, model)} for fact in facts]
        await self._index.keep(documents, vectors)

    async def nearest(
        self, groups: Sequence[FactGroup], model: str, vector: Sequence[float], *, limit: int
    ) -> Sequence[Near]:
        """Returns the ids of the nearest facts of groups, nearest first. The groups are compared, not their
        owners.
        """
        places = AnyOf("place", [_place(group.id, model) for group in groups])
        return await self._index.nearest(vector, [places], limit=limit)

    async def drop(self, size: int, fact_ids: Sequence[str]) -> None:
        """Delete the vectors of this length."""
        await self._index.drop([AnyOf("id", fact_ids)], dimensions=size)


def _place(group: GroupId, model: str) -> str:
    return f"{group} {model}"
