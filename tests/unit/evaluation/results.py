"""Results as a database would give them."""

from pydantic import JsonValue

from app.evaluation.gold import Gold
from app.evaluation.verdict import ResultKind, judge
from app.modules.database_connection.cells import DatabaseRow, rows_of
from app.modules.database_connection.results import ResultColumn, ResultSet
from app.modules.database_connection.schema import ColumnType


def result(*rows: list[JsonValue], types: list[ColumnType] | None = None, width: int = 1) -> ResultSet:
    kinds = types or ["text"] * (len(rows[0]) if rows else width)
    columns = tuple(ResultColumn(f"c{at}", kind) for at, kind in enumerate(kinds))
    return ResultSet(columns, list(rows), truncated=False)


def gold(*rows: list[JsonValue], ranks: list[list[DatabaseRow]] | None = None, width: int = 1) -> Gold:
    return Gold("select", result(*rows, width=width), ranks)


def kind(predicted: ResultSet, right: ResultSet, *, ordered: bool = False) -> ResultKind:
    ranks = [[row] for row in rows_of(right)] if ordered else None
    return judge(predicted, [Gold("select", right, ranks)]).kind
