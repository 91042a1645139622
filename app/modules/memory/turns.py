"""Turns: what memories and titles read of the questions of a session and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.modules.memory.directive_job import DirectiveQuestion, IsTainted, SessionQuestions
from app.modules.memory.model import RememberedExchange, SessionExchanges
from app.modules.records.model import Message
from app.modules.records.repository import SessionRepository


@dataclass(frozen=True, kw_only=True)
class MemoryTurn:
    """A question and its answer in words, without rows or statement."""

    message_id: str
    """Id of the answer."""
    owner: str
    session_id: str
    connection_id: str
    question: str
    answer: str
    at: int
    """When it was answered (epoch ms)."""
    tainted: bool
    """It has read from a tool of others, so its answer may hold their words."""
    also: Sequence[str] = ()
    """Further databases of its session, whose figures its answer may hold."""


class TurnReader(Protocol):
    """Reads the turns of any owner's session. Raises `StorageUnavailable`."""

    async def turn_of_run(self, session_id: str, run_id: str) -> MemoryTurn | None:
        """Returns None if the run or session does not exist, or the run has no answer in words."""

    async def turn(self, session_id: str, message_id: str) -> MemoryTurn | None:
        """Returns None if the answer does not exist, or is none in words."""


class StoredTurns:
    """Reads turns of any owner's session out of the stored messages. Every method raises
    `StorageUnavailable`.
    """

    def __init__(self, repository: SessionRepository, is_tainted: IsTainted) -> None:
        self._repository = repository
        self._is_tainted = is_tainted

    async def has_session(self, session_id: str) -> bool:
        return await self._repository.find(session_id) is not None

    async def read_latest(self, session_id: str, max_messages: int) -> SessionExchanges | None:
        """Returns the exchanges among the latest messages, or None if the session does not exist.

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

    async def read_questions(self, session_id: str, max_messages: int) -> SessionQuestions | None:
        """Turns that were cancelled, or are not over, are left out."""
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

    async def turn_of_run(self, session_id: str, run_id: str) -> MemoryTurn | None:
        run = await self._repository.find_run(run_id)
        if run is None or run.session_id != session_id:
            return None
        return await self.turn(session_id, run.message_id)

    async def turn(self, session_id: str, message_id: str) -> MemoryTurn | None:
        session = await self._repository.find(session_id)
        answer = None if session is None else await self._repository.find_answer(session, message_id)
        if session is None or answer is None or answer.status != "complete":
            return None
        text = answer.analysis or answer.clarification
        if not text:
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
            also=sorted(session.further_ids),
        )


def answered_exchanges(messages: Sequence[Message]) -> dict[str, RememberedExchange]:
    """Exchanges by the id of their answer, in the order of the messages."""
    return {
        each.id: RememberedExchange(
            each.query, each.analysis or each.clarification or "", each.sql, each.dialect
        )
        for each in messages
        if each.role == "assistant" and each.status == "complete" and (each.analysis or each.clarification)
    }
