"""One statement over several databases of a session.

Each database gives the part that the statement needs, through its own door: its guard, limits and policies.
The parts are joined in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.modules.database_connection.engines.duckdb.memory import MemoryColumn, MemoryTable
from app.modules.database_connection.joining.plan import (
    JoinPlan,
    MovedStatement,
    NamedSchema,
    Part,
    names_databases,
    plan_join,
)
from app.modules.database_connection.limits import JOINED, JOINED_IF_APPROVED
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.sql.engine_data import DATABASE_NAMES
from graph.errors import StatementFailed, StatementNeedsApproval


@dataclass(frozen=True)
class JoinedResult:
    """A result of several databases, with sentences on how it came about."""

    result: ResultSet
    notes: Sequence[str]


def labels_of(names: Sequence[str]) -> list[str]:
    """Returns the names in one line, with a number where one is there already."""
    labels: list[str] = []
    for name in (" ".join(each.splitlines()) for each in names):
        label = name
        number = 2
        while label.casefold() in {each.casefold() for each in labels}:
            label = f"{name} ({number})"
            number += 1
        labels.append(label)
    return labels


@dataclass(frozen=True)
class DatabaseJoins:
    """The databases that one statement may read, by their names in it."""

    connections: DatabaseConnections
    databases: Sequence[tuple[str, Connection]]

    def names_databases(self, sql: str) -> bool:
        """True if a statement names a table by one of several databases."""
        return len(self.databases) > 1 and names_databases(sql, [label for label, _ in self.databases])

    async def run(
        self,
        sql: str,
        asker: Asker,
        *,
        first: str | None = None,
        is_approved: bool = False,
        tell: Callable[[str, float], None] = lambda _said, _part: None,
    ) -> JoinedResult | None:
        """Fetch the parts of a statement and join them. Returns None for one that names no database.

        `first` is the database whose tables need no name before them. `tell` takes what is done just now, and
        the part that is done, from 0 to 1. Raises what running a statement
        raises, and `StatementNeedsApproval` for parts that are larger than is fetched unasked.
        """
        databases = sorted(self.databases, key=lambda each: each[0] != first)
        schemas = [
            NamedSchema(label, await self.connections.schema(connection)) for label, connection in databases
        ]
        plan = await self.connections.examine(
            sql, partial(plan_join, sql, schemas, self.connections.max_statement_characters)
        )
        match plan:
            case MovedStatement():
                label, connection = databases[plan.database]
                result = await self.connections.run(connection, plan.sql, asker, is_approved=is_approved)
                return JoinedResult(result, [f"Run on {_known_as(label, connection)}: `{plan.sql}`"])
            case JoinPlan():
                return await self._join(plan, databases, asker, is_approved=is_approved, tell=tell)
        return None

    async def _join(
        self,
        plan: JoinPlan,
        databases: Sequence[tuple[str, Connection]],
        asker: Asker,
        *,
        is_approved: bool,
        tell: Callable[[str, float], None],
    ) -> JoinedResult:
        bounds = JOINED_IF_APPROVED if is_approved else JOINED
        left = bounds.max_rows
        notes: list[str] = []
        tables: list[MemoryTable] = []
        policies: list[str] = []
        for at, part in enumerate(plan.parts):
            label, connection = databases[part.database]
            tell(f"Fetching {part.table}", at / (len(plan.parts) + 1))
            fetched = await self.connections.run(
                connection,
                part.sql,
                asker,
                is_approved=is_approved,
                bounds=replace(bounds, max_rows=left, max_bytes=bounds.max_bytes // len(plan.parts)),
            )
            _check_whole(part, fetched, is_approved=is_approved)
            left -= len(fetched.rows)
            rows = "1 row" if len(fetched.rows) == 1 else f"{len(fetched.rows):,} rows"
            notes.append(f"Fetched {rows} from {_known_as(label, connection)}: `{part.sql}`")
            tables.append(_in_memory(part, fetched, connection.dialect))
            policies += fetched.row_policies
        tell("Joining the parts", len(plan.parts) / (len(plan.parts) + 1))
        result, keys = await self.connections.run_over(tables, plan)
        result = replace(result, row_policies=[*dict.fromkeys(policies)])
        return JoinedResult(result, [*keys, *notes, f"Joined in memory: `{plan.sql}`"])


def _known_as(label: str, connection: Connection) -> str:
    return f"{label} ({DATABASE_NAMES[connection.dialect]})"


def _check_whole(part: Part, fetched: ResultSet, *, is_approved: bool) -> None:
    """Raises `StatementNeedsApproval` or `StatementFailed` if a limit cut a part: it gives no true result."""
    if not fetched.truncated:
        return
    if fetched.cut_by == "values":
        raise StatementFailed(
            f"Some values of {part.table} are too long to be fetched whole, and a join over parts of them "
            "would not be true. Leave out the columns with long texts."
        )
    bounds = JOINED_IF_APPROVED if is_approved else JOINED
    said = (
        f"The statement fetches more than {bounds.max_rows:,} rows or {bounds.max_bytes >> 20} MB from its "
        f"databases; {part.table} went beyond that"
    )
    if is_approved:
        raise StatementFailed(
            f"{said}. A join over a part would not be true, so none is made. Fetch less: compare a column of "
            f"{part.table} with a value in WHERE, or name fewer columns."
        )
    raise StatementNeedsApproval(
        f"{said}. Up to {JOINED_IF_APPROVED.max_rows:,} rows are fetched if a person approves it."
    )


def _in_memory(part: Part, fetched: ResultSet, dialect: str) -> MemoryTable:
    columns = [
        MemoryColumn(known.name, column.type, "" if dialect == "sqlite" else known.database_type)
        for known, column in zip(part.columns, fetched.columns, strict=True)
    ]
    return MemoryTable(part.table, columns, fetched.rows)
