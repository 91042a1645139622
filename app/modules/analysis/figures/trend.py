"""The course of a measure over time: full and partial periods, peaks, troughs, gaps and two-year patterns."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from app.modules.analysis.figures.calendar import CalendarUnit, Period, period_of

_PER_YEAR: dict[CalendarUnit, int] = {"month": 12, "quarter": 4}
_SMALLEST_MISSING_SHARE = 0.02
_USUAL_GAPS = 3
_SATURDAY = 5

Reason = Literal["begins", "since", "ends", "until", "running", "ahead", "cut"]


@dataclass(frozen=True)
class DataSpan:
    """The first and last day of the data behind the periods, and its number of values.

    `since` and `until` are the first and last day that the statement's conditions on the dates let through,
    None without such a condition. `earliest` and `latest` are the first and last day without them. The days
    are those of the whole table if the statement is `narrowed`: it may leave their rows out.
    """

    first: date
    last: date
    count: int
    since: date | None = None
    until: date | None = None
    earliest: date | None = None
    latest: date | None = None
    narrowed: bool = False

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

    The data begins or ends on `day`, or the statement counts days `since` or `until` then only, or the period
    is still running or `ahead` and `day` is today. The turn of the year may cut a week, which begins on
    `day`. `last` is the last day with data of a running period, if known. A day that is not `dated` may have
    no row of the statement.
    """

    period: Period
    reason: Reason
    day: date
    last: date | None = None
    dated: bool = True

    @property
    def said(self) -> date | None:
        """The day to say of the data; None if it is unknown."""
        if self.reason in ("running", "ahead"):
            return self.last
        return self.day if self.dated else None

    @property
    def is_first(self) -> bool:
        """True if the beginning of the period is missing."""
        return self.reason in ("begins", "since")

    @property
    def edge(self) -> date:
        """The first or the last day that is covered."""
        return self.last or self.day


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


def course(points: Iterable[PeriodValue], span: DataSpan | None, today: date | None) -> Course | None:
    """Build the course. The points have one unit and one value a period; None without points."""
    ordered = sorted(points, key=lambda point: point.period)
    if not ordered:
        return None
    partial = partial_periods([point.period for point in ordered], span, today)
    found = course_of(ordered, partial, _gaps(ordered))
    return replace(found, year=_year(found.full))


def course_of(ordered: Sequence[PeriodValue], partial: Sequence[Partial], gaps: Sequence[Period]) -> Course:
    """Build the course of points in order of time, of which there is one at least, without its `year`."""
    left_out = {each.period for each in partial}
    full = [point for point in ordered if point.period not in left_out]
    compared = full or ordered
    values = [point.value for point in compared]
    return Course(
        unit=ordered[0].period.unit,
        points=ordered,
        full=full,
        partial=partial,
        peaks=sharing(compared, max(values)),
        troughs=sharing(compared, min(values)),
        gaps=gaps,
        year=None,
    )


def sharing(points: Sequence[PeriodValue], value: Decimal) -> list[PeriodValue]:
    """The points of one value."""
    return [point for point in points if point.value == value]


def folded(points: Iterable[PeriodValue], unit: CalendarUnit) -> list[PeriodValue]:
    """Add the points up over a coarser unit."""
    sums: defaultdict[Period, Decimal] = defaultdict(Decimal)
    for point in points:
        sums[point.period.within(unit)] += point.value
    return [PeriodValue(period, value) for period, value in sums.items()]


def partial_periods(ordered: Sequence[Period], span: DataSpan | None, today: date | None) -> list[Partial]:
    """The periods that the data covers only in part: the first, the last, the one that holds today and those
    after it, unless all are after it, as plans are. `ordered` is in order of time.
    """
    first = ordered[0]
    last = ordered[-1]
    if first.unit == "hour":
        return []  # the days of a span do not tell
    found: list[Partial] = []
    if span is not None and first.start < span.first < first.end:
        goes_on = span.earliest is not None and span.earliest < first.start
        if span.since is not None and first.start < span.since:
            found.append(Partial(first, "since", span.since))
        elif not goes_on and _is_partial(_days(first.start, span.first), first, span):
            found.append(Partial(first, "begins", span.first, dated=not span.narrowed))
    if today is not None and last.start > today and first.end <= today:
        found += [Partial(each, "running", today) for each in ordered if each.start <= today < each.end]
        found += [Partial(each, "ahead", today) for each in ordered if each.start > today]
    ended = _partial_at_end(last, span) if last not in {each.period for each in found} else None
    running = today is not None and last.start <= today < last.end
    if today is not None and running and (ended is None or ended.day >= today - timedelta(days=1)):
        is_known = span is not None and not span.narrowed and span.last <= today
        found.append(Partial(last, "running", today, span.last if span is not None and is_known else None))
    elif ended is not None:
        found.append(ended)
    found = found if len({each.period for each in found}) == len(found) else found[-1:]
    noticed = {each.period for each in found}
    cut = [each for each in ordered if each.is_cut_week and each not in noticed]
    return [*found, *(Partial(each, "cut", each.start) for each in cut)]


def _partial_at_end(last: Period, span: DataSpan | None) -> Partial | None:
    if span is None or not last.start <= span.last < last.end - timedelta(days=1):
        return None
    if (
        span.until is not None
        and span.until < last.end - timedelta(days=1)
        and span.until <= (span.latest or span.until)
    ):
        return Partial(last, "until", span.until)
    goes_on = span.latest is not None and span.latest >= last.end
    missing = _days(span.last + timedelta(days=1), last.end)
    if goes_on or not _is_partial(missing, last, span):
        return None
    return Partial(last, "ends", span.last, dated=not span.narrowed)


def _is_partial(missing: Sequence[date], period: Period, span: DataSpan) -> bool:
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


def folded_span(points: Sequence[PeriodValue]) -> DataSpan:
    """The span of points that are days, for the coarser periods into which they are added up."""
    days = [period_of(point.period.start, "day").start for point in points]
    return DataSpan(min(days), max(days), len(days))
