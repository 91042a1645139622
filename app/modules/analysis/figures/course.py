"""The course of a measure over time: full and partial periods, peaks, troughs, gaps and two-year patterns."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from app.modules.analysis.figures.calendar import CalendarUnit, Period, period_of

_PER_YEAR: dict[CalendarUnit, int] = {"month": 12, "quarter": 4}
_SMALLEST_MISSING_SHARE = 0.02
_USUAL_GAPS = 3
_SATURDAY = 5

Reason = Literal["begins", "ends", "running", "cut"]


@dataclass(frozen=True)
class Span:
    """The first and last day of the data behind the periods, and its number of values."""

    first: date
    last: date
    count: int

    @property
    def usual_gap_days(self) -> float:
        return ((self.last - self.first).days + 1) / max(1, self.count)


@dataclass(frozen=True)
class PeriodValue:
    period: Period
    value: Decimal


@dataclass(frozen=True)
class Partial:
    """A period that the data covers only in part.

    The data begins or ends on `day`, or the period is still running and `day` is today. The turn of the year
    may cut a week, which begins on `day`.
    """

    period: Period
    reason: Reason
    day: date


@dataclass(frozen=True, kw_only=True)
class Year:
    """The latest two years of full periods, the second of which ends with `last`.

    `high` and `low` are periods of the latest year, such as its December, that are highest or lowest in their
    year in both years; None when the years differ.
    """

    last: Period
    high: Period | None
    low: Period | None


@dataclass(frozen=True, kw_only=True)
class Course:
    """A measure over time. `points` are all periods in order, `full` those that the data covers whole.

    `peaks` and `troughs` are the highest and lowest full periods, or of all if none is full. `gaps` are the
    periods without a row between the first and the last. `year` is None without two full years.
    """

    unit: CalendarUnit
    points: Sequence[PeriodValue]
    full: Sequence[PeriodValue]
    partial: Sequence[Partial]
    peaks: Sequence[PeriodValue]
    troughs: Sequence[PeriodValue]
    gaps: Sequence[Period]
    year: Year | None


def course(points: Iterable[PeriodValue], span: Span | None, today: date | None) -> Course | None:
    """Build the course. The points have one unit and one value a period; None without points."""
    ordered = sorted(points, key=lambda point: point.period)
    if not ordered:
        return None
    unit = ordered[0].period.unit
    partial = partial_periods([point.period for point in ordered], span, today)
    left_out = {each.period for each in partial}
    full = [point for point in ordered if point.period not in left_out]
    compared = full or ordered
    highest = max(point.value for point in compared)
    lowest = min(point.value for point in compared)
    return Course(
        unit=unit,
        points=ordered,
        full=full,
        partial=partial,
        peaks=[point for point in compared if point.value == highest],
        troughs=[point for point in compared if point.value == lowest],
        gaps=_gaps(ordered),
        year=_year(full),
    )


def folded(points: Iterable[PeriodValue], unit: CalendarUnit) -> list[PeriodValue]:
    """Add the points up over a coarser unit."""
    sums: defaultdict[Period, Decimal] = defaultdict(Decimal)
    for point in points:
        sums[point.period.within(unit)] += point.value
    return [PeriodValue(period, value) for period, value in sums.items()]


def partial_periods(ordered: Sequence[Period], span: Span | None, today: date | None) -> list[Partial]:
    """The first and the last period, if the data covers them only in part. `ordered` is in order of time."""
    first = ordered[0]
    last = ordered[-1]
    found: list[Partial] = []
    if span is not None and first.start < span.first < first.end:
        missing = _days(first.start, span.first)
        if _is_partial(missing, first, span):
            found.append(Partial(first, "begins", span.first))
    ended = _partial_at_end(last, span)
    running = today is not None and last.start <= today < last.end
    if today is not None and running and (ended is None or ended.day >= today - timedelta(days=1)):
        found.append(Partial(last, "running", today))
    elif ended is not None:
        found.append(ended)
    found = found if len({each.period for each in found}) == len(found) else found[-1:]
    noticed = {each.period for each in found}
    cut = [each for each in ordered if each.is_cut_week and each not in noticed]
    return [*found, *(Partial(each, "cut", each.start) for each in cut)]


def _partial_at_end(last: Period, span: Span | None) -> Partial | None:
    if span is None or not last.start <= span.last < last.end - timedelta(days=1):
        return None
    missing = _days(span.last + timedelta(days=1), last.end)
    return Partial(last, "ends", span.last) if _is_partial(missing, last, span) else None


def _is_partial(missing: Sequence[date], period: Period, span: Span) -> bool:
    """Return True if the days without data at an end of the period are too many to be normal.

    They are normal within three usual gaps between two values, within 2 % of the period, and, of periods
    longer than a week, if all fall on weekends or on New Year's Day.
    """
    whole = (period.end - period.start).days
    if len(missing) <= _USUAL_GAPS * span.usual_gap_days and span.usual_gap_days > 1:
        return False
    if len(missing) <= _SMALLEST_MISSING_SHARE * whole:
        return False
    if period.unit == "week" and len(missing) > 1:
        return True  # a weekend is too much of a week
    return any(day.weekday() < _SATURDAY and (day.month, day.day) != (1, 1) for day in missing)


def _days(start: date, end: date) -> list[date]:
    return [start + timedelta(days=days) for days in range((end - start).days)]


def _gaps(ordered: Sequence[PeriodValue]) -> list[Period]:
    first = ordered[0].period
    last = ordered[-1].period
    there = {point.period for point in ordered}
    steps = first.steps_to(last)
    if steps + 1 == len(there):
        return []
    return [period for step in range(steps) if (period := first.after(step)) not in there]


def _year(full: Sequence[PeriodValue]) -> Year | None:
    """The latest two years; None unless both are full, without a gap, in months or quarters."""
    if not full or (length := _PER_YEAR.get(full[0].period.unit)) is None or len(full) < 2 * length:
        return None
    latest = full[-length:]
    before = full[-2 * length : -length]
    if before[0].period.steps_to(latest[-1].period) != 2 * length - 1:
        return None
    return Year(
        last=latest[-1].period,
        high=_common(before, latest, sign=1),
        low=_common(before, latest, sign=-1),
    )


def _common(before: Sequence[PeriodValue], latest: Sequence[PeriodValue], *, sign: int) -> Period | None:
    """The later year's highest period (lowest for `sign` -1), if it leads alone in both years; else None."""
    leaders = []
    for year in (before, latest):
        end = max(sign * point.value for point in year)
        at = [point for point in year if sign * point.value == end]
        if len(at) > 1:
            return None
        leaders.append(at[0].period)
    return leaders[1] if leaders[0].after(len(latest)) == leaders[1] else None


def folded_span(points: Sequence[PeriodValue]) -> Span:
    """The span of points that are days, for the coarser periods into which they are added up."""
    days = [period_of(point.period.start, "day").start for point in points]
    return Span(min(days), max(days), len(days))
