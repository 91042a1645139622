"""Finds where an answer comes from: its statement, what its author knew, and checks of its rows."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from app.core.clock import epoch_ms
from app.core.errors import NotFound
from app.core.language import language_of
from app.modules.context_store.model import Example, Instruction, Term
from app.modules.context_store.repository import Entries, Entry
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.guard.inspection import declared_names
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.facts import Facts
from app.modules.memory.model import StoredFact
from app.modules.provenance.errors import NoStatement
from app.modules.records.errors import RowsGone
from app.modules.records.model import Message
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.session.errors import VersionUnknown
from app.modules.sql.layout import laid_out
from app.modules.sql.provenance.model import StatementDescription
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.reading import describe
from app.modules.sql.statement import statement_of
from app.modules.sql.table_names import TableNames
from app.modules.sql_generation.result_warnings.checks import ResultCheck, check_rows
from app.modules.sql_generation.schema_context import SchemaContext
from graph.errors import DatabaseUnavailable, StatementRefused
from graph.state import Rows

Found = TypeVar("Found")

_NOTHING_READ = StatementDescription(tables=[], queries=[])


@dataclass(frozen=True, kw_only=True)
class KnownKnowledge:
    """What the author of a statement knew, as it is now. `deleted_count` of it exist no more."""

    tables: Sequence[str]
    terms: Sequence[Term]
    instructions: Sequence[Instruction]
    examples: Sequence[Example]
    same: Sequence[str]
    """Ids of the examples whose SQL is the statement, apart from its layout."""
    facts: Sequence[StoredFact]
    deleted_count: int


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where an answer comes from."""

    message: Message
    sql: str
    description: StatementDescription
    known: KnownKnowledge | None
    checks: Sequence[ResultCheck]


class AnswerProvenance:
    """Reads stored records and what the last scan found. Nothing runs in a user's database, and no model is
    asked.
    """

    def __init__(
        self,
        sessions: SessionRepository,
        rows: RowStore,
        *,
        connections: DatabaseConnections,
        context: ContextStore,
        facts: Facts,
        schema_context_of: Callable[[Connection], SchemaContext],
    ) -> None:
        self._sessions = sessions
        self._rows = rows
        self._connections = connections
        self._context = context
        self._facts = facts
        self._schema_context_of = schema_context_of

    async def of_answer(
        self, owner: str, session_id: str, message_id: str, *, version: int | None = None
    ) -> Provenance:
        """Of the answer's own statement, or of a later version, from 2.

        Raises `SessionUnknown`, `MessageUnknown`, `NoStatement`, and `VersionUnknown`.
        """
        session = await self._sessions.get(owner, session_id)
        message = await self._sessions.get_answer(session, message_id)
        if version is not None:
            message = _as_version(message, version)
        if message.sql is None:
            raise NoStatement
        connection, rows, known = await asyncio.gather(
            self._connection(owner, session.db_connection_id),
            self._stored(message),
            self._known(owner, message),
        )
        context = None if connection is None else self._schema_context_of(connection)
        return Provenance(
            message=message,
            sql=message.sql,
            description=await self._description(message, message.sql, context),
            known=known,
            checks=await self._checks(message, rows, context),
        )

    async def _connection(self, owner: str, connection_id: str | None) -> Connection | None:
        """Returns None for a connection that was deleted or is no longer shared."""
        try:
            return await self._connections.repository.get(owner, connection_id or "")
        except ConnectionNotFound:
            return None

    async def _stored(self, message: Message) -> Rows | None:
        """Returns all stored rows, or the head if they are gone. None without a result."""
        if message.row_count is None:
            return None
        try:
            rows = [row async for some in self._rows.all(message.id, message.row_count) for row in some]
        except RowsGone:
            rows = message.rows_head
        return Rows(
            columns=message.columns,
            rows=rows,
            row_count=message.row_count,
            truncated=message.truncated,
            cut_by=message.cut_by,
        )

    async def _description(
        self, message: Message, sql: str, context: SchemaContext | None
    ) -> StatementDescription:
        """Of a database that is gone, columns without a table's name belong to none."""
        names = DeclaredNames(TableNames(message.dialect, {}), {})
        try:
            if context is not None:
                names = declared_names((await context.index()).scanned.schema)
            statement = statement_of(sql, message.dialect)
            described = await self._connections.examine(sql, describe, statement, names)
        except (StatementRefused, DatabaseUnavailable):
            return _NOTHING_READ
        return described or _NOTHING_READ

    async def _checks(
        self, message: Message, rows: Rows | None, context: SchemaContext | None
    ) -> Sequence[ResultCheck]:
        """Returns the checks, in the language of the question."""
        if rows is None or message.sql is None:
            return []
        language = language_of(message.query)
        try:
            if context is not None:
                return await context.check_result(message.sql, rows, language)
        except DatabaseUnavailable:
            pass  # the rows can be checked without it
        return check_rows(rows, language)

    async def _known(self, owner: str, message: Message) -> KnownKnowledge | None:
        used = message.context
        if used is None and not message.remembered:
            return None
        context = self._context
        ids = {name: used[name] if used else [] for name in ("terms", "instructions", "examples")}
        terms, instructions, examples, facts = await asyncio.gather(
            self._entries(context.terms, owner, ids["terms"]),
            self._entries(context.instructions, owner, ids["instructions"]),
            self._entries(context.examples, owner, ids["examples"]),
            _found(self._facts.get(owner, each) for each in message.remembered),
        )
        wanted = len(message.remembered) + sum(map(len, ids.values()))
        return KnownKnowledge(
            tables=used["tables"] if used else [],
            terms=terms,
            instructions=instructions,
            examples=examples,
            same=await self._same(message, examples),
            facts=facts,
            deleted_count=wanted - len(terms) - len(instructions) - len(examples) - len(facts),
        )

    async def _same(self, message: Message, examples: Sequence[Example]) -> Sequence[str]:
        sql = message.sql or ""
        try:
            return await self._connections.examine(sql, _of_statement, sql, message.dialect, examples)
        except (StatementRefused, DatabaseUnavailable):
            return []

    async def _entries(self, entries: Entries[Entry], owner: str, ids: Sequence[str]) -> list[Entry]:
        return await _found(self._context.get(entries, owner, each) for each in ids)


def _of_statement(sql: str, dialect: str, examples: Sequence[Example]) -> list[str]:
    own = laid_out(sql, dialect)
    return [each.id for each in examples if laid_out(each.sql, dialect) == own]


def _as_version(message: Message, number: int) -> Message:
    """The answer with a person's later statement and its rows: KAI added nothing to that."""
    version = next((each for each in message.versions if each.number == number), None)
    if version is None:
        raise VersionUnknown
    return message.model_copy(
        update={
            "id": version.rows_id,
            "created_at": epoch_ms(datetime.fromisoformat(version.created_at)),
            "sql": version.sql,
            "columns": version.columns,
            "rows_head": [],
            "row_count": version.row_count,
            "truncated": version.truncated,
            "cut_by": version.cut_by,
            "context": None,
            "remembered": [],
        }
    )


async def _found(reads: Iterable[Awaitable[Found]]) -> list[Found]:
    """Returns what was found, without what the reader may not read or exists no more."""
    found = await asyncio.gather(*(_or_none(read) for read in reads))
    return [each for each in found if each is not None]


async def _or_none(read: Awaitable[Found]) -> Found | None:
    try:
        return await read
    except NotFound:
        return None
