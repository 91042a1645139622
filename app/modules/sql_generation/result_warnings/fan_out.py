"""Joins that repeat the rows of an aggregate, as far as keys show it."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.statements import aliases_in, conditions_of

_Joins: TypeAlias = Mapping[str, Mapping[str, set[str]]]
"""Aliases joined to an alias, by that alias, with their columns that are equal to its own."""


def find_repeated_rows(
    scope: Scope, tables: Mapping[str, Table], names: SchemaNames
) -> Iterator[ResultWarning]:
    """Yields warnings for sums, averages and counts over a table that a join to its many side repeats."""
    if len(tables) < 2:
        return
    joins = _joins(scope)
    grouped = _grouped(scope)
    for aggregate in scope.find_all(exp.Sum, exp.Avg, exp.Count):
        alias = _aggregated(aggregate, tables, names)
        if alias is None:
            continue
        for many, columns in _repeating(alias, joins, tables, names=names):
            if not _key(tables[many], names) <= grouped.get(many, set()):
                one = tables[alias].name
                other = tables[many].name
                taken = aggregate.sql(dialect=names.dialect)
                yield ResultWarning(
                    "repeated rows",
                    (one, other, taken),
                    worth_repair=True,
                    is_doubt=True,
                    probe=_probe(scope, many, columns, names=names),
                )


def _probe(scope: Scope, many: str, columns: set[str], *, names: SchemaNames) -> str:
    """Returns a statement that finds two rows of `many` that belong to the same row, of those it keeps."""
    source = scope.selected_sources[many][0].copy()
    keys = [exp.column(each, table=many, quoted=True) for each in sorted(columns)]
    own = [
        each.copy()
        for each in conditions_of(scope.expression)
        if aliases_in(each) == {many} and each.find(exp.Query) is None
    ]
    present = [exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null())) for key in keys]
    probe = exp.select("1").from_(source).where(*own, *present).group_by(*keys).having("COUNT(*) > 1")
    return probe.limit(1).sql(names.dialect)


def aggregated_aliases(scope: Scope) -> set[str]:
    """Returns the aliases whose repeated rows would change an aggregate of the query."""
    return {
        column.table
        for aggregate in scope.find_all(exp.AggFunc)
        if not isinstance(aggregate, exp.Min | exp.Max) and not isinstance(aggregate.this, exp.Distinct)
        for column in aggregate.find_all(exp.Column)
    }


def _aggregated(aggregate: exp.Expr, tables: Mapping[str, Table], names: SchemaNames) -> str | None:
    """Returns the alias of the only table that an aggregate reads, or None.

    A count has one only if it counts the key of that table.
    """
    if isinstance(aggregate.this, exp.Distinct) or isinstance(aggregate.parent, exp.Window):
        return None
    columns = list(aggregate.find_all(exp.Column))
    aliases = {column.table for column in columns}
    alias = aliases.pop() if len(aliases) == 1 else ""
    if alias not in tables:
        return None
    if isinstance(aggregate, exp.Count) and {each.name for each in columns} != _key(tables[alias], names):
        return None
    return alias


def _repeating(
    start: str, joins: _Joins, tables: Mapping[str, Table], *, names: SchemaNames
) -> Iterator[tuple[str, set[str]]]:
    """Yields the aliases, reached by joins from `start`, of which several rows may match one row, and the
    columns that they are joined by.
    """
    seen = {start}
    ahead = deque([start])
    while ahead:
        here = ahead.popleft()
        for there, columns in joins.get(here, {}).items():
            if there not in seen:
                seen.add(there)
                ahead.append(there)
                if (
                    here in tables
                    and there in tables
                    and _is_many(tables[here], tables[there], columns, names=names)
                ):
                    yield there, columns


def _is_many(one: Table, other: Table, columns: set[str], *, names: SchemaNames) -> bool:
    """True if `other` refers to `one` by these columns, and they do not include its own primary key."""
    key = _key(other, names)
    refers = any(
        not hop.refers and {names.folded(each) for each in hop.right_columns} <= columns
        for hop in names.foreign_keys.hops_between(one.name, other.name)
    )
    return refers and bool(key) and not key <= columns


def _joins(scope: Scope) -> _Joins:
    joins: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for equal in scope.find_all(exp.EQ):
        left = equal.this
        right = equal.expression
        if isinstance(left, exp.Column) and isinstance(right, exp.Column) and left.table != right.table:
            joins[left.table][right.table].add(right.name)
            joins[right.table][left.table].add(left.name)
    return joins


def _grouped(scope: Scope) -> dict[str, set[str]]:
    """Returns the columns of GROUP BY, by alias."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    group = scope.expression.args.get("group")
    for column in group.find_all(exp.Column) if isinstance(group, exp.Group) else ():
        found[column.table].add(column.name)
    return dict(found)


def _key(table: Table, names: SchemaNames) -> set[str]:
    return {names.folded(column.name) for column in table.columns if column.primary_key}
