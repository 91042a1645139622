"""Maps of countries: each is coloured by its value."""

import math
import statistics
from collections.abc import Sequence

from pydantic import JsonValue

from app.modules.analysis.chart.axes import lookup
from app.modules.analysis.chart.canvas import Canvas, Picture, fitted, point_datum, points_layer
from app.modules.analysis.chart.countries import Box, boxes, codes_of
from app.modules.analysis.chart.leaders import leaders, named_points
from app.modules.analysis.chart.plan import NotDrawable, Plan, Spec
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.chart.values import plotted

WORLD = "world"
"""Name of the data with the shapes, which no specification has: the renderer adds them."""
_SHAPES: Spec = {"name": WORLD, "format": {"type": "topojson", "feature": "countries"}}
_WIDEST = 120
"""Degrees of longitude up to which a map shows a part of the world."""
_MARGIN = 4
_HEIGHT = 360.0
_MOST_SKEWED = 8
_LEAST_UNIT = 1e-12
"""Of the highest value; the logarithms of what is divided by less could be infinite."""
_ABOVE_LAND = 0.15
_BESIDE = 48
"""Pixels of other countries to the left and right, where the picture is wider than the part of the world."""
_WHOLE: Spec = {
    "type": "naturalEarth1",
    "center": [8, 9],
    "scale": {"expr": "min(width / 5.5, height / 2.3)"},
    "translate": {"expr": "[width / 2, height / 2]"},
}


def check_places(plan: Plan, table: ChartTable) -> None:
    """Raises `NotDrawable` unless the rows name countries, each once or with values that are put together."""
    cells = [] if plan.across is None else table.cells(plan.across)
    codes = codes_of(cells, column=table.name(plan.across or 0)) if cells else None
    if codes is None:
        raise NotDrawable("Not every row names a country that the map has. Choose bars.")
    is_repeated = plan.values[0].how is None and len({*codes}) < len(codes)
    if is_repeated or len({*map(str, cells)}) != len({*codes}):
        raise NotDrawable("Several rows have one country. Choose bars.")


def are_places(plan: Plan, table: ChartTable) -> bool:
    """True if the rows can be drawn as a map."""
    try:
        check_places(plan, table)
    except NotDrawable:
        return False
    return True


def draw_map(canvas: Canvas) -> Picture:
    """The countries that the rows name, on a map of as much of the world as they take."""
    plan = canvas.plan
    across, value = plan.across or 0, plan.values[0]
    cells = canvas.table.cells(across)
    codes = codes_of(cells, column=canvas.table.name(across)) or []
    code_by_name = dict(zip(canvas.names(across), codes, strict=True))
    points, numbers = named_points(canvas, value), canvas.numbers()
    points, _ = leaders(canvas, points, numbers, most=plan.limit or len(points))
    field = f"c{value.column}"
    data = [
        point_datum(
            each,
            f"{each.across}: {numbers.exact(each.amount)}",
            {f"c{across}": each.across, "id": code_by_name[each.across], field: plotted(each.value)},
        )
        for each in points
    ]
    ordered = sorted(points, key=lambda each: each.amount)
    low, high = ordered[0], ordered[-1]
    amounts = [each.amount for each in ordered]
    color: Spec = {"field": field, "type": "quantitative", "scale": _scale(amounts, own=plan.color)}
    named = sorted({low.amount, high.amount, 0.0 if low.amount < 0 < high.amount else _middle(amounts)})
    labels = numbers.labels(named)
    if len({*labels}) < len(labels):
        labels = [numbers.exact(each) for each in named]
    color["legend"] = {
        "values": [*named],
        "labelExpr": lookup(labels, [*named]),
        "title": canvas.value_name(value),
    }
    shapes: Spec = {"lookup": "id", "from": {"data": {**_SHAPES}, "key": "id"}, "as": "place"}
    shape: Spec = {"field": "place", "type": "geojson"}
    mark: Spec = {"type": "geoshape", "clip": True}
    land: Spec = {"data": {**_SHAPES}, "mark": {**mark, "style": "kai-land"}}
    places = points_layer({"shape": shape, "color": color}, mark={**mark, "style": "kai-place"})
    ends = [numbers.short(each.amount) for each in (low, high)]
    seen = canvas.say("extremes", ends[1], high.across, ends[0], low.across)
    view = fitted([land, {"transform": [shapes], **places}], _HEIGHT, padding=0)
    projection = _projection([code_by_name[each.across] for each in points])
    return Picture(view={**view, "projection": projection}, values=data, seen=seen)


def _scale(amounts: Sequence[float], *, own: str | None) -> Spec:
    """Colours by value, lowest first; a few large ones leave the others apart. `own` is a reader's colour."""
    low, high = amounts[0], amounts[-1]
    if low < 0 < high:
        reach = max(-low, high)
        return {"range": "diverging", "domain": [-reach, 0, reach], "interpolate": "lab"}
    scale: Spec = {"range": [f"{own}26", own] if own else "ramp", "interpolate": "lab"}
    middle = _middle(amounts)
    if low < 0 or high <= _MOST_SKEWED * middle:
        return {**scale, "domain": [_lower_end(low, high), high]}
    unit = max(middle / _MOST_SKEWED, high * _LEAST_UNIT)
    lowest = _lower_end(math.log1p(low / unit), math.log1p(high / unit))
    lowest = math.copysign(unit * math.expm1(abs(lowest)), lowest)
    return {**scale, "type": "symlog", "constant": unit, "domain": [lowest, high]}


def _middle(amounts: Sequence[float]) -> float:
    """The median of the amounts that are not zero; zero if all are."""
    return statistics.median_low([each for each in amounts if each] or [0.0])


def _lower_end(low: float, high: float) -> float:
    """The lowest end of a scale, so that a country with a low value is none without."""
    return low - _ABOVE_LAND * (high - low)


def _projection(codes: Sequence[str]) -> Spec:
    """The part of the world with all countries, or the whole world if they are far apart."""
    found = [boxes()[each] for each in codes]
    west, east = min(each.west for each in found), max(each.east for each in found)
    if any(each.west > each.east for each in found) or east - west > _WIDEST:
        return {**_WHOLE}
    box = Box(
        west=west - _MARGIN,
        south=max(-60, min(each.south for each in found) - _MARGIN),
        east=east + _MARGIN,
        north=min(78, max(each.north for each in found) + _MARGIN),
    )
    south, north = _mercator(box.south), _mercator(box.north)
    middle = math.degrees(2 * math.atan(math.exp((south + north) / 2)) - math.pi / 2)
    center: list[JsonValue] = [round((box.west + box.east) / 2, 1), round(middle, 1)]
    wide, high = round(math.radians(box.east - box.west), 3), round(north - south, 3)
    scale = f"min(width / {wide}, height / {high})"
    half = f"({scale} * {wide} / 2 + {_BESIDE})"
    return {
        "type": "mercator",
        "center": center,
        "scale": {"expr": scale},
        "translate": {"expr": "[width / 2, height / 2]"},
        "clipExtent": {"expr": f"[[width / 2 - {half}, 0], [width / 2 + {half}, height]]"},
    }


def _mercator(latitude: float) -> float:
    return math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2))
