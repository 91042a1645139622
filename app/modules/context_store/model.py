"""Stored examples, glossary terms and instructions. Times are epoch milliseconds."""

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Literal

ExampleStatus = Literal["proposed", "verified", "rejected"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A question with the SQL that answers it. Only verified examples are used.

    Feedback on an answer proposes an example; `message_id` is then the id of that answer.
    """

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


@dataclass(frozen=True, kw_only=True)
class Term:
    """A business term and its meaning; `sql` is its SQL expression, None if it has none."""

    id: str
    owner: str
    db_connection_id: str
    term: str
    meaning: str
    sql: str | None
    created_at: int
    updated_at: int


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """A rule for reading the data. `scope` is the table it is about; None means the whole database."""

    id: str
    owner: str
    db_connection_id: str
    text: str
    scope: str | None
    created_at: int
    updated_at: int


def question_key(question: str) -> str:
    """Returns a hash of a question. Case, white space and closing punctuation do not change it."""
    folded = " ".join(unicodedata.normalize("NFKC", question).casefold().split()).rstrip(" ?!.")
    return hashlib.sha256(folded.encode(errors="replace")).hexdigest()
