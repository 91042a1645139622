"""SQLAlchemy dialect of DuckDB for scans: the catalog, and plain SELECTs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from sys import intern
from types import ModuleType

import duckdb
from pydantic import JsonValue
from sqlalchemy import Connection, Engine, StaticPool, create_engine, false, func, or_, select
from sqlalchemy.dialects import registry
from sqlalchemy.engine.default import DefaultDialect

from app.modules.database_connection.engines.catalogs import (
    ListedTable,
    Listing,
    keys_of,
    listed_column,
    rows_in,
)
from app.modules.database_connection.engines.duckdb.process import ChildEnded, DuckdbProcess, DuckdbRefused
from app.modules.database_connection.schema import ColumnType, TableColumn
from app.modules.sql.table_names import TableName

_ALL = 1_000_000
_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("DECIMAL", "DOUBLE", "FLOAT"), "number"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP_S"), "datetime"),
    **dict.fromkeys(("JSON", "MAP", "STRUCT", "UNION"), "json"),
    "BLOB": "binary",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIME": "time",
}
_TABLES = """
SELECT schema_name, table_name, 'table' AS kind, comment FROM duckdb_tables()
WHERE database_name = current_database() AND NOT internal AND schema_name IN :schemas
UNION ALL
SELECT schema_name, view_name, 'view', comment FROM duckdb_views()
WHERE database_name = current_database() AND NOT internal AND schema_name IN :schemas
"""
_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns()
WHERE database_name = current_database() AND NOT internal AND schema_name IN :schemas
ORDER BY schema_name, table_name, column_index
"""
_KEYS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table,
    referenced_column_names
FROM duckdb_constraints()
WHERE database_name = current_database() AND schema_name IN :schemas
    AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
ORDER BY schema_name, table_name, constraint_index
"""
_ONE = """
SELECT 1 FROM duckdb_columns()
WHERE database_name = current_database() AND NOT internal AND schema_name IN :schemas LIMIT 1
"""


def engine_over(process: DuckdbProcess) -> Engine:
    """Returns an engine with this connection only. The caller closes the connection."""
    return create_engine("kaiduckdb://", creator=lambda: _Dbapi(process), poolclass=StaticPool)


@dataclass(frozen=True)
class _Dbapi:
    """A DB-API connection and its only cursor, in one object."""

    process: DuckdbProcess

    def cursor(self) -> "_Dbapi":
        return self

    def execute(self, sql: str, parameters: Sequence[JsonValue] = ()) -> None:
        with _as_dbapi_says():
            self.process.execute(sql, parameters)

    @property
    def description(self) -> Sequence[tuple[object, ...]]:
        return [(name, kind, None, None, None, None, None) for name, kind in self.process.columns]

    @property
    def rowcount(self) -> int:
        return -1

    def fetchall(self) -> list[tuple[object, ...]]:
        return self.fetchmany(_ALL)

    def fetchone(self) -> tuple[object, ...] | None:
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int = 1) -> list[tuple[object, ...]]:
        with _as_dbapi_says():
            return self.process.fetch(size)

    def close(self) -> None:
        """The code that opened the connection closes it."""

    def rollback(self) -> None:
        """Every statement is a transaction of its own."""

    commit = rollback


@contextmanager
def _as_dbapi_says() -> Iterator[None]:
    try:
        yield
    except (ChildEnded, DuckdbRefused) as error:
        raise duckdb.OperationalError(str(error)) from None


class DuckdbDialect(DefaultDialect):
    """Reads the schemas of the opened file."""

    name = "kaiduckdb"
    driver = "duckdb"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    max_identifier_length = 10_000

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return duckdb

    def _get_default_schema_name(self, connection: Connection) -> str:
        return str(connection.scalar(select(func.current_schema())))

    def get_schema_names(self, connection: Connection, **_: object) -> list[str]:
        listed = func.duckdb_schemas().table_valued("schema_name", "database_name", "internal")
        of_the_file = listed.c.database_name == func.current_database()
        is_own = listed.c.schema_name == func.current_schema()
        found = (
            select(listed.c.schema_name).where(of_the_file).where(or_(listed.c.internal == false(), is_own))
        )
        return [str(name) for name in connection.scalars(found)]


registry.register("kaiduckdb", __name__, DuckdbDialect.__name__)


def has_tables(connection: Connection, schemas: Sequence[str]) -> bool:
    return bool(rows_in(connection, _ONE, schemas))


def list_tables(connection: Connection, schemas: Sequence[str]) -> Listing:
    """A schema and its database may have the same name, so names have the database's, too."""
    catalog = str(connection.scalar(select(func.current_database())))
    primary: dict[TableName, Sequence[str]] = {}
    foreign: list[tuple[TableName, str, str, TableName, str]] = []
    for schema, name, kind, here, referred, there in rows_in(connection, _KEYS, schemas):
        table = TableName(catalog, str(schema), str(name))
        if not isinstance(here, list):
            continue
        if kind == "PRIMARY KEY":
            primary[table] = here
        elif isinstance(there, list):  # a key stays within its schema
            other = TableName(catalog, table.schema, str(referred))
            foreign.extend((table, str(here), *pair) for pair in _pairs(here, other, there))
    keys = keys_of(foreign)
    columns: defaultdict[TableName, list[TableColumn]] = defaultdict(list)
    for schema, name, column, declared, is_nullable, comment in rows_in(connection, _COLUMNS, schemas):
        table = TableName(catalog, intern(str(schema)), intern(str(name)))
        columns[table].append(
            listed_column(
                str(column),
                _type(str(declared)),
                str(declared),
                nullable=bool(is_nullable),
                primary_key=column in primary.get(table, ()),
                description=str(comment or ""),
            )
        )
    return {
        table: ListedTable(
            kind="view" if kind == "view" else "table",
            columns=columns[table],
            keys=keys.get(table, ()),
            description=str(comment or ""),
        )
        for schema, name, kind, comment in rows_in(connection, _TABLES, schemas)
        if (table := TableName(catalog, intern(str(schema)), intern(str(name)))) in columns
    }


def _pairs(
    here: Sequence[str], referred: TableName, there: Sequence[str]
) -> Iterator[tuple[str, TableName, str]]:
    for column, other in zip(here, there, strict=True):
        yield column, referred, other


def _type(declared: str) -> ColumnType:
    """Returns the type by its first word, as in `DECIMAL(10,2)`. Lists are JSON, unknown types are text."""
    if declared.endswith("]"):
        return "json"
    word = declared.split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0]
    return _TYPES.get(word, "text")
