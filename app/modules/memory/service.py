"""Memories of conversations: stored, searched by words and by meaning, and deleted."""

import asyncio
import logging
import re
from collections import defaultdict
from dataclasses import replace

from app.core.clock import now_ms
from app.core.llm.calls import Charge, uncharged
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.ranking import relevances
from app.core.storage.port import Equals, Storage
from app.modules.memory.model import ConversationMemory, FoundMemory
from app.modules.memory.repository import MemoryRepository
from app.modules.memory.vectors import MemoryVectors

logger = logging.getLogger(__name__)

_MOST_WORDS = 12
"""The most words of a search; the longest are used."""
_MATCHES = 100
EMBEDDING_SECONDS = 0.75
"""A search waits so long for the embedding model, as recall of facts does by default."""


class ConversationMemories:
    """Methods with an `owner` read and delete only what belongs to that owner."""

    def __init__(
        self, storage: Storage, embedding: EmbeddingModel | None, charge: Charge = uncharged
    ) -> None:
        self.repository = MemoryRepository(storage)
        self.latest = self.repository.latest
        self._vectors = MemoryVectors(storage)
        self._embedding = embedding
        self._charge = charge

    async def keep(self, memory: ConversationMemory, before: ConversationMemory | None) -> bool:
        """Replace the memory of a conversation. Returns False if it is no longer `before`.

        The memory is written after its vector, so an interrupted write leaves `covers` unchanged. It has no
        vector if the embedding model fails; then only its words find it.
        """
        vector = await self._embedded(memory)
        model = self._embedding.name if vector and self._embedding is not None else ""
        sized = replace(memory, vector_size=len(vector), vector_model=model)
        if before is not None and before.vector_size:  # it may have another length or model
            await self._vectors.drop(before.vector_size, Equals("session_id", memory.session_id))
        if vector and self._embedding is not None:
            await self._vectors.keep(sized, self._embedding.name, vector)
        return await self.repository.replace(sized, before)

    async def forget_conversation(self, session_id: str) -> None:
        memory = await self.repository.find(session_id)
        if memory is not None and memory.vector_size:
            await self._vectors.drop(memory.vector_size, Equals("session_id", session_id))
        # A vector may be stored without its memory, by a process that has died.
        await self._vectors.drop_all(Equals("session_id", session_id))
        await self.repository.delete(Equals("id", session_id))

    async def forget_all(self, owner: str) -> None:
        """Delete all memories of an owner. What was said before is not remembered again."""
        await self.repository.mark_forgotten(owner, now_ms())
        sizes: set[int] = set()
        cursor: str | None = None
        while True:
            page, cursor = await self.repository.latest(owner, 100, cursor)
            sizes |= {memory.vector_size for memory in page}
            if cursor is None:
                break
        for size in sizes - {0}:
            await self._vectors.drop(size, Equals("owner", owner))
        await self._vectors.drop_all(Equals("owner", owner))
        await self.repository.delete(Equals("owner", owner))

    async def search(self, owner: str, text: str, limit: int, *, but: str | None = None) -> list[FoundMemory]:
        """Returns memories by shared words (rare words count more) and by nearness of vectors, best first.

        `but` is the session whose memory is left out.
        """
        async with self._charge(owner):
            by_words, by_meaning = await asyncio.gather(
                self._by_words(owner, text), self._by_meaning(owner, text)
            )
        rankings = [by_words] if by_meaning is None else [by_words, by_meaning]
        scores = relevances([[each for each in ranking if each != but] for ranking in rankings])
        found = await self.repository.of_sessions(owner, list(scores)[:limit])
        return [FoundMemory(memory, round(scores[memory.id], 4)) for memory in found]

    async def _by_words(self, owner: str, text: str) -> list[str]:
        found = await asyncio.gather(
            *(self.repository.with_word(owner, word, _MATCHES) for word in telling_words(text))
        )
        scores: defaultdict[str, float] = defaultdict(float)
        for sessions in found:
            for session_id in sessions:
                scores[session_id] += 1 / len(sessions)
        return sorted(scores, key=lambda session_id: (-scores[session_id], session_id))

    async def _by_meaning(self, owner: str, text: str) -> list[str] | None:
        """Returns None without an embedding model, or if it fails or takes longer than 750 ms."""
        if self._embedding is None:
            return None
        try:
            async with asyncio.timeout(EMBEDDING_SECONDS):
                (vector,) = await self._embedding.embed([text])
        except (ModelUnavailable, ModelRejected, TimeoutError) as error:
            logger.warning("memories are searched by words alone: %s", str(error) or "it takes too long")
            return None
        return await self._vectors.nearest(owner, self._embedding.name, vector, limit=_MATCHES)

    async def _embedded(self, memory: ConversationMemory) -> list[float]:
        if self._embedding is None:
            return []
        try:
            (vector,) = await self._embedding.embed([embedded_text(memory)])
        except (ModelUnavailable, ModelRejected) as error:
            logger.warning("the memory of session %s has no vector: %s", memory.session_id, error)
            return []
        return vector


def embedded_text(memory: ConversationMemory) -> str:
    """Returns the text whose vector finds a memory."""
    return "\n".join([memory.summary, *memory.themes, *memory.persons, *memory.places])


def telling_words(text: str) -> list[str]:
    """Returns the longest words. Words of one or two letters match too much and are used only alone."""
    words = set(re.findall(r"[^\W_]+", text.lower()))
    kept = [word for word in words if len(word) > 2] or list(words)
    return sorted(kept, key=lambda word: (-len(word), word))[:_MOST_WORDS]
