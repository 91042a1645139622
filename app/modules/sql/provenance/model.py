"""The description of a statement: the queries it consists of, and what each of them does.

Texts named `sql` are parts of the statement in its own dialect. What the reader does not know is in `others`,
as SQL.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graph.described import described

SourceKind = Literal["table", "cte", "subquery", "function", "values", "unknown"]
JoinKind = Literal["inner", "left", "right", "full", "cross", "semi", "anti", "asof", "positional", "unknown"]
ConditionPlace = Literal["on", "using", "natural", "where", "none"]
QueryRole = Literal["result", "cte", "subquery", "branch"]
QueryKind = Literal["select", "set_operation", "values", "unknown"]
Clause = Literal["where", "having", "qualify"]
GroupingKind = Literal["expression", "rollup", "cube", "grouping_sets"]
ColumnKind = Literal["column", "computed", "aggregate", "window", "subquery", "constant", "unknown"]
NullKind = Literal["replaced", "made", "tested", "removed", "required", "skipped", "unmatched", "kept"]
"""What happens to nulls: a value replaces them; a value becomes one; an expression tests for them; a filter
removes or requires them; an aggregate skips them. Where a row has no match, an outer join makes them in the
columns of a source (`unmatched`), or keeps its rows and makes them in those of the others (`kept`).
"""


@described
@dataclass(frozen=True, kw_only=True)
class TableColumnRef:
    """A column of a table of the database."""

    table: str
    """Name of the table."""
    column: str
    """Name of the column."""


@described
@dataclass(frozen=True, kw_only=True)
class ColumnRef:
    """A column that an expression names."""

    source: str
    """Alias of the source in its query. Empty if the column cannot be assigned to one."""
    column: str
    """Name of the column."""
    table: str | None
    """Table of the database that has the column. Null for a column of another source."""
    query: str | None
    """Id of the query that computes the column. Null for a column of a table."""


@described
@dataclass(frozen=True, kw_only=True)
class Source:
    """A source of rows in FROM or JOIN."""

    name: str
    """Name of the table or of the CTE, or the SQL of another source."""
    alias: str
    """Alias by which the query names it. The name, if it has none."""
    kind: SourceKind
    """Kind of the source."""
    query: str | None
    """Id of the query that gives its rows: of a CTE or subquery. Null for other sources."""
    is_lateral: bool
    """It is evaluated for each row of the sources before it."""


@described
@dataclass(frozen=True, kw_only=True)
class Join:
    """A join of a further source."""

    kind: JoinKind
    """Kind of the join."""
    alias: str
    """Alias of the source that is joined."""
    condition: str | None
    """The condition, as SQL. Null if it has none, or names columns only (`using`)."""
    using: Sequence[str]
    """Names of the columns that must be equal, of USING or NATURAL."""
    place: ConditionPlace
    """Where the condition stands. `where`: an equality of WHERE connects a source that FROM only lists."""


@described
@dataclass(frozen=True, kw_only=True)
class Filter:
    """A condition that keeps rows or groups. Conditions that AND connects are several filters."""

    clause: Clause
    """The clause that holds it."""
    sql: str
    """The condition."""
    columns: Sequence[ColumnRef]
    """Columns that it names."""
    queries: Sequence[str]
    """Ids of the queries inside of it."""


@described
@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A key of the groups."""

    kind: GroupingKind
    """Kind of the key. `rollup`, `cube` and `grouping_sets` hold several expressions."""
    sql: str
    """The expression."""
    output: str | None
    """Name of the column of the result that shows it. Null if none does."""
    columns: Sequence[ColumnRef]
    """Columns that it names."""


@described
@dataclass(frozen=True, kw_only=True)
class OutputColumn:
    """A column that a query gives."""

    name: str
    """Name of the column. Its SQL, if the database names it."""
    sql: str
    """The expression, without its name."""
    kind: ColumnKind
    """How it is made."""
    inputs: Sequence[ColumnRef]
    """Columns that the expression names."""
    sources: Sequence[TableColumnRef]
    """Columns of tables that its values are made of, through all queries."""
    queries: Sequence[str]
    """Ids of the queries inside of the expression."""


@described
@dataclass(frozen=True, kw_only=True)
class Ordering:
    """A key of the order."""

    sql: str
    """The expression."""
    output: str | None
    """Name of the column of the result that shows it. Null if none does."""
    is_descending: bool
    """Largest values come first."""
    nulls: Literal["first", "last"]
    """Place of nulls."""


@described
@dataclass(frozen=True, kw_only=True)
class WindowCall:
    """A function over a window of rows."""

    function: str
    """The function, as SQL."""
    partition_by: Sequence[str]
    """Expressions that divide the rows. Empty: all rows are one partition."""
    order_by: Sequence[str]
    """Expressions that order the rows of a partition."""
    frame: str | None
    """The rows around the present one, as SQL. Null if the statement names none."""


@described
@dataclass(frozen=True, kw_only=True)
class NullRule:
    """What a query does with nulls in one place."""

    kind: NullKind
    """What happens to them."""
    sql: str
    """The expression. For `unmatched` and `kept` the alias of the source."""


@described
@dataclass(frozen=True, kw_only=True)
class QueryDescription:
    """One query of a statement: a SELECT, a set operation or a list of values."""

    id: str
    """Id within the statement. `result` gives the result."""
    role: QueryRole
    """Its part in the statement."""
    kind: QueryKind
    """Kind of the query. An `unknown` one is in `others`, as SQL."""
    name: str
    """Name of the CTE, or alias of the subquery. Empty if it has none."""
    is_recursive: bool
    """A CTE that reads its own rows."""
    is_correlated: bool
    """It names columns of a query around it, and is evaluated for each of its rows."""
    sources: Sequence[Source]
    """Sources of rows, in order."""
    joins: Sequence[Join]
    """Joins, in order."""
    filters: Sequence[Filter]
    """Filters of rows, groups and windows."""
    is_aggregated: bool
    """It computes aggregates: of each group, or of all rows if it has no groupings."""
    groupings: Sequence[Grouping]
    """Keys of the groups."""
    columns: Sequence[OutputColumn]
    """Columns that it gives. Empty where only the existence of rows matters."""
    has_all_columns: bool
    """False if a `*` could not be expanded: then the columns' positions are not those of the result."""
    is_distinct: bool
    """Equal rows are given once."""
    distinct_on: Sequence[str]
    """Expressions of which each combination keeps its first row."""
    order: Sequence[Ordering]
    """Keys of the order."""
    limit: str | None
    """The most rows, as SQL."""
    offset: str | None
    """Rows that are skipped, as SQL."""
    windows: Sequence[WindowCall]
    """Functions over windows."""
    nulls: Sequence[NullRule]
    """What it does with nulls."""
    operation: str | None
    """The set operation, such as `UNION ALL`. Null for other queries."""
    branches: Sequence[str]
    """Ids of the queries that a set operation combines, in order."""
    others: Sequence[str]
    """Parts that have no description, as SQL."""


@described
@dataclass(frozen=True)
class TableRead:
    """A table that a statement reads."""

    name: str
    """Name of the table, as declared."""
    columns: Sequence[str]
    """Names of the columns that the statement reads, as far as they can be determined."""


@described
@dataclass(frozen=True, kw_only=True)
class StatementDescription:
    """What a statement does, read from its tree."""

    tables: Sequence[TableRead]
    """All tables that it reads, by name."""
    queries: Sequence[QueryDescription]
    """Its queries. Each comes after those that it reads; the last gives the result."""
