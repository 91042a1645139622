"""Joins that multiply rows: without a condition, or by columns that are not a key of either side."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.statements import aliases_in, conditions_of
from graph.state import Rows

_LEAST_ROWS = 4
"""Fewer rows tell nothing by being alike."""


def find_unjoined_tables(
    scope: Scope, tables: Mapping[str, Table], names: SchemaNames
) -> Iterator[ResultWarning]:
    """Yields a warning for tables that no condition connects, unless one of them has a single row."""
    select = scope.expression
    if len(tables) < 2 or not isinstance(select, exp.Select):
        return
    if _is_natural(select) or _counts_each_once(select):
        return
    sides = _Sides.of(scope, tables, names)
    many = [alias for alias in tables if alias in sides.own and not sides.is_single(alias, ())]
    for alias in many[1:]:
        if sides.group(alias) != sides.group(many[0]):
            one = tables[many[0]].name
            other = tables[alias].name
            yield ResultWarning("no join", (one, other), worth_repair=True)
            return


def find_multiplied_rows(
    scope: Scope, tables: Mapping[str, Table], names: SchemaNames, *, rows: Rows
) -> Iterator[ResultWarning]:
    """Yields a warning if no joined table has one row for each row of the list, and the rows show it.

    They show it if half of them are repetitions, or if there are more of them than in any table.
    """
    select = scope.expression
    if not isinstance(select, exp.Select) or not _is_plain_list(select) or _is_natural(select):
        return
    sides = _Sides.of(scope, tables, names)
    bases = {alias: sides.reached_from(alias) for alias in sides.own}
    if len(bases) < 2 or any(len(reached) == len(bases) for reached in bases.values()):
        return
    repeats = _repetition(rows, [tables[alias] for alias in bases if alias in tables])
    base = max(bases, key=lambda alias: len(bases[alias]))
    missed = [alias for alias in bases if alias not in bases[base] and alias in tables]
    if repeats and missed and base in tables:
        name, *evidence = repeats
        values = (tables[base].name, tables[missed[0]].name, *evidence)
        yield ResultWarning(str(name), values, worth_repair=True)


def rows_that_meet_one(scope: Scope, tables: Mapping[str, Table], names: SchemaNames) -> set[str]:
    """Returns the aliases of which keys prove that a row meets at most one row of every other source.

    Empty if a source is not a scanned table, or a condition between sources is not an equality.
    """
    select = scope.expression
    if not isinstance(select, exp.Select) or _is_natural(select):
        return set()
    sides = _Sides.of(scope, tables, names)
    between = [each for each in sides.conditions if len(aliases_in(each) & set(sides.own)) > 1]
    if not all(alias in tables for alias in sides.own) or not all(
        isinstance(each, exp.EQ) for each in between
    ):
        return set()
    return {alias for alias in sides.own if len(sides.reached_from(alias)) == len(sides.own)}


@dataclass(frozen=True)
class _Sides:
    """The sources of a SELECT, and the conditions between them."""

    own: Collection[str]
    tables: Mapping[str, Table]
    names: SchemaNames
    conditions: Collection[exp.Expr]

    @classmethod
    def of(cls, scope: Scope, tables: Mapping[str, Table], names: SchemaNames) -> "_Sides":
        select = scope.expression
        return cls(list(scope.selected_sources), tables, names, list(conditions_of(select)))

    def group(self, alias: str) -> set[str]:
        """Returns all sources that conditions connect with `alias`, also those of an outer query."""
        found = {alias}
        links = [aliases_in(condition) for condition in self.conditions]
        while any(found & link and not link <= found for link in links):
            found |= set().union(*(link for link in links if found & link))
        return found

    def reached_from(self, start: str) -> set[str]:
        """Returns the sources of which at most one row matches a row of `start`, and `start` itself."""
        reached = {start}
        while True:
            more = {each for each in self.own if each not in reached and self.is_single(each, reached)}
            if not more:
                return reached
            reached |= more

    def is_single(self, alias: str, known: Collection[str]) -> bool:
        """True if at most one row of a source matches each combination of rows of the known sources.

        Sources that cannot be reported, such as subqueries, count as single rows.
        """
        table = self.tables.get(alias)
        if table is None or (table.row_count is not None and table.row_count <= 1):
            return True
        if known and any(self._compares(condition, alias) for condition in self.conditions):
            return True
        keys = list(self._keys(table))
        fixed = {name for each in self.conditions for name in self._fixed(each, alias, known)}
        return not keys or any(key <= fixed for key in keys)

    def _keys(self, table: Table) -> Iterator[set[str]]:
        if key := {self.names.folded(each.name) for each in table.columns if each.primary_key}:
            yield key
        for column in table.columns:
            if column.distinct_count is not None and column.distinct_count == table.row_count:
                yield {self.names.folded(column.name)}
        for hop in self.names.foreign_keys.hops(table.name):
            if not hop.refers:
                yield {self.names.folded(each) for each in hop.left_columns}

    @staticmethod
    def _fixed(condition: exp.Expr, alias: str, known: Collection[str]) -> Iterator[str]:
        """Yields the columns of a source that a condition equates with known sources or constants."""
        if isinstance(condition, exp.EQ):
            for one, other in (
                (condition.this, condition.expression),
                (condition.expression, condition.this),
            ):
                given = isinstance(other, exp.Subquery) or aliases_in(other) <= set(known)
                if isinstance(one, exp.Column) and one.table == alias and given:
                    yield one.name

    def _compares(self, condition: exp.Expr, alias: str) -> bool:
        """True if a condition other than an equality connects a source: then pairs of rows are intended."""
        named = aliases_in(condition) & set(self.own)
        return not isinstance(condition, exp.EQ) and alias in named and len(named) > 1


def _repetition(rows: Rows, tables: Collection[Table]) -> Sequence[str | int]:
    """Returns the evidence that rows were multiplied: the name of its warning, and numbers; or nothing."""
    shown = rows["rows"]
    distinct = len({repr(row) for row in shown})
    if len(shown) >= _LEAST_ROWS and distinct * 2 <= len(shown):
        return "rows that differ", distinct, len(shown)
    sizes = [table.row_count for table in tables if table.row_count is not None]
    if len(sizes) == len(tables) and rows["row_count"] > max(sizes, default=0):
        return "more rows than tables", rows["row_count"]
    return ()


def _is_plain_list(select: exp.Select) -> bool:
    grouped = select.args.get("group") or select.args.get("distinct") or select.args.get("having")
    return not grouped and not any(each.find(exp.AggFunc) for each in select.expressions)


def _counts_each_once(select: exp.Select) -> bool:
    """True if all aggregates ignore repeated rows: MIN, MAX and DISTINCT."""
    taken = list(select.find_all(exp.AggFunc))
    return bool(taken) and all(
        isinstance(each, exp.Min | exp.Max) or isinstance(each.this, exp.Distinct) for each in taken
    )


def _is_natural(select: exp.Select) -> bool:
    joins: list[exp.Join] = select.args.get("joins") or []
    return any(join.method.upper() == "NATURAL" for join in joins)
