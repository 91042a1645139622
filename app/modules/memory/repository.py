"""Memories of conversations in the store."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from pydantic import TypeAdapter

from app.core.ids import id_of
from app.core.storage.port import AnyOf, Condition, Document, DocumentExists, Equals, Storage
from app.modules.memory.model import Memory

_NAME = "conversation_memories"
_FORGOTTEN = "forgotten"
_MARKS = str(UUID(int=17))
_MEMORY = TypeAdapter(Memory)


class MemoryRepository:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def find(self, session_id: str) -> Memory | None:
        """Returns the memory of a session of any owner, or None."""
        found = await self._storage.get(_NAME, session_id)
        return None if found is None else _MEMORY.validate_python(found)

    async def replace(self, memory: Memory, before: Memory | None) -> bool:
        """Store a memory in place of `before`. Returns False if `before` is no longer the stored one."""
        document = _document(memory)
        if before is None:
            try:
                await self._storage.create(_NAME, document)
            except DocumentExists:
                return False
            return True
        del document["id"]
        same = [Equals("covers", before.covers)]
        return await self._storage.patch(_NAME, memory.id, document, where=same) is not None

    async def latest(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Memory], str | None]:
        """Returns a page of memories, latest update first, and the cursor of the next page."""
        page = await self._storage.query(
            _NAME,
            [Equals("owner", owner)],
            order_by="updated_at",
            descending=True,
            limit=limit,
            cursor=cursor,
        )
        return [_MEMORY.validate_python(each) for each in page.items], page.next_cursor

    async def all(self, limit: int, cursor: str | None) -> tuple[list[Memory], str | None]:
        """Returns a page of the memories of all owners by their ids, and the cursor of the next page."""
        page = await self._storage.query(_NAME, [], limit=limit, cursor=cursor)
        return [_MEMORY.validate_python(each) for each in page.items], page.next_cursor

    async def count_all(self) -> int:
        return await self._storage.count(_NAME, [])

    async def of_sessions(self, owner: str, session_ids: Sequence[str]) -> list[Memory]:
        """Returns memories in the order of the ids. Missing ones are left out."""
        where: list[Condition] = [Equals("owner", owner), AnyOf("id", session_ids)]
        page = await self._storage.query(_NAME, where, limit=max(1, len(session_ids)))
        found = {memory.id: memory for memory in map(_MEMORY.validate_python, page.items)}
        return [found[each] for each in session_ids if each in found and found[each].owner == owner]

    async def with_word(self, owner: str, word: str, limit: int) -> list[str]:
        """Returns the ids of sessions whose memory has a word with this prefix."""
        found = await self._storage.search(_NAME, word, [Equals("owner", owner)], limit=limit)
        return [str(each["id"]) for each in found]

    async def forgotten_at(self, owner: str) -> int:
        """Returns when the owner deleted all memories last (epoch ms). 0 if never."""
        found = await self._storage.get(_FORGOTTEN, _mark_id(owner))
        at = None if found is None else found["at"]
        return at if isinstance(at, int) else 0

    async def mark_forgotten(self, owner: str, at: int) -> None:
        await self._storage.put(_FORGOTTEN, [{"id": _mark_id(owner), "kind": "memory", "at": at}])

    async def delete(self, where: Condition) -> None:
        await self._storage.delete(_NAME, [where])


def _mark_id(owner: str) -> str:
    return id_of(_MARKS, owner)


def _document(memory: Memory) -> Document:
    """Persons and places are found by the same field as themes."""
    words = [*memory.themes, *memory.persons, *memory.places]
    return {**asdict(memory), "theme_words": ", ".join(words)}
