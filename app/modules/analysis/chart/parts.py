"""Parts of a whole: one bar or a pie, with the names and shares beside it."""

import math

from app.modules.analysis.chart.canvas import (
    Canvas,
    Picture,
    coloured,
    fitted,
    nominal,
    point_datum,
    points_layer,
)
from app.modules.analysis.chart.kinds import MAX_SERIES
from app.modules.analysis.chart.leaders import leaders, named_points
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.values import plotted

_BAR = 44
_LINE = 26
_LIST_TOP = 66
_PIE = 200
_RADIUS = "min(100, 0.24 * width)"
_BESIDE_PIE = f"(2 * {_RADIUS} + 28)"


def draw_parts(canvas: Canvas) -> Picture:
    """The parts, largest first unless the plan sorts them. A pie has at most six, a bar too."""
    plan = canvas.plan
    numbers = canvas.numbers()
    points = [each for each in named_points(canvas, plan.values[0]) if each.amount > 0]
    points, _ = leaders(canvas, points, numbers, most=plan.limit or MAX_SERIES)
    total = sum(each.amount for each in points)
    across, field = f"c{plan.across}", f"c{plan.values[0].column}"
    is_pie = plan.mark == "arc"
    top = (_PIE - _LINE * len(points)) / 2 + _LINE / 2 if is_pie else _LIST_TOP
    data: list[Spec] = []
    start = 0.0
    for at, point in enumerate(points):
        share = point.amount / total
        percent = numbers.shares([share])[0]
        datum: Spec = {across: point.across, field: plotted(point.value)}
        datum |= {"from": start, "to": start + share, "mid": start + share / 2, "share": percent}
        datum |= {"place": top + at * _LINE, "label": numbers.labels([point.amount])[0]}
        data.append(point_datum(point, f"{point.across}: {numbers.exact(point.amount)}, {percent}", datum))
        start += share
    names = [each.across for each in points]
    color: Spec = {"color": coloured(across, names)}
    layers = [
        *(_pie_layers(color) if is_pie else _bar_layers(color)),
        *_list_layers(
            across, color, numbers_room=max(len(str(each["label"])) for each in data), is_pie=is_pie
        ),
    ]
    height = max(_PIE, _LINE * len(names)) if is_pie else _LIST_TOP + _LINE * len(names)
    return Picture(view=fitted(layers, height, padding=0), values=data, seen=f"{data[0]['said']}.")


def _bar_layers(color: Spec) -> list[Spec]:
    scale: Spec = {"domain": [0, 1], "nice": False}
    x: Spec = {"field": "from", "type": "quantitative", "scale": scale, "axis": None}
    place: Spec = {"x": x, "x2": {"field": "to"}, "y": {"value": 0}, "y2": {"value": _BAR}}
    bar: Spec = {"type": "rect", "cornerRadius": 1}
    inside: Spec = {"type": "text", "style": "kai-cell-high", "align": "center", "baseline": "middle"}
    middle: Spec = {"x": {**x, "field": "mid"}, "y": {"value": _BAR / 2}}
    long = "(datum.to - datum.from) * width > 44"
    return [
        {"mark": bar, "encoding": {**place, **color}},
        {"transform": [{"filter": long}], "mark": inside, "encoding": {**middle, "text": nominal("share")}},
        points_layer(place, mark={"type": "rect", "opacity": 0}),
    ]


def _pie_layers(color: Spec) -> list[Spec]:
    turn: Spec = {"domain": [0, 1], "range": [0, 2 * math.pi]}
    theta: Spec = {"field": "from", "type": "quantitative", "scale": turn, "stack": None}
    encoding: Spec = {"theta": theta, "theta2": {"field": "to"}}
    at: Spec = {"x": {"expr": _RADIUS}, "y": _PIE / 2}
    at |= {"outerRadius": {"expr": _RADIUS}, "innerRadius": {"expr": f"0.55 * {_RADIUS}"}}
    return [
        {"mark": {"type": "arc", "padAngle": 0.012, **at}, "encoding": {**encoding, **color}},
        points_layer(encoding, mark={"type": "arc", "opacity": 0, **at}),
    ]


def _list_layers(across: str, color: Spec, *, numbers_room: int, is_pie: bool) -> list[Spec]:
    """The names with their values and shares, one below the other. Places are pixels."""
    y: Spec = {"field": "place", "type": "quantitative", "scale": None, "axis": None}
    base = _BESIDE_PIE if is_pie else "0"
    narrow = f"(width < 500 ? width : {base} + 420)"
    room = f"{narrow} - {base} - 20 - (width < 500 && {str(is_pie).lower()} ? 50 : {numbers_room * 8 + 70})"
    texts = [
        (f"{base} + 18", "kai-name", across),
        (f"{narrow} - 62", "kai-share", "label"),
        (narrow, "kai-share", "share"),
    ]
    dot: Spec = {"type": "point", "size": 90}
    layers: list[Spec] = [
        {"mark": dot, "encoding": {"x": {"value": {"expr": f"{base} + 6"}}, "y": y, **color}}
    ]
    for x, style, field in texts:
        mark: Spec = {"type": "text", "style": style}
        if style == "kai-name":
            mark["limit"] = {"expr": room}
        elif is_pie and x != narrow:
            mark["opacity"] = {"expr": "width < 500 ? 0 : 1"}
        layers.append(
            {"mark": mark, "encoding": {"x": {"value": {"expr": x}}, "y": y, "text": nominal(field)}}
        )
    return layers
