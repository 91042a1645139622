"""A chart with its title, its legend and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.modules.reports.charts.model import Chart, places_of
from app.modules.reports.charts.numbers import plain
from app.modules.reports.drawing.heat import draw_heat
from app.modules.reports.drawing.lying import draw_lying
from app.modules.reports.drawing.plotted import Plotted, plotted
from app.modules.reports.drawing.slices import draw_slices
from app.modules.reports.drawing.svg import INK, WIDTH, color_of, cut, dash_of, element, text, text_width
from app.modules.reports.drawing.upright import draw_upright

_MANY_BARS = 48
_SWATCH = 22
_LINE = 20
_LYING = ("bar", "stacked", "percent")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """An SVG element, the title above it and the sentences below it."""

    svg: str
    title: str
    notes: str


def draw_figure(chart: Chart | None, number: int) -> Figure | None:
    """Returns None if there is nothing to draw. `number` distinguishes the figures of a page."""
    found = plotted(chart) if chart else Plotted()
    if chart is None or all(cell.value is None for cell in found.cells):
        return None
    body, height = _drawn(chart, found)
    legend, legend_height = "", 0.0
    if chart.mark not in ("arc", "heat") and len(found.series) > 1:
        legend, legend_height = _legend(found.series)
    title = f"{chart.value.title} by {chart.across.title}"
    svg = (
        f'<svg role="img" aria-labelledby="figure-{number}" viewBox="0 0 {WIDTH} {height + legend_height:g}">'
        f'<title id="figure-{number}">{escape(title)}</title>'
        f'{legend}<g transform="translate(0 {legend_height:g})">{body}</g></svg>'
    )
    return Figure(svg=svg, title=chart.heading, notes=_notes(chart))


def _drawn(chart: Chart, found: Plotted) -> tuple[str, float]:
    match chart.mark:
        case "arc":
            return draw_slices(chart, found)
        case "heat":
            return draw_heat(chart, found)
        case _:
            is_lying = (
                chart.mark in _LYING and chart.across.kind == "nominal" and places_of(chart) <= _MANY_BARS
            )
            return draw_lying(chart, found) if is_lying else draw_upright(chart, found)


def _legend(names: Sequence[str]) -> tuple[str, float]:
    parts: list[str] = []
    x, y = 0.0, 12.0
    for at, name in enumerate(names):
        shown = cut(name, WIDTH - _SWATCH)
        width = _SWATCH + text_width(shown) + 16
        if x and x + width > WIDTH:
            x, y = 0.0, y + _LINE
        color, dash = color_of(at, len(names)), dash_of(at, len(names))
        ends = {"x1": x, "x2": x + 16, "y1": y - 4, "y2": y - 4}
        parts.append(element("line", **ends, stroke=color, stroke_width=4, stroke_dasharray=dash))
        parts.append(text(shown, x + _SWATCH, y, fill=INK))
        x += width
    return "".join(parts), y + 10


def _notes(chart: Chart) -> str:
    """How many rows are drawn, and how, in the words of the page."""
    counted = ((chart.rows, "row"), (len(chart.data), "point"))
    rows, points = (f"{plain(count, 0)} {word}{'' if count == 1 else 's'}" for count, word in counted)
    drawn = f"drawn as {points}" if chart.how and chart.rows != len(chart.data) else "all drawn"
    return ". ".join(filter(None, (rows if chart.computed else f"{rows}, {drawn}", chart.how)))
