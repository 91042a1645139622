"""The kinds of a statement's columns (keys, counts, sums, averages, ...), read from its syntax tree."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope

from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, WeekNumbering, WrittenWeeks
from app.modules.analysis.figures.conditions import simple_conditions
from app.modules.analysis.figures.counted import CountedThings, counted_things, pivoted_things
from app.modules.analysis.figures.winners import Winners, ranks_of, winners_of
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of

ColumnKind = Literal[
    "key",
    "plain",
    "count",
    "sum",
    "average",
    "extreme",
    "distinct",
    "ratio",
    "window",
    "running",
    "moving",
    "change",
    "rank",
    "constant",
    "mixed",
]
"""The kind of a column: `key` is grouped by, `plain` is a row's value, `mixed` has no simple meaning.

Of windows, `running` goes on adding up, `moving` is of the rows around, and `change` compares two rows.
"""

_AGGREGATES: Mapping[type[exp.Expr], ColumnKind] = {
    exp.Sum: "sum",
    exp.Count: "count",
    exp.CountIf: "count",
    exp.Avg: "average",
    exp.Median: "average",
    exp.Min: "extreme",
    exp.Max: "extreme",
    exp.ApproxDistinct: "distinct",
}
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)
_MAY_REPEAT = (exp.Anonymous, exp.Explode, exp.ExplodingGenerateSeries, exp.GenerateSeries, exp.Unnest)
_ADDED = ("sum", "count")
_SEEN_THROUGH = (exp.Alias, exp.Paren, exp.Cast, exp.TryCast, exp.Round, exp.Filter, exp.Neg)
_DEEPEST = 12
_FORMATS: Sequence[tuple[str, CalendarUnit]] = (
    ("%H", "hour"),
    ("%d", "day"),
    ("%j", "day"),
    ("%W", "week"),
    ("%V", "week"),
    ("%U", "week"),
    ("%v", "week"),
    ("Q", "quarter"),
    ("%m", "month"),
    ("%b", "month"),
    ("%B", "month"),
    ("Mon", "month"),
    ("%Y", "year"),
)
_WEEK_FORMAT = re.compile(r"%(?P<year>[YG])[-/ .]?(?:W|KW|S)?[-/ ]?%(?P<week>[WUVv])")
_WEEKS: Mapping[str, WeekNumbering] = {"YW": "monday", "YU": "sunday", "GV": "iso"}
_STRFTIME = frozenset({"sqlite", "duckdb", "bigquery"})
_LENGTHS: Mapping[str, CalendarUnit] = {"4": "year", "7": "month", "10": "day"}


@dataclass(frozen=True)
class Output:
    """A column of a result: its name and kind, the columns it is computed from, the calendar unit to which
    it cuts dates, and the numbering of weeks that it writes."""

    name: str
    kind: ColumnKind
    sources: Sequence[str] = ()
    unit: CalendarUnit | None = None
    weeks: WrittenWeeks | None = None


@dataclass(frozen=True, kw_only=True)
class StatementReading:
    """The facts read from a statement. `outputs` is None when its columns are not listed (`SELECT *`).

    `order` is the zero-based position of the column sorted by first. `limit` is the statement's own, `within`
    that of an inner query whose rows are sorted or limited again. `selective` is true when groups were left
    out by HAVING, OFFSET or a rank. `added_up` is true when the rows include subtotals or come from several
    queries, so that they may not be added up. `counted` is the one table whose rows `COUNT(*)` counts.
    `listed` is the one table of which each row of the result is a row.
    `row_counts` are the positions of outputs that are `COUNT(*)`, and `things` says of the counts in other
    positions what they count. `conditions` are the simple ones of the
    outermost WHERE and HAVING, such as "region = West". `winners` tells of rows kept as the first of their
    group, `ranks` of the outputs that number the rows of each group. `bounded` are the columns, in lower
    case, that the outermost WHERE compares with a bound.
    """

    outputs: Sequence[Output] | None = None
    grouped: bool = False
    order: int | None = None
    descending: bool = False
    limit: int | None = None
    within: int | None = None
    selective: bool = False
    added_up: bool = False
    counted: str | None = None
    listed: str | None = None
    row_counts: frozenset[int] = frozenset()
    things: Mapping[int, CountedThings] = field(default_factory=dict)
    conditions: Sequence[str] = ()
    winners: Winners | None = None
    ranks: Mapping[str, Winners] = field(default_factory=dict)
    bounded: frozenset[str] = frozenset()


def read_statement(sql: str, dialect: str) -> StatementReading:
    """Read a statement; an empty reading when it cannot be parsed. `dialect` is sqlglot's name."""
    try:
        with sqlglot_errors_only():
            scope = build_scope(statement_of(sql, dialect).tree)
            reading = StatementReading() if scope is None else _read(scope, depth=0)
    except (SqlglotError, RecursionError):
        return StatementReading()
    if dialect in _STRFTIME or reading.outputs is None:
        return reading
    # The formats of other databases only resemble those of strftime: WW of PostgreSQL begins on 1 January.
    known = (None, "iso")
    outputs = [each if each.weeks in known else replace(each, weeks="unknown") for each in reading.outputs]
    return replace(reading, outputs=outputs)


def _read(scope: Scope, depth: int) -> StatementReading:
    if depth > _DEEPEST:
        return StatementReading()
    if isinstance(scope.expression, exp.SetOperation):
        reading = _united([_read(each, depth + 1) for each in scope.set_operation_scopes])
    elif isinstance(scope.expression, exp.Select):
        reading = _read_select(scope, scope.expression, depth)
    else:
        return StatementReading()
    return _with_order_and_limit(reading, scope.expression)


def _united(readings: Sequence[StatementReading]) -> StatementReading:
    """Combine the readings of a UNION: a column's kind is `mixed` unless it is the same in all queries."""
    first, *others = readings
    outputs = list(first.outputs or ())
    for other in others:
        if other.outputs is None or len(other.outputs) != len(outputs):
            return StatementReading(added_up=True)
        outputs = [
            mine if mine.kind == theirs.kind else replace(mine, kind="mixed")
            for mine, theirs in zip(outputs, other.outputs, strict=True)
        ]
    return replace(first, outputs=outputs or None, added_up=True, listed=None, order=None, limit=None)


def _read_select(scope: Scope, select: exp.Select, depth: int) -> StatementReading:
    sources = _Sources.of(scope, depth)
    grouped = select.args.get("group") is not None or any(map(_has_aggregate, select.selects))
    outputs: list[Output] | None = []
    for each in select.selects:
        if outputs is None:
            break
        if isinstance(each, exp.Star) or (isinstance(each, exp.Column) and isinstance(each.this, exp.Star)):
            starred = sources.starred(each.table if isinstance(each, exp.Column) else "")
            outputs = outputs + starred if starred is not None else None
        else:
            outputs.append(_output(each, sources, grouped=grouped))
    winners = winners_of(
        select,
        {name: rank for each in sources.derived.values() for name, rank in each.ranks.items()},
        inner=next((each.winners for each in sources.derived.values() if each.winners), None),
        regrouped=any(each.grouped for each in sources.derived.values()),
    )
    counted = None if sources.joined or sources.derived else _table_name(select)
    return StatementReading(
        outputs=outputs,
        grouped=grouped or any(each.grouped for each in sources.derived.values()),
        selective=winners is not None
        or _is_selective(select, sources)
        or any(each.selective for each in sources.derived.values()),
        added_up=_has_subtotals(select)
        or (not grouped and any(each.added_up for each in sources.derived.values())),
        limit=min(
            (each.limit for each in sources.derived.values() if each.limit and not grouped), default=None
        ),
        within=min((each.within for each in sources.derived.values() if each.within), default=None),
        counted=counted,
        listed=None if grouped or select.args.get("distinct") or _has_other_rows(select) else counted,
        row_counts=_row_counts(select),
        things={**counted_things(select), **pivoted_things(select, counted)},
        conditions=simple_conditions(select),
        winners=winners,
        ranks=ranks_of(select),
        bounded=_bounded(select),
    )


def _bounded(select: exp.Select) -> frozenset[str]:
    where = select.args.get("where")
    found = where.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between) if where is not None else ()
    return frozenset(each.this.name.lower() for each in found if isinstance(each.this, exp.Column))


def _row_counts(select: exp.Select) -> frozenset[int]:
    """The positions of `COUNT(*)`; none beside a star, which stands for several columns."""
    outputs = [each.unalias() for each in select.selects]
    if any(each.is_star for each in outputs if not isinstance(each, exp.Count)):
        return frozenset()
    counts = [at for at, each in enumerate(outputs) if isinstance(each, exp.Count)]
    return frozenset(at for at in counts if isinstance(outputs[at].this, exp.Star))


def _has_other_rows(select: exp.Select) -> bool:
    """Return True if a row of the table may become several, or several one: by a pivot, or by a function of
    lists or one that is not known.
    """
    return select.find(exp.Pivot) is not None or any(each.find(*_MAY_REPEAT) for each in select.selects)


def _table_name(select: exp.Select) -> str | None:
    table = select.find(exp.Table)
    return table.name if table is not None else None


@dataclass(frozen=True)
class _Sources:
    """The queries that a select reads from, by name; `joined` when it reads from more than one source."""

    derived: Mapping[str, StatementReading] = field(default_factory=dict)
    joined: bool = False
    only: str = ""

    @classmethod
    def of(cls, scope: Scope, depth: int) -> "_Sources":
        found = {name: source for name, (_, source) in scope.selected_sources.items()}
        derived = {
            name: _read(source, depth + 1)
            for name, source in found.items()
            if isinstance(source, Scope) and source is not scope
        }
        return cls(derived, joined=len(found) > 1, only=next(iter(found), ""))

    def starred(self, table: str) -> list[Output] | None:
        reading = self.derived.get(table or self.only)
        if (self.joined and not table) or reading is None or reading.outputs is None:
            return None
        return [self._carried(output) for output in reading.outputs]

    def output(self, column: exp.Column) -> Output | None:
        """The output of the inner query that the column refers to; None for a table's column."""
        readings = [self.derived[column.table]] if column.table in self.derived else []
        if not column.table:
            readings = list(self.derived.values())
        found = [
            output
            for reading in readings
            for output in reading.outputs or ()
            if output.name.lower() == column.name.lower()
        ]
        return self._carried(found[0]) if found else None

    def _carried(self, output: Output) -> Output:
        """The output as the outer query sees it; a join may repeat counts and sums: they become `mixed`."""
        return replace(output, kind="mixed") if self.joined and output.kind in _ADDED else output


def _output(projection: exp.Expr, sources: _Sources, *, grouped: bool) -> Output:
    kind = _kind(projection, sources)
    if grouped and kind == "plain":
        kind = "key"
    columns = list(projection.find_all(exp.Column))
    unit = calendar_unit(projection.unalias())
    weeks = _week_numbering(projection.unalias())
    if unit is None and len(columns) == 1 and (inner := sources.output(columns[0])) is not None:
        unit = inner.unit
        weeks = inner.weeks
    return Output(projection.alias_or_name, kind, [column.name for column in columns], unit=unit, weeks=weeks)


def _kind(expression: exp.Expr, sources: _Sources) -> ColumnKind:
    match expression:
        case exp.Window():
            return "rank" if isinstance(expression.this, _RANKS) else _kind_of_window(expression)
        case exp.Column():
            inner = sources.output(expression)
            return inner.kind if inner else "plain"
        case exp.Literal() | exp.Null() | exp.Boolean():
            return "constant"
        case exp.Coalesce() if all(isinstance(each, exp.Literal) for each in expression.expressions):
            return _kind(expression.this, sources)
        case exp.Sub() | exp.Div() if expression.find(exp.Lag, exp.Lead) is not None:
            return "change"
        case exp.Add() | exp.Sub():
            return _sum_of([_kind(expression.left, sources), _kind(expression.right, sources)])
        case exp.Mul() | exp.Div():
            return _product_of(_kind(expression.left, sources), _kind(expression.right, sources), expression)
        case exp.Subquery():
            return _kind_of_subquery(expression)
        case _ if isinstance(expression, _SEEN_THROUGH):
            return _kind(expression.this, sources)
        case exp.AggFunc() | exp.Anonymous():
            return _kind_of_aggregate(expression, sources)
    if any(expression.find_all(exp.Window)):
        return "window"
    return "mixed" if _has_aggregate(expression) else "plain"


def _kind_of_aggregate(function: exp.AggFunc | exp.Anonymous, sources: _Sources) -> ColumnKind:
    if isinstance(function, exp.Anonymous):
        return "sum" if function.name.lower() == "total" else "plain"
    kind = _AGGREGATES.get(type(function), "mixed")
    if kind in _ADDED and isinstance(function.this, exp.Distinct):
        return "distinct"
    if kind == "sum":
        inner = [
            output.kind for column in function.find_all(exp.Column) if (output := sources.output(column))
        ]
        return "sum" if all(each in ("plain", "key", *_ADDED) for each in inner) else "mixed"
    return kind


def _kind_of_subquery(subquery: exp.Subquery) -> ColumnKind:
    """The kind of a scalar subquery: `constant` unless it refers to the outer row."""
    scope = build_scope(subquery.this.copy())
    if scope is None or not isinstance(scope.expression, exp.Select):
        return "mixed"
    if not any(column.table and column.table not in scope.sources for column in scope.columns):
        return "constant"
    return _kind(scope.expression.selects[0], _Sources())


def _sum_of(kinds: Sequence[ColumnKind]) -> ColumnKind:
    if all(kind in _ADDED for kind in kinds):
        return "sum"
    if all(kind in ("plain", "constant") for kind in kinds):
        return "plain"
    return "mixed"


def _product_of(left: ColumnKind, right: ColumnKind, expression: exp.Binary) -> ColumnKind:
    """The kind of a product or quotient: a factor keeps the kind; two computed numbers make a ratio."""
    if expression.find(exp.Query) is not None and "plain" not in (left, right):
        return "ratio"
    if right == "constant":
        return left
    if left == "constant" and isinstance(expression, exp.Mul):
        return right
    for kind in ("change", "window"):
        if kind in (left, right):
            return kind
    return "plain" if {left, right} <= {"plain", "constant"} else "ratio"


def _kind_of_window(window: exp.Window) -> ColumnKind:
    spec = window.args.get("spec")
    goes_on = spec is None or spec.text("start").upper() == "UNBOUNDED"
    if window.args.get("order") is None or (
        goes_on and spec is not None and spec.text("end") != "CURRENT ROW"
    ):
        return "window"
    if isinstance(window.this, exp.Sum | exp.Count):
        return "running" if goes_on else "moving"
    return "moving" if isinstance(window.this, exp.Avg) else "window"


def _has_aggregate(expression: exp.Expr) -> bool:
    return any(_own_aggregates(expression))


def _own_aggregates(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates that make the query a grouped one, not those of windows and subqueries."""
    if isinstance(expression, exp.Subquery | exp.Query):
        return
    if isinstance(expression, exp.Window):
        for part in expression.this.iter_expressions():
            yield from _own_aggregates(part)
        return
    if isinstance(expression, exp.AggFunc) or (
        isinstance(expression, exp.Anonymous) and expression.name.lower() == "total"
    ):
        yield expression
    for part in expression.iter_expressions():
        yield from _own_aggregates(part)


def _is_selective(select: exp.Select, sources: _Sources) -> bool:
    """Return True if groups are left out, also by a condition on an aggregate of an inner query."""
    if any(select.args.get(part) is not None for part in ("having", "qualify", "offset")):
        return True
    where = select.args.get("where")
    filtered = [sources.output(column) for column in where.find_all(exp.Column)] if where is not None else []
    return any(output is not None and output.kind not in ("key", "plain") for output in filtered)


def _has_subtotals(select: exp.Select) -> bool:
    group = select.args.get("group")
    if group is None:
        return False
    return bool(group.args.get("totals")) or group.find(exp.Rollup, exp.Cube, exp.GroupingSets) is not None


def _with_order_and_limit(reading: StatementReading, query: exp.Expr) -> StatementReading:
    order = query.args.get("order")
    limit = query.args.get("limit")
    position = None
    descending = False
    if isinstance(order, exp.Order) and order.expressions:
        first = order.expressions[0]
        position = _position(first.this, query, reading)
        descending = bool(first.args.get("desc"))
    own = limit.args.get("expression") or limit.args.get("count") if limit is not None else None
    count = int(own.name) if isinstance(own, exp.Literal) and own.name.isdecimal() else None
    limits = [each for each in (reading.limit, count) if each is not None]
    return replace(
        reading,
        order=position,
        descending=descending,
        limit=min(limits, default=None),
        within=reading.limit if order is not None or limit is not None else reading.within,
    )


def _position(sorted_by: exp.Expr, query: exp.Expr, reading: StatementReading) -> int | None:
    if isinstance(sorted_by, exp.Literal):
        return int(sorted_by.name) - 1 if sorted_by.name.isdecimal() else None
    if isinstance(sorted_by, exp.Column):
        for at, output in enumerate(reading.outputs or ()):
            if output.name.lower() == sorted_by.name.lower():
                return at
    selects = query.selects if isinstance(query, exp.Query) else []
    return next((at for at, each in enumerate(selects) if each.unalias() == sorted_by), None)


def calendar_unit(expression: exp.Expr) -> CalendarUnit | None:
    """The calendar unit to which an expression cuts dates; None if it does not."""
    match expression:
        case exp.TimestampTrunc() | exp.DateTrunc() | exp.DatetimeTrunc():
            return _named_unit(str(expression.args["unit"].name))
        case exp.TimeToStr():
            return _format_unit([expression.this, expression.args["format"]])
        case exp.Anonymous() if expression.name.upper() in ("STRFTIME", "DATE"):
            return _format_unit(expression.expressions)
        case exp.Year():
            return "year"
        case exp.Extract():
            return "year" if expression.this.name.upper() == "YEAR" else None
        case exp.Substring() if expression.args["start"].name == "1":
            return _LENGTHS.get(expression.args["length"].name) if expression.args.get("length") else None
        case exp.Left():
            return _LENGTHS.get(expression.expression.name)
        case exp.Date() | exp.TsOrDsToDate():
            return "day"
        case exp.Cast() if isinstance(expression.this, exp.Column):
            return "day" if expression.to.this is exp.DType.DATE else None
        case exp.Cast() | exp.Paren():
            return calendar_unit(expression.this)
    return None


def _format_unit(arguments: Sequence[exp.Expr]) -> CalendarUnit | None:
    """The unit of a strftime call: its SQLite modifier ("start of month"), else the format's finest part."""
    texts = [each.name for each in arguments if isinstance(each, exp.Literal) and each.is_string]
    if any(each.startswith("weekday ") for each in texts) and texts[-1] in ("-6 days", "-7 days"):
        return "week"
    for text in texts:
        if text.lower().startswith("start of "):
            return _named_unit(text.lower().removeprefix("start of "))
    form = next((text for text in texts if "%Y" in text or "%G" in text), "")
    return next((unit for part, unit in _FORMATS if part in form), None)


def _week_numbering(expression: exp.Expr) -> WrittenWeeks | None:
    """The numbering of weeks that an expression writes; None if it writes no number of a week."""
    match expression:
        case exp.TimeToStr():
            form = expression.args["format"].name
        case exp.Anonymous() if expression.name.upper() == "STRFTIME" and expression.expressions:
            form = expression.expressions[0].name
        case exp.Cast() | exp.Paren():
            return _week_numbering(expression.this)
        case exp.Anonymous() if expression.name.upper() == "YEARWEEK":
            mode = expression.expressions[-1].name
            return "iso" if mode == "3" else "unknown"
        case _:
            return "unknown" if expression.find(exp.Week, exp.WeekOfYear) is not None else None
    found = _WEEK_FORMAT.fullmatch(form.replace('"', ""))
    if found is None:
        return "unknown" if re.search("%[WUVvu]", form) else None
    return _WEEKS.get((found["year"] + found["week"]).replace("v", "V"), "unknown")


def _named_unit(name: str) -> CalendarUnit | None:
    return next((unit for unit in UNITS if name.lower().startswith(unit)), None)
