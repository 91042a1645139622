"""Forgetting of what memory holds: of sessions, and everything of an owner."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.clock import now_ms
from app.core.storage.port import Equals, Storage
from app.modules.memory.facts import Facts
from app.modules.memory.graphiti.forgetting import GraphForgetting
from app.modules.memory.profile import Profiles
from app.modules.memory.service import ConversationMemories

_OUTSIDE = "what the graph memory service holds of you"
_NOT_YET = (
    "The service is asked to erase it, and KAI looks whether it has. GET /memory/graph counts what is not "
    "confirmed; nothing of it is used meanwhile."
)
_OF_AN_OWNER = ("consents",)


@dataclass(frozen=True)
class NotConfirmed:
    """Something whose deletion was requested, and is not verified yet."""

    what: str
    why: str


class MemoryForgetting:
    """Deletes facts, profiles, consents and memories of conversations. Can be repeated."""

    def __init__(
        self,
        storage: Storage,
        memories: ConversationMemories,
        facts: Facts,
        *,
        profiles: Profiles,
        graph: GraphForgetting,
    ) -> None:
        self._storage = storage
        self._profiles = profiles
        self._memories = memories
        self._facts = facts
        self._graph = graph

    async def forget_sessions(self, session_ids: Sequence[str]) -> None:
        """Delete the memories of these conversations and their facts, and what profiles have from them.

        Facts that a person has accepted for longer than a session stay.
        """
        await self._graph.forget_sessions(session_ids, now_ms())
        for session_id in session_ids:
            await self._memories.forget_conversation(session_id)
        await self._facts.forget_sessions(session_ids)
        await self._profiles.forget_sessions(session_ids)

    async def forget_connection(self, connection_id: str) -> None:
        """Delete the facts about a database but those of sessions, and the consents for it."""
        await self._graph.forget_connection(connection_id, now_ms())
        await self._facts.forget_connection(connection_id)
        await self._storage.delete("consents", [Equals("connection_id", connection_id)])

    async def forget_owner(self, owner: str) -> list[NotConfirmed]:
        """Delete everything that memory holds of an owner. Returns what is not confirmed yet."""
        await self._graph.forget_owner(owner, now_ms())
        await self._memories.forget_all(owner)
        await self._facts.forget_all(owner)
        await self._profiles.forget_all(owner)
        for collection in _OF_AN_OWNER:
            await self._storage.delete(collection, [Equals("owner", owner)])
        await self._storage.scrub()
        return [] if not await self._graph.unconfirmed(owner) else [NotConfirmed(_OUTSIDE, _NOT_YET)]
