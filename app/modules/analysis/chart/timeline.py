"""Points over time: one for each period and series, what is missing, and what is not whole."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from app.core.language import Language
from app.core.values.dates import format_date
from app.core.values.numbers import as_double
from app.modules.analysis.chart.canvas import MAX_POINTS, Canvas
from app.modules.analysis.chart.choice import ChosenValue
from app.modules.analysis.chart.covered import Covered
from app.modules.analysis.chart.values import Point, gathered, moment_text
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, Period
from app.modules.analysis.figures.trend import Partial

MOST_PLACES = 370
"""Periods that a picture of bars has places for: the days of a year."""
_MOST_GAPS_SHARE = 0.5
_WEEKS_TO_KNOW = 21
"""Days after which weekdays without a row count as closed."""


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Points in order of time; those of one time are in the order of their series.

    `gaps` are runs of periods without a value: of no row, or of rows that have none. `partial` are the
    periods that the data covers only in part.
    """

    points: Sequence[Point]
    unit: CalendarUnit | None
    covered: Covered | None
    partial: Sequence[Partial] = ()
    gaps: Sequence[Sequence[Period]] = ()

    @property
    def axis_unit(self) -> CalendarUnit | None:
        """The unit of the marks of the axis; None for the hours of a clock."""
        return None if self.unit == "hour" else self.unit

    @property
    def first(self) -> datetime:
        return moment(self.points[0].across)

    @property
    def last(self) -> datetime:
        return moment(self.points[-1].across)

    def partial_at(self, point: Point) -> Partial | None:
        return next((each for each in self.partial if each.period == point.period), None)

    def places(self) -> list[str]:
        """The times of the points, and of all periods between them if bars have room for as many."""
        there = sorted({each.across for each in self.points})
        first, last = self.points[0].period, self.points[-1].period
        steps = 0 if first is None or last is None else first.steps_to(last)
        if first is None or not 0 < steps < MOST_PLACES:
            return sorted({*there, *(each.start.isoformat() for run in self.gaps for each in run)})
        return [first.after(step).start.isoformat() for step in range(steps + 1)]

    def breaks(self, before: Point, after: Point) -> bool:
        """True if periods lie between two points of a series: a line does not cross them."""
        if before.period is None or after.period is None:
            return False
        between = before.period.start, after.period.start
        return any(between[0] < gap[0].start < between[1] for gap in self.gaps)


def moment(across: str) -> datetime:
    return datetime.fromisoformat(across).replace(tzinfo=UTC)


def timeline(canvas: Canvas, value: ChosenValue) -> Timeline:
    """The points of a value over time. It has at most 2,000."""
    plan = canvas.plan
    across = plan.across or 0
    names = canvas.names(plan.series) if plan.series is not None else [""] * len(canvas.rows["rows"])
    periods = canvas.table.periods(across) if plan.time is not None else None
    points: list[Point] = []
    for at, row in enumerate(canvas.rows["rows"]):
        period = periods[at] if periods is not None else None
        if row[across] is None:
            continue
        place = moment_text(row[across]) if period is None else period.start.isoformat()
        points.append(Point(across=place, value=row[value.column], series=names[at], row=at, period=period))
    left = len(canvas.rows["rows"]) - len(points)
    if left:
        canvas.note("without time", canvas.formats.count(left), canvas.title(across))
    points.sort(key=lambda each: each.across)
    if periods is None or not points:
        return Timeline(points=_thinned(canvas, gathered(points), value), unit=None, covered=None)
    own = [each for each in periods if each is not None]
    known = canvas.found.partial if across == canvas.found.time else ()
    covered = Covered.by(own, known)
    unit = plan.time or covered.unit
    unit, points = _fitting(canvas, points, value, unit=unit)
    partial = known if unit == covered.unit else _coarse_partial(covered, unit)
    drawn = {each.period for each in points}
    canvas_partial = [each for each in partial if each.period in drawn]
    for each in canvas_partial:
        if each.reason not in ("cut", "ahead"):
            key = "begins" if each.is_first else "running" if each.reason == "running" else "ends"
            name = canvas.formats.period(each.period)
            if each.said is not None:
                canvas.note(key, name, canvas.formats.day(each.said))
            else:
                canvas.note("not over" if each.reason == "running" else "in part", name)
    gaps = _gaps(points) if covered.unit == unit or value.how != "count" else []
    return Timeline(points=points, unit=unit, covered=covered, partial=canvas_partial, gaps=gaps)


def _fitting(
    canvas: Canvas, points: list[Point], value: ChosenValue, *, unit: CalendarUnit
) -> tuple[CalendarUnit, list[Point]]:
    """The points in their unit, or in a coarser one if they are too many and may be added up."""
    measure = canvas.measure(value.column)
    series = len({each.series for each in points})
    adds = value.how in ("sum", "count") or (
        value.how is None and measure.additive and measure.adds_over_time
    )
    for coarser in UNITS[UNITS.index(unit) :]:
        made = gathered([_move_to_period(each, coarser) for each in points], value.how)
        if len(made) <= max(MAX_POINTS, series) or not adds:
            if coarser != unit:
                units = canvas.formats.count(len({each.across for each in points}))
                canvas.note("coarser", canvas.say(f"unit {coarser}"), units, canvas.say(f"unit {unit}"))
            return coarser, _thinned(canvas, made, value)
    return unit, _thinned(canvas, points, value)


def _move_to_period(point: Point, unit: CalendarUnit) -> Point:
    if point.period is None or point.period.unit == unit:
        return point
    period = point.period.within(unit)
    return replace(point, across=period.start.isoformat(), period=period)


def _coarse_partial(covered: Covered, unit: CalendarUnit) -> list[Partial]:
    """The first and the last period of a coarser unit, if the data covers them only in part."""
    first, last = covered.ends(unit)
    found: list[Partial] = []
    if covered.first > first.start:
        found.append(Partial(first, "begins", covered.first, dated=covered.dated))
    if covered.running:
        found.append(Partial(last, "running", covered.last, covered.last if covered.dated else None))
    elif covered.last + timedelta(days=1) < last.end:
        found.append(Partial(last, "ends", covered.last, dated=covered.dated))
    return found


def _thinned(canvas: Canvas, points: list[Point], value: ChosenValue) -> list[Point]:
    """Thin out values that cannot be added up: keep the lowest and highest of each run of points."""
    if len(points) <= MAX_POINTS:
        return points
    series: defaultdict[str, list[tuple[int, Point]]] = defaultdict(list)
    for at, point in enumerate(points):
        if as_double(point.value) is not None:
            series[point.series].append((at, point))
    count = sum(map(len, series.values()))
    step = -(-2 * count // max(2, MAX_POINTS - 2 * len(series)))
    kept: dict[int, Point] = {}
    for each in series.values():
        for start in range(0, len(each), step):
            some = each[start : start + step]
            kept.update(
                [min(some, key=lambda pair: pair[1].amount), max(some, key=lambda pair: pair[1].amount)]
            )
    canvas.note(
        "thinned", canvas.formats.count(count), canvas.formats.count(step), canvas.title(value.column)
    )
    return [kept[at] for at in sorted(kept)]


def _gaps(points: Sequence[Point]) -> list[list[Period]]:
    """Runs of periods between the first and the last that no point with a value has.

    Weekdays that never have a row are no gaps. Where most periods are empty, none is named.
    """
    ordered = sorted({each.period for each in points if each.period and as_double(each.value) is not None})
    if len(ordered) < 2:
        return []
    steps = ordered[0].steps_to(ordered[-1])
    if steps + 1 == len(ordered) or steps > MAX_POINTS or len(ordered) < (steps + 1) * _MOST_GAPS_SHARE:
        return []
    there = set(ordered)
    is_long = ordered[0].unit == "day" and steps >= _WEEKS_TO_KNOW
    open_days = {each.start.weekday() for each in ordered} if is_long else set(range(7))
    runs: list[list[Period]] = []
    for step in range(1, steps):
        period = ordered[0].after(step)
        if period in there or (period.unit == "day" and period.start.weekday() not in open_days):
            continue
        if runs and runs[-1][-1].after(1) == period:
            runs[-1].append(period)
        else:
            runs.append([period])
    return runs


def short_period(period: Period, language: Language, *, year: bool = True) -> str:
    """A period as it is written in a picture: "Nov 2026", "Q3 2026", "24 Nov 2026"."""
    start = period.start
    match period.unit:
        case "hour":
            return f"{start:%H:%M}"
        case "day":
            return format_date(start, "day" if year else "day of year", language)
        case "week":
            return f"W{period.numbered_week[1]}" + (f" {period.numbered_week[0]}" if year else "")
        case "month":
            return format_date(start, "month" if year else "month letters", language)
        case "quarter":
            return f"Q{(start.month + 2) // 3}" + (f" {start.year}" if year else "")
        case "year":
            return str(start.year)
