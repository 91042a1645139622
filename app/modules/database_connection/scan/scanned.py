"""In-memory cache of scanned schemas; the least recently used are dropped."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from cachetools import LRUCache

from app.modules.database_connection.schema import Profile, Schema, Table


@dataclass(frozen=True, eq=False)
class ScannedSchema:
    """A scanned schema and the texts in its columns, by table and column. Replaced whole, never changed."""

    schema: Schema
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def with_catalog(self, tables: Sequence[Table]) -> "ScannedSchema":
        """Returns the present tables, with descriptions and profiles of the previous scan."""
        before = {table.name: table for table in self.schema.tables}
        merged = [_carried(table, before.get(table.name)) for table in tables]
        names = {table.name for table in tables}
        texts = {name: columns for name, columns in self.texts.items() if name in names}
        return ScannedSchema(replace(self.schema, tables=merged), texts)

    def with_profiles(self, profiles: Iterable[Profile]) -> "ScannedSchema":
        """Returns the same tables with newer profiles. Descriptions are kept."""
        newer = {profile.table.name: profile for profile in profiles}
        tables = [
            replace(newer[table.name].table, description=table.description) if table.name in newer else table
            for table in self.schema.tables
        ]
        texts = {**self.texts, **{name: profile.texts for name, profile in newer.items()}}
        return ScannedSchema(replace(self.schema, tables=tables), texts)

    def with_table(self, changed: Table) -> "ScannedSchema":
        tables = [changed if table.name == changed.name else table for table in self.schema.tables]
        return ScannedSchema(replace(self.schema, tables=tables), self.texts)

    def table(self, name: str) -> Table | None:
        return next((table for table in self.schema.tables if table.name == name), None)


class ScannedSchemas:
    """Scanned schemas by connection id. Hold the lock of an id to change its entry."""

    def __init__(self, limit: int) -> None:
        self._schemas: LRUCache[str, ScannedSchema] = LRUCache(limit)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def get(self, connection_id: str) -> ScannedSchema | None:
        return self._schemas.get(connection_id)

    def remember(self, connection_id: str, scanned: ScannedSchema) -> None:
        self._schemas[connection_id] = scanned

    def forget(self, connection_id: str) -> None:
        self._schemas.pop(connection_id, None)

    def lock(self, connection_id: str) -> asyncio.Lock:
        return self._locks.setdefault(connection_id, asyncio.Lock())


def _carried(table: Table, before: Table | None) -> Table:
    """Returns a table with its previous profile, as long as its columns are the same."""
    if before is None:
        return table
    said = replace(table, description=before.description or table.description)
    declared = [(each.name, each.database_type) for each in table.columns]
    if declared != [(each.name, each.database_type) for each in before.columns]:
        return said
    return replace(said, columns=before.columns, row_count=before.row_count)
