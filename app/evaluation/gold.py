"""A gold statement's result, run through the same guard and session as every other statement."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.auth.caller import LOCAL_OWNER
from app.evaluation.cells import Row, rows_of
from app.evaluation.ordering import Ordering, ordering_of, tiers
from app.modules.database_connection.records import Asker
from app.modules.database_connection.repository import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from graph.errors import DatabaseUnavailable, StatementFailed

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
