"""One statement over several databases of a session.

Each database gives the part that the statement needs, through its own door: its guard, limits and policies.
The parts are joined in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import JsonValue

from app.modules.database_connection.engines.duckdb.memory import MemoryColumn, MemoryTable
from app.modules.database_connection.joining.plan import (
    JoinPlan,
    MovedStatement,
    NamedSchema,
    Part,
    labelled_tables,
    meanings_of,
    plan_join,
    position_of,
)
from app.modules.database_connection.limits import JOINED, JOINED_IF_APPROVED
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultColumn, ResultSet
from app.modules.database_connection.schema import ColumnType, TableColumn
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.sql.engine_data import DATABASE_NAMES
from graph.errors import StatementFailed, StatementNeedsApproval, StatementRefused


@dataclass(frozen=True)
class JoinedResult:
    """A result of several databases, with sentences on how it came about."""

    result: ResultSet
    notes: Sequence[str]


@dataclass(frozen=True)
class DatabaseJoins:
    """The databases that one statement may read, by their names in it. The tables of the first need no name
    before them.
    """

    connections: DatabaseConnections
    databases: Sequence[tuple[str, Connection]]

    async def names_databases(self, sql: str) -> bool:
        """True if a statement names a table by one of several databases, and not just by a schema of the
        first. False for one that cannot be read. Raises `DatabaseUnavailable`.
        """
        if len(self.databases) < 2:
            return False
        labels = [label for label, _ in self.databases]
        try:
            tables = await self.connections.examine(sql, partial(labelled_tables, sql, labels))
        except StatementRefused:
            return False
        if not tables:
            return False
        own = (await self.connections.schema(self.databases[0][1])).names
        for table in tables:
            at = position_of(table, labels)
            if own.find(table) is None:
                return True
            if at and meanings_of(table, await self.connections.schema(self.databases[at][1])):
                return True  # planning it says that the name has two meanings
        return False

    async def run(
        self,
        sql: str,
        asker: Asker,
        *,
        is_approved: bool = False,
        tell: Callable[[str, float], None] = lambda _said, _part: None,
    ) -> JoinedResult | None:
        """Fetch the parts of a statement and join them. Returns None for one that names no database.

        `tell` takes what is done just now, and the part that is done, from 0 to 1. Raises what running a
        statement raises, and `StatementNeedsApproval` for parts that are larger than is fetched unasked.
        """
        schemas = [
            NamedSchema(label, await self.connections.schema(connection))
            for label, connection in self.databases
        ]
        plan = await self.connections.examine(
            sql, partial(plan_join, sql, schemas, self.connections.max_statement_characters)
        )
        match plan:
            case MovedStatement():
                label, connection = self.databases[plan.database]
                result = await self.connections.run(connection, plan.sql, asker, is_approved=is_approved)
                return JoinedResult(result, [f"Run on {_known_as(label, connection)}: `{plan.sql}`"])
            case JoinPlan():
                return await self._join(plan, asker, is_approved=is_approved, tell=tell)
        return None

    async def _join(
        self,
        plan: JoinPlan,
        asker: Asker,
        *,
        is_approved: bool,
        tell: Callable[[str, float], None],
    ) -> JoinedResult:
        bounds = JOINED_IF_APPROVED if is_approved else JOINED
        left, share = bounds.max_rows, bounds.max_bytes // len(plan.parts)
        notes: list[str] = []
        tables: list[MemoryTable] = []
        policies: list[str] = []
        for at, part in enumerate(plan.parts):
            label, connection = self.databases[part.database]
            tell(f"Fetching {part.table}", at / (len(plan.parts) + 1))
            fetched = await self.connections.run(
                connection,
                part.sql,
                asker,
                is_approved=is_approved,
                bounds=replace(bounds, max_rows=left, max_bytes=share),
            )
            _check_whole(part, fetched, share, is_approved=is_approved)
            left -= len(fetched.rows)
            rows = "1 row" if len(fetched.rows) == 1 else f"{len(fetched.rows):,} rows"
            notes.append(f"Fetched {rows} from {_known_as(label, connection)}: `{part.sql}`")
            tables.append(_table_of(part, fetched, connection.dialect))
            policies += fetched.row_policies
        tell("Joining the parts", len(plan.parts) / (len(plan.parts) + 1))
        result, keys = await self.connections.run_over(tables, plan)
        result = replace(result, row_policies=[*dict.fromkeys(policies)])
        return JoinedResult(result, [*keys, *notes, f"Joined in memory: `{plan.sql}`"])


def _known_as(label: str, connection: Connection) -> str:
    return f"{label} ({DATABASE_NAMES[connection.dialect]})"


def _check_whole(part: Part, fetched: ResultSet, share: int, *, is_approved: bool) -> None:
    """Raises `StatementNeedsApproval` or `StatementFailed` if a limit cut a part: it gives no true result.

    `share` is the most bytes of a part.
    """
    if not fetched.truncated:
        return
    if fetched.cut_by == "values":
        raise StatementFailed(
            f"Some values of {part.table} are too long to be fetched whole, and a join over parts of them "
            "would not be true. Leave out the columns with long texts."
        )
    bounds = JOINED_IF_APPROVED if is_approved else JOINED
    said = (
        f"The statement fetches more than {bounds.max_rows:,} rows from its databases, or more than "
        f"{share / 2**20:.3g} MB of one table; {part.table} went beyond that"
    )
    if is_approved:
        raise StatementFailed(
            f"{said}. A join over a part would not be true, so none is made. Fetch less: compare a column of "
            f"{part.table} with a value in WHERE, or name fewer columns."
        )
    raise StatementNeedsApproval(
        f"{said}. Up to {JOINED_IF_APPROVED.max_rows:,} rows are fetched if a person approves it."
    )


def _table_of(part: Part, fetched: ResultSet, dialect: str) -> MemoryTable:
    columns = [
        MemoryColumn(
            known.name,
            _type_of(known, column, [row[at] for row in fetched.rows], dialect=dialect),
            "" if dialect == "sqlite" else known.database_type,
        )
        for at, (known, column) in enumerate(zip(part.columns, fetched.columns, strict=True))
    ]
    return MemoryTable(part.table, columns, fetched.rows)


def _type_of(
    known: TableColumn, fetched: ResultColumn, values: Sequence[JsonValue], *, dialect: str
) -> ColumnType:
    """Returns the type of a column that was fetched. Where the driver does not tell it, it is that of the
    values: the scan knows it where there are none, and that a text of MySQL is one, whatever it looks like.
    """
    if fetched.type == "text" and all(value is None for value in values):
        return known.type
    if dialect == "mysql" and known.type == "text" and fetched.type in ("date", "datetime", "time"):
        return "text"
    return fetched.type
