"""Answered questions out of a session's messages."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.memory.model import Exchange
from app.modules.session.model import Message
from app.modules.sql.parsing import parsed_one


def answered(messages: Sequence[Message]) -> list[Exchange]:
    """Those that got an answer in words, in their order."""
    return [
        Exchange(each.query, each.analysis or each.clarification or "", tables_of(each))
        for each in messages
        if each.role == "assistant" and each.status == "complete" and (each.analysis or each.clarification)
    ]


def tables_of(message: Message) -> list[str]:
    """The names of the tables that its statement reads, in alphabetical order."""
    if message.sql is None:
        return []
    try:
        statement = parsed_one(message.sql, message.dialect or None)
    except (
        SqlglotError,
        RecursionError,
        ValueError,
    ):  # it ran, but in a dialect that is not known here (any more)
        return []
    derived = {each.alias for each in statement.find_all(exp.CTE)}
    return sorted({table.name for table in statement.find_all(exp.Table)} - derived)
