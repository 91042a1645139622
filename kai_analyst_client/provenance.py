"""What a statement does, and where an answer comes from."""

from datetime import datetime
from typing import Literal

from kai_analyst_client.models import Column, Cut, FactKind, FactScope, Model

SourceKind = Literal["table", "cte", "subquery", "function", "values", "unknown"]
JoinKind = Literal["inner", "left", "right", "full", "cross", "semi", "anti", "asof", "positional", "unknown"]
ConditionPlace = Literal["on", "using", "natural", "where", "none"]
QueryRole = Literal["result", "cte", "subquery", "branch"]
QueryKind = Literal["select", "set_operation", "values", "unknown"]
Clause = Literal["where", "having", "qualify"]
GroupingKind = Literal["expression", "rollup", "cube", "grouping_sets"]
ColumnKind = Literal["column", "computed", "aggregate", "window", "subquery", "constant", "unknown"]
NullKind = Literal["replaced", "made", "tested", "removed", "required", "skipped", "unmatched", "kept"]


class TableColumnRef(Model):
    """A column of a table of the database."""

    table: str
    column: str


class ColumnRef(Model):
    """A column that an expression names."""

    source: str
    column: str
    table: str | None
    query: str | None


class Source(Model):
    """A source of rows in FROM or JOIN."""

    name: str
    alias: str
    kind: SourceKind
    query: str | None
    is_lateral: bool


class Join(Model):
    """A join of a further source."""

    kind: JoinKind
    alias: str
    condition: str | None
    using: list[str]
    place: ConditionPlace


class Filter(Model):
    """A condition that keeps rows or groups. Conditions that AND connects are several filters."""

    clause: Clause
    sql: str
    columns: list[ColumnRef]
    queries: list[str]


class Grouping(Model):
    """A key of the groups."""

    kind: GroupingKind
    sql: str
    output: str | None
    columns: list[ColumnRef]


class OutputColumn(Model):
    """A column that a query gives."""

    name: str
    sql: str
    kind: ColumnKind
    inputs: list[ColumnRef]
    sources: list[TableColumnRef]
    queries: list[str]


class Ordering(Model):
    """A key of the order."""

    sql: str
    output: str | None
    is_descending: bool
    nulls: Literal["first", "last"]


class WindowCall(Model):
    """A function over a window of rows."""

    function: str
    partition_by: list[str]
    order_by: list[str]
    frame: str | None


class NullRule(Model):
    """What a query does with nulls in one place."""

    kind: NullKind
    sql: str


class QueryDescription(Model):
    """One query of a statement: a SELECT, a set operation or a list of values."""

    id: str
    role: QueryRole
    kind: QueryKind
    name: str
    is_recursive: bool
    is_correlated: bool
    sources: list[Source]
    joins: list[Join]
    filters: list[Filter]
    is_aggregated: bool
    groupings: list[Grouping]
    columns: list[OutputColumn]
    has_all_columns: bool
    is_distinct: bool
    distinct_on: list[str]
    order: list[Ordering]
    limit: str | None
    offset: str | None
    windows: list[WindowCall]
    nulls: list[NullRule]
    operation: str | None
    branches: list[str]
    others: list[str]


class TableRead(Model):
    """A table that a statement reads."""

    name: str
    columns: list[str]


class InspectedStatement(Model):
    """A statement that passes the guard, and what it does."""

    sql: str
    tables: list[TableRead]
    queries: list[QueryDescription]


class KnownTerm(Model):
    """A glossary term that was used."""

    id: str
    term: str
    meaning: str
    sql: str | None
    is_changed: bool


class KnownInstruction(Model):
    """An instruction that was used."""

    id: str
    text: str
    scope: str | None
    is_changed: bool


class KnownExample(Model):
    """A verified example that was used."""

    id: str
    question: str
    verified_by: str | None
    verified_at: datetime | None
    is_changed: bool
    is_statement: bool


class KnownFact(Model):
    """A fact that was used."""

    id: str
    kind: FactKind
    scope: FactScope
    text: str


class Knowledge(Model):
    """What the statement's author knew."""

    tables: list[str]
    terms: list[KnownTerm]
    instructions: list[KnownInstruction]
    examples: list[KnownExample]
    facts: list[KnownFact]
    deleted_count: int


class Check(Model):
    """A check of a result."""

    kind: Literal["repeated_rows", "stored_values", "nulls", "completeness"]
    state: Literal["passed", "warning", "unknown"]
    text: str
    columns: list[str]


class Provenance(Model):
    """Where an answer comes from."""

    question: str
    standalone_question: str
    answered_at: datetime
    dialect: str
    sql: str
    tables: list[TableRead]
    queries: list[QueryDescription]
    knowledge: Knowledge | None
    columns: list[Column]
    row_count: int | None
    truncated: bool
    cut_by: Cut | None
    checks: list[Check]


class StepCount(Model):
    """Number of rows after a step of a query."""

    query: str
    step: Literal["source", "join", "where", "groups"]
    at: int
    row_count: int | None
    reason: str


class StepCounts(Model):
    """Numbers of rows after the steps of a statement."""

    items: list[StepCount]
    is_complete: bool
