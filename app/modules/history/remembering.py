"""Keeps one searchable summary of each conversation: the memory worker's part."""

import logging
from collections.abc import Sequence

from app.core.bus.completed import Completed
from app.core.clock import now_ms
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable
from app.modules.history.exchanges import answered
from app.modules.memory.model import Exchange, Memory, Summary
from app.modules.memory.service import ConversationMemories
from app.modules.memory.summary import digest, written
from app.modules.session.model import Message, Session
from app.modules.session.repository import SessionRepository

logger = logging.getLogger(__name__)

_LATEST = 40
"""Messages looked at: what lies before them is in the memory already, or too old to be made up for."""


class Remembering:
    def __init__(
        self, repository: SessionRepository, memories: ConversationMemories, model: LanguageModel | None
    ) -> None:
        self._repository = repository
        self._memories = memories
        self._model = model

    async def work(self, event: Completed) -> None:
        """Raises `StorageUnavailable`. A repeated event, and one overtaken by another, changes nothing."""
        while True:
            session = await self._repository.find(event.session_id)
            known = await self._memories.find(event.session_id)
            if session is None:
                return
            messages, _ = await self._repository.messages(session, _LATEST, None)
            new = messages if known is None else _after(known.covers, messages)
            if not answered(new) or await self._remember(session, known, new):
                return

    async def _remember(self, session: Session, known: Memory | None, new: Sequence[Message]) -> bool:
        """False when another has remembered something of this session meanwhile."""
        earlier = None if known is None else Summary(known.summary, known.themes)
        summary = await self._summary(session, earlier, answered(new))
        memory = Memory(
            id=session.id,
            owner=session.owner,
            session_id=session.id,
            summary=summary.text,
            themes=summary.themes,
            covers=[each.id for each in new if each.role == "assistant"][-1],
            updated_at=now_ms(),
        )
        kept = await self._memories.keep(memory, known)
        if kept and await self._repository.find(session.id) is None:  # deleted meanwhile
            await self._memories.forget_conversation(session.id)
        return kept

    async def _summary(
        self, session: Session, earlier: Summary | None, exchanges: Sequence[Exchange]
    ) -> Summary:
        if self._model is not None:
            try:
                if (by_model := await written(self._model, earlier, exchanges)) is not None:
                    return by_model
            except (ModelUnavailable, ModelRejected) as error:
                logger.warning("session %s is remembered as a digest: %s", session.id, error)
        return digest(earlier, exchanges)


def _after(message_id: str, messages: Sequence[Message]) -> Sequence[Message]:
    """Those that follow the message of this id; all of them if it is not among them."""
    ids = [each.id for each in messages]
    return messages[ids.index(message_id) + 1 :] if message_id in ids else messages
