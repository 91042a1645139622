"""Job that keeps one searchable summary of each session."""

import logging
from collections.abc import Sequence

from app.core.clock import now_ms
from app.core.ids import made_at
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable
from app.modules.memory.model import ConversationMemory, RememberedExchange, Summary
from app.modules.memory.profile_update import ProfileUpdate
from app.modules.memory.service import ConversationMemories
from app.modules.memory.summary import digest, written
from app.modules.memory.turns import StoredTurns

logger = logging.getLogger(__name__)

_MAX_MESSAGES = 40
"""The most messages to read. Older ones are in the memory already, or are left out."""


class MemoryJob:
    """Writes memories by a model, or as a digest if there is no model or it fails."""

    def __init__(
        self,
        turns: StoredTurns,
        memories: ConversationMemories,
        model: LanguageModel | None,
        *,
        profile: ProfileUpdate | None = None,
    ) -> None:
        """`profile`: None where profiles are off, or no model may read questions."""
        self._profile = profile
        self._turns = turns
        self._memories = memories
        self._model = model

    async def work(self, session_id: str) -> None:
        """Update the session's memory. A repeated or outdated job changes nothing.

        Raises `StorageUnavailable`.
        """
        while True:
            session = await self._turns.read_latest(session_id, _MAX_MESSAGES)
            if session is None:
                return
            known = await self._memories.repository.find(session_id)
            forgotten_at = await self._memories.repository.forgotten_at(session.owner)
            kept = {each: said for each, said in session.exchanges.items() if made_at(each) > forgotten_at}
            new = kept if known is None else _after(known.covers, kept)
            if new and self._profile is not None:
                await self._profile.learn(session.owner, session_id, new)
            if not new or await self._remember(session_id, session.owner, known, new=new):
                return

    async def _remember(
        self,
        session_id: str,
        owner: str,
        known: ConversationMemory | None,
        *,
        new: dict[str, RememberedExchange],
    ) -> bool:
        """Returns False if another job has changed the memory meanwhile."""
        earlier = None if known is None else _summary_of(known)
        summary = await self._summarize(session_id, earlier, list(new.values()))
        memory = ConversationMemory(
            id=session_id,
            owner=owner,
            session_id=session_id,
            summary=summary.text,
            themes=summary.themes,
            persons=summary.persons,
            places=summary.places,
            user_sentiment=summary.user_sentiment,
            covers=list(new)[-1],
            updated_at=now_ms(),
        )
        kept = await self._memories.keep(memory, known)
        if kept and not await self._may_be_kept(memory):  # deleted meanwhile
            await self._memories.forget_conversation(session_id)
            if self._profile is not None:
                await self._profile.forget_sessions([session_id])
        return kept

    async def _may_be_kept(self, memory: ConversationMemory) -> bool:
        forgotten_at = await self._memories.repository.forgotten_at(memory.owner)
        return made_at(memory.covers) > forgotten_at and await self._turns.has_session(memory.session_id)

    async def _summarize(
        self, session_id: str, earlier: Summary | None, exchanges: Sequence[RememberedExchange]
    ) -> Summary:
        if self._model is not None:
            try:
                if (by_model := await written(self._model, earlier, exchanges)) is not None:
                    return by_model
            except (ModelUnavailable, ModelRejected) as error:
                logger.warning("session %s is remembered as a digest: %s", session_id, error)
        return digest(earlier, exchanges)


def _summary_of(memory: ConversationMemory) -> Summary:
    return Summary(
        memory.summary,
        memory.themes,
        persons=memory.persons,
        places=memory.places,
        user_sentiment=memory.user_sentiment,
    )


def _after(message_id: str, exchanges: dict[str, RememberedExchange]) -> dict[str, RememberedExchange]:
    """Returns the exchanges after this message, or all of them if it is not among them."""
    ids = list(exchanges)
    start = ids.index(message_id) + 1 if message_id in exchanges else 0
    return {each: exchanges[each] for each in ids[start:]}
