"""Heat maps: a value by the names of two columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from app.modules.analysis.chart.axes import LETTER
from app.modules.analysis.chart.bars import BarRows
from app.modules.analysis.chart.canvas import (
    LABEL,
    Canvas,
    Picture,
    fitted,
    nominal,
    point_datum,
    points_layer,
)
from app.modules.analysis.chart.leaders import named_points, natural, sorted_points
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.timeline import short_period
from app.modules.analysis.chart.values import Point, plotted, totals_of

_MOST_ROWS = 31
_MOST_COLUMNS = 31
_ROW = 26.0
_HEAD = 40
_DARK = 0.55


def draw_heat(canvas: Canvas) -> Picture:
    """Columns are the names of `across`, lines those of the series."""
    plan = canvas.plan
    value = plan.values[0]
    head_periods, line_periods = _period_names(canvas, plan.across), _period_names(canvas, plan.series)
    points = _name_periods(named_points(canvas, value), heads=head_periods, lines=line_periods)
    numbers = canvas.numbers()
    heads = _ordered_names(canvas, points, head_periods)[:_MOST_COLUMNS]
    of_lines = [replace(each, across=each.series) for each in points]
    lines = _ordered_names(canvas, of_lines, line_periods)[: plan.limit or _MOST_ROWS]
    drawn = [each for each in points if each.across in heads and each.series in lines]
    if len(drawn) < len(points):
        canvas.note("first", canvas.formats.count(len(points)), canvas.formats.count(len(drawn)))
    amounts = [each.amount for each in drawn]
    low, high = min(amounts), max(amounts)
    is_signed = low < 0 < high
    labels = numbers.labels([plotted(each.value) or 0 for each in drawn])
    across, group, field = f"c{plan.across}", f"c{plan.series}", f"c{value.column}"
    reach = max(abs(low), abs(high)) or 1.0
    data: list[Spec] = []
    for point, label in zip(drawn, labels, strict=True):
        strength = abs(point.amount) / reach if is_signed else (point.amount - low) / ((high - low) or 1.0)
        datum: Spec = {across: point.across, group: point.series, field: plotted(point.value)}
        datum |= {"label": label, "strong": strength > _DARK}
        said = f"{point.across}, {point.series}: {numbers.exact(point.amount)}"
        data.append(point_datum(point, said, datum))
    place = BarRows(names=lines, values_room=0, row=_ROW)
    return Picture(
        view=_view(canvas, place, heads, labels=labels, is_signed=is_signed, reach=reach),
        values=data,
    )


def _view(
    canvas: Canvas, place: BarRows, heads: list[str], *, labels: list[str], is_signed: bool, reach: float
) -> Spec:
    plan = canvas.plan
    across, group, field = f"c{plan.across}", f"c{plan.series}", f"c{plan.values[0].column}"
    longest = max(map(len, heads))
    turned = longest * LETTER * len(heads) > 660
    range_: list[JsonValue] = [{"expr": place.names_room}, {"expr": "width"}]
    domain: list[JsonValue] = [*heads]
    axis: Spec = {"orient": "top", "domain": False, "labelPadding": 6, "labelAngle": 0}
    axis |= {"labelOverlap": "parity", "labelLimit": 120}
    if turned and longest > 4:
        axis |= {"labelAngle": -35, "labelAlign": "left", "labelOverlap": False, "labelLimit": 110}
    x: Spec = {
        **nominal(across),
        "sort": None,
        "scale": {"domain": domain, "range": range_, "paddingInner": 0.05},
        "axis": axis,
    }
    y: Spec = {**place.y(group)}
    y["scale"] = {"domain": [*place.names], "paddingInner": 0.08}
    scale: Spec = {"range": "ramp", "interpolate": "lab"}
    if is_signed:
        scale = {"range": "diverging", "domain": [-reach, 0, reach], "interpolate": "lab"}
    color: Spec = {"field": field, "type": "quantitative", "legend": None, "scale": scale}
    cell: Spec = {"x": x, "y": y}
    layers: list[Spec] = [
        *place.name_layers(group),
        {"mark": {"type": "rect", "cornerRadius": 2}, "encoding": {**cell, "color": color}},
    ]
    need = (max(map(len, labels)) * LETTER + 6) * len(heads)
    if plan.labels:
        for test, style in (("datum.strong", "kai-cell-high"), ("!datum.strong", "kai-cell-low")):
            mark: Spec = {"type": "text", "style": style, "align": "center", "baseline": "middle"}
            mark["opacity"] = {"expr": f"width - {place.names_room} > {round(need)} ? 1 : 0"}
            layers.append(
                {
                    "transform": [{"filter": test}],
                    "mark": mark,
                    "encoding": {**cell, "text": LABEL},
                }
            )
    layers.append(points_layer(cell, mark={"type": "rect", "opacity": 0}))
    return fitted(layers, place.height + (_HEAD * 2 if turned and longest > 4 else _HEAD), padding=0)


def _period_names(canvas: Canvas, column: int | None) -> dict[str, str]:
    """The short name of each period of a column by its name in the rows, in order of time.

    Empty where the column has no periods, or where names and short names are not one to one: a year beside a
    column of months has twelve periods, and hours of two days are short for the same.
    """
    if column is None or (periods := canvas.table.periods(column)) is None:
        return {}
    pairs = {*zip(periods, canvas.names(column), strict=True)}
    short = {
        name: short_period(period, canvas.plan.language)
        for period, name in sorted((period, name) for period, name in pairs if period is not None)
    }
    return short if len({*short.values()}) == len(pairs) else {}


def _name_periods(
    points: Sequence[Point], *, heads: Mapping[str, str], lines: Mapping[str, str]
) -> list[Point]:
    """The points with the short names of the periods of their columns and lines."""
    return [
        replace(each, across=heads.get(each.across, each.across), series=lines.get(each.series, each.series))
        for each in points
    ]


def _ordered_names(canvas: Canvas, points: Sequence[Point], periods: Mapping[str, str]) -> list[str]:
    """The names across in the order of time, of a calendar or of numbers if they have one; else the largest
    first.
    """
    totals = totals_of(points)
    if periods:
        return [each for each in periods.values() if each in totals]
    if all(natural(each)[0] < 2 for each in totals):
        return sorted(totals, key=natural)
    if canvas.plan.sort == "rows" and canvas.found.sorted_by is not None:
        return [*totals]
    whole = [Point(across=name, value=total) for name, total in totals.items()]
    sort = "value" if canvas.plan.sort == "rows" else canvas.plan.sort
    return [each.across for each in sorted_points(whole, sort)]
