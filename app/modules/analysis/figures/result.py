"""The figures of a result: its shape, its measures, and the columns that label and order the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from typing import Literal

from pydantic import JsonValue

from app.modules.analysis.figures.calendar import CalendarUnit, Period
from app.modules.analysis.figures.course import (
    Course,
    Partial,
    PeriodValue,
    Span,
    course,
    folded,
    folded_span,
    partial_periods,
)
from app.modules.analysis.figures.ends import Direction, direction_of, leading_end
from app.modules.analysis.figures.names import is_rate
from app.modules.analysis.figures.numbers import exact, number
from app.modules.analysis.figures.ranking import Ranking, ranked
from app.modules.analysis.figures.roles import ColumnRoles, MeasureRole, roles_of
from app.modules.analysis.figures.statement import ColumnKind, StatementReading, read_statement
from app.modules.analysis.words import title
from graph.state import Rows

Shape = Literal["empty", "single", "list", "ranking", "series", "grouped series", "matrix", "measures"]
"""The shape of a result.

`single` is one row; `list` has rows, but no measure was asked for; `ranking` has a label and measures;
`series` a time and measures; `grouped series` a time, a label and measures; `matrix` two labels and
measures; `measures` numbers without a label.
"""

_MEASURED = 12
_FEW_COLUMNS = 3
_FOLDED_DAYS = 90


@dataclass(frozen=True, kw_only=True)
class NumericColumn:
    """A numeric column; its statistics leave nulls out and are computed when they are first read.

    `additive` says that its values may be added over groups, `adds_over_time` over periods too.
    """

    column: int
    name: str
    kind: ColumnKind
    additive: bool
    adds_over_time: bool
    cells: Sequence[JsonValue] = field(repr=False)

    @cached_property
    def values(self) -> Sequence[Decimal | None]:
        """One value for each row, in order; None for null and for what is not a number."""
        return [exact(cell) for cell in self.cells]

    @cached_property
    def known(self) -> Sequence[Decimal]:
        return [value for value in self.values if value is not None]

    @property
    def count(self) -> int:
        return len(self.known)

    @property
    def missing(self) -> int:
        return len(self.cells) - self.count

    @cached_property
    def minimum(self) -> Decimal:
        return min(self.known)

    @cached_property
    def maximum(self) -> Decimal:
        return max(self.known)

    @cached_property
    def sum(self) -> Decimal:
        return sum(self.known, Decimal(0))

    @property
    def mean(self) -> Decimal:
        return self.sum / self.count

    @property
    def averaged(self) -> bool:
        """True when the mean of the rows is meaningful: not for averages, shares or distinct counts."""
        return self.kind in ("plain", "count", "sum") and not self.is_rate

    @property
    def is_rate(self) -> bool:
        """True for averages, percentages and other ratios."""
        return is_rate(self.name, self.kind)

    @property
    def total(self) -> Decimal | None:
        """The exact sum; None when the values may not be added up."""
        return self.sum if self.additive else None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of all rows at hand. Columns are zero-based.

    `main` is the measure asked for, the first of `measures`. `label` is the column that names the rows (or,
    in a grouped series, the series), `group` the second label of a matrix. `time` is the column of
    `periods`, which has one period for each row, None where the cell is null. `direction` is the end of the
    scale that leads: that of the sort order by the main measure, or the one that the question asks for.
    `limit` is the statement's own LIMIT if the rows reach it. `selective` is true when the statement left
    groups out, `summed` when the rows of one label belong together, `cut` when KAI's limit cut rows off,
    and `complete` when all rows of the result are at hand.

    `partial` are the periods that the data covers only in part. `dimensions` are the columns that name a
    group. `within` is the LIMIT of an inner query whose rows are sorted or limited again. `sorted_by` is the
    column that the statement sorts by first, and `order_descending` its direction. `constants` are columns
    that the statement itself fills with a constant. `added_up` is true when rows may hold sums of others,
    such as subtotals. `counted` is the one table whose rows `COUNT(*)` counts, `row_counts` are the columns
    that are `COUNT(*)`, and `conditions` are the simple ones of the statement, such as "region = West".

    `course` is the main measure over time, of all groups together; `months` is the same by month when the
    rows are days. `ranking` ranks the labels by the main measure, `second` the groups of a matrix. If these
    may not be added up, or were selected by their values (a top ten), `ranking` ranks the single rows and
    `second` is None.
    """

    shape: Shape
    measures: Sequence[NumericColumn]
    main: NumericColumn | None
    label: int | None
    group: int | None
    time: int | None
    unit: CalendarUnit | None
    periods: Sequence[Period | None]
    direction: Direction | None
    sorted_descending: bool | None
    limit: int | None
    selective: bool
    summed: bool
    grouped: bool
    cut: bool
    complete: bool
    partial: Sequence[Partial]
    dimensions: Sequence[int]
    within: int | None
    sorted_by: int | None
    order_descending: bool
    course: Course | None
    months: Course | None
    ranking: Ranking | None
    second: Ranking | None
    constants: frozenset[int]
    added_up: bool
    counted: str | None
    row_counts: frozenset[int]
    conditions: Sequence[str]

    @property
    def whole(self) -> bool:
        """True when no group or row was left out, so that the sum of the rows is a total."""
        return self.complete and self.limit is None and not self.selective


def figures(
    question: str,
    sql: str,
    dialect: str,
    *,
    rows: Rows,
    span: Span | None = None,
    keys: frozenset[str] = frozenset(),
    today: date | None = None,
) -> Figures:
    """Compute the figures of a result; `dialect` is sqlglot's name for the statement's SQL.

    `span` is the range of days behind the periods, None when unknown; without `today` no period counts as
    running. `keys` are the names, in lower case, of columns that identify or refer to rows.
    """
    statement = read_statement(sql, dialect)
    roles = roles_of(question, statement, rows, keys=keys)
    measures = [found for role in roles.measures[:_MEASURED] if (found := _measure(role, rows)) is not None]
    main = measures[0] if measures else None
    shape = _shape(rows, statement, roles, measures=measures)
    sorted_by_main = main is not None and roles.sorted_by == main.column
    limited = statement.limit is not None and rows["row_count"] >= statement.limit
    cut = rows["truncated"] and rows.get("cut_by") != "values"
    points = _points(shape, main, roles)
    descending = statement.descending if sorted_by_main else None
    return Figures(
        shape=shape,
        measures=measures,
        main=main,
        label=roles.label,
        group=roles.group,
        time=roles.time,
        unit=next((period.unit for period in roles.periods if period is not None), None),
        periods=roles.periods,
        direction=_direction(question, shape, main, descending=descending, limited=limited or cut),
        sorted_descending=descending,
        limit=statement.limit if limited else None,
        selective=statement.selective,
        summed=roles.summed,
        grouped=statement.grouped,
        cut=cut,
        complete=len(rows["rows"]) == rows["row_count"] and not cut,
        partial=_partial(roles, span, today),
        dimensions=roles.dimensions,
        within=statement.within,
        sorted_by=roles.sorted_by,
        order_descending=statement.descending,
        course=course(points, span, today),
        months=_months(points, main, today),
        ranking=_ranking(shape, rows, main, roles=roles),
        second=_second(shape, rows, main, roles=roles),
        constants=roles.constants,
        added_up=statement.added_up,
        counted=statement.counted,
        row_counts=statement.row_counts,
        conditions=statement.conditions,
    )


def _direction(
    question: str, shape: Shape, main: NumericColumn | None, *, descending: bool | None, limited: bool
) -> Direction | None:
    """The end that leads a ranking or a single row, or that the question asks for over time."""
    measure = title(main.name) if main is not None else ""
    if shape in ("series", "grouped series"):
        return direction_of(question, measure)
    return leading_end(question, measure, descending=descending, limited=limited)


def _partial(roles: ColumnRoles, span: Span | None, today: date | None) -> list[Partial]:
    """The first and last period of the rows, if the data covers them only in part; also for a top ten."""
    periods = {period for period in (roles.periods or roles.picked_periods) if period is not None}
    return partial_periods(sorted(periods), span, today) if periods else []


def _points(shape: Shape, main: NumericColumn | None, roles: ColumnRoles) -> list[PeriodValue]:
    """The main measure by period, for all groups together; empty when it may not be added over them."""
    if main is None or not (shape == "series" or (shape == "grouped series" and main.additive)):
        return []
    sums: dict[Period, Decimal] = {}
    for period, value in zip(roles.periods, main.values, strict=True):
        if period is not None and value is not None:
            sums[period] = sums.get(period, Decimal(0)) + value
    return [PeriodValue(period, value) for period, value in sums.items()]


def _months(points: Sequence[PeriodValue], main: NumericColumn | None, today: date | None) -> Course | None:
    if main is None or not main.adds_over_time or len(points) < _FOLDED_DAYS:
        return None
    if points[0].period.unit != "day":
        return None
    return course(folded(points, "month"), folded_span(points), today)


def _ranking(shape: Shape, rows: Rows, main: NumericColumn | None, *, roles: ColumnRoles) -> Ranking | None:
    if main is None or shape not in ("ranking", "matrix", "grouped series") or roles.label is None:
        return None
    columns = [roles.label, *(at for at in (roles.group, roles.time) if at is not None)]
    if roles.summed and (main.adds_over_time if shape == "grouped series" else main.additive):
        columns = columns[:1]
    return ranked(rows, main.values, columns, additive=main.additive, summed=roles.summed)


def _second(shape: Shape, rows: Rows, main: NumericColumn | None, *, roles: ColumnRoles) -> Ranking | None:
    if shape != "matrix" or main is None or not main.additive or roles.group is None or not roles.summed:
        return None
    return ranked(rows, main.values, [roles.group], additive=True, summed=True)


def _shape(
    rows: Rows, statement: StatementReading, roles: ColumnRoles, *, measures: Sequence[NumericColumn]
) -> Shape:
    if not rows["rows"]:
        return "empty"
    if len(rows["rows"]) == 1:
        return "single"
    if not measures or not (statement.grouped or roles.asked or len(rows["columns"]) <= _FEW_COLUMNS):
        return "list"
    if roles.time is not None:
        return "series" if roles.label is None else "grouped series"
    if roles.label is None:
        return "measures"
    return "ranking" if roles.group is None else "matrix"


def _measure(role: MeasureRole, rows: Rows) -> NumericColumn | None:
    cells = list(map(itemgetter(role.column), rows["rows"]))
    if all(number(cell) is None for cell in cells):
        return None
    return NumericColumn(
        column=role.column,
        name=role.name,
        kind=role.kind,
        additive=role.additive,
        adds_over_time=role.adds_over_time,
        cells=cells,
    )
