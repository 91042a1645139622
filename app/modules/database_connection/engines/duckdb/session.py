"""Statements in read-only DuckDB sessions."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.core.values.numbers import of_single_precision
from app.modules.database_connection.engines.databases import SCAN_AGAIN, stopped
from app.modules.database_connection.engines.duckdb.process import ChildEnded, DuckdbProcess, DuckdbRefused
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.schema import ColumnType
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

_FETCH_ROWS = 100
_NO_TABLE = re.compile(r"\bTable with name .* does not exist")
_NOT_THE_STATEMENT = {"IOException", "FatalException", "ConnectionException"}
_TOO_MUCH_MEMORY = "The statement needs more memory than it may have; add filters, or aggregate earlier."
_TYPES: Mapping[str, ColumnType] = {
    "BIGINT": "integer",
    "BLOB": "binary",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DECIMAL": "number",
    "DOUBLE": "number",
    "FLOAT": "number",
    "HUGEINT": "integer",
    "INTEGER": "integer",
    "SMALLINT": "integer",
    "TIME": "time",
    "TIME WITH TIME ZONE": "time",
    "TIMESTAMP": "datetime",
    "TIMESTAMP WITH TIME ZONE": "datetime",
    "TIMESTAMP_MS": "datetime",
    "TIMESTAMP_NS": "datetime",
    "TIMESTAMP_S": "datetime",
    "TINYINT": "integer",
    "UBIGINT": "integer",
    "UHUGEINT": "integer",
    "UINTEGER": "integer",
    "USMALLINT": "integer",
    "UTINYINT": "integer",
    "JSON": "json",
    "MAP": "json",
    "STRUCT": "json",
    "UNION": "json",
}


@dataclass(frozen=True)
class DuckdbSession:
    """Session for one statement. DuckDB's own parser must accept it as a single query."""

    process: DuckdbProcess
    stop: Stop

    def execute(self, sql: str) -> RawRows:
        with _translate_errors(self.stop):
            self.process.query(sql)
        columns = self.process.columns
        return RawRows([name for name, _ in columns], [_type(kind) for _, kind in columns], self._fetch())

    def _fetch(self) -> Iterator[Sequence[object]]:
        kinds = [kind for _, kind in self.process.columns]
        with _translate_errors(self.stop):
            while rows := self.process.fetch(_FETCH_ROWS):
                for row in rows:
                    yield [_value(cell, kind) for cell, kind in zip(row, kinds, strict=True)]


def _type(declared: str) -> ColumnType:
    """Returns the type by the first words of its name, as in `DECIMAL(10,2)`. Nested types are JSON."""
    if declared.endswith("]"):
        return "json"
    return _TYPES.get(declared.split("(", maxsplit=1)[0], "text")


def _value(cell: object, kind: str) -> object:
    """Returns JSON decoded and 32-bit floats rounded: DuckDB returns JSON as text, and 64-bit floats."""
    match cell:
        case str() if kind == "JSON":
            return json.loads(cell)
        case float() if kind == "FLOAT":
            return of_single_precision(cell)
    return cell


@contextmanager
def _translate_errors(stop: Stop) -> Iterator[None]:
    try:
        yield
    except ChildEnded:
        raise stopped(stop) if stop.due else StatementFailed(_TOO_MUCH_MEMORY) from None
    except DuckdbRefused as error:
        raise _translated(error) from None


def _translated(error: DuckdbRefused) -> StatementFailed | DatabaseUnavailable:
    if error.kind in _NOT_THE_STATEMENT:
        return DatabaseUnavailable("The database file cannot be read.")
    if error.kind == "NotOneQuery":
        return StatementFailed("Exactly one query is run at a time: SELECT, WITH ... SELECT, VALUES.")
    if error.kind == "OutOfMemoryException":
        return StatementFailed(_TOO_MUCH_MEMORY)
    if error.kind == "CatalogException" and _NO_TABLE.search(str(error)):
        first = str(error).split("\n", maxsplit=1)[0].rstrip("!.")
        return StatementFailed(f"{first}. {SCAN_AGAIN}")
    return StatementFailed(str(error))
