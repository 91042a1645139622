"""The course of a measure in time: change between full periods, peak and trough, gaps, the year's shape."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from app.modules.analysis.figures.calendar import Period, Unit, period_of

_PER_YEAR: dict[Unit, int] = {"month": 12, "quarter": 4}
_SMALLEST_MISSING_SHARE = 0.02
_USUAL_GAPS = 3
_SATURDAY = 5

Reason = Literal["begins", "ends", "running"]


@dataclass(frozen=True)
class Span:
    """The days from the first to the last one that the data behind the periods holds, and how many
    values lie there."""

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
    """A period that the data covers only in part: it begins or ends on `day`, or the period still runs."""

    period: Period
    reason: Reason
    day: date


@dataclass(frozen=True)
class Year:
    """The latest two years of full periods: their sums, and the calendar periods that lead in both.

    `high` and `low` are any one period of the calendar position that is highest or lowest in each of
    the two years, None where the years differ. The sums are None where the measure is not additive.
    """

    last: Period
    latest: Decimal | None
    before: Decimal | None
    high: Period | None
    low: Period | None


@dataclass(frozen=True, kw_only=True)
class Course:
    """`points` are all periods in order of time, `full` those that the data covers whole.

    `gaps` are the periods between the first and the last that have no row.
    """

    unit: Unit
    points: Sequence[PeriodValue]
    full: Sequence[PeriodValue]
    partial: Sequence[Partial]
    peaks: Sequence[PeriodValue]
    troughs: Sequence[PeriodValue]
    gaps: Sequence[Period]
    year: Year | None


def course(
    points: Iterable[PeriodValue], span: Span | None, today: date | None, *, additive: bool
) -> Course | None:
    """The course of points of one unit, one a period; None without points."""
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
        year=_year(full, additive=additive),
    )


def folded(points: Iterable[PeriodValue], unit: Unit) -> list[PeriodValue]:
    """Sums over a coarser unit."""
    sums: defaultdict[Period, Decimal] = defaultdict(Decimal)
    for point in points:
        sums[point.period.within(unit)] += point.value
    return [PeriodValue(period, value) for period, value in sums.items()]


def partial_periods(ordered: Sequence[Period], span: Span | None, today: date | None) -> list[Partial]:
    """Of periods in order of time, the first and the last one if the data covers them only in part."""
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
    return found if len({each.period for each in found}) == len(found) else found[-1:]


def _partial_at_end(last: Period, span: Span | None) -> Partial | None:
    if span is None or not last.start <= span.last < last.end - timedelta(days=1):
        return None
    missing = _days(span.last + timedelta(days=1), last.end)
    return Partial(last, "ends", span.last) if _is_partial(missing, last, span) else None


def _is_partial(missing: Sequence[date], period: Period, span: Span) -> bool:
    """Days without data at an end are a gap in coverage when they are more than what is usual between two
    values, more than a weekend or New Year's Day, and more than a trifle of the period."""
    whole = (period.end - period.start).days
    if len(missing) <= _USUAL_GAPS * span.usual_gap_days and span.usual_gap_days > 1:
        return False
    if len(missing) <= _SMALLEST_MISSING_SHARE * whole:
        return False
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


def _year(full: Sequence[PeriodValue], *, additive: bool) -> Year | None:
    """Needs two years of full periods without a gap."""
    if not full or (length := _PER_YEAR.get(full[0].period.unit)) is None or len(full) < 2 * length:
        return None
    latest = full[-length:]
    before = full[-2 * length : -length]
    if before[0].period.steps_to(latest[-1].period) != 2 * length - 1:
        return None
    return Year(
        last=latest[-1].period,
        latest=sum((point.value for point in latest), Decimal(0)) if additive else None,
        before=sum((point.value for point in before), Decimal(0)) if additive else None,
        high=_common(before, latest, sign=1),
        low=_common(before, latest, sign=-1),
    )


def _common(before: Sequence[PeriodValue], latest: Sequence[PeriodValue], *, sign: int) -> Period | None:
    """The period of the later year whose position leads alone in both."""
    leaders = []
    for year in (before, latest):
        end = max(sign * point.value for point in year)
        at = [point for point in year if sign * point.value == end]
        if len(at) > 1:
            return None
        leaders.append(at[0].period)
    return leaders[1] if leaders[0].after(len(latest)) == leaders[1] else None


def folded_span(points: Sequence[PeriodValue]) -> Span:
    """What days say of the coarser periods that they are folded to."""
    days = [period_of(point.period.start, "day").start for point in points]
    return Span(min(days), max(days), len(days))
