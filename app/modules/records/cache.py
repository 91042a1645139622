"""Cache of hot conversations in memory, in front of the store.

A cached page is valid as long as the session's `version` has not changed: every turn writes its messages
before it releases the session, which changes `updated_at`, and a later change of an answer changes
`edited_at` after it. So another process that answers a question need
not invalidate anything, and a conversation with a running turn is never cached. The store is always written
first, so an eviction loses nothing.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from cachetools import TLRUCache
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from pydantic import TypeAdapter

from app.modules.records.model import Message, Session

logger = logging.getLogger(__name__)

MessagePage: TypeAlias = tuple[list[Message], str | None]
Load: TypeAlias = Callable[[], Awaitable[MessagePage]]
_Key: TypeAlias = tuple[str, str]

_MESSAGES = TypeAdapter(list[Message])


@dataclass(frozen=True)
class _Conversation:
    """Pages of one session, by limit and cursor, that were read since its last change."""

    state_key: tuple[int, int]
    pages: Mapping[tuple[int, str | None], MessagePage]
    estimated_bytes: int


class _Conversations(TLRUCache[_Key, _Conversation]):
    """Callback with the reason of an eviction."""

    def __init__(
        self, max_bytes: int, idle_seconds: float, clock: Callable[[], float], *, evictions: Counter
    ) -> None:
        super().__init__(
            maxsize=max_bytes,
            ttu=lambda _, __, now: now + idle_seconds,
            timer=clock,
            getsizeof=lambda conversation: conversation.estimated_bytes,
        )
        self._evictions = evictions

    def expire(self, time: float | None = None) -> list[tuple[_Key, _Conversation]]:
        expired = list(super().expire(time))
        self._evictions.labels("idle").inc(len(expired))
        for (_, session_id), conversation in expired:
            logger.info(
                "session %s left the conversation cache: idle (%d bytes)",
                *(session_id, conversation.estimated_bytes),
            )
        return expired

    def popitem(self) -> tuple[_Key, _Conversation]:
        (owner, session_id), conversation = super().popitem()
        self._evictions.labels("memory").inc()
        logger.info(
            "session %s left the conversation cache: memory (%d bytes, %d of %d are left)",
            *(session_id, conversation.estimated_bytes, self.currsize, self.maxsize),
        )
        return (owner, session_id), conversation


class ConversationCache:
    """Evicts the least recently used conversations when memory runs out, and idle ones after a time."""

    def __init__(
        self,
        *,
        max_bytes: int,
        idle_seconds: float,
        registry: CollectorRegistry,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        evictions = Counter(
            "kai_conversation_cache_evictions", "Conversations evicted", ["reason"], registry=registry
        )
        self._kept = _Conversations(max_bytes, idle_seconds, clock, evictions=evictions)
        self._hits = Counter("kai_conversation_cache_hits", "Pages from memory", registry=registry)
        self._misses = Counter("kai_conversation_cache_misses", "Pages not in memory", registry=registry)
        self._lengths = Histogram(
            "kai_conversation_messages",
            "Messages of the pages not in memory",
            buckets=(0, 2, 5, 10, 20, 50, 100),
            registry=registry,
        )
        held = Gauge("kai_cached_conversations", "Conversations in memory", registry=registry)
        held.set_function(lambda: len(self._kept))
        size = Gauge("kai_cached_conversation_bytes", "Their estimated size", registry=registry)
        size.set_function(lambda: self._kept.currsize)

    async def page(self, session: Session, limit: int, cursor: str | None, *, load: Load) -> MessagePage:
        """Returns a page of the session's messages. `session` is as the store has it now."""
        if session.active_run_id is not None:
            return await load()
        kept = self._current(session)
        if (limit, cursor) in kept.pages:
            self._hits.inc()
            self._keep(session, kept)
            return kept.pages[limit, cursor]
        loaded = await load()
        self._misses.inc()
        self._lengths.observe(len(loaded[0]))
        kept = self._current(session)  # others may have read pages meanwhile
        size = len(_MESSAGES.dump_json(loaded[0]))
        pages = {**kept.pages, (limit, cursor): loaded}
        self._keep(session, _Conversation(session.state_key, pages, kept.estimated_bytes + size))
        return loaded

    def forget(self, session_ids: Collection[str]) -> None:
        """Drop the pages of deleted sessions."""
        for key in [key for key in self._kept if key[1] in session_ids]:
            del self._kept[key]

    def _current(self, session: Session) -> _Conversation:
        kept = self._kept.get((session.owner, session.id))
        if kept is None or kept.state_key != session.state_key:
            return _Conversation(session.state_key, {}, 0)
        return kept

    def _keep(self, session: Session, conversation: _Conversation) -> None:
        """Mark a conversation as used just now. One that alone exceeds the limit is not cached."""
        if conversation.estimated_bytes <= self._kept.maxsize:
            self._kept[session.owner, session.id] = conversation
