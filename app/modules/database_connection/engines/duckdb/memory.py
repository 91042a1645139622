"""Statements over rows of other databases, in a DuckDB database in memory that reaches no file or network."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue
from sqlglot import exp

from app.modules.database_connection.engines.duckdb.process import ChildEnded, DuckdbProcess, DuckdbRefused
from app.modules.database_connection.engines.duckdb.session import DuckdbSession
from app.modules.database_connection.engines.watching import cancelled_when_due
from app.modules.database_connection.schema import ColumnType
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

_ROWS_AT_ONCE = 2_000
_EXACT = re.compile(r"\b(?:NUMERIC|DECIMAL|NUMBER)\((\d+)(?:, *(\d+))?\)", re.IGNORECASE)
_PADDED = re.compile(r"CHAR(?:ACTER)?\(\d+\)", re.IGNORECASE)
_MOST_DIGITS = 38
_LARGEST_BIGINT = 2**63 - 1
_TYPES: dict[ColumnType, str] = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "time": "TIME",
    "binary": "BLOB",
    "json": "JSON",
}


@dataclass(frozen=True)
class MemoryColumn:
    """A column of a table in memory. `declared` is the type in the database that the values are of; empty
    if that does not hold its columns to types.
    """

    name: str
    type: ColumnType
    declared: str = ""


@dataclass(frozen=True)
class MemoryTable:
    """A table with all its rows, as results hold them. Moments with an offset are put into UTC."""

    name: str
    columns: Sequence[MemoryColumn]
    rows: Sequence[Sequence[JsonValue]]


@contextmanager
def open_tables(tables: Sequence[MemoryTable], stop: Stop) -> Iterator[DuckdbSession]:
    """Opens a session over these tables alone, which ends when `stop` is due.

    Raises `StatementFailed` for values that are not of their column's type, and `DatabaseUnavailable`.
    """
    process = DuckdbProcess(Path(":memory:"))
    with closing(process), cancelled_when_due(process.kill, stop):
        try:
            process.open()
            for table in tables:
                _load(process, table)
        except DuckdbRefused as error:
            raise StatementFailed(f"Rows of two databases could not be brought together: {error}") from None
        except ChildEnded:
            raise DatabaseUnavailable(
                "Rows of two databases could not be brought together: they took too long, or need more "
                "memory than a statement may have. Read fewer rows or columns."
            ) from None
        yield DuckdbSession(process, stop)


def _load(process: DuckdbProcess, table: MemoryTable) -> None:
    name = exp.to_identifier(table.name, quoted=True).sql("duckdb")
    kinds = [_kind(column, [row[at] for row in table.rows]) for at, column in enumerate(table.columns)]
    names = [exp.to_identifier(column.name, quoted=True).sql("duckdb") for column in table.columns]
    declared = ", ".join(f"{column} {kind}" for column, kind in zip(names, kinds, strict=True))
    process.execute(f"CREATE TABLE {name} ({declared})", [])
    cells = ", ".join(
        _cell(at, kind, column.declared)
        for at, (kind, column) in enumerate(zip(kinds, table.columns, strict=True), start=1)
    )
    for start in range(0, len(table.rows), _ROWS_AT_ONCE):
        rows = [
            [_write_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)]
            for row in table.rows[start : start + _ROWS_AT_ONCE]
        ]
        process.execute(
            f"INSERT INTO {name} SELECT {cells} "  # noqa: S608 - quoted names and types of ours
            "FROM (SELECT unnest(from_json(?::VARCHAR, '[[\"VARCHAR\"]]')) AS r)",
            [json.dumps(rows)],
        )


def _kind(column: MemoryColumn, values: Sequence[JsonValue]) -> str:
    """Returns the type of a column in memory: exact where the database's own is."""
    if column.type == "integer" and any(abs(int(str(each))) > _LARGEST_BIGINT for each in values if each):
        return "HUGEINT"
    exact = _EXACT.search(column.declared) if column.type == "number" else None
    if exact is not None and int(exact[2] or 0) <= int(exact[1]) <= _MOST_DIGITS:
        return f"DECIMAL({exact[1]}, {exact[2] or 0})"
    return _TYPES[column.type]


def _cell(at: int, kind: str, declared: str) -> str:
    """Returns the value of a text in SQL. The spaces that fill up a CHAR do not count where it is stored."""
    if kind == "BLOB":
        return f"from_base64(r[{at}])"
    if kind == "VARCHAR" and _PADDED.fullmatch(declared):
        return f"rtrim(r[{at}], ' ')"
    return f"CAST(r[{at}] AS {kind})"


def _write_cell(cell: JsonValue, kind: str) -> JsonValue:
    """Returns a cell as DuckDB reads the type: a moment with an offset in UTC, JSON as its text."""
    if kind == "JSON" and cell is not None:
        return json.dumps(cell)
    if kind != "TIMESTAMP" or not isinstance(cell, str):
        return cell
    try:
        moment = datetime.fromisoformat(cell)
        return cell if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    except (ValueError, OverflowError):
        return cell  # which DuckDB reads, or refuses
