"""Lines over names that have an order of their own, such as months of the year in two years."""

from collections.abc import Mapping, Sequence
from datetime import date

from pydantic import JsonValue

from app.core.values.dates import format_date
from app.modules.analysis.chart.axes import (
    HEIGHT,
    LETTER,
    across_domain,
    apart,
    ends_of,
    label_room,
    lookup,
    number_axis,
    scale_of,
)
from app.modules.analysis.chart.bars import series_points
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
from app.modules.analysis.chart.leaders import natural
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.panel import LEFT, cut
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.values import Point, numbered, plotted
from app.modules.analysis.figures.calendar import month_number
from app.modules.analysis.figures.names import calendar_title


def draw_ordered_lines(canvas: Canvas) -> Picture:
    """One line for each series, or for each of several values. A place without a value breaks its line."""
    points, series = series_points(canvas)
    numbers = canvas.numbers()
    places = sorted(dict.fromkeys(each.across for each in points), key=natural)
    lines = [{each.across: each for each in points if each.series == name} for name in series]
    scale = scale_of([each.amount for each in points])
    labels = numbered([cut(name) for name in series])
    room = max(map(len, labels)) * LETTER + 26
    several = canvas.plan.series is None
    names = {each: _place_name(canvas, each) for each in places}
    x = _across([*names.values()], room)
    y: Spec = {
        "field": "at",
        "type": "quantitative",
        "scale": ends_of(scale),
        "axis": number_axis(scale, numbers, "" if several else canvas.value_name(canvas.plan.values[0])),
    }
    color: Spec = {"color": coloured("series", series)}
    detail: JsonValue = [nominal("run"), nominal("series")]
    layers: list[Spec] = []
    if scale.has_zero:
        zero: Spec = {"y": {"datum": 0, "type": "quantitative"}}
        layers.append(layer({"type": "rule"}, zero, [{}], name="zero"))
    else:
        canvas.note("no zero", canvas.title(canvas.plan.values[0].column))
    layers.append({"mark": {"type": "line"}, "encoding": {"x": x, "y": y, **color, "detail": detail}})
    if canvas.plan.labels:
        ends = [line[max(line, key=natural)].amount for line in lines]
        heights = apart([scale.share(each) for each in ends], HEIGHT * 0.8)
        named: list[Spec] = [
            {"series": name, "at": scale.value(height), "label": label}
            for name, height, label in zip(series, heights, labels, strict=True)
        ]
        at_end: Spec = {"x": {"datum": len(places) - 1, "type": "quantitative"}, "y": y}
        dot: Spec = {"type": "point", "size": 44, "xOffset": 12}
        words: Spec = {"type": "text", "style": "kai-series-label"}
        words["limit"] = {"expr": f"{label_room(room)} - 20"}
        layers.append(layer(dot, {**at_end, **color}, named, name="ends"))
        layers.append(layer(words, {**at_end, "text": LABEL}, named, name="end_labels"))
    layers.append(points_layer({"x": x, "y": y}))
    return Picture(view=fitted(layers), values=_data(canvas, names, lines, numbers=numbers))


def _data(
    canvas: Canvas, names: Mapping[str, str], lines: Sequence[Mapping[str, Point]], *, numbers: Numbers
) -> list[Spec]:
    """The data of the points. `names` are the names of the places as they are said."""
    places = [*names]
    data: list[Spec] = []
    for line in lines:
        run = 0
        for at, place in enumerate(places):
            if place not in line:
                continue
            point = line[place]
            run += at == 0 or places[at - 1] not in line
            said = f"{names[place]}, {point.series}: {numbers.exact(point.amount)}"
            datum: Spec = {f"c{canvas.plan.across}": place, "place": at, "series": point.series, "run": run}
            datum["at"] = plotted(point.value)
            data.append(point_datum(point, said, datum))
    return data


def _across(names: Sequence[str], room: float) -> Spec:
    """The axis of the names, with room for the labels at the ends of the lines."""
    order = [*range(len(names))]
    return {
        "field": "place",
        "type": "quantitative",
        "scale": {
            "domain": across_domain(0, len(names) - 1, left=LEFT, right=room),
            "nice": False,
            "zero": False,
        },
        "axis": {
            "values": [*order],
            "labelExpr": lookup(names, [*order]),
            "labels": True,
            "labelOverlap": "parity",
            "tickCount": len(names) + 1,
            "grid": False,
            "domain": False,
        },
    }


def _place_name(canvas: Canvas, place: str) -> str:
    """The name of a place; months by number get their names."""
    month = month_number(place)
    own = calendar_title(canvas.rows["columns"][canvas.plan.across or 0]["name"])
    if month is not None and ("month" in own.split() or not place.isdecimal()):
        return format_date(date(2000, month, 1), "month letters", canvas.plan.language)
    return place
