"""Counts the rows of a statement's queries step by step, each by a guarded statement under the limits."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.auth.caller import current_database_claim
from app.modules.database_connection.errors import as_problems
from app.modules.database_connection.guard.inspection import declared_names
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.sql.provenance.counting import CountedStep, StepStatement, step_statements
from app.modules.sql.statement import statement_of
from graph.errors import StatementFailed

_MOST_COUNTS = 20
_ALL_SECONDS = 30.0
"""Time limit for all counts of a statement; each has the limits of any statement, too."""
_NO_TIME = "There was no time left to count this step."


@dataclass(frozen=True, kw_only=True)
class StepCount:
    """The rows after one step of a query. None, with the reason, if they were not counted."""

    query: str
    step: CountedStep
    at: int
    row_count: int | None
    reason: str = ""


@dataclass(frozen=True)
class StepCounts:
    """The counts, in the order of the steps. `is_complete`: no step was left out for their number."""

    items: Sequence[StepCount]
    is_complete: bool


async def count_steps(
    connections: DatabaseConnections, owner: str, connection_id: str, *, sql: str
) -> StepCounts:
    """Counts one step after another. What one of them fails by is its reason.

    Raises `ConnectionNotFound`, `StatementNotRun` if the statement itself may not run, or `DatabaseDown`.
    """
    connections.refuse_long(sql)
    connection = await connections.repository.get(owner, connection_id)
    asker = Asker(owner=owner, purpose="provenance", claim=current_database_claim())
    with as_problems():
        await connections.check(connection, sql)
        names = declared_names(await connections.schema(connection))
        statement = statement_of(sql, connection.dialect)
        found = await connections.examine(sql, step_statements, statement, names, _MOST_COUNTS + 1)
        counted: list[StepCount] = []
        try:
            async with asyncio.timeout(_ALL_SECONDS):
                for step in found[:_MOST_COUNTS]:
                    count = await _count(connections, connection, step, asker=asker)
                    counted.append(count)  # what was counted before the time limit stays
        except TimeoutError:
            rest = found[len(counted) : _MOST_COUNTS]
            counted.extend(_step_count(step, None, _NO_TIME) for step in rest)
    return StepCounts(counted, is_complete=len(found) <= _MOST_COUNTS)


async def _count(
    connections: DatabaseConnections, connection: Connection, step: StepStatement, *, asker: Asker
) -> StepCount:
    try:
        result = await connections.run(connection, step.sql, asker)
    except StatementFailed as failure:
        return _step_count(step, None, failure.detail)
    return _step_count(step, int(str(result.rows[0][0])), "")


def _step_count(step: StepStatement, row_count: int | None, reason: str) -> StepCount:
    return StepCount(query=step.query, step=step.step, at=step.at, row_count=row_count, reason=reason)
