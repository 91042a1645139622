"""What the page shows while a question is asked, as a section of its prompt."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias, assert_never

from app.core.clock import rfc3339
from app.core.llm.context_kinds import ContextKind
from app.core.llm.tokens import approximate_tokens
from app.core.storage.port import is_uuid
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.model import Connection
from app.modules.database_connection.schema import Table
from app.modules.database_connection.service import DatabaseConnections
from app.modules.prompts.rows import without_secrets
from app.modules.prompts.sections import ContextFilter, sections
from app.modules.records.errors import RowsGone
from app.modules.records.model import About, Message, Session, StoredResult
from app.modules.records.rows import RowStore
from app.modules.sql_generation.checking.names import in_one_line
from app.modules.sql_generation.linking.cards import CardDetail, card
from graph.state import Column, Rows

_MAX_TOKENS = 2_000
_LATEST = 10
_ANSWERS_READ = 200
_SESSIONS_READ = 100
_LONGEST = 40
_TABLES = 100
_MEASURED_ROWS = 1_000
_MEASURED_COLUMNS = 20
_CUT = "(cut: there is no room for the rest of what the page shows)"
_TITLE = "What the page shows"

Part: TypeAlias = tuple[ContextKind, str]


class AboutRecords(Protocol):
    """Answers and sessions of an owner."""

    async def latest_answers(self, owner: str, limit: int) -> list[Message]:
        """The latest first, of all sessions."""

    async def answer_of(self, owner: str, message_id: str) -> Message | None:
        """None also for an answer of another owner."""

    async def latest_sessions(self, owner: str, limit: int) -> list[Session]:
        """Last used first."""


class CallResults(Protocol):
    """Results of calls of tools."""

    async def __call__(self, owner: str, call_id: str) -> StoredResult | None:
        """Returns None also for a call of another owner."""


class PageContext:
    """Looks up what a page shows, for the owner of the question. Unknown and foreign ids show nothing."""

    def __init__(
        self,
        connections: DatabaseConnections,
        records: AboutRecords,
        rows: RowStore,
        *,
        call_results: CallResults,
        allowed: ContextFilter,
    ) -> None:
        self._connections = connections
        self._records = records
        self._rows = rows
        self._call_results = call_results
        self._allowed = allowed

    async def section(self, owner: str, session: Session, about: About) -> str:
        """Returns the section, at most 2,000 tokens. Empty if there is nothing to show."""
        parts = await self._parts(owner, session, about)
        text = "\n\n".join(text for kind, text in parts if text and self._allowed.allows(kind))
        return sections([(_TITLE, _within_budget(text))])

    async def _parts(self, owner: str, session: Session, about: About) -> Sequence[Part]:
        wanted = about.id or ""
        match about.kind:
            case "table":
                connection_id, _, name = wanted.rpartition("/")
                return await self._table(owner, connection_id or session.connection_id, name)
            case "connection":
                return await self._connection(owner, wanted or session.connection_id)
            case "result" | "failed_answer":
                return await self._result(owner, wanted)
            case "none":
                return await self._overview(owner)
            case _:
                assert_never(about.kind)

    async def _table(self, owner: str, connection_id: str, name: str) -> Sequence[Part]:
        connection = await self._readable(owner, connection_id)
        tables = [] if connection is None else await self._tables(connection)
        table = next((each for each in tables if each.name.casefold() == name.casefold()), None)
        if table is None:
            return []
        has_values = self._allowed.allows("values")
        shown = card(table, CardDetail(values=has_values, ranges=has_values))
        word = re.compile(rf"\b{re.escape(table.name)}\b", re.IGNORECASE)
        answers = await self._answers_about(owner, connection_id)
        ran = [each.sql for each in answers if each.sql and each.error is None]
        statements = [sql for sql in ran if word.search(sql)]
        return [
            ("schema", f"Table {in_one_line(table.name)}:\n{shown}"),
            ("history", _listed("Its last statements:", statements)),
        ]

    async def _connection(self, owner: str, connection_id: str) -> Sequence[Part]:
        connection = await self._readable(owner, connection_id)
        if connection is None:
            return []
        tables = await self._tables(connection)
        scanned = "never" if connection.scanned_at is None else rfc3339(connection.scanned_at)
        names = ", ".join(in_one_line(table.name) for table in tables[:_TABLES])
        questions = [each.query for each in await self._answers_about(owner, connection.id)]
        return [
            ("schema", f"Database {in_one_line(connection.name)}, last scanned: {scanned}\nTables: {names}"),
            ("history", _listed("Its last questions:", questions)),
        ]

    async def _result(self, owner: str, result_id: str) -> Sequence[Part]:
        if not is_uuid(result_id):
            return []
        answer = await self._records.answer_of(owner, result_id)
        if answer is None:
            return await self._call(owner, result_id)
        error = "" if answer.error is None else f"Error: {answer.error.detail}"
        parts: list[Part] = [
            ("history", f"Question: {answer.query}\nStatus: {answer.status}"),
            ("history", f"Statement: {answer.sql}" if answer.sql else ""),
            ("history", error),
        ]
        if answer.row_count is not None:
            parts += await self._measured(result_id, answer.columns, answer.row_count)
        return parts

    async def _call(self, owner: str, call_id: str) -> Sequence[Part]:
        found = await self._call_results(owner, call_id)
        if found is None:
            return []
        measured = await self._measured(call_id, found["columns"], found["row_count"])
        return [("history", f"Statement: {found['sql']}"), *measured]

    async def _overview(self, owner: str) -> Sequence[Part]:
        connections = await self._connections.repository.oldest(owner, _TABLES)
        sessions_of_owner = await self._records.latest_sessions(owner, _LATEST)
        titles = [each.title for each in sessions_of_owner if each.title]
        return [
            ("schema", _listed("Databases:", [each.name for each in connections])),
            ("history", _listed("Last sessions:", titles)),
        ]

    async def _measured(self, result_id: str, columns: Sequence[Column], count: int) -> Sequence[Part]:
        """Returns columns, and what they hold in the first rows."""
        names = ", ".join(f"{column['name']} ({column['type']})" for column in columns)
        shape = f"Columns: {names}\nRows: {count:,}"
        try:
            rows = await self._rows.read(result_id, 0, min(count, _MEASURED_ROWS)) if count else []
        except RowsGone:
            rows = []
        shown = without_secrets(Rows(columns=list(columns), rows=rows, row_count=len(rows), truncated=False))
        return [("history", shape), ("rows", "\n".join(_statistics(shown)))]

    async def _readable(self, owner: str, connection_id: str) -> Connection | None:
        if not is_uuid(connection_id):
            return None
        try:
            return await self._connections.repository.get(owner, connection_id)
        except ConnectionNotFound:
            return None

    async def _tables(self, connection: Connection) -> Sequence[Table]:
        if connection.scanned_at is None:
            return []
        return (await self._connections.schema(connection)).tables

    async def _answers_about(self, owner: str, connection_id: str) -> Sequence[Message]:
        """Returns the owner's latest answers from a database."""
        mine = {
            each.id
            for each in await self._records.latest_sessions(owner, _SESSIONS_READ)
            if each.db_connection_id == connection_id
        }
        answers = await self._records.latest_answers(owner, _ANSWERS_READ)
        return [each for each in answers if each.session_id in mine]


def _listed(title: str, texts: Sequence[str]) -> str:
    lines = [f"- {' '.join(text.split())}" for text in dict.fromkeys(texts)]
    return "\n".join([title, *lines[:_LATEST]]) if lines else ""


def _statistics(rows: Rows) -> Iterator[str]:
    """Yields a line for each column: how many values, and from which to which."""
    for at, column in enumerate(rows["columns"][:_MEASURED_COLUMNS]):
        values = [row[at] for row in rows["rows"] if row[at] is not None]
        distinct = len({str(value) for value in values})
        line = f"{column['name']}: {len(values)} values, {distinct} distinct"
        numbers = [value for value in values if isinstance(value, int | float)]
        texts = [value for value in values if isinstance(value, str)]
        if numbers and len(numbers) == len(values):
            yield f"{line}, from {min(numbers)} to {max(numbers)}"
        elif texts and len(texts) == len(values):
            yield f"{line}, from {min(texts)[:_LONGEST]!r} to {max(texts)[:_LONGEST]!r}"
        else:
            yield line


def _within_budget(text: str) -> str:
    """Returns the text, cut from its end with a line that says so."""
    if approximate_tokens(text) <= _MAX_TOKENS:
        return text
    kept: list[str] = []
    spent = approximate_tokens(_CUT)
    for line in text.splitlines():
        spent += approximate_tokens(line) + 1
        if spent > _MAX_TOKENS:
            break
        kept.append(line)
    return "\n".join([*kept, _CUT])
