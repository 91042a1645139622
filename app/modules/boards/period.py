"""Restricts the statement of a pin to a period, by its syntax tree.

A statement takes a period if one SELECT of it reads one time column that its rows belong to: the one that it
filters or groups by, else the only one of the table whose rows it counts. Its own range of that column gives
way to the period. What cannot be restricted without another meaning is refused, with the reason.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.database_connection.guard.inspection import declared_names
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql.statement import statement_of

_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_CASTS = (exp.Cast, exp.Date, exp.TsOrDsToDate)
_ISO = re.compile(r"\d{4}-[01]\d-[0-3]\d")


class NotByPeriod(Exception):
    """The statement takes no period. Its text is the reason, for readers of the board."""

    def __init__(self, reason: str, choices: Sequence[str] = ()) -> None:
        """`choices`: time columns by which it would take one, if a person names one of them."""
        super().__init__(reason)
        self.choices = choices


@dataclass(frozen=True)
class Days:
    """Whole days of UTC, without the last."""

    since: date
    until: date

    @classmethod
    def last(cls, days: int, today: date) -> "Days":
        """Days that are over, so that periods of equal length can be compared."""
        return cls(today - timedelta(days=days), today)

    @property
    def last_day(self) -> date:
        return self.until - timedelta(days=1)

    def before(self) -> "Days":
        """The period of equal length that ends where this one begins."""
        return Days(self.since - (self.until - self.since), self.since)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A table that FROM or a join of a SELECT reads."""

    node: exp.Table
    table: Table
    may_be_missing: bool
    """An outer join gives rows without it."""

    @property
    def identifier(self) -> exp.Identifier:
        """The name that the statement calls it by."""
        alias = self.node.args.get("alias")
        named: exp.Expr = alias.this if isinstance(alias, exp.TableAlias) and alias.this else self.node.this
        return exp.to_identifier(named.name, quoted=bool(named.args.get("quoted")))


@dataclass(frozen=True)
class _Time:
    """A time column of a source."""

    source: _Source
    column: TableColumn

    def __str__(self) -> str:
        return f"{self.source.table.name}.{self.column.name}"


class PeriodStatement:
    """A statement that takes a period by `column`, such as `orders.order_date`, one of `choices`."""

    def __init__(self, sql: str, schema: Schema, by: str | None = None) -> None:
        """`by`: the column that a person has chosen; ignored if it is none of the choices.

        Raises `NotByPeriod`.
        """
        self._dialect = schema.dialect
        self._names = declared_names(schema)
        self._tables = {table.name: table for table in schema.tables}
        try:
            self._tree = statement_of(sql, schema.dialect).tree.copy()
        except SqlglotError:
            raise NotByPeriod("KAI cannot read its statement.") from None
        self._select, sources = self._query()
        read_once = [each for each in sources if [other.table for other in sources].count(each.table) == 1]
        times = {str(time): time for each in read_once for time in self._times(each)}
        self.choices = sorted(times)
        try:
            self._time = times[by] if by in times else self._column(sources)
            self._kept = self._other_conditions(sources)
        except NotByPeriod as refused:
            raise NotByPeriod(str(refused), self.choices) from None
        self.column = str(self._time)

    def restrict(self, days: Days) -> str:
        """Returns the statement for some days."""
        time = exp.column(
            exp.to_identifier(self._time.column.name, quoted=True), table=self._time.source.identifier
        )
        conditions = [
            *(each.copy() for each in self._kept),
            exp.GTE(this=time, expression=self._day(days.since)),
            exp.LT(this=time.copy(), expression=self._day(days.until)),
        ]
        self._select.set("where", exp.Where(this=exp.and_(*conditions)))
        return self._tree.sql(dialect=self._dialect)

    def _day(self, day: date) -> exp.Expr:
        text = exp.Literal.string(day.isoformat())
        return text if self._dialect == "sqlite" else exp.cast(text, exp.DType.DATE)

    def _query(self) -> tuple[exp.Select, Sequence[_Source]]:
        """Returns the one SELECT that reads tables with times, and all its tables."""
        tree = self._tree
        if not isinstance(tree, exp.Select) or tree.find(exp.SetOperation, exp.Pivot, exp.Lateral):
            raise NotByPeriod("Its statement is no plain SELECT.")
        if any(self._named(exp.Table(this=cte.args["alias"].this.copy())) for cte in tree.find_all(exp.CTE)):
            raise NotByPeriod("A query in its statement has the name of a table.")
        found = [(each, list(self._sources(each))) for each in tree.find_all(exp.Select)]
        timed = [(each, sources) for each, sources in found if any(map(self._times, sources))]
        placed = {id(source.node) for _, sources in timed for source in sources}
        in_parentheses = any(
            id(node) not in placed and (table := self._named(node)) is not None and self._times_of(table)
            for node in tree.find_all(exp.Table)
        )
        if not timed and not in_parentheses:
            raise NotByPeriod("None of its tables has dates or times.")
        if len(timed) != 1 or in_parentheses:
            raise NotByPeriod("It reads tables with dates in several of its queries.")
        ((select, sources),) = timed
        if select is not tree:
            _check_place(select, tree)
        return select, sources

    def _sources(self, select: exp.Select) -> Iterator[_Source]:
        start = select.args.get("from_")
        joins = select.args.get("joins") or ()
        nodes = [*([start.this] if isinstance(start, exp.From) else ()), *(join.this for join in joins)]
        for at, node in enumerate(nodes):
            table = self._named(node) if isinstance(node, exp.Table) else None
            if table is not None and not node.args.get("joins"):
                is_joined_outer = at > 0 and joins[at - 1].side in ("LEFT", "FULL")
                is_kept_outer = any(join.side in ("RIGHT", "FULL") for join in joins[at:])
                yield _Source(node=node, table=table, may_be_missing=is_joined_outer or is_kept_outer)

    def _named(self, node: exp.Table) -> Table | None:
        if not isinstance(node.this, exp.Identifier):
            return None
        declared = self._names.table(node)
        return None if declared is None else self._tables[declared]

    def _times(self, source: _Source) -> Sequence[_Time]:
        return [_Time(source, each) for each in self._times_of(source.table)]

    def _times_of(self, table: Table) -> Sequence[TableColumn]:
        return [each for each in table.columns if _is_time(each, self._dialect)]

    def _column(self, sources: Sequence[_Source]) -> _Time:
        select = self._select
        decisive = [select.args.get("where"), *_groups(select)]
        named = {
            (id(time.source.node), time.column.name): time
            for part in decisive
            if isinstance(part, exp.Expr)
            for column in part.find_all(exp.Column)
            if column.parent_select is select and (time := self._time_of(column, sources)) is not None
        }
        if len(named) > 1:
            several = ", ".join(map(str, named.values()))
            raise NotByPeriod(f"It filters or groups by several dates: {several}.")
        return next(iter(named.values())) if named else self._of_counted(sources)

    def _of_counted(self, sources: Sequence[_Source]) -> _Time:
        """Returns the only time column of the table that refers to the others: its rows are counted."""
        parts = 1 + len(self._select.args.get("joins") or ())
        counted = [
            each
            for each in sources
            if not any(
                key.referred_table == each.table.name
                for other in sources
                if other is not each
                for key in other.table.foreign_keys
            )
        ]
        if len(counted) != 1 or len(sources) != parts:
            raise NotByPeriod("It names no date, and several tables could give one.")
        (source,) = counted
        name = source.table.name
        if source.table.kind == "view":
            raise NotByPeriod(f"{name} is a view: its rows may stand for all times.")
        times = self._times(source)
        if len(times) != 1:
            several = ", ".join(each.column.name for each in times)
            raise NotByPeriod(
                f"It names no date, and {name} has several: {several}."
                if times
                else f"It names no date, and the rows of {name} have none."
            )
        return times[0]

    def _time_of(self, column: exp.Column, sources: Sequence[_Source]) -> _Time | None:
        """Returns the time column that a column of the SELECT names. None for any other."""
        folded = self._names.fold(column.this)
        if column.table:
            alias = self._names.fold(column.args["table"])
            having = [each for each in sources if self._names.fold(each.identifier) == alias]
        else:
            having = [each for each in sources if self._has(each.table, folded)]
        if len(having) != 1:
            return None
        times = {self._names.fold_declared(each.column.name): each for each in self._times(having[0])}
        return times.get(folded)

    def _has(self, table: Table, folded: str) -> bool:
        return any(self._names.fold_declared(each.name) == folded for each in table.columns)

    def _other_conditions(self, sources: Sequence[_Source]) -> Sequence[exp.Expr]:
        """Returns the conditions of WHERE without the ranges of the time column."""
        where = self._select.args.get("where")
        conditions = list(_conjuncts(where.this)) if isinstance(where, exp.Where) else []
        mine = [
            column
            for column in self._select.find_all(exp.Column)
            if (column.parent_select is self._select or column.table)
            and self._time_of(column, sources) == self._time
        ]
        ranges = [each for each in conditions if any(_is_range(each, column) for column in mine)]
        for column in mine:
            if not any(each is range_ for each in _around(column) for range_ in ranges) and (
                _is_compared(column, self._select)
            ):
                raise NotByPeriod(f"It compares {self._time} in a way that no period can replace.")
        if self._time.source.may_be_missing and not ranges:
            raise NotByPeriod(f"An outer join gives rows without {self._time}.")
        return [each for each in conditions if not any(each is range_ for range_ in ranges)]


def _is_time(column: TableColumn, dialect: str) -> bool:
    """True for dates and times that compare with a day. SQLite has no such type, so its values decide."""
    if column.type not in ("date", "datetime"):
        return False
    ends = (column.minimum or "", column.maximum or "")
    return dialect != "sqlite" or all(_ISO.match(each) for each in ends)


def _groups(select: exp.Select) -> Iterator[exp.Expr]:
    """Yields the expressions that a SELECT groups by, also where GROUP BY has a position or an alias."""
    group = select.args.get("group")
    named = {each.alias: each for each in select.selects if each.alias}
    for term in group.find_all(exp.Expr) if isinstance(group, exp.Group) else ():
        if isinstance(term, exp.Literal) and not term.is_string and term.parent is group:
            position = int(term.name) - 1 if term.name.isdecimal() else -1
            if 0 <= position < len(select.selects):
                yield select.selects[position]
        elif isinstance(term, exp.Column):
            yield term
            if not term.table and term.name in named:
                yield named[term.name]


def _check_place(select: exp.Select, tree: exp.Select) -> None:
    """Raises `NotByPeriod` unless the SELECT is a source of the statement's result, unfiltered after it."""
    node: exp.Expr = select
    while node is not tree:
        around = node.parent
        is_source = isinstance(around, exp.With) or (
            isinstance(node, exp.Subquery) and isinstance(around, exp.From | exp.Join)
        )
        if around is None or not (is_source or isinstance(around, exp.CTE | exp.Subquery | exp.Select)):
            raise NotByPeriod("It reads dates inside a condition or a column only.")
        if isinstance(around, exp.Select) and not isinstance(node, exp.With | exp.From | exp.Join):
            raise NotByPeriod("It reads dates inside a condition or a column only.")
        if isinstance(around, exp.With) and around.recursive:
            raise NotByPeriod("Its statement is recursive.")
        node = around
    others = [each for each in tree.find_all(exp.Select) if each is not select]
    if any(each.args.get(part) for each in others for part in ("where", "having", "qualify")):
        raise NotByPeriod("It filters again what it has read of its dates.")


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _is_range(condition: exp.Expr, column: exp.Column) -> bool:
    """True if a condition compares a bare time, and nothing else of the rows, with constants."""
    if not isinstance(condition, _RANGES):
        return False
    sides = [condition.args[part] for part in ("this", "expression", "low", "high") if part in condition.args]
    bare = [each for each in sides if _is_bare(each, column)]
    others = [each for each in sides if not any(each is found for found in bare)]
    return len(bare) == 1 and not any(each.find(exp.Column, exp.Query) for each in others)


def _is_bare(side: exp.Expr, column: exp.Column) -> bool:
    while isinstance(side, (*_CASTS, exp.Paren)):
        if any(part for name, part in side.args.items() if name not in ("this", "to", "_type")):
            return False
        side = side.this
    return side is column


def _around(node: exp.Expr) -> Iterator[exp.Expr]:
    at: exp.Expr | None = node.parent
    while at is not None:
        yield at
        at = at.parent


def _is_compared(column: exp.Column, select: exp.Select) -> bool:
    """True if rows are chosen by the column, in any clause of the SELECT or of a query inside it."""
    for each in _around(column):
        if each is select:
            return False
        if isinstance(each, exp.Predicate | exp.Where | exp.Having | exp.Qualify | exp.Filter | exp.Join):
            return True
    return True
