"""Statements in read-only DuckDB sessions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb

from app.modules.database_connection.databases import stopped
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.schema import ColumnType
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

_FETCH_ROWS = 100
_QUERIES = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
_NOT_THE_STATEMENT = (duckdb.IOException, duckdb.FatalException, duckdb.ConnectionException)
_TYPES: Mapping[str, ColumnType] = {
    "bigint": "integer",
    "blob": "binary",
    "boolean": "boolean",
    "date": "date",
    "decimal": "number",
    "double": "number",
    "float": "number",
    "hugeint": "integer",
    "integer": "integer",
    "smallint": "integer",
    "time": "time",
    "time with time zone": "time",
    "timestamp": "datetime",
    "timestamp with time zone": "datetime",
    "timestamp_ms": "datetime",
    "timestamp_ns": "datetime",
    "timestamp_s": "datetime",
    "tinyint": "integer",
    "ubigint": "integer",
    "uhugeint": "integer",
    "uinteger": "integer",
    "usmallint": "integer",
    "utinyint": "integer",
    **dict.fromkeys(("array", "list", "map", "struct", "union"), "json"),
}


@dataclass(frozen=True)
class DuckdbSession:
    """One statement, which DuckDB's own parser has to take for a single query."""

    connection: duckdb.DuckDBPyConnection
    stop: Stop

    def execute(self, sql: str) -> RawRows:
        with _in_our_words(self.stop):
            (statement,) = self._queries(sql)
            cursor = self.connection.execute(statement)
            columns = cursor.description or []
        kinds = [str(each[1]) for each in columns]
        types = [_type(each[1]) for each in columns]
        return RawRows([each[0] for each in columns], types, self._fetch(cursor, kinds))

    def _queries(self, sql: str) -> Sequence[duckdb.Statement]:
        """Raises `StatementFailed` if this is not one query."""
        statements = self.connection.extract_statements(sql)
        if len(statements) != 1 or not _is_query(statements[0]):
            raise StatementFailed("Exactly one query is run at a time: SELECT, WITH ... SELECT, VALUES.")
        return statements

    def _fetch(self, cursor: duckdb.DuckDBPyConnection, kinds: Sequence[str]) -> Iterator[Sequence[object]]:
        with _in_our_words(self.stop):
            while rows := cursor.fetchmany(_FETCH_ROWS):
                for row in rows:
                    yield [_value(cell, kind) for cell, kind in zip(row, kinds, strict=True)]


def _is_query(statement: duckdb.Statement) -> bool:
    try:
        return statement.type in _QUERIES
    except ValueError:
        return False  # a kind that DuckDB's Python side has no name for


def _type(declared: object) -> ColumnType:
    kind = getattr(declared, "id", "")
    return "json" if str(declared) == "JSON" else _TYPES.get(kind, "text")


def _value(cell: object, kind: str) -> object:
    """DuckDB hands JSON on as its text, and moments in this machine's time zone."""
    if kind == "JSON" and isinstance(cell, str):
        return json.loads(cell)
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(UTC)
    return cell


@contextmanager
def _in_our_words(stop: Stop) -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException:
        raise stopped(stop) from None
    except _NOT_THE_STATEMENT:
        raise DatabaseUnavailable("The database file cannot be read.") from None
    except duckdb.Error as error:
        raise StatementFailed(str(error)) from None
