"""The figures of a result: its shape, its measures, and the columns that label and order the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

from app.core.values.numbers import as_double
from app.modules.analysis.figures.calendar import CalendarUnit, Period
from app.modules.analysis.figures.comparing import MeasureComparison, comparisons
from app.modules.analysis.figures.counted import misnamed_counts
from app.modules.analysis.figures.ends import Direction, direction_of, leading_end
from app.modules.analysis.figures.measure import NumericColumn
from app.modules.analysis.figures.requested_measures import names_difference
from app.modules.analysis.figures.roles import ColumnRoles, roles_of
from app.modules.analysis.figures.statement import StatementReading, read_statement
from app.modules.analysis.figures.trend import (
    Course,
    DataSpan,
    Partial,
    PeriodValue,
    course,
    folded,
    folded_span,
    partial_periods,
)
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


@dataclass(frozen=True)
class Ranking:
    """The columns that name ranked values. `summed` is true when a value may add up several rows."""

    by: Sequence[int]
    summed: bool


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of all rows at hand, with what the statement and its columns tell. Columns are zero-based.

    `main` is the measure asked for, the first of `measures`. `label` is the column that names the rows (or,
    in a grouped series, the series), `group` the second label of a matrix. `time` is the column of
    `periods`, which has one period for each row, None where the cell is null. `direction` is the end of the
    scale that leads: that of the sort order by the main measure, or the one that the question asks for.
    `limit` is the statement's own LIMIT if the rows reach it. `summed` is true when the rows of one label
    belong together, `cut` when KAI's limit cut rows off, and `complete` when all rows of the result are at
    hand.

    `partial` are the periods that the data covers only in part. `sorted_by` is the column that the statement
    sorts by first. `asked` is true when the question or the sort order names the main measure. `today` is the
    day of the rows, None if unknown.

    `course` is the main measure over time, of all groups together; `months` is the same by month when the
    rows are days. `ranking` ranks the labels by the main measure, or the single rows if these may not be
    added up, or were selected by their values (a top ten).
    """

    statement: StatementReading
    roles: ColumnRoles
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
    summed: bool
    cut: bool
    complete: bool
    partial: Sequence[Partial]
    sorted_by: int | None
    course: Course | None
    months: Course | None
    ranking: Ranking | None
    asked: bool
    comparisons: Sequence[MeasureComparison]
    today: date | None

    @property
    def comparison(self) -> MeasureComparison | None:
        """The first two measures that the result sets side by side."""
        return next(iter(self.comparisons), None)

    @property
    def bounded(self) -> bool:
        """True if a limit may have cut rows off."""
        return self.limit is not None or not self.complete

    @property
    def whole(self) -> bool:
        """True when no group or row was left out, so that the sum of the rows is a total."""
        return not self.bounded and not self.statement.selective


def figures(
    question: str,
    sql: str,
    dialect: str,
    *,
    rows: Rows,
    span: DataSpan | None = None,
    keys: frozenset[str] = frozenset(),
    today: date | None = None,
) -> Figures:
    """Compute the figures of a result; `dialect` is sqlglot's name for the statement's SQL.

    `span` is the range of days behind the periods, None when unknown; without `today` no period counts as
    running. `keys` are the names, in lower case, of columns that identify or refer to rows.
    """
    statement = read_statement(sql, dialect)
    if statement.counted is not None and statement.outputs is not None:
        names = [each.name for each in statement.outputs]
        misnamed = misnamed_counts(names, statement.row_counts, table=statement.counted, keys=keys)
        statement = replace(statement, things={**statement.things, **misnamed})
    roles = roles_of(question, statement, rows, keys=keys)
    measures = [
        each for each in roles.measures[:_MEASURED] if any(as_double(cell) is not None for cell in each.cells)
    ]
    main = measures[0] if measures else None
    shape = _shape(rows, statement, roles, measures=measures)
    sorted_by_main = main is not None and roles.sorted_by == main.column
    limited = statement.limit is not None and rows["row_count"] >= statement.limit
    cut = rows["truncated"] and rows.get("cut_by") != "values"
    points = _points(shape, main, roles)
    descending = statement.descending if sorted_by_main else None
    return Figures(
        statement=statement,
        roles=roles,
        shape=shape,
        measures=measures,
        main=main,
        label=roles.label,
        group=roles.group,
        time=roles.time,
        unit=next((period.unit for period in roles.periods if period is not None), None),
        periods=roles.periods,
        direction=_won_end(statement)
        or _direction(question, shape, main, descending=descending, limited=limited or cut),
        sorted_descending=descending,
        limit=statement.limit if limited else None,
        summed=roles.summed,
        cut=cut,
        complete=len(rows["rows"]) == rows["row_count"] and not cut,
        partial=_partial(roles, span, today),
        sorted_by=roles.sorted_by,
        course=course(points, span, today),
        months=_months(points, main, today),
        ranking=_ranking(shape, rows, main, roles=roles),
        asked=roles.asked,
        comparisons=_comparisons(measures, roles, rows=rows, today=today),
        today=today,
    )


def _comparisons(
    measures: Sequence[NumericColumn], roles: ColumnRoles, *, rows: Rows, today: date | None
) -> list[MeasureComparison]:
    """The pairs of measures that the result sets side by side; a difference of two is in none of them."""
    labels = [row[roles.label] for row in rows["rows"]] if roles.label is not None else []
    names = ["" if each.is_change or names_difference(each.name) else each.name for each in measures]
    return comparisons(names, labels, today)


def _won_end(statement: StatementReading) -> Direction | None:
    if statement.winners is None:
        return None
    return "highest" if statement.winners.descending else "lowest"


def _direction(
    question: str, shape: Shape, main: NumericColumn | None, *, descending: bool | None, limited: bool
) -> Direction | None:
    """The end that leads a ranking or a single row, or that the question asks for over time."""
    measure = title(main.name) if main is not None else ""
    if shape in ("series", "grouped series"):
        return direction_of(question, measure)
    return leading_end(question, measure, descending=descending, limited=limited)


def _partial(roles: ColumnRoles, span: DataSpan | None, today: date | None) -> list[Partial]:
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
    known = [row for row, value in zip(rows["rows"], main.values, strict=True) if value is not None]
    if not known:
        return None
    names = {tuple([repr(row[at]) for at in columns]) for row in known}
    return Ranking(columns, summed=main.additive and roles.summed and len(names) < len(known))


def _shape(
    rows: Rows, statement: StatementReading, roles: ColumnRoles, *, measures: Sequence[NumericColumn]
) -> Shape:
    if not rows["rows"]:
        return "empty"
    if len(rows["rows"]) == 1:
        return "single"
    if not measures or not (
        statement.grouped or roles.asked or roles.winners or len(rows["columns"]) <= _FEW_COLUMNS
    ):
        return "list"
    if roles.time is not None:
        return "series" if roles.label is None else "grouped series"
    if roles.label is None:
        return "measures"
    return "ranking" if roles.group is None else "matrix"
