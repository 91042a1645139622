"""Tables as the catalog of a database lists them, read for all schemas at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from sqlalchemy import Connection, bindparam, inspect, text

from app.modules.database_connection.schema import ColumnType, TableColumn
from app.modules.sql.engine_data import SYSTEM_SCHEMAS
from app.modules.sql.table_names import TableName

Row: TypeAlias = Sequence[object]

ESTIMATED_FROM_ROWS = 100_000
"""So large a table keeps the server's own estimate of its rows; others are counted."""

_MOST_COLUMNS = 50_000


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A foreign key. `referred` is the name in the database of another table, maybe not of the scan."""

    columns: Sequence[str]
    referred: TableName
    referred_columns: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedTable:
    """A table or view. `row_count` is the server's estimate, None if it has none or the table is small.

    `uses` counts the reads since the server's statistics began; 0 if it keeps none.
    """

    kind: Literal["table", "view"]
    columns: Sequence[TableColumn]
    keys: Sequence[ListedKey] = ()
    description: str = ""
    row_count: int | None = None
    uses: int = 0


Listing: TypeAlias = Mapping[TableName, ListedTable]


def inspected_schemas(connection: Connection) -> list[str]:
    """Returns the schemas that SQLAlchemy's inspector finds, without those of the system."""
    found = inspect(connection).get_schema_names()
    return sorted(name for name in found if name.casefold() not in SYSTEM_SCHEMAS)


def rows_in(connection: Connection, sql: str, schemas: Sequence[str]) -> Sequence[Row]:
    """Returns the rows of a query with `:schemas` in it, the names of the schemas. Empty without a schema."""
    if not schemas:
        return []
    query = text(sql).bindparams(bindparam("schemas", schemas, expanding=True))
    return connection.execute(query).all()


@lru_cache(maxsize=_MOST_COLUMNS)
def listed_column(
    name: str, kind: ColumnType, declared: str, *, nullable: bool, primary_key: bool, description: str
) -> TableColumn:
    """Returns a column. Columns that say the same are one object: many tables have the same ones."""
    return TableColumn(
        name=name,
        type=kind,
        database_type=declared,
        nullable=nullable,
        primary_key=primary_key,
        description=description,
    )


def keys_of(
    rows: Iterable[tuple[TableName, str, str, TableName, str]],
) -> Mapping[TableName, Sequence[ListedKey]]:
    """Returns foreign keys by table. A row is a table, the name of its key, a column, and what it refers to:
    the columns of a key are in order.
    """
    pairs: defaultdict[tuple[TableName, str, TableName], list[tuple[str, str]]] = defaultdict(list)
    for table, key, column, referred, referred_column in rows:
        pairs[table, key, referred].append((column, referred_column))
    found: defaultdict[TableName, list[ListedKey]] = defaultdict(list)
    for (table, _, referred), columns in pairs.items():
        found[table].append(
            ListedKey([each for each, _ in columns], referred, [there for _, there in columns])
        )
    return found
