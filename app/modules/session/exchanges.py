"""Exchanges of a session: its questions that were answered in words, for titles and memories."""

from collections.abc import Awaitable, Callable, Sequence

from app.modules.memory.directive_job import DirectiveQuestion, SessionQuestions
from app.modules.memory.model import RememberedExchange, SessionExchanges
from app.modules.memory.turns import MemoryTurn
from app.modules.records.model import Message, Session
from app.modules.records.repository import SessionRepository

IsTainted = Callable[[str], Awaitable[bool]]
"""Returns whether the turn of a message has read from a tool of others."""


class SessionExchangeReader:
    """Reads exchanges out of the stored messages."""

    def __init__(self, repository: SessionRepository, is_tainted: IsTainted) -> None:
        self._repository = repository
        self._is_tainted = is_tainted

    async def has_session(self, session_id: str) -> bool:
        return await self._repository.find(session_id) is not None

    async def read_latest(self, session_id: str, max_messages: int) -> SessionExchanges | None:
        """Returns None if the session is gone.

        Of a turn that has read from a tool of others, only the question is returned, which its owner has
        written: anyone may have written what the answer says.
        """
        session = await self._repository.find(session_id)
        if session is None:
            return None
        messages, _ = await self._repository.messages(session, max_messages, None)
        exchanges = answered_exchanges(messages)
        for each in messages:
            if each.id in exchanges and each.steps and await self._is_tainted(each.id):
                exchanges[each.id] = RememberedExchange(each.query, "")
        return SessionExchanges(session.owner, exchanges)


class SessionQuestionReader:
    """Reads the questions of sessions out of the stored messages, as their users wrote them."""

    def __init__(self, repository: SessionRepository) -> None:
        self._repository = repository

    async def has_session(self, session_id: str) -> bool:
        return await self._repository.find(session_id) is not None

    async def read_questions(self, session_id: str, max_messages: int) -> SessionQuestions | None:
        """Returns None if the session is gone. Turns that were cancelled, or are not over, are left out."""
        session = await self._repository.find(session_id)
        if session is None:
            return None
        messages, _ = await self._repository.messages(session, max_messages, None)
        questions = [
            DirectiveQuestion(each.id, each.run_id, each.query, each.created_at)
            for each in messages
            if each.role == "assistant" and each.status in ("complete", "failed")
        ]
        return SessionQuestions(session.owner, session.connection_id, questions)


def answered_exchanges(messages: Sequence[Message]) -> dict[str, RememberedExchange]:
    """Exchanges by the id of their answer, in the order of the messages."""
    return {
        each.id: RememberedExchange(
            each.query, each.analysis or each.clarification or "", each.sql, each.dialect
        )
        for each in messages
        if each.role == "assistant" and each.status == "complete" and (each.analysis or each.clarification)
    }


class SessionTurnReader:
    """Reads turns for a memory outside of KAI, and whether they have read from tools of others."""

    def __init__(self, repository: SessionRepository, is_tainted: IsTainted) -> None:
        self._repository = repository
        self._is_tainted = is_tainted

    async def turn_of_run(self, session_id: str, run_id: str) -> MemoryTurn | None:
        run = await self._repository.find_run(run_id)
        if run is None or run.session_id != session_id:
            return None
        return await self.turn(session_id, run.message_id)

    async def turn(self, session_id: str, message_id: str) -> MemoryTurn | None:
        session = await self._repository.find(session_id)
        if session is None:
            return None
        answer = await self._repository.find_answer(session, message_id)
        return None if answer is None else await self._turn(session, answer)

    async def _turn(self, session: Session, answer: Message) -> MemoryTurn | None:
        text = answer.analysis or answer.clarification
        if answer.status != "complete" or not text:
            return None
        return MemoryTurn(
            message_id=answer.id,
            owner=session.owner,
            session_id=session.id,
            connection_id=session.connection_id,
            question=answer.query,
            answer=text,
            at=answer.created_at,
            tainted=await self._is_tainted(answer.id),
        )
