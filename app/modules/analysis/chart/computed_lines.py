"""What is computed over time, drawn with the values: averages, changes, rings and projections."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.modules.analysis.chart.canvas import LABEL, Canvas, Picture, fitted, layer
from app.modules.analysis.chart.columns import draw_values_over_time
from app.modules.analysis.chart.lines import panel_layers
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.panel import Panel, panel_data, panel_of, track_of
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.chart.timeline import Timeline, timeline
from app.modules.analysis.chart.values import Point, plotted
from app.modules.analysis.computed.option import NotComputable
from app.modules.analysis.computed.periods import period_values
from app.modules.analysis.figures.calendar import Period

if TYPE_CHECKING:
    from app.modules.analysis.computed.compute import Added


def draw_computed(canvas: Canvas) -> Picture:
    """The values with what the plan computes of them."""
    from app.modules.analysis.computed.compute import compute  # noqa: PLC0415  (numpy loads slowly)

    plan = canvas.plan
    if plan.computed is None or plan.across is None:
        raise NotDrawable("Nothing is computed.")
    value = plan.values[0]
    try:
        values = period_values(
            canvas.rows, canvas.found, across=plan.across, column=value.column, how=value.how, unit=plan.time
        )
        option = plan.computed
        added = compute(option.kind, values, name=canvas.title(value.column), window=option.window)
    except NotComputable as error:
        raise NotDrawable(str(error)) from error
    line = timeline(canvas, value)
    canvas.how.extend(each for each in added.said if each not in canvas.how)
    if added.kind == "changes":
        return _changes(canvas, line, added)
    if added.kind == "rings":
        panel = _ringed(panel_of(canvas, line, [track_of(line, "")]), added)
    elif added.band:
        panel = _ahead(panel_of(canvas, line, [track_of(line, "")]), added)
    else:
        average = track_of(replace(line, points=_points(added.points), partial=()), added.name)
        panel = panel_of(canvas, line, [average], grey=[track_of(line, canvas.title(value.column))])
    named = canvas.say("by", canvas.title(value.column), canvas.title(plan.across))
    data = [*panel_data(panel), *(_projected(panel, added) if added.band else [])]
    return Picture(view=fitted(panel_layers(panel)), values=data, named=named, covered=line.covered)


def _points(values: Mapping[Period, float | None]) -> list[Point]:
    return [
        Point(across=period.start.isoformat(), value=_rounded(value), period=period)
        for period, value in values.items()
    ]


def _rounded(value: float | None) -> JsonValue:
    """Without the noise of the last digits; whole numbers are written as such."""
    if value is None:
        return None
    short = float(f"{value:.12g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _changes(canvas: Canvas, line: Timeline, added: "Added") -> Picture:
    numbers = Numbers(formats=canvas.formats, unit="ratio") if added.is_share else canvas.numbers()
    points = [each for each in _points(added.points) if plotted(each.value) is not None]
    own = replace(line, points=points, partial=(), gaps=())
    return draw_values_over_time(canvas, own, numbers, name=added.name)


def _ringed(panel: Panel, added: "Added") -> Panel:
    """Rings around values that lie far off, each with its period."""
    data: list[Spec] = [
        {panel.across: period.start.isoformat(), panel.field: _rounded(value)}
        for period, value in added.points.items()
    ]
    rings = layer({"type": "point", "style": "kai-ring"}, panel.encoding(), data, name="rings")
    return replace(panel, over=[rings] if data else [])


def _ahead(panel: Panel, added: "Added") -> Panel:
    """A dashed line from the last whole period through those to come, in a band."""
    whole = [each for each in panel.tracks[0].points if panel.line.partial_at(each) is None]
    data: list[Spec] = []
    if whole:
        data.append({panel.across: whole[-1].across, panel.field: plotted(whole[-1].value)})
        data[0] |= {"low": plotted(whole[-1].value), "high": plotted(whole[-1].value)}
    for period, value in added.points.items():
        low, high = added.band[period]
        datum: Spec = {panel.across: period.start.isoformat(), panel.field: _rounded(value)}
        data.append({**datum, "low": _rounded(low), "high": _rounded(high)})
    style = panel.encoding()
    band: Spec = {**panel.encoding(value="low"), "y2": {"field": "high"}}
    last = max(added.points)
    name = [f"{added.name}", panel.numbers.labels([float(added.points[last] or 0)])[0]]
    end: list[Spec] = [{**data[-1], "label": [*name]}]
    return replace(
        panel,
        until=last.start.isoformat(),
        ends=name,
        extra=[edge for ends in added.band.values() for edge in ends],
        under=[layer({"type": "area"}, band, data, name="band")],
        over=[
            layer({"type": "line", "style": "kai-projection"}, style, data, name="ahead"),
            layer(
                {"type": "text", "style": "kai-partial-label", "align": "left", "dx": 10, "lineHeight": 15},
                {**style, "text": LABEL},
                end,
                name="ahead_end",
            ),
        ],
    )


def _projected(panel: Panel, added: "Added") -> list[Spec]:
    """The data of the periods to come: points that the solid line leaves out."""
    number = panel.numbers.exact
    data: list[Spec] = []
    for period, value in added.points.items():
        low, high = added.band[period]
        span = panel.canvas.say("from to", number(_float(low)), number(_float(high)))
        name = panel.canvas.formats.period(period)
        datum: Spec = {panel.across: period.start.isoformat(), panel.field: _rounded(value), "ahead": True}
        data.append({**datum, "said": f"{name}, {added.name}: {number(_float(value))}, {span}"})
    return data


def _float(value: float | None) -> float:
    return float(f"{value or 0.0:.12g}")
