"""The owner's earlier conversations: their questions and answers, and the memories of them."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.ranking import fused
from app.modules.memory.model import FoundMemory
from app.modules.memory.service import ConversationMemories, telling_words
from app.modules.records.model import Message
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import words_of

_MATCHES = 100
_SESSIONS = 10


@dataclass(frozen=True, kw_only=True)
class PastAnswer:
    """An answer to an earlier question. `asked_at` is epoch milliseconds."""

    question: str
    asked_at: int
    sql: str | None
    text: str
    error: str
    """Why it failed. Empty if it did not."""


class Answers(Protocol):
    """Stored answers of an owner. Raises `StorageUnavailable`."""

    async def answers_with_word(self, owner: str, word: str, limit: int) -> list[Message]:
        """Answers to questions that have a word with this prefix, best first."""

    async def answers_of_sessions(
        self, owner: str, session_ids: Collection[str], limit: int
    ) -> list[Message]:
        """The latest answers of these sessions."""


@dataclass(frozen=True, kw_only=True)
class ConversationHistory:
    """What one owner has asked before, without the turn of `message_id`, which asks in this session."""

    owner: str
    session_id: str
    message_id: str
    answers: Answers
    memories: ConversationMemories

    async def search(self, text: str, limit: int) -> list[PastAnswer]:
        """Returns answers, best first: by the words of their questions, and by the memories of their
        conversations, which are found by words and, with an embedding model, by meaning.
        """
        by_words, by_memory = await asyncio.gather(self._by_words(text), self._by_memory(text))
        known = {message.id: message for message in [*by_words, *by_memory] if message.id != self.message_id}
        ranked = fused([[each.id for each in by_words], [each.id for each in by_memory]])
        return [_past(known[each]) for each in ranked if each in known][:limit]

    async def conversations(self, text: str, limit: int) -> list[FoundMemory]:
        """Returns the memories of other conversations, best first."""
        return await self.memories.search(self.owner, text, limit, but=self.session_id)

    async def _by_words(self, text: str) -> list[Message]:
        found = await asyncio.gather(
            *(self.answers.answers_with_word(self.owner, word, _MATCHES) for word in telling_words(text))
        )
        scores: defaultdict[str, float] = defaultdict(float)
        known: dict[str, Message] = {}
        for messages in found:
            for message in messages:
                known[message.id] = message
                scores[message.id] += 1 / len(messages)
        return sorted(known.values(), key=lambda each: (-scores[each.id], -each.created_at, each.id))

    async def _by_memory(self, text: str) -> list[Message]:
        """Returns the answers of the conversations that are remembered; those that share words go first."""
        remembered = await self.memories.search(self.owner, text, _SESSIONS)
        if not remembered:
            return []
        sessions = {each.memory.session_id: place for place, each in enumerate(remembered)}
        messages = await self.answers.answers_of_sessions(self.owner, sessions, _MATCHES)
        scores = await asyncio.to_thread(_scores, text, messages)
        return sorted(
            messages,
            key=lambda each: (-scores.get(each.id, 0), sessions[each.session_id], -each.created_at),
        )


def _past(message: Message) -> PastAnswer:
    return PastAnswer(
        question=message.query,
        asked_at=message.created_at,
        sql=message.sql,
        text=message.analysis or message.clarification or "",
        error=message.error.detail if message.error is not None else "",
    )


def _scores(text: str, messages: Sequence[Message]) -> dict[str, float]:
    texts = {each.id: words_of(f"{each.query} {each.analysis or ''}") for each in messages}
    return Bm25(texts).scores(words_of(text))
