"""Memories of conversations in the store."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from app.core.ids import id_of
from app.core.storage.documents import Documents
from app.core.storage.port import AnyOf, Condition, Document, Equals, Query, Storage
from app.modules.memory.model import ConversationMemory

_NAME = "conversation_memories"
_FORGOTTEN = "forgotten"
_MARKS = str(UUID(int=17))


class MemoryRepository:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._memories = Documents(storage, _NAME, ConversationMemory, write=_document)

    async def find(self, session_id: str) -> ConversationMemory | None:
        """Returns the memory of a session of any owner, or None."""
        return await self._memories.get(session_id)

    async def replace(self, memory: ConversationMemory, before: ConversationMemory | None) -> bool:
        """Store a memory in place of `before`. Returns False if `before` is no longer the stored one."""
        if before is None:
            return await self._memories.add(memory)
        return await self._memories.replace(memory, [Equals("covers", before.covers)])

    async def latest(
        self, owner: str, limit: int, cursor: str | None
    ) -> tuple[list[ConversationMemory], str | None]:
        """Returns a page of memories, latest update first, and the cursor of the next page."""
        own = [Equals("owner", owner)]
        return await self._memories.page(
            Query(own, order_by="updated_at", descending=True, limit=limit, cursor=cursor)
        )

    async def all(self, limit: int, cursor: str | None) -> tuple[list[ConversationMemory], str | None]:
        """Returns a page of the memories of all owners by their ids, and the cursor of the next page."""
        return await self._memories.page(Query(limit=limit, cursor=cursor))

    async def count_all(self) -> int:
        return await self._memories.count()

    async def of_sessions(self, owner: str, session_ids: Sequence[str]) -> list[ConversationMemory]:
        """Returns memories in the order of the ids. Missing ones are left out."""
        where: list[Condition] = [Equals("owner", owner), AnyOf("id", session_ids)]
        memories = await self._memories.first(Query(where, limit=max(1, len(session_ids))))
        found = {memory.id: memory for memory in memories}
        return [found[each] for each in session_ids if each in found and found[each].owner == owner]

    async def with_word(self, owner: str, word: str, limit: int) -> list[str]:
        """Returns the ids of sessions whose memory has a word with this prefix."""
        return [each.id for each in await self._memories.search(word, [Equals("owner", owner)], limit=limit)]

    async def forgotten_at(self, owner: str) -> int:
        """Returns when the owner deleted all memories last (epoch ms). 0 if never."""
        found = await self._storage.get(_FORGOTTEN, _mark_id(owner))
        at = None if found is None else found["at"]
        return at if isinstance(at, int) else 0

    async def mark_forgotten(self, owner: str, at: int) -> None:
        await self._storage.put(_FORGOTTEN, [{"id": _mark_id(owner), "kind": "memory", "at": at}])

    async def delete(self, where: Condition) -> None:
        await self._memories.delete(where)


def _mark_id(owner: str) -> str:
    return id_of(_MARKS, owner)


def _document(memory: ConversationMemory) -> Document:
    """Persons and places are found by the same field as themes."""
    words = [*memory.themes, *memory.persons, *memory.places]
    return {**asdict(memory), "theme_words": ", ".join(words)}
