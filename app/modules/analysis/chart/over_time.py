"""Line charts: a measure over time, in one series or several."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.modules.analysis.chart.covered import Covered
from app.modules.analysis.chart.drawing import MAX_POINTS, MAX_SERIES, Drawing, FieldType, Mark, Point, axis
from app.modules.analysis.chart.leaders import selection
from app.modules.analysis.chart.values import PlottedCell, name, plotted, summed
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, Period
from app.modules.analysis.figures.course import Partial
from app.modules.analysis.figures.numbers import number
from app.modules.analysis.words import title
from graph.state import Rows

_TIMES = ("date", "datetime")
_MAX_NAMED_PERIODS = 60
"""The most periods that are named one by one on the axis; more are drawn on a time scale."""


@dataclass(frozen=True)
class _Course:
    """Cells in order of time. `periods` maps a cell's `across` to its period; empty when unknown."""

    cells: Sequence[PlottedCell]
    periods: dict[str, Period]


def over_time(
    rows: Rows, found: Figures, main: NumericColumn, *, time: int, wish: Mark | None
) -> Drawing | None:
    """The main measure over the periods of a column; None with fewer than two periods."""
    kind, course = _course(rows, found, main, time=time)
    return _drawing(rows, found, main, time=time, kind=kind, course=course, wish=wish)


def at_times(
    rows: Rows, found: Figures, main: NumericColumn, *, time: int, wish: Mark | None
) -> Drawing | None:
    """The main measure at times that are not calendar periods, such as hours; None with fewer than two."""
    timed = sorted((str(row[time]), row[main.column]) for row in rows["rows"] if row[time] is not None)
    course = _Course([PlottedCell(place, value) for place, value in timed], {})
    return _drawing(rows, found, main, time=time, kind="temporal", course=course, wish=wish)


def _course(rows: Rows, found: Figures, main: NumericColumn, *, time: int) -> tuple[FieldType, _Course]:
    dated = sorted(
        (
            (period, str(row[time]), row)
            for period, row in zip(found.periods, rows["rows"], strict=True)
            if period is not None
        ),
        key=lambda each: (each[0].start, each[1]),
    )
    written = {own for _, own, _ in dated}
    periods = list(dict.fromkeys(period for period, _, _ in dated))
    kind: FieldType = "temporal"
    if rows["columns"][time]["type"] not in _TIMES:
        kind = "ordinal" if _are_named(periods) else "temporal"
    own_names = kind == "ordinal" and len(written) == len(periods)
    cells: list[PlottedCell] = []
    known: dict[str, Period] = {}
    for period, own, row in dated:
        if rows["columns"][time]["type"] in _TIMES or own_names:
            place = own
        else:
            place = str(period) if kind == "ordinal" else period.start.isoformat()
        known[place] = period
        series = "" if found.label is None else name(row[found.label])
        cells.append(PlottedCell(place, row[main.column], series))
    return kind, _Course(cells, known)


def _are_named(periods: Sequence[Period]) -> bool:
    """Return True if the periods are few, without a gap, and not days: each then gets a name on the axis."""
    if not periods or periods[0].unit == "day" or len(periods) > _MAX_NAMED_PERIODS:
        return False
    return periods[0].steps_to(periods[-1]) == len(periods) - 1


def _drawing(
    rows: Rows,
    found: Figures,
    main: NumericColumn,
    *,
    time: int,
    kind: FieldType,
    course: _Course,
    wish: Mark | None,
) -> Drawing | None:
    if len({cell.across for cell in course.cells}) < 2:
        return None
    label = found.label if found.label != time else None
    how = _without_time(rows, time)
    covered = Covered.by([*course.periods.values()], found.partial) if course.periods else None
    if label is not None and len({cell.series for cell in course.cells}) > MAX_SERIES:
        course, said = _leading(course, found, main, column=rows["columns"][label]["name"])
        how.append(said)
    if len(course.cells) > MAX_POINTS:
        coarser = _coarser(course, covered) if covered and main.additive and main.adds_over_time else None
        if coarser is not None:
            course = coarser[0]
            kind = "temporal"
            said = coarser[1]
        else:
            course, said = _ends(course, main)
        how.append(said)
    drawn = set(course.periods.values())
    how += _partly_covered([each for each in found.partial if each.period in drawn])
    bars = wish == "bar" and (label is None or main.additive)
    return Drawing(
        mark="bar" if bars else "line",
        across=axis(rows, time, kind),
        value=axis(rows, main.column, "quantitative"),
        series=None if label is None else axis(rows, label, "nominal"),
        points=[
            Point(cell.across, plotted(cell.value), None if label is None else cell.series)
            for cell in course.cells
        ],
        how=how,
        adds=main.additive,
        covered=covered,
    )


def _without_time(rows: Rows, time: int) -> list[str]:
    left = sum(row[time] is None for row in rows["rows"])
    if left == 0:
        return []
    were = "1 row" if left == 1 else f"{left:,} rows"
    return [
        f"{were} without a {title(rows['columns'][time]['name'])} {'is' if left == 1 else 'are'} left out."
    ]


def _leading(course: _Course, found: Figures, main: NumericColumn, *, column: str) -> tuple[_Course, str]:
    chosen, said = selection(found, main).of_series(list(course.cells), MAX_SERIES, column)
    order = {place: at for at, place in enumerate(dict.fromkeys(cell.across for cell in course.cells))}
    cells = sorted(summed(chosen), key=lambda cell: order[cell.across])
    return replace(course, cells=cells), said


def _coarser(course: _Course, covered: Covered) -> tuple[_Course, str] | None:
    """The sums over the finest unit that fits, with sentences on them."""
    for unit in UNITS[UNITS.index(covered.unit) + 1 :]:
        added = _added_up(course, unit)
        if len(added.cells) <= MAX_POINTS:
            said = f"Each point adds up one {unit} of {len(course.periods):,} {covered.unit}s."
            return added, " ".join([said, *covered.sentences(unit)])
    return None


def _added_up(course: _Course, unit: CalendarUnit) -> _Course:
    places = {place: period.within(unit) for place, period in course.periods.items()}
    cells = [replace(cell, across=places[cell.across].start.isoformat()) for cell in course.cells]
    return _Course(summed(cells), {period.start.isoformat(): period for period in places.values()})


def _ends(course: _Course, main: NumericColumn) -> tuple[_Course, str]:
    """Thin out values that cannot be added up: keep the lowest and highest of each run of points."""
    series: defaultdict[str, list[tuple[int, PlottedCell]]] = defaultdict(list)
    for at, cell in enumerate(course.cells):
        if number(cell.value) is not None:
            series[cell.series].append((at, cell))
    count = sum(map(len, series.values()))
    step = -(-2 * count // (MAX_POINTS - 2 * len(series)))
    kept: dict[int, PlottedCell] = {}
    for cells in series.values():
        for start in range(0, len(cells), step):
            some = cells[start : start + step]
            kept.update([min(some, key=_value), max(some, key=_value)])
    said = f"Of {len(course.cells):,} points, the lowest and the highest of every {step:,} in a row are shown"
    return (
        replace(course, cells=[kept[at] for at in sorted(kept)]),
        f"{said}, as values of {title(main.name)} cannot be added up over time.",
    )


def _value(at: tuple[int, PlottedCell]) -> float:
    return number(at[1].value) or 0.0


def _partly_covered(partials: Sequence[Partial]) -> list[str]:
    """Sentences for the drawn periods that the data covers only in part."""
    said: list[str] = []
    for partial in partials:
        period = partial.period
        day = partial.day.isoformat()
        match partial.reason:
            case "begins":
                said.append(f"{period} has data from {day} on only.")
            case "ends":
                said.append(f"{period} has data up to {day} only.")
            case "running":
                said.append(f"{period} is not over: its data goes up to {day}.")
    return said
