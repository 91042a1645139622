"""How values spread: a histogram of one column, and points of two."""

import statistics
from collections import Counter
from collections.abc import Sequence

from app.modules.analysis.chart.axes import LETTER, Scale, ends_of, number_axis, scale_of
from app.modules.analysis.chart.canvas import (
    LABEL,
    MAX_POINTS,
    Canvas,
    Picture,
    coloured,
    fitted,
    layer,
    points_layer,
)
from app.modules.analysis.chart.kinds import MAX_SERIES
from app.modules.analysis.chart.leaders import natural
from app.modules.analysis.chart.numbers import Numbers, numbers_of
from app.modules.analysis.chart.panel import cut
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.values import plotted

_LEFT = 56
_MOST_BINS = 40
_FEWEST_BINS = 5
_HEXAGONS = 30
_HEXAGON = "M0,-1L0.866,-0.5L0.866,0.5L0,1L-0.866,0.5L-0.866,-0.5Z"
_ROWS_OF_HEXAGONS = 11
_FLAT_POINTS = 0.75
"""Points show places, not lengths: a zero that is far from them would push them into a corner."""


def draw_histogram(canvas: Canvas) -> Picture:
    """Counts of values in bins as wide as Freedman and Diaconis (1981) advise, with the median."""
    column = canvas.plan.values[0].column
    values = sorted(value for row in canvas.rows["rows"] if (value := plotted(row[column])) is not None)
    missing = len(canvas.rows["rows"]) - len(values)
    if missing:
        canvas.note("without value", canvas.formats.count(missing), canvas.title(column))
    numbers = canvas.numbers()
    edges = _edges(values)
    counts = Counter(min(_bin(value, edges), len(edges) - 2) for value in values)
    median = statistics.median(values)
    count = canvas.formats.count
    canvas.note("bins", count(len(values)), count(len(edges) - 1), numbers.exact(median))
    field = f"c{column}"
    data: list[Spec] = []
    for at in range(len(edges) - 1):
        ends = canvas.say("from to", numbers.exact(edges[at]), numbers.exact(edges[at + 1]))
        datum: Spec = {field: edges[at], "to": edges[at + 1], "count": counts[at]}
        data.append({**datum, "said": f"{ends}: {count(counts[at])}"})
    across = Scale(edges)
    up = scale_of([0, *counts.values()], zero=True)
    counted = Numbers(formats=canvas.formats)
    x = _across(
        field, across, numbers, name=canvas.title(column), ticks=scale_of([across.low, across.high], count=6)
    )
    y = _up("count", up, counted, name=canvas.say("rows"))
    encoding: Spec = {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}
    bar: Spec = {"type": "bar", "style": "kai-answer", "binSpacing": 1, "cornerRadius": 0}
    if canvas.plan.color:
        bar["color"] = canvas.plan.color
    line: Spec = {"x": {"field": "median", "type": "quantitative"}}
    named: list[Spec] = [{"median": median, "label": canvas.say("median", numbers.exact(median))}]
    text: Spec = {"type": "text", "style": "kai-note", "align": "left", "dx": 6, "baseline": "top"}
    label: Spec = {**line, "y": {"value": -18}, "text": LABEL}
    layers: list[Spec] = [
        {"mark": bar, "encoding": encoding},
        layer({"type": "rule", "style": "kai-zero"}, line, named, name="median"),
        layer(text, label, named, name="median"),
        points_layer(encoding, mark={"type": "bar", "opacity": 0, "binSpacing": 1}),
    ]
    return Picture(view=fitted(layers), values=data, named=canvas.say("how many", canvas.title(column)))


def _edges(values: Sequence[float]) -> list[float]:
    quarters = statistics.quantiles(values, n=4)
    spread = quarters[2] - quarters[0]
    width = 2 * spread / len(values) ** (1 / 3) if spread else (values[-1] - values[0]) / 10
    count = round((values[-1] - values[0]) / width) if width else _FEWEST_BINS
    count = max(_FEWEST_BINS, min(_MOST_BINS, count))
    if all(isinstance(value, int) for value in values) and values[-1] - values[0] <= _MOST_BINS:
        return [float(at) - 0.5 for at in range(int(values[0]), int(values[-1]) + 2)]
    return [*scale_of([values[0], values[-1]], count=count).ticks]


def _bin(value: float, edges: Sequence[float]) -> int:
    return int((value - edges[0]) / (edges[1] - edges[0]) + 1e-9)


def _across(
    field: str, scale: Scale, numbers: Numbers, *, name: str, ticks: Scale, right: str = "width - 24"
) -> Spec:
    labels: Spec = number_axis(ticks, numbers, "")
    values = [each for each in ticks.ticks if scale.low <= each <= scale.high]
    axis: Spec = {**labels, "values": [*values], "labels": True, "labelOverlap": "parity"}
    axis["tickCount"] = len(values) + 1
    axis |= {"title": name, "titleAnchor": "end", "titlePadding": 2}
    place: Spec = {**ends_of(scale), "range": [_LEFT, {"expr": right}]}
    return {"field": field, "type": "quantitative", "scale": place, "axis": axis}


def _up(field: str, scale: Scale, numbers: Numbers, *, name: str) -> Spec:
    axis = number_axis(scale, numbers, name)
    return {"field": field, "type": "quantitative", "scale": ends_of(scale), "axis": axis}


def draw_points(canvas: Canvas) -> Picture:
    """Points of two measures, above 2,000 counted in hexagons; a third measure is the area of a point."""
    plan = canvas.plan
    across, up = plan.across or 0, plan.values[0].column
    size = plan.values[1].column if len(plan.values) > 1 else None
    names = canvas.names(plan.series) if plan.series is not None else []
    pairs: list[tuple[int, float, float]] = []
    for at, row in enumerate(canvas.rows["rows"]):
        x, y = plotted(row[across]), plotted(row[up])
        if x is not None and y is not None:
            pairs.append((at, x, y))
    missing = len(canvas.rows["rows"]) - len(pairs)
    if missing:
        both = canvas.formats.listed([canvas.title(across), canvas.title(up)])
        canvas.note("without value", canvas.formats.count(missing), both)
    x_numbers = numbers_of(canvas.measure(across), canvas.formats, form=plan.format, suffix=None)
    wide = scale_of([x for _, x, _ in pairs], count=6, flat=_FLAT_POINTS)
    high = scale_of([y for _, _, y in pairs], flat=_FLAT_POINTS)
    is_numbered = bool(names) and names[0].isdecimal()
    series = sorted(set(names), key=natural) if is_numbered else [*dict.fromkeys(names)]
    has_colours = 1 < len(series) <= MAX_SERIES
    room = max(len(cut(each)) for each in series) * LETTER + 30 if has_colours else 24
    right = f"width - {round(room)}"
    encoding: Spec = {
        "x": _across(f"c{across}", wide, x_numbers, name=canvas.title(across), ticks=wide, right=right),
        "y": _up(f"c{up}", high, canvas.numbers(), name=canvas.title(up)),
    }
    named = canvas.say("against", canvas.title(up), canvas.title(across))
    if has_colours:
        named = canvas.say("by", named, canvas.title(plan.series or 0))
    if len(pairs) > MAX_POINTS:
        return _hexagons(canvas, pairs, encoding, wide=wide, high=high, named=named)
    data = _point_data(canvas, pairs, x_numbers, size=size)
    mark: Spec = {"type": "point", "opacity": 0.75 if len(data) < 300 else 0.45}
    mark |= {"color": plan.color} if plan.color else {}
    if size is not None:
        encoding["size"] = {
            "field": f"c{size}",
            "type": "quantitative",
            "legend": None,
            "scale": {"range": [16, {"expr": "min(900, width)"}], "zero": True},
        }
        canvas.note("sized", canvas.title(size))
    layers: list[Spec] = []
    if has_colours:
        encoding["color"] = coloured("series", series)
        layers += _keys(series)
    if wide.has_zero and wide.low < 0:
        layers.append(layer({"type": "rule"}, {"x": {"datum": 0, "type": "quantitative"}}, [{}], name="zero"))
    layers.append({"mark": mark, "encoding": encoding})
    layers.append(points_layer({key: encoding[key] for key in ("x", "y")}))
    return Picture(view=fitted(layers), values=data, named=named)


def _point_data(
    canvas: Canvas, pairs: Sequence[tuple[int, float, float]], x_numbers: Numbers, *, size: int | None
) -> list[Spec]:
    plan = canvas.plan
    across, up = plan.across or 0, plan.values[0].column
    x_name, y_name, y_numbers = canvas.title(across), canvas.title(up), canvas.numbers()
    label = canvas.found.label if canvas.found.label not in (across, up) else None
    labels = canvas.names(label) if label is not None else []
    names = canvas.names(plan.series) if plan.series is not None else []
    data: list[Spec] = []
    for at, x, y in pairs:
        said = f"{x_name} {x_numbers.exact(x)}, {y_name} {y_numbers.exact(y)}"
        datum: Spec = {f"c{across}": x, f"c{up}": y, "row": at}
        datum["said"] = f"{labels[at]}: {said}" if labels else said
        if size is not None:
            datum[f"c{size}"] = plotted(canvas.rows["rows"][at][size])
        if names:
            datum["series"] = names[at]
        data.append(datum)
    return data


def _keys(series: Sequence[str]) -> list[Spec]:
    """The names of the series at the right, each with a dot of its colour."""
    data: list[Spec] = [
        {"series": name, "label": cut(name), "place": 10 + at * 20} for at, name in enumerate(series)
    ]
    room = max(len(cut(name)) for name in series) * LETTER
    y: Spec = {"field": "place", "type": "quantitative", "scale": None, "axis": None}
    dot: Spec = {"y": y, "x": {"value": {"expr": f"width - {round(room + 14)}"}}}
    text: Spec = {"y": y, "x": {"value": {"expr": f"width - {round(room + 24)}"}}}
    text["text"] = LABEL
    return [
        layer({"type": "point", "size": 60}, {**dot, "color": coloured("series", series)}, data, name="keys"),
        layer({"type": "text", "style": "kai-series-label"}, text, data, name="keys"),
    ]


def _hexagons(
    canvas: Canvas,
    pairs: Sequence[tuple[int, float, float]],
    encoding: Spec,
    *,
    wide: Scale,
    high: Scale,
    named: str,
) -> Picture:
    plan = canvas.plan
    across, up = f"c{plan.across}", f"c{plan.values[0].column}"
    counts: Counter[tuple[int, int]] = Counter()
    for _, x, y in pairs:
        row = min(int(high.share(y) * _ROWS_OF_HEXAGONS), _ROWS_OF_HEXAGONS - 1)
        shift = 0.5 if row % 2 else 0.0
        counts[round(wide.share(x) * _HEXAGONS - shift), row] += 1
    data: list[Spec] = []
    count = canvas.formats.count
    for (at, row), number in sorted(counts.items()):
        x = wide.value((at + (0.5 if row % 2 else 0.0)) / _HEXAGONS)
        y = high.value((row + 0.5) / _ROWS_OF_HEXAGONS)
        data.append({across: x, up: y, "count": number, "said": f"{count(number)} {canvas.say('rows')}"})
    canvas.note("hexagons", count(len(pairs)))
    ramp: Spec = {"field": "count", "type": "quantitative", "legend": None}
    ramp["scale"] = {"range": "ramp", "type": "sqrt"}
    step = f"(width - {_LEFT + 24}) / {_HEXAGONS}"
    shape: Spec = {"type": "point", "shape": _HEXAGON, "size": {"expr": f"pow({step} * 1.13, 2)"}}
    layers: list[Spec] = [
        {"mark": shape, "encoding": {**encoding, "color": ramp}},
        points_layer(encoding, mark={**shape, "opacity": 0}),
    ]
    return Picture(view=fitted(layers), values=data, named=named, shown=len(pairs))
