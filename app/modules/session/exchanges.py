"""Exchanges of a session: its questions that were answered in words, for titles and memories."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.memory.model import Exchange, SessionExchanges
from app.modules.session.model import Message
from app.modules.session.repository import SessionRepository
from app.modules.sql.parsing import parsed_one


class SessionExchangeReader:
    """Reads exchanges out of the stored messages."""

    def __init__(self, repository: SessionRepository) -> None:
        self._repository = repository

    async def has_session(self, session_id: str) -> bool:
        return await self._repository.find(session_id) is not None

    async def read_latest(self, session_id: str, max_messages: int) -> SessionExchanges | None:
        """Returns None if the session is gone."""
        session = await self._repository.find(session_id)
        if session is None:
            return None
        messages, _ = await self._repository.messages(session, max_messages, None)
        return SessionExchanges(session.owner, answered_exchanges(messages))


def answered_exchanges(messages: Sequence[Message]) -> dict[str, Exchange]:
    """Exchanges by the id of their answer, in the order of the messages."""
    return {
        each.id: Exchange(each.query, each.analysis or each.clarification or "", _tables_read(each))
        for each in messages
        if each.role == "assistant" and each.status == "complete" and (each.analysis or each.clarification)
    }


def _tables_read(message: Message) -> list[str]:
    """Names of the tables that the statement reads, in alphabetical order."""
    if message.sql is None:
        return []
    try:
        statement = parsed_one(message.sql, message.dialect or None)
    except (SqlglotError, RecursionError, ValueError):  # the dialect may be unknown by now
        return []
    derived = {each.alias for each in statement.find_all(exp.CTE)}
    return sorted({table.name for table in statement.find_all(exp.Table)} - derived)
