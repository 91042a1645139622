"""Horizontal bars, one row a place, which leave room for names."""

from app.modules.reports.charts.model import Chart
from app.modules.reports.charts.numbers import value_text
from app.modules.reports.charts.scales import Bands, Linear, extent
from app.modules.reports.drawing.axes import are_whole, axis_numbers, horizontal_ticks, unit_title
from app.modules.reports.drawing.plotted import Plotted, stacked
from app.modules.reports.drawing.svg import (
    INK,
    LINE,
    MUTED,
    WIDTH,
    color_of,
    cut,
    element,
    line,
    text,
    text_width,
)

_MOST_NAME = 220
_TOP, _BOTTOM = 22, 28
_RIGHT = 80
_FEW_BARS = 12
_ROOMY, _DENSE = 28, 20
_STEP_OF_A_SERIES = 9


def draw_lying(chart: Chart, found: Plotted) -> tuple[str, float]:
    """Returns the elements and the height."""
    is_share, is_apart = chart.mark == "percent", chart.mark == "bar"
    cells = found.cells if is_apart else stacked(found.cells, is_share=is_share)
    count, places = len(found.series), len(found.places)
    is_grouped = is_apart and count > 1
    step = _DENSE if places > _FEW_BARS else _ROOMY
    step = max(step, (count + 1) * _STEP_OF_A_SERIES) if is_grouped else step
    bottom = _TOP + places * step
    names = [cut(place.name, _MOST_NAME) for place in found.places]
    left = max(24.0, *map(text_width, names)) + 10
    x = Linear.nice(
        extent([end for cell in cells for end in (cell.start, cell.stop)], zero=True),
        (left, WIDTH - _RIGHT),
        6,
    )
    whole = not is_share and are_whole([cell.value for cell in cells])
    ticks = horizontal_ticks(x, left - 8, axis_numbers(chart), whole=whole)
    y = Bands(places, (_TOP, bottom), 0.24)
    within = Bands(count, (0, y.width), 0.08)
    parts = [line((each.tick, _TOP), (each.tick, bottom), LINE) for each in ticks]
    for cell in cells:
        if cell.value is None:
            continue
        start, stop = sorted((x(cell.start), x(cell.stop)))
        top = y(cell.place) + (within(cell.series) if is_grouped else 0)
        height = within.width if is_grouped else y.width
        width = 0.0 if cell.start == cell.stop else max(1.0, stop - start)
        fill = color_of(cell.series, count)
        parts.append(element("rect", class_="bar", x=start, y=top, width=width, height=height, fill=fill))
        if is_apart:
            shown = value_text(cell.value, chart.numbers)
            parts.append(text(shown, stop + 6, top + height / 2 + 4, fill=MUTED))
    parts.append(line((x(0), _TOP), (x(0), bottom), MUTED))
    parts += [
        text(name, left - 8, y(at) + y.width / 2 + 4, text_anchor="end", fill=INK)
        for at, name in enumerate(names)
    ]
    parts += [text(each.text, each.at, bottom + 18, text_anchor="middle", fill=MUTED) for each in ticks]
    parts.append(text(cut(unit_title(chart), WIDTH - left), left, 12, fill=MUTED))
    return "".join(parts), bottom + _BOTTOM
