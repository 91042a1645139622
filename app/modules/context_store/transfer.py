"""Exports the knowledge of a database to a file, and imports one: nothing of it if a line is refused."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import ValidationError

from app.core.errors import Problem
from app.modules.context_store.model import Example, Knowledge, Term, question_key
from app.modules.context_store.portable import (
    FileEntry,
    FileFormat,
    UnreadLine,
    read_file,
    write_file,
)
from app.modules.context_store.schemas import NewExample, NewInstruction, NewTerm
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.errors import as_problems
from app.modules.database_connection.model import Connection
from app.modules.database_connection.schema import ColumnEdit, Schema, Table
from app.modules.database_connection.schemas import ColumnChange, TableChange
from app.modules.database_connection.service import DatabaseConnections

Outcome = Literal["new", "changed", "same", "refused"]
_Write: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class ImportedEntry:
    """What an import does with an entry of its file. `reason` is why it is refused, else None."""

    line: int
    kind: str
    name: str
    outcome: Outcome
    reason: str | None = None


@dataclass
class _TableEdit:
    description: str | None = None
    columns: dict[str, ColumnEdit] = field(default_factory=dict)


class _Refused(Exception):
    """An entry cannot be imported; the text says why."""


class KnowledgeFiles:
    """Methods raise `ConnectionNotFound` for a connection that the caller may not read."""

    def __init__(self, store: ContextStore, connections: DatabaseConnections) -> None:
        self._store = store
        self._connections = connections

    async def export(self, reader: str, connection_id: str, file_format: FileFormat) -> str:
        """Returns the text of a file: verified examples, terms, instructions, at most a thousand of each,
        and the descriptions and units of tables and columns that are not hidden. Oldest first.
        """
        connection = await self._connections.repository.get(reader, connection_id)
        known = await self._store.knowledge_of_person(connection)
        schema = await self._connections.known_schema(connection)
        entries = [*_of_knowledge(known), *_of_tables([] if schema is None else schema.tables)]
        return write_file(entries, file_format, connection.name)

    async def load(
        self, owner: str, connection_id: str, text: str, *, file_format: FileFormat, dry_run: bool
    ) -> list[ImportedEntry]:
        """Returns what becomes of each entry, in the order of the file. Nothing is ever deleted.

        Nothing is stored by a dry run, or if an entry is refused. Raises `FileNotKnowledge`, `NotTheOwner`
        for a connection that is only shared, and `DatabaseDown` if its first scan fails.
        """
        connection = await self._connections.repository.own(owner, connection_id)
        parts = read_file(text, file_format)
        with as_problems():
            schema = await self._connections.schema(connection)
        known = await self._store.knowledge(connection.id)
        loading = _Loading(self._store, self._connections, connection, known=known, schema=schema)
        outcomes = [await loading.plan(each) for each in parts]
        if not dry_run and all(each.outcome != "refused" for each in outcomes):
            await loading.write()
        return outcomes


class _Loading:
    """Plans the changes of one file, and makes them."""

    def __init__(
        self,
        store: ContextStore,
        connections: DatabaseConnections,
        connection: Connection,
        *,
        known: Knowledge,
        schema: Schema,
    ) -> None:
        self._store = store
        self._connections = connections
        self._connection = connection
        # The newest of several entries of a name is the one that counts.
        self._terms = {_folded(each.term): each for each in reversed(known.terms)}
        self._examples = {each.question_key: each for each in reversed(known.examples)}
        self._instructions = {(each.scope or "", _folded(each.text)) for each in known.instructions}
        self._schema = schema
        self._met: dict[tuple[str, ...], int] = {}
        self._writes: list[_Write] = []
        self._edits: dict[str, _TableEdit] = {}

    async def write(self) -> None:
        for write in self._writes:
            await write()
        for name, edit in self._edits.items():
            await self._connections.describe_table(
                self._connection.owner,
                self._connection.id,
                name,
                description=edit.description,
                columns=edit.columns,
            )

    async def plan(self, part: FileEntry | UnreadLine) -> ImportedEntry:
        if isinstance(part, UnreadLine):
            return ImportedEntry(line=part.line, kind="", name="", outcome="refused", reason=part.reason)
        outcome: Outcome = "refused"
        reason: str | None = None
        try:
            self._note(part)
            outcome = await self._outcome(part)
        except _Refused as refused:
            reason = str(refused)
        except ValidationError as error:
            first = error.errors()[0]
            reason = f"{'.'.join(map(str, first['loc'])) or part.kind}: {first['msg']}"
        except Problem as problem:
            reason = problem.detail
        return ImportedEntry(line=part.line, kind=part.kind, name=part.label, outcome=outcome, reason=reason)

    def _note(self, entry: FileEntry) -> None:
        """Raises `_Refused` for a second entry of the same name."""
        text = _folded(entry.text) if entry.kind == "instruction" else ""
        key = (entry.kind, _folded(entry.name), entry.table, entry.column, text)
        if (line := self._met.setdefault(key, entry.line)) != entry.line:
            raise _Refused(f"Line {line} has the same {entry.kind} already; keep one of them.")

    async def _outcome(self, entry: FileEntry) -> Outcome:
        match entry.kind:
            case "term":
                return self._plan_term(entry)
            case "example":
                return await self._plan_example(entry)
            case "instruction":
                return self._plan_instruction(entry)
            case "table" | "column":
                return self._plan_table(entry)

    def _plan_term(self, entry: FileEntry) -> Outcome:
        store, connection = self._store, self._connection
        known: Term | None = self._terms.get(_folded(entry.name))
        meaning = entry.text or (known.meaning if known else "")
        sql = entry.sql or (known.sql if known else None)
        term = NewTerm(db_connection_id=connection.id, term=entry.name, meaning=meaning, sql=sql)
        if known is None:
            self._writes.append(
                lambda: store.add_term(
                    connection.owner, connection.id, term.term, meaning=term.meaning, sql=term.sql
                )
            )
            return "new"
        if (known.meaning, known.sql) == (term.meaning, term.sql):
            return "same"
        changes = {"meaning": term.meaning, "sql": term.sql}
        self._writes.append(lambda: store.change_term(connection.owner, known.id, changes))
        return "changed"

    async def _plan_example(self, entry: FileEntry) -> Outcome:
        store, connection = self._store, self._connection
        new = NewExample(db_connection_id=connection.id, question=entry.name, sql=entry.sql)
        known: Example | None = self._examples.get(question_key(new.question))
        if known is not None and known.sql == new.sql:
            return "same"
        await store.check(connection, new.sql)
        if known is None:
            self._writes.append(
                lambda: store.add_example(
                    connection.owner, connection.id, new.question, sql=new.sql, status="verified"
                )
            )
            return "new"
        self._writes.append(lambda: store.change_example(connection.owner, known.id, {"sql": new.sql}))
        return "changed"

    def _plan_instruction(self, entry: FileEntry) -> Outcome:
        store, connection = self._store, self._connection
        scope = entry.table or None
        new = NewInstruction(db_connection_id=connection.id, text=entry.text, scope=scope)
        if (entry.table, _folded(new.text)) in self._instructions:
            return "same"
        if entry.table:
            self._table(entry.table)
        self._writes.append(
            lambda: store.add_instruction(connection.owner, connection.id, new.text, scope=new.scope)
        )
        return "new"

    def _plan_table(self, entry: FileEntry) -> Outcome:
        table = self._table(entry.table)
        if entry.kind == "table":
            change = TableChange(description=entry.text)
            if entry.text in ("", table.description):
                return "same"
            self._edits.setdefault(table.name, _TableEdit()).description = change.description
            return "changed" if table.description else "new"
        column = next((each for each in table.columns if each.name == entry.column), None)
        if column is None:
            raise _Refused(
                f"The table {table.name!r} has no column {entry.column!r}. Scan again if it is new."
            )
        edit = ColumnChange(
            description=entry.text or column.description, unit=entry.unit or column.unit
        ).edit()
        if (edit.get("description"), edit.get("unit")) == (column.description, column.unit):
            return "same"
        self._edits.setdefault(table.name, _TableEdit()).columns[column.name] = edit
        return "changed" if column.description or column.unit else "new"

    def _table(self, name: str) -> Table:
        found = self._schema.names.read(name)
        if len(found) > 1:
            raise _Refused(f"{name!r} may be {' or '.join(found)}. Name the one that is meant.")
        if not found:
            raise _Refused(f"The scanned schema has no table {name!r}. Scan again if it is new.")
        return self._schema.by_name[found[0]]


def _of_knowledge(known: Knowledge) -> list[FileEntry]:
    return [
        *(
            FileEntry(kind="term", name=each.term, text=each.meaning, sql=each.sql or "")
            for each in reversed(known.terms)
        ),
        *(
            FileEntry(kind="instruction", text=each.text, table=each.scope or "")
            for each in reversed(known.instructions)
        ),
        *(FileEntry(kind="example", name=each.question, sql=each.sql) for each in reversed(known.examples)),
    ]


def _of_tables(tables: Sequence[Table]) -> list[FileEntry]:
    entries: list[FileEntry] = []
    for table in tables:
        if table.description:
            entries.append(FileEntry(kind="table", table=table.name, text=table.description))
        entries += [
            FileEntry(
                kind="column",
                table=table.name,
                column=each.name,
                text=each.description,
                unit=each.unit,
            )
            for each in table.columns
            if each.description or each.unit
        ]
    return entries


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
