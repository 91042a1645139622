"""In-memory cache of scanned schemas; the least recently used are dropped."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from weakref import WeakValueDictionary

from cachetools import LRUCache

from app.modules.database_connection.scan.progress import ScanChanges
from app.modules.database_connection.schema import Schema, Table, TableColumn, TableProfile
from app.modules.sql.table_names import TableName


@dataclass(frozen=True, eq=False)
class ScannedSchema:
    """A scanned schema and the texts in its columns, by table and column. Replaced whole, never changed."""

    schema: Schema
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def replace_catalog(self, tables: Sequence[Table], found_at: int) -> "ScannedSchema":
        """Returns the present tables, with descriptions and profiles of the previous scan.

        `found_at` is the time of this one, in epoch milliseconds.
        """
        names = self.schema.names
        before = {names.full(shown): table for shown, table in self.schema.by_name.items()}
        # A table is shown by another name once another schema has one of its name.
        found = replace(self.schema, tables=tables).names
        earlier = {table.name: before.get(found.full(table.name)) for table in tables}
        merged = [_carried(replace(table, found_at=found_at), earlier[table.name]) for table in tables]
        texts = {
            table.name: {
                column: values
                for column, values in self.texts[known.name].items()
                if column not in table.secrets
            }
            for table in tables
            if (known := earlier[table.name]) is not None and known.name in self.texts
        }
        return ScannedSchema(replace(self.schema, tables=merged), texts)

    def changes_in(self, tables: Sequence[Table]) -> ScanChanges:
        """Returns how other tables differ from those of this schema."""
        before = _columns_by_name(self.schema)
        after = _columns_by_name(replace(self.schema, tables=tables))
        both = before.keys() & after.keys()
        return ScanChanges(
            tables_new=len(after.keys() - both),
            tables_gone=len(before.keys() - both),
            columns_new=sum(len(after[name] - before[name]) for name in both),
            columns_gone=sum(len(before[name] - after[name]) for name in both),
        )

    def without_profiles(self) -> "ScannedSchema":
        """Returns the same tables without what was read of their rows. What users have written is kept."""
        tables = [
            replace(table, row_count=None, columns=[unprofiled(each) for each in table.columns])
            for table in self.schema.tables
        ]
        return ScannedSchema(replace(self.schema, tables=tables))

    def add_profiles(self, profiles: Iterable[TableProfile]) -> "ScannedSchema":
        """Returns the same tables with newer profiles. What users have written is kept."""
        newer = {profile.table.name: profile for profile in profiles}
        tables = [
            _edited(_described(replace(newer[table.name].table, found_at=table.found_at), table), table)
            if table.name in newer
            else table
            for table in self.schema.tables
        ]
        texts = {**self.texts, **{name: profile.texts for name, profile in newer.items()}}
        return ScannedSchema(replace(self.schema, tables=tables), texts)

    def with_table(self, changed: Table) -> "ScannedSchema":
        tables = [changed if table.name == changed.name else table for table in self.schema.tables]
        return ScannedSchema(replace(self.schema, tables=tables), self.texts)

    @cached_property
    def visible(self) -> "ScannedSchema":
        """The schema without the columns that the owner hides: the only one that prompts and statements
        are made of. It is the same object if nothing is hidden.
        """
        tables = [table.without_hidden() for table in self.schema.tables]
        hides = {table.name: set(table.hides) for table in tables if table.hides}
        if not hides:
            return self
        shown = [_without_references(table, hides) for table in tables]
        texts = {
            name: {column: values for column, values in columns.items() if column not in hides.get(name, ())}
            for name, columns in self.texts.items()
        }
        return ScannedSchema(replace(self.schema, tables=shown), texts)

    def table(self, name: str) -> Table | None:
        return self.schema.by_name.get(name)


class ScannedSchemas:
    """Scanned schemas by the encrypted address of their connection, so that no process uses the schema of an
    address that another process has changed. Hold the lock of a connection's id to change its entry.
    """

    def __init__(self, limit: int) -> None:
        self._schemas: LRUCache[str, ScannedSchema] = LRUCache(limit)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def get(self, encrypted_url: str) -> ScannedSchema | None:
        return self._schemas.get(encrypted_url)

    def remember(self, encrypted_url: str, scanned: ScannedSchema) -> None:
        self._schemas[encrypted_url] = scanned

    def forget(self, encrypted_url: str) -> None:
        self._schemas.pop(encrypted_url, None)

    def lock(self, connection_id: str) -> asyncio.Lock:
        return self._locks.setdefault(connection_id, asyncio.Lock())


def _columns_by_name(schema: Schema) -> Mapping[TableName, set[str]]:
    """Returns the names of the columns by the table's name in the database."""
    return {
        schema.names.full(table.name): {column.name for column in table.columns} for table in schema.tables
    }


def _carried(table: Table, before: Table | None) -> Table:
    """Returns a table with its previous profile, as long as its columns are the same."""
    if before is None:
        return table
    said = _described(table, before)
    declared = [(each.name, each.database_type) for each in table.columns]
    known = [(each.name, each.database_type) for each in before.columns]
    if [name for name, _ in declared] == [name for name, _ in known]:
        said = replace(said, found_at=before.found_at)
    if declared != known or table.secrets != before.secrets:
        return _edited(said, before)
    return replace(said, columns=before.columns, row_count=before.row_count)


def _described(table: Table, before: Table) -> Table:
    """Returns a table with what its owner has written of it, and its number of edits."""
    return replace(table, description=before.description or table.description, version=before.version)


def _edited(table: Table, before: Table) -> Table:
    """Returns a table whose columns have what users have written of them."""
    known = {column.name: column for column in before.columns}
    return replace(table, columns=[_edited_column(each, known.get(each.name)) for each in table.columns])


def _edited_column(column: TableColumn, before: TableColumn | None) -> TableColumn:
    if before is None:
        return column
    description = before.description or column.description
    return replace(column, description=description, unit=before.unit, hidden=before.hidden)


def unprofiled(column: TableColumn) -> TableColumn:
    """Returns a column without what was read of its values."""
    return replace(column, values=(), minimum=None, maximum=None, distinct_count=None, format="")


def _without_references(table: Table, hides: Mapping[str, set[str]]) -> Table:
    """Returns a table without its foreign keys to hidden columns."""
    keys = [
        key
        for key in table.foreign_keys
        if not hides.get(key.referred_table, set()).intersection(key.referred_columns)
    ]
    return replace(table, foreign_keys=keys)
