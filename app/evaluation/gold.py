"""A gold statement's result, run as every other statement is, and the order that it asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.auth.caller import LOCAL_OWNER
from app.modules.database_connection.cells import Row, rows_of
from app.modules.database_connection.records import Asker
from app.modules.database_connection.repository import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql.parsing import parsed_one
from graph.errors import DatabaseUnavailable, StatementFailed


@dataclass(frozen=True)
class Ordering:
    """`keyed_sql` gives the gold's rows with their sort keys at the positions `keys`, going on where the
    gold's own limit cuts; it is None where the keys cannot be seen, and then any two rows are in order."""

    keyed_sql: str | None = None
    keys: tuple[int, ...] = ()


def ordering_of(sql: str, dialect: str, columns: Sequence[str]) -> Ordering | None:
    """The ordering of the outermost query, whose result has these columns; None when it has none."""
    try:
        query = parsed_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return None
    while isinstance(query, exp.Subquery) and not query.args.get("order"):
        query = query.this
    order = query.args.get("order")
    if not isinstance(order, exp.Order):
        return None
    keys = [_position(each.this, query, columns) for each in order.expressions]
    hidden = [each.this for each, key in zip(order.expressions, keys, strict=True) if key is None]
    if hidden and not _may_show_more(query):
        return Ordering()
    added = iter(range(len(columns), len(columns) + len(hidden)))
    positions = tuple(next(added) if key is None else key for key in keys)
    return Ordering(_keyed(query, hidden).sql(dialect=dialect, comments=False), positions)


def tiers(rows: Sequence[Row], ordering: Ordering, count: int, width: int) -> list[list[Row]]:
    """The keyed rows, without added keys, in groups that tie; the last one holds the row number `count`."""
    groups: list[list[Row]] = []
    last: Row | None = None
    for at, row in enumerate(rows):
        key = tuple(row[position] for position in ordering.keys)
        if not groups or key != last:
            if at >= count:
                break
            groups.append([])
        groups[-1].append(row[:width])
        last = key
    return groups


def _position(key: exp.Expr, query: exp.Expr, columns: Sequence[str]) -> int | None:
    """Where a sort key stands in the result; None when it is not shown."""
    if isinstance(key, exp.Literal) and key.is_int:
        return int(key.name) - 1
    names = [name.lower() for name in columns]
    if isinstance(key, exp.Column) and not key.table and key.name.lower() in names:
        return names.index(key.name.lower())
    shown = [each.unalias() for each in query.selects] if isinstance(query, exp.Select) else []
    return shown.index(key) if len(shown) == len(columns) and key in shown else None


def _may_show_more(query: exp.Expr) -> bool:
    return isinstance(query, exp.Select) and not query.args.get("distinct")


def _keyed(query: exp.Expr, hidden: Sequence[exp.Expr]) -> exp.Expr:
    keyed = query.copy()
    if isinstance(keyed, exp.Select):
        keyed = keyed.select(*(exp.alias_(key.copy(), f"sort_key_{at}") for at, key in enumerate(hidden)))
    if not keyed.args.get("offset"):
        keyed.set("limit", None)
    return keyed


EVALUATION = Asker(LOCAL_OWNER, "evaluation")


@dataclass(frozen=True)
class Gold:
    """A right answer. `ranks` are its rows in groups whose inner order is open, and None where all order
    is; the last group may hold more rows than the answer shows, any of which may stand there."""

    sql: str
    result: ResultSet
    ranks: Sequence[Sequence[Row]] | None = None


@dataclass(frozen=True)
class GoldFailed:
    """A defect of the question set, in the words of the guard or the database."""

    sql: str
    error: str


async def run_gold(connections: DatabaseConnections, connection: Connection, sql: str) -> Gold | GoldFailed:
    """The answer of one gold statement."""
    try:
        result = await connections.run(connection, sql, EVALUATION)
        ordering = ordering_of(sql, connection.dialect, [column.name for column in result.columns])
    except (StatementFailed, DatabaseUnavailable) as error:
        return GoldFailed(sql, error.detail)
    if ordering is None:
        return Gold(sql, result)
    return Gold(sql, result, await _ranks(connections, connection, result, ordering))


async def _ranks(
    connections: DatabaseConnections, connection: Connection, result: ResultSet, ordering: Ordering
) -> list[list[Row]]:
    rows, width = rows_of(result), len(result.columns)
    each_alone = [[row] for row in rows]
    if ordering.keyed_sql is None:
        return each_alone
    try:
        keyed = await connections.run(connection, ordering.keyed_sql, EVALUATION)
    except (StatementFailed, DatabaseUnavailable):
        return each_alone
    found = tiers(rows_of(keyed), ordering, len(rows), width)
    return found if sum(map(len, found)) >= len(rows) else each_alone
