"""A ring of slices, named beside it with their values and shares."""

from math import cos, pi, sin

from app.modules.reports.charts.model import Chart
from app.modules.reports.charts.numbers import plain, value_text
from app.modules.reports.drawing.axes import unit_title
from app.modules.reports.drawing.plotted import Plotted
from app.modules.reports.drawing.svg import COLORS, INK, MUTED, SURFACE, WIDTH, cut, element, text

_HEIGHT = 300
_RADIUS, _HOLE = 130, 72
_CENTRE = (150.0, 150.0)
_NAMES = 330
_ROW = 26


def draw_slices(chart: Chart, found: Plotted) -> tuple[str, float]:
    """Returns the elements and the height."""
    values = [0.0] * len(found.places)
    for cell in found.cells:
        values[cell.place] += max(0.0, cell.value or 0.0)
    whole = sum(values) or 1.0
    top = max(40.0, _CENTRE[1] - len(values) * _ROW / 2)
    parts = [text(cut(unit_title(chart), WIDTH - _NAMES), _NAMES, top - 18, fill=MUTED)]
    start = 0.0
    for at, (place, value) in enumerate(zip(found.places, values, strict=True)):
        stop = start + value / whole
        fill = COLORS[at % len(COLORS)]
        if value > 0:
            parts.append(element("path", class_="slice", d=_slice(start, stop), fill=fill, stroke=SURFACE))
        start, y = stop, top + at * _ROW
        share = plain(value / whole * 100, 1)
        said = f"{value_text(value, chart.numbers)} ({share}%)"
        parts.append(element("rect", x=_NAMES, y=y, width=12, height=12, fill=fill))
        parts.append(text(cut(place.name, 240), _NAMES + 20, y + 11, fill=INK))
        parts.append(text(said, WIDTH - 8, y + 11, text_anchor="end", fill=MUTED))
    return "".join(parts), max(_HEIGHT, top + len(values) * _ROW)


def _slice(start: float, stop: float) -> str:
    """The outline from one share of the whole to another. A whole ring is all but closed."""
    stop = min(stop, start + 0.99999)
    large = int(stop - start > 0.5)

    def point(share: float, radius: float) -> str:
        angle = 2 * pi * share - pi / 2
        return f"{_CENTRE[0] + radius * cos(angle):.2f},{_CENTRE[1] + radius * sin(angle):.2f}"

    outer = f"M{point(start, _RADIUS)}A{_RADIUS},{_RADIUS} 0 {large} 1 {point(stop, _RADIUS)}"
    return f"{outer}L{point(stop, _HOLE)}A{_HOLE},{_HOLE} 0 {large} 0 {point(start, _HOLE)}Z"
