"""The result of a gold statement, which is run like every other statement, and the order it requires."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.auth.caller import LOCAL_OWNER
from app.modules.database_connection.cells import DatabaseRow, rows_of
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.sql.parsing import parsed_one
from graph.errors import DatabaseUnavailable, StatementFailed


@dataclass(frozen=True)
class GoldOrdering:
    """The sort order of a gold statement.

    `keyed_sql` returns the gold's rows with their sort keys in the columns `keys` (zero-based), without the
    gold's limit unless it has an offset. It is None when the keys cannot be selected: ties are then unknown,
    and the rows must keep their order.
    """

    keyed_sql: str | None = None
    keys: tuple[int, ...] = ()


def ordering_of(sql: str, dialect: str, columns: Sequence[str]) -> GoldOrdering | None:
    """Return the ordering of the outermost query; None when it is not sorted or cannot be parsed.

    `columns` are the names of the result's columns.
    """
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
        return GoldOrdering()
    added = iter(range(len(columns), len(columns) + len(hidden)))
    positions = tuple(next(added) if key is None else key for key in keys)
    return GoldOrdering(_keyed(query, hidden).sql(dialect=dialect, comments=False), positions)


def tiers(
    rows: Sequence[DatabaseRow], ordering: GoldOrdering, count: int, *, width: int
) -> list[list[DatabaseRow]]:
    """Group the keyed rows that tie, and cut each to its first `width` cells, which leaves out added keys.

    Stops after the group that holds row number `count`.
    """
    groups: list[list[DatabaseRow]] = []
    last: DatabaseRow | None = None
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
    """The zero-based column of a sort key in the result; None when the key is not selected."""
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


EVALUATION = Asker(owner=LOCAL_OWNER, purpose="evaluation")


@dataclass(frozen=True)
class Gold:
    """A correct answer.

    `ranks` are its rows in groups of ties: the order within a group is free. It is None when the whole order
    is free. The last group may hold more rows than the answer shows; any of them may fill its places.
    """

    sql: str
    result: ResultSet
    ranks: Sequence[Sequence[DatabaseRow]] | None = None


@dataclass(frozen=True)
class GoldFailed:
    """A gold statement that did not run; `error` is the message of the guard or the database."""

    sql: str
    error: str


async def run_gold(connections: DatabaseConnections, connection: Connection, sql: str) -> Gold | GoldFailed:
    """Run one gold statement. Returns `GoldFailed`, and raises nothing, when it does not run."""
    try:
        result = await connections.run(connection, sql, EVALUATION)
        ordering = ordering_of(sql, connection.dialect, [column.name for column in result.columns])
    except (StatementFailed, DatabaseUnavailable) as error:
        return GoldFailed(sql, error.detail)
    if ordering is None:
        return Gold(sql, result)
    return Gold(sql, result, await _ranks(connections, connection, result, ordering=ordering))


async def _ranks(
    connections: DatabaseConnections, connection: Connection, result: ResultSet, *, ordering: GoldOrdering
) -> list[list[DatabaseRow]]:
    rows, width = rows_of(result), len(result.columns)
    each_alone = [[row] for row in rows]
    if ordering.keyed_sql is None:
        return each_alone
    try:
        keyed = await connections.run(connection, ordering.keyed_sql, EVALUATION)
    except (StatementFailed, DatabaseUnavailable):
        return each_alone
    found = tiers(rows_of(keyed), ordering, len(rows), width=width)
    return found if sum(map(len, found)) >= len(rows) else each_alone
