"""A measure over time, and the periods of it that may be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Amount, MeasureName, PeriodSpan, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.calendar import CalendarUnit, Period, period_of
from app.modules.analysis.figures.trend import Course, PeriodValue, course_of

CYCLES: Mapping[CalendarUnit, int] = {"hour": 24, "week": 52, "month": 12, "quarter": 4, "year": 1}
"""Periods after which the same season comes again: a year or, of hours, a day."""
FEWEST_COMPARED = 3


@dataclass(frozen=True, kw_only=True)
class OverTime:
    """A measure over time: the rows of one period are added up if `adds`. `scope` is the phrase that says of
    what, such as "All together"; None if it is clear."""

    table: FactTable
    measure: NumericColumn
    course: Course
    adds: bool
    scope: str | None = None
    rows: Sequence[int] | None = None

    @property
    def name(self) -> MeasureName:
        return self.table.measure(self.measure)

    @property
    def follows_weekdays(self) -> bool:
        """True for sums of days and of hours, which follow the weekday and the time of day."""
        return self.course.unit in ("hour", "day") and self.measure.adds_over_time

    def rows_of(self, points: Sequence[PeriodValue]) -> list[int]:
        """Rows with a value in these periods; the course may fold several rows into one."""
        unit = self.course.unit
        wanted = {point.period for point in points}
        periods = self.table.found.periods
        rows = range(len(periods)) if self.rows is None else self.rows
        return [
            row
            for row in rows
            if (period := periods[row]) is not None
            and self.measure.values[row] is not None
            and period.within(unit) in wanted
        ]

    def amount(self, value: Decimal) -> Amount:
        return self.table.amount(value, self.measure)

    def fact(
        self,
        kind: FactKind,
        template: str,
        points: Sequence[PeriodValue],
        *,
        slots: Mapping[str, Slot],
        how: str,
        of: Sequence[PeriodValue] | None = None,
        value: Decimal | None = None,
        key: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> Fact:
        """Make a fact of points. It is computed from their rows, or from those `of` other points."""
        at = self.table.found.time
        return self.table.measure_fact(
            kind,
            template,
            self.measure,
            slots={"scope": self.scope, **slots},
            rows=self.rows_of(points),
            how=how,
            counted=None if of is None else len(self.rows_of(of)),
            value=value,
            key=key,
            columns=[] if at is None else [self.table.rows["columns"][at]["name"]],
            labels=labels,
        )


def over_rows(table: FactTable, measure: NumericColumn, rows: Sequence[int]) -> OverTime:
    """The course of some rows with a value and a period, of which there is one at least. The values of one
    period are added up, and those periods are partial that are so for the main measure.
    """
    sums: dict[Period, Decimal] = {}
    for row in rows:
        if (period := table.found.periods[row]) is not None:
            sums[period] = sums.get(period, Decimal(0)) + (measure.values[row] or Decimal(0))
    ordered = [PeriodValue(period, sums[period]) for period in sorted(sums)]
    partial = [each for each in table.found.partial if each.period in sums]
    gaps = table.found.course.gaps if table.found.course is not None else []
    course = course_of(ordered, partial, gaps)
    return OverTime(table=table, measure=measure, course=course, adds=False, rows=rows)


def against_a_year_before(over: OverTime) -> tuple[Sequence[PeriodValue], Sequence[PeriodValue]] | None:
    """The latest full periods, at most a year of them, and the same periods of the year before.

    Of hours, those of the latest day, and the same hours of the day before.
    """
    return year_before(over.course, adds=over.measure.adds_over_time)


def year_before(course: Course, *, adds: bool) -> tuple[Sequence[PeriodValue], Sequence[PeriodValue]] | None:
    """The latest full periods, at most a year of them, and the same periods of the year before.

    They follow each other without a gap. Values that do not add up over time (`adds`) are compared one by
    one: only the latest is.
    """
    year = CYCLES.get(course.unit)
    tail = _without_gaps(course.full)
    if year is None or len(tail) <= year:
        return None
    count = min(year, len(tail) - year) if adds else 1
    if course.unit == "hour":
        day = tail[-1].period.within("day")
        count = min(count, sum(each.period.within("day") == day for each in tail))
    start = len(tail) - count
    return tail[start:], tail[start - year : start - year + count]


def pair_with_year_before(over: OverTime) -> tuple[Sequence[PeriodValue], Sequence[PeriodValue]] | None:
    """Of a measure with gaps, the periods of the latest year that have a value in the year before, too."""
    full = over.course.full
    if not full or over.course.unit not in ("month", "quarter") or not over.measure.adds_over_time:
        return None
    year = CYCLES[over.course.unit]
    points = {point.period: point for point in full}
    latest = [
        point
        for point in full
        if point.period.steps_to(full[-1].period) < year and point.period.after(-year) in points
    ]
    if len(latest) < FEWEST_COMPARED:
        return None
    return latest, [points[point.period.after(-year)] for point in latest]


def _without_gaps(full: Sequence[PeriodValue]) -> Sequence[PeriodValue]:
    """The latest full periods that follow each other."""
    start = len(full) - 1
    while start > 0 and full[start - 1].period.steps_to(full[start].period) == 1:
        start -= 1
    return full[max(start, 0) :]


def is_comparable(over: OverTime) -> bool:
    """Return True if first and last may stand side by side, for want of a year before.

    Sums of single days differ by their weekday, and hours by the time of day.
    """
    if len(over.course.full) < FEWEST_COMPARED or over.follows_weekdays or over.course.unit == "hour":
        return False
    return against_a_year_before(over) is None and pair_with_year_before(over) is None


def compared_ends(over: OverTime) -> tuple[Sequence[PeriodValue], Sequence[PeriodValue]] | None:
    """The latest periods and those of the year before or else, where these may be compared, the first one."""
    compared = against_a_year_before(over)
    if compared is None and is_comparable(over):
        return over.course.full[-1:], over.course.full[:1]
    return compared


def steps(over: OverTime, step: int) -> list[tuple[Decimal, Decimal]]:
    """The values of full periods, each with that of so many periods before."""
    values = {point.period: point.value for point in over.course.full}
    return [
        (value, values[before]) for each, value in values.items() if (before := each.after(-step)) in values
    ]


def name_cycle_before(table: FactTable, before: Period, after: Period) -> str | None:
    """The words for the year before or, of hours, the day before; None if `before` is another period."""
    if before.steps_to(after) != CYCLES.get(before.unit):
        return None
    return table.wording.say("change.base.hour" if before.unit == "hour" else "change.base")


def span_of(points: Sequence[PeriodValue]) -> PeriodSpan | Period:
    """The range of the points; the day or the year itself if they are all of its hours, or its months or
    quarters.
    """
    first, last = points[0].period, points[-1].period
    day = first.within("day") if first.unit == "hour" else None
    if day is not None and first == period_of(day.start, "hour") and first.steps_to(last) == 23:
        return day
    year = first.within("year")
    is_year = first.unit in ("month", "quarter") and first.start == year.start and last.end == year.end
    return year if is_year else PeriodSpan(first, last)
