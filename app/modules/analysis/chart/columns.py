"""Upright bars: over time, and by names that have an order of their own, such as hours or ratings."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from app.modules.analysis.chart.axes import (
    LETTER,
    Scale,
    ends_of,
    lookup,
    number_axis,
    scale_of,
    time_marks,
)
from app.modules.analysis.chart.canvas import (
    LABEL,
    Canvas,
    Picture,
    coloured,
    fitted,
    layer,
    nominal,
    point_datum,
    points_layer,
)
from app.modules.analysis.chart.gaps import say_gaps
from app.modules.analysis.chart.leaders import leaders, named_points
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.chart.timeline import Timeline, moment, short_period, timeline
from app.modules.analysis.chart.values import Point, plotted, spans_of, totals_of

MOST_COLUMNS = 48
_LEFT = 56
_MOST_LABELLED = 16
_AXIS_NAMES = 12
_LOW = 0.1


def draw_columns_over_time(canvas: Canvas) -> Picture:
    """One bar, or one stack or group of bars, for each period; periods without rows keep their place."""
    return draw_values_over_time(canvas, timeline(canvas, canvas.plan.values[0]), canvas.numbers())


def draw_values_over_time(canvas: Canvas, line: Timeline, numbers: Numbers, *, name: str = "") -> Picture:
    """Bars of the points of a timeline. `name` is that of their values if they are not the plan's own."""
    points = [each for each in line.points if plotted(each.value) is not None]
    if not points:
        raise NotDrawable("There are no values to draw.")
    places = line.places()
    say_gaps(canvas, line)
    if not line.gaps and len(places) > (there := len({each.across for each in points})):
        canvas.note("sparse", canvas.formats.count(there), canvas.formats.count(len(places)))
    marks = time_marks(line.first, line.last, unit=line.unit, language=canvas.plan.language)
    if line.unit == "week":  # a month begins in the midst of one: its name stands at its first whole week
        marks = [(next((place for place in places if place >= at), at), label) for at, label in marks]
    shown = [(each, label) for each, label in marks if each in places]
    said = {each.across: _said(canvas, each, line) for each in points}
    picture = _columns(canvas, points, places, shown=shown, said=said, line=line, numbers=numbers, name=name)
    named = canvas.say("by", name, canvas.title(canvas.plan.across or 0)) if name else ""
    return replace(picture, named=named, covered=line.covered)


def draw_columns(canvas: Canvas) -> Picture:
    """One bar for each name, in the order of the names."""
    points = named_points(canvas, canvas.plan.values[0])
    points, _ = leaders(canvas, points, canvas.numbers(), most=canvas.plan.limit or MOST_COLUMNS)
    places = list(dict.fromkeys(each.across for each in points))
    step = -(-len(places) // _AXIS_NAMES) if max(map(len, places)) <= 3 else 1
    shown: list[tuple[str, JsonValue]] = [(each, each) for each in places[::step]]
    said = {each: each for each in places}
    return _columns(canvas, points, places, shown=shown, said=said, line=None, numbers=canvas.numbers())


def _said(canvas: Canvas, point: Point, line: Timeline) -> str:
    if point.period is None:
        at = moment(point.across)
        return f"{canvas.formats.day(at.date())}, {at:%H:%M}"
    name = canvas.formats.period(point.period)
    partial = line.partial_at(point)
    return canvas.say("so far", name) if partial is not None and partial.reason == "running" else name


def _columns(
    canvas: Canvas,
    points: Sequence[Point],
    places: Sequence[str],
    *,
    shown: Sequence[tuple[str, JsonValue]],
    said: dict[str, str],
    line: Timeline | None,
    numbers: Numbers,
    name: str = "",
) -> Picture:
    plan = canvas.plan
    across = f"c{plan.across}"
    series = list(dict.fromkeys(each.series for each in points))
    is_stacked = plan.mark in ("stacked", "percent", "area") or (plan.share and len(series) > 1)
    data = _data(canvas, points, numbers, said=said, line=line, is_stacked=is_stacked)
    is_share = plan.mark == "percent" or plan.share
    if is_share:
        numbers = Numbers(formats=canvas.formats, unit="ratio")
    scale = _make_room_below(scale_of([float(str(each["to"])) for each in data], zero=True), data)
    if plan.mark == "percent":
        scale = Scale([0, 0.25, 0.5, 0.75, 1])
    domain: list[JsonValue] = [*places]
    x: Spec = {
        **nominal(across),
        "sort": None,
        "scale": {"domain": domain, "range": [_LEFT, {"expr": "width"}], "paddingInner": 0.25},
        "axis": {
            "values": [each for each, _ in shown],
            "tickCount": len(shown) + 1,
            "labelExpr": lookup([label for _, label in shown], [each for each, _ in shown]),
            "labelAngle": 0,
            "labelOverlap": "parity",
        },
    }
    name = name or canvas.value_name(plan.values[0])
    y: Spec = {
        "field": "to",
        "type": "quantitative",
        "stack": None,
        "scale": ends_of(scale),
        "axis": number_axis(scale, numbers, name),
    }
    encoding: Spec = {"x": x, "y": y, "y2": {"field": "from"}}
    zero: Spec = {"y": {"datum": 0, "type": "quantitative"}}
    layers = _bars(canvas, encoding, series=series, is_stacked=is_stacked)
    layers.append(layer({"type": "rule"}, zero, [{}], name="zero"))
    if len(places) <= _MOST_LABELLED:
        layers += _empty_places(canvas, places, points, x=x)
        if plan.labels and len(series) == 1:
            layers += _value_labels(x, y, data, count=len(places))
    is_group = len(series) > 1 and not is_stacked
    offset: Spec = {"xOffset": {**nominal("series"), "sort": None}} if is_group else {}
    layers.append(points_layer({**encoding, **offset}, mark={"type": "bar", "opacity": 0}))
    return Picture(view=fitted(layers), values=data)


def _make_room_below(scale: Scale, data: Sequence[Spec]) -> Scale:
    """A further step below zero where the label of the lowest bar would stand on the axis."""
    lowest = min(float(str(each["to"])) for each in data)
    if lowest >= 0 or scale.share(lowest) > _LOW:
        return scale
    return Scale([scale.low - (scale.ticks[1] - scale.low), *scale.ticks])


def _value_labels(x: Spec, y: Spec, data: Sequence[Spec], *, count: int) -> list[Spec]:
    """The values at the ends of the bars, where all of them have room."""
    wide = max(map(len, _texts(data))) * LETTER * count
    mark: Spec = {"type": "text", "style": "kai-note", "align": "center", "baseline": "bottom", "dy": -4}
    mark["lineHeight"] = 14
    mark["opacity"] = {"expr": f"width - {_LEFT} > {round(wide * 1.1)} ? 1 : 0"}
    sides: list[tuple[str, Spec]] = [
        ("datum.to >= 0 && !isArray(datum.label)", {}),
        ("datum.to < 0", {"baseline": "top", "dy": 5}),
        ("datum.to >= 0 && isArray(datum.label)", {"dy": -18}),
    ]
    encoding: Spec = {"x": x, "y": y, "text": LABEL}
    return [
        {"transform": [{"filter": test}], "mark": {**mark, **side}, "encoding": encoding}
        for test, side in sides
    ]


def _empty_places(canvas: Canvas, places: Sequence[str], points: Sequence[Point], *, x: Spec) -> list[Spec]:
    """Words where a period has no rows, if they have room."""
    there = {each.across for each in points}
    words = canvas.say("no value")
    data: list[Spec] = [
        {f"c{canvas.plan.across}": each, "label": words} for each in places if each not in there
    ]
    if not data:
        return []
    mark: Spec = {"type": "text", "style": "kai-gap-label", "baseline": "bottom"}
    mark["opacity"] = {"expr": f"width - {_LEFT} > {round(len(places) * len(words) * LETTER)} ? 1 : 0"}
    return [
        layer(
            mark,
            {"x": x, "y": {"value": {"expr": "height - 6"}}, "text": LABEL},
            data,
            name="gaps",
        )
    ]


def _bars(canvas: Canvas, encoding: Spec, *, series: Sequence[str], is_stacked: bool) -> list[Spec]:
    own: Spec = {"color": canvas.plan.color} if canvas.plan.color else {}
    if len(series) > 1:
        color: Spec = {**coloured("series", series)}
        color["legend"] = {"columns": {"expr": "max(1, floor(width / 150))"}, "offset": 26}
        offset: Spec = {} if is_stacked else {"xOffset": {**nominal("series"), "sort": None}}
        mark: Spec = {"type": "bar", "cornerRadius": 0 if is_stacked else 1}
        return [{"mark": mark, "encoding": {**encoding, "color": color, **offset}}]
    answer: Spec = {"type": "bar", "style": "kai-answer", **own}
    partial: Spec = {"type": "bar", "style": "kai-partial-bar", **own}
    below: Spec = {"type": "bar", "style": "kai-negative", **own}
    return [
        {
            "transform": [{"filter": "!datum.part && datum.to >= 0"}],
            "mark": answer,
            "encoding": encoding,
        },
        {"transform": [{"filter": "!datum.part && datum.to < 0"}], "mark": below, "encoding": encoding},
        {"transform": [{"filter": "datum.part"}], "mark": partial, "encoding": encoding},
    ]


def _texts(data: Sequence[Spec]) -> list[str]:
    found: list[str] = []
    for datum in data:
        label = datum["label"]
        found += map(str, label) if isinstance(label, list) else [str(label)]
    return found


def _data(
    canvas: Canvas,
    points: Sequence[Point],
    numbers: Numbers,
    *,
    said: dict[str, str],
    line: Timeline | None,
    is_stacked: bool,
) -> list[Spec]:
    plan = canvas.plan
    across, field = f"c{plan.across}", f"c{plan.values[0].column}"
    totals = totals_of(points)
    whole = sum(totals.values())
    as_share = plan.mark == "percent" or plan.share
    of = [totals[each.across] if plan.mark == "percent" else whole for each in points]
    lengths = [
        each.amount / total if as_share and total else each.amount
        for each, total in zip(points, of, strict=True)
    ]
    labels = numbers.labels([plotted(each.value) or 0 for each in points])
    spans = spans_of(points, lengths, is_stacked=is_stacked)
    data: list[Spec] = []
    for point, label, (start, end) in zip(points, labels, spans, strict=True):
        datum: Spec = {across: point.across, field: plotted(point.value), "from": start, "to": end}
        datum["label"] = label
        if point.series:
            datum["series"] = point.series
        partial = None if line is None else line.partial_at(point)
        if partial is not None:
            datum["part"] = True
            if partial.reason == "running":
                name = short_period(partial.period, plan.language, year=partial.period.unit == "year")
                datum["label"] = [canvas.say("so far", name), label]
        named = f"{said[point.across]}, {point.series}" if point.series else said[point.across]
        data.append(point_datum(point, f"{named}: {numbers.exact(point.amount)}", datum))
    return data
