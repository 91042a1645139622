"""Stored examples, glossary terms and instructions. Times are epoch milliseconds."""

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Literal

ExampleStatus = Literal["proposed", "verified", "rejected"]


@dataclass(frozen=True)
class Example:
    """A question with its right SQL. Only verified ones are used; feedback on an answer proposes one,
    and `message_id` then names that answer."""

    id: str
    owner: str
    db_connection_id: str
    question: str
    question_key: str
    sql: str
    status: ExampleStatus
    message_id: str | None
    created_at: int
    updated_at: int


@dataclass(frozen=True)
class Term:
    """A word of the business, and the SQL expression for it where there is one."""

    id: str
    owner: str
    db_connection_id: str
    term: str
    meaning: str
    sql: str | None
    created_at: int
    updated_at: int


@dataclass(frozen=True)
class Instruction:
    """A rule for reading the data; `scope` names the table it is about, None the whole database."""

    id: str
    owner: str
    db_connection_id: str
    text: str
    scope: str | None
    created_at: int
    updated_at: int


def question_key(question: str) -> str:
    """The same for questions that differ only in case, blanks and the marks at their end."""
    folded = " ".join(unicodedata.normalize("NFKC", question).casefold().split()).rstrip(" ?!.")
    return hashlib.sha256(folded.encode(errors="replace")).hexdigest()
