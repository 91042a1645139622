"""A heat map: the darker a cell, the higher its value."""

from app.modules.reports.charts.model import Chart
from app.modules.reports.charts.numbers import tick_format, value_text
from app.modules.reports.charts.scales import Bands, extent
from app.modules.reports.drawing.axes import labels_below, place_ticks, unit_title
from app.modules.reports.drawing.plotted import Plotted
from app.modules.reports.drawing.svg import ACCENT, INK, LINE, MUTED, WIDTH, cut, element, text, text_width

_TOP, _BOTTOM = 22, 28
_ROW = 28
_FEWEST_ROWS, _MOST_ROWS = 3, 30
_STEPS = 5
_ROOM_FOR_VALUE = 8


def draw_heat(chart: Chart, found: Plotted) -> tuple[str, float]:
    """Returns the elements and the height."""
    names = [cut(each, 160) for each in found.series]
    left = max(24.0, *map(text_width, names)) + 10
    bottom = _TOP + min(_MOST_ROWS, max(_FEWEST_ROWS, len(names))) * _ROW
    order = sorted(range(len(found.places)), key=lambda at: found.places[at].at)
    rank = {place: at for at, place in enumerate(order)}
    x = Bands(len(order), (left, WIDTH - 8), 0.04)
    y = Bands(len(names), (_TOP, bottom), 0.06)
    known = [(cell, cell.value) for cell in found.cells if cell.value is not None]
    low, high = extent([value for _, value in known], zero=False)

    def share(value: float) -> float:
        return (value - low) / (high - low)

    parts: list[str] = []
    for cell, value in known:
        left_of, top = x(rank[cell.place]), y(cell.series)
        fill = _mixed(share(value))
        parts.append(element("rect", x=left_of, y=top, width=x.width, height=y.width, fill=fill))
        shown = value_text(value, chart.numbers)
        if text_width(shown) + _ROOM_FOR_VALUE <= x.width:
            middle = (left_of + x.width / 2, top + y.width / 2 + 4)
            parts.append(text(shown, *middle, text_anchor="middle", fill=INK))
    parts += [
        text(name, left - 8, y(at) + y.width / 2 + 4, text_anchor="end", fill=INK)
        for at, name in enumerate(names)
    ]
    parts += labels_below(place_ticks(x, [found.places[at].name for at in order]), bottom)
    written = tick_format([low, high], chart.numbers)
    scale_at = WIDTH - 8 - _STEPS * 14 - text_width(written(high)) - 6
    parts.append(text(cut(unit_title(chart), scale_at - 80), 0, 12, fill=MUTED))
    parts.append(text(written(low), scale_at - 6, 12, text_anchor="end", fill=MUTED))
    parts += [
        element("rect", x=scale_at + at * 14, y=2, width=14, height=11, fill=_mixed(at / (_STEPS - 1)))
        for at in range(_STEPS)
    ]
    parts.append(text(written(high), scale_at + _STEPS * 14 + 6, 12, fill=MUTED))
    return "".join(parts), bottom + _BOTTOM


def _mixed(share: float) -> str:
    """A colour between that of lines and the accent."""
    ends = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in (LINE, ACCENT)]
    return "#" + "".join(
        f"{round(one + (other - one) * share):02x}" for one, other in zip(*ends, strict=True)
    )
