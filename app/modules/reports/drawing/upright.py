"""Lines, areas, points and vertical bars over time, numbers or names."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.modules.reports.charts.model import Chart, Numbers
from app.modules.reports.charts.scales import Bands, Linear, extent
from app.modules.reports.drawing.axes import (
    Label,
    are_whole,
    axis_numbers,
    horizontal_ticks,
    labels_below,
    place_ticks,
    time_ticks,
    unit_title,
    vertical_ticks,
)
from app.modules.reports.drawing.plotted import Cell, Place, Plotted, stacked
from app.modules.reports.drawing.svg import (
    INK,
    LINE,
    MUTED,
    WIDTH,
    color_of,
    cut,
    dash_of,
    element,
    line,
    path,
    text,
    text_width,
)

_TOP, _BOTTOM, _RIGHT, _TITLE = 26, 28, 14, 18
_HEIGHT = 350
_FEW_POINTS = 40
_FAR_FROM_ZERO = 0.6
_DAY = 86_400.0
_BARS = ("bar", "stacked", "percent", "histogram", "combo")


@dataclass(frozen=True, kw_only=True)
class _Across:
    """The horizontal scale: the centre of each place, how wide its bar may be, and its labels."""

    centres: Sequence[float]
    bar: float
    labels: Sequence[Label]


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """What marks of every kind need."""

    chart: Chart
    found: Plotted
    cells: Sequence[Cell]
    across: _Across
    y: Linear
    bottom: float

    def along(self, series: int) -> list[tuple[float, Cell]]:
        """The cells of a series from left to right; a gap stays one."""
        own = [(self.across.centres[cell.place], cell) for cell in self.cells if cell.series == series]
        return sorted(own, key=lambda each: each[0])

    def color(self, series: int) -> str:
        return color_of(series, len(self.found.series))


def draw_upright(chart: Chart, found: Plotted) -> tuple[str, float]:
    """Returns the elements and the height."""
    is_share = chart.mark == "percent"
    is_piled = is_share or chart.mark == "stacked" or (chart.mark == "area" and chart.adds)
    cells = stacked(found.cells, is_share=is_share) if is_piled else found.cells
    is_titled = chart.across.kind == "quantitative" or chart.mark == "histogram"
    bottom = _HEIGHT - _BOTTOM - (_TITLE if is_titled else 0)
    y = Linear.nice(_domain(chart, cells), (bottom, _TOP), 6)
    whole = not is_share and are_whole([cell.value for cell in cells])
    ticks = vertical_ticks(y, bottom - _TOP, axis_numbers(chart), whole=whole)
    left = max((text_width(each.text) for each in ticks), default=0) + 10
    second, second_ticks = _second_axis(chart, found, bottom)
    right = WIDTH - _RIGHT - max((text_width(each.text) + 10 for each in second_ticks), default=0)
    across = _across(chart, found.places, (left, right))
    frame = _Frame(chart=chart, found=found, cells=cells, across=across, y=y, bottom=bottom)
    parts = [
        *(line((left, each.tick), (right, each.tick), LINE) for each in ticks),
        *_marks(frame),
        *(_second_line(frame, second) if second else ()),
        line((left, bottom), (right, bottom), MUTED),
        *(text(each.text, left - 8, each.tick + 4, text_anchor="end", fill=MUTED) for each in ticks),
        *(text(each.text, right + 8, each.tick + 4, fill=MUTED) for each in second_ticks),
        *labels_below(across.labels, bottom),
        text(cut(unit_title(chart), WIDTH / 2 if chart.second else WIDTH), 0, 12, fill=MUTED),
        *_second_title(chart),
    ]
    if is_titled:
        title = cut(chart.across.title, right - left)
        parts.append(text(title, right, _HEIGHT - 4, text_anchor="end", fill=MUTED))
    return "".join(parts), _HEIGHT


def _domain(chart: Chart, cells: Sequence[Cell]) -> tuple[float, float]:
    """Bars and areas start at zero; so do lines and points, unless all of them are far from it."""
    is_solid = chart.mark in _BARS or chart.mark == "area"
    values = [
        end
        for cell in cells
        if cell.value is not None
        for end in ((cell.start, cell.stop) if is_solid else (cell.stop, *(cell.band or ())))
    ]
    low, high = extent(values, zero=False)
    return extent(values, zero=is_solid or not 0 < high * _FAR_FROM_ZERO < low)


def _across(chart: Chart, places: Sequence[Place], to: tuple[float, float]) -> _Across:
    has_bars = chart.mark in _BARS
    values = [place.at for place in places]
    if chart.across.kind in ("temporal", "quantitative"):
        is_timed = chart.across.kind == "temporal"
        alone = _DAY if is_timed else 1.0
        gap = _smallest_gap(values, alone) if has_bars else 0.0
        low, high = min(values), max(values)
        if low == high:
            low, high = low - alone, high + alone
        ends = (low - gap / 2, high + gap / 2)
        scale = Linear(ends, to) if has_bars or is_timed else Linear.nice(ends, to, 8)
        labels = time_ticks(scale) if is_timed else horizontal_ticks(scale, 0, Numbers(), whole=False)
        bar = max(1.0, (scale(low + gap) - scale(low)) * 0.8)
        return _Across(centres=[scale(each) for each in values], bar=bar, labels=labels)
    bands = Bands(len(places), to, 0.03 if chart.mark == "histogram" else 0.24)
    return _Across(
        centres=[bands(at) + bands.width / 2 for at in range(len(places))],
        bar=bands.width,
        labels=place_ticks(bands, [place.name for place in places]),
    )


def _smallest_gap(values: Sequence[float], alone: float) -> float:
    """Bars as wide as it do not cover each other. `alone` is for a single place."""
    ordered = sorted(set(values))
    return min((high - low for low, high in itertools.pairwise(ordered)), default=alone)


def _marks(frame: _Frame) -> Iterator[str]:
    count = len(frame.found.series)
    match frame.chart.mark:
        case "line":
            for at in range(count):
                yield from _line(frame, at)
        case "area":
            for at in range(count):
                yield from _area(frame, at)
        case "point":
            yield from _points(frame)
        case _:
            yield from _bars(frame)


def _line(frame: _Frame, series: int) -> Iterator[str]:
    color, along = frame.color(series), frame.along(series)
    band = [(x, cell.band) for x, cell in along if cell.band]
    if band:
        lower = [(x, frame.y(low)) for x, (low, _) in band]
        upper = [(x, frame.y(high)) for x, (_, high) in reversed(band)]
        yield element("path", class_="band", d=f"{path([*lower, *upper])}Z", fill=color, fill_opacity=0.2)
    runs = list(_runs(along))
    for run in runs:
        if len(run) > 1:
            yield _stroke(frame, series, [(x, frame.y(cell.stop)) for x, cell in run])
    for run in runs:
        for x, cell in run if len(along) <= _FEW_POINTS or len(run) == 1 else ():
            yield element("circle", cx=x, cy=frame.y(cell.stop), r=2.5, fill=color)
    for x, cell in along:
        if cell.is_ringed and cell.value is not None:
            at = {"cx": x, "cy": frame.y(cell.stop)}
            yield element("circle", class_="ring", **at, r=7, fill="none", stroke=INK, stroke_width=2)


def _area(frame: _Frame, series: int) -> Iterator[str]:
    for run in _runs(frame.along(series)):
        upper = [(x, frame.y(cell.stop)) for x, cell in run]
        lower = [(x, frame.y(cell.start)) for x, cell in reversed(run)]
        shape = f"{path([*upper, *lower])}Z"
        yield element("path", class_="area", d=shape, fill=frame.color(series), fill_opacity=0.45)
        yield _stroke(frame, series, upper)


def _stroke(frame: _Frame, series: int, points: Sequence[tuple[float, float]]) -> str:
    return element(
        "path",
        class_="line",
        d=path(points),
        fill="none",
        stroke=frame.color(series),
        stroke_width=2,
        stroke_linejoin="round",
        stroke_dasharray=dash_of(series, len(frame.found.series)),
    )


def _runs(along: Sequence[tuple[float, Cell]]) -> Iterator[list[tuple[float, Cell]]]:
    """Cells without gaps: a missing value interrupts a line."""
    run: list[tuple[float, Cell]] = []
    for x, cell in along:
        if cell.value is not None:
            run.append((x, cell))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _points(frame: _Frame) -> Iterator[str]:
    for cell in frame.cells:
        if cell.value is not None:
            at = {"cx": frame.across.centres[cell.place], "cy": frame.y(cell.stop)}
            yield element(
                "circle", class_="point", **at, r=4, fill=frame.color(cell.series), fill_opacity=0.8
            )


def _bars(frame: _Frame) -> Iterator[str]:
    series, bar = len(frame.found.series), frame.across.bar
    is_grouped = frame.chart.mark == "bar" and series > 1
    wide = bar / series if is_grouped else bar
    for cell in frame.cells:
        if cell.value is None:
            continue
        ends = sorted((frame.y(cell.start), frame.y(cell.stop)))
        yield element(
            "rect",
            class_="bar",
            x=frame.across.centres[cell.place] - bar / 2 + (wide * cell.series if is_grouped else 0),
            y=ends[0],
            width=max(1.0, wide - 1 if is_grouped else wide),
            height=ends[1] - ends[0],
            fill=frame.color(cell.series),
        )


def _second_title(chart: Chart) -> Iterator[str]:
    if chart.second is not None:
        yield text(cut(chart.second.title, WIDTH / 2 - 10), WIDTH, 12, text_anchor="end", fill=MUTED)


def _second_axis(chart: Chart, found: Plotted, bottom: float) -> tuple[Linear | None, list[Label]]:
    """The axis of the line in a chart of bars and a line, at the right."""
    known = [value for value in found.second.values() if value is not None]
    if chart.second is None or not known:
        return None, []
    scale = Linear.nice(extent(known, zero=True), (bottom, _TOP), 6)
    return scale, vertical_ticks(scale, bottom - _TOP, chart.numbers, whole=are_whole(known))


def _second_line(frame: _Frame, scale: Linear) -> Iterator[str]:
    count = len(frame.found.series)
    cells = [
        (frame.across.centres[place], Cell(place=place, series=count - 1, value=value, stop=value or 0.0))
        for place, value in frame.found.second.items()
    ]
    for run in _runs(sorted(cells, key=lambda each: each[0])):
        points = [(x, scale(cell.stop)) for x, cell in run]
        color = frame.color(count - 1)
        yield element("path", class_="line", d=path(points), fill="none", stroke=color, stroke_width=2.5)
