"""Stored examples, glossary terms and instructions. Times are epoch milliseconds, and `version` is the number
of edits.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from app.core.clock import now_ms
from app.core.keyed_ids import created_id
from app.modules.database_connection.model import Connection
from app.modules.database_connection.schema import Schema, Table

ExampleStatus = Literal["proposed", "verified", "rejected"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A question with the SQL that answers it. Only verified examples are used.

    Feedback on an answer proposes an example; `message_id` and `session_id` are then those of that answer,
    `asked_by` is who asked, and `answer` its text, until the example is reviewed. `uses` are the answers that
    it gave or guided, `used_by` the latest of them.
    `verified_by` is the owner who verified it as it is, at `verified_at`. Both are None while it is not
    verified, and for examples that were verified before this was recorded.
    """

    id: str
    owner: str
    db_connection_id: str
    question: str
    question_key: str
    sql: str
    status: ExampleStatus
    message_id: str | None
    session_id: str | None = None
    asked_by: str | None = None
    answer: str | None = None
    uses: int = 0
    used_at: int = 0
    used_by: Sequence[str] = field(default_factory=list)
    verified_by: str | None = None
    verified_at: int | None = None
    created_at: int
    updated_at: int
    version: int = 0


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
    version: int = 0


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
    version: int = 0


@dataclass(frozen=True)
class Knowledge:
    """What is known about a database besides its schema."""

    examples: Sequence[Example] = ()
    terms: Sequence[Term] = ()
    instructions: Sequence[Instruction] = ()


def without_hidden(examples: Sequence[Example], schema: Schema | None) -> list[Example]:
    """Returns the examples whose statements name no column that the owner hides, and nothing that the person
    of the schema may not know of.
    """
    hiding = [] if schema is None else [table for table in schema.tables if table.hides]
    shown = [each for each in examples if not any(_names_hidden(each.sql, table) for table in hiding)]
    return shown if schema is None else known_to_person(shown, schema)


Texts = TypeVar("Texts", Example, Term, Instruction)


def known_to_person(entries: Sequence[Texts], schema: Schema) -> list[Texts]:
    """Returns the entries that name nothing that the person of the schema may not know of."""
    limiter = schema.limiter
    if limiter is None:
        return list(entries)
    return [each for each in entries if not any(map(limiter.is_unknown_in, _texts(each)))]


def _texts(entry: Example | Term | Instruction) -> Sequence[str]:
    match entry:
        case Example():
            return entry.question, entry.sql
        case Term():
            return entry.term, entry.meaning, entry.sql or ""
    return entry.text, entry.scope or ""


def _names_hidden(sql: str, table: Table) -> bool:
    def is_named(name: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) is not None

    return is_named(table.in_database.name) and any(is_named(column) for column in table.hides)


def question_key(question: str) -> str:
    """Returns a hash of a question. Case, white space and closing punctuation do not change it."""
    folded = " ".join(unicodedata.normalize("NFKC", question).casefold().split()).rstrip(" ?!.")
    return hashlib.sha256(folded.encode(errors="replace")).hexdigest()


def new_example(
    connection: Connection, question: str, sql: str, *, status: ExampleStatus, message_id: str | None
) -> Example:
    """Returns a new example of a connection's owner, which is stored nowhere yet."""
    now = now_ms()
    return Example(
        id=created_id(),
        owner=connection.owner,
        db_connection_id=connection.id,
        question=question,
        question_key=question_key(question),
        sql=sql,
        status=status,
        message_id=message_id,
        created_at=now,
        updated_at=now,
    )
