"""Lines over time: one measure, several series, or panels one above the other."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from app.modules.analysis.chart.axes import WIDTH
from app.modules.analysis.chart.canvas import (
    TOP_PADDING,
    Canvas,
    Picture,
    coloured,
    fitted,
    layer,
    nominal,
    points_layer,
)
from app.modules.analysis.chart.gaps import gap_layers, say_series_gaps
from app.modules.analysis.chart.kinds import MAX_SERIES
from app.modules.analysis.chart.panel import (
    Panel,
    Track,
    datum_of,
    panel_data,
    panel_of,
    track_of,
    when_of,
)
from app.modules.analysis.chart.panel_labels import label_layers
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.specification import mapping
from app.modules.analysis.chart.timeline import Timeline, timeline

_MOST_COLOURED = 5
_MOST_PANELS = 6
_DENSE = 365
"""Points of a line from which it is drawn thinner, so that its swings stay apart."""
_PANELS_HEIGHT = 260
_LEAST_PANEL = 70
_PANEL_GAP = 22


def draw_lines(canvas: Canvas) -> Picture:
    plan = canvas.plan
    line = timeline(canvas, plan.values[0])
    if plan.mark == "combo" or plan.facet:
        return _panels(canvas, line)
    tracks, grey = _tracks(canvas, line)
    if len(tracks) > 1:
        say_series_gaps(canvas, line, {each.name: each.runs for each in tracks})
    panel = panel_of(canvas, line, tracks, grey=grey)
    view = fitted(panel_layers(panel))
    return Picture(view=view, values=panel_data(panel), seen=_seen(panel), covered=line.covered)


def _tracks(canvas: Canvas, line: Timeline) -> tuple[list[Track], list[Track]]:
    """The coloured and the grey lines: one for each series, or for each of several values."""
    plan = canvas.plan
    if plan.series is None and len(plan.values) > 1:
        lines = [line, *(timeline(canvas, each) for each in plan.values[1:])]
        return [
            track_of(each, canvas.value_name(value)) for each, value in zip(lines, plan.values, strict=True)
        ], []
    names = list(dict.fromkeys(point.series for point in line.points))
    tracks = [track_of(line, name) for name in names]
    tracks = [each for each in tracks if each.points]
    if plan.series is None or len(tracks) <= (plan.limit or MAX_SERIES):
        return sorted(tracks, key=_weight, reverse=True), []
    most = plan.limit or _MOST_COLOURED
    lowest = canvas.found.direction == "lowest"
    ordered = sorted(tracks, key=_weight, reverse=not lowest)
    count = canvas.formats.count
    end = canvas.say("end lowest" if lowest else "end highest")
    measure = canvas.title(plan.values[0].column)
    canvas.note("coloured", count(len(tracks)), count(most), measure, count(len(tracks) - most), end)
    return ordered[:most], ordered[most:]


def _weight(track: Track) -> float:
    return sum(point.amount for point in track.points) / len(track.points)


def panel_layers(panel: Panel) -> list[Spec]:
    """The layers of a panel, from the back to the front."""
    plan = panel.canvas.plan
    mark: Spec = {"type": "line", **({"color": plan.color} if plan.color else {})}
    most = max(len(each.points) for each in panel.tracks)
    if most > _DENSE:
        mark["strokeWidth"] = {"expr": f"clamp(1.6 * width / {most}, 0.75, 2)"}
    style = panel.encoding()
    whole = panel.encoding(own=True)
    color: Spec = {}
    if panel.has_series:
        color = {"color": coloured("series", [each.name for each in panel.tracks])}
    detail: JsonValue = [nominal("run"), *([nominal("series")] if panel.has_series else [])]
    layers = [*gap_layers(panel.canvas, panel.line, panel.across, index=panel.index)]
    if not panel.scale.has_zero:
        panel.canvas.note("no zero", panel.canvas.title(plan.values[0].column))
    else:
        zero: Spec = {"y": {"datum": 0, "type": "quantitative"}}
        layers.append({"mark": {"type": "rule"}, "data": {"values": [{}]}, "encoding": zero})
    layers += panel.under
    if panel.grey:
        grey: Spec = {
            "mark": {"type": "line", "style": "kai-context"},
            "encoding": {**style, "detail": detail},
        }
        layers.append({"transform": [{"filter": "datum.grey && !datum.part"}], **grey})
    if plan.mark == "area" and not panel.has_series:
        area: Spec = {"type": "area", **({"color": plan.color} if plan.color else {})}
        y: Spec = {**mapping(style["y"]), "stack": None}
        shape: Spec = {"mark": area, "encoding": {**style, "y": y, "detail": detail}}
        layers.append({"transform": [{"filter": "!datum.part && !datum.ahead"}], **shape})
    drawn: Spec = {"mark": mark, "encoding": {**whole, **color, "detail": detail}}
    layers.append({"transform": [{"filter": "!datum.part && !datum.grey && !datum.ahead"}], **drawn})
    layers += _partial_layers(panel, mark, color)
    layers += _single_points(panel, color)
    layers += panel.over
    layers += label_layers(panel, color)
    layers.append(points_layer(style, index=panel.index))
    return layers


def _partial_layers(panel: Panel, mark: Spec, color: Spec) -> list[Spec]:
    """Dashed lines to the periods that are not whole, and their hollow points."""
    segments, hollow = _partial_segments(panel, panel.tracks)
    grey, _ = _partial_segments(panel, panel.grey)
    if not hollow and not grey:
        return []
    style = panel.encoding()
    ring: Spec = {"type": "point", "style": "kai-partial-point"}
    stroke: Spec = {"stroke": color["color"]} if color else {}
    dashed = {**mark, "style": "kai-partial"}
    name = f"partial_{panel.index}"
    context: Spec = {"type": "line", "style": ["kai-partial", "kai-context"]}
    edges: Spec = {"detail": nominal("edge")}
    made = [
        (grey, layer(context, {**style, **edges}, grey, name=f"{name}_grey")),
        (segments, layer(dashed, {**style, **color, **edges}, segments, name=name)),
        (hollow, layer(ring, {**style, **stroke}, hollow, name=f"{name}_points")),
    ]
    return [each for data, each in made if data]


def _partial_segments(panel: Panel, tracks: Sequence[Track]) -> tuple[list[Spec], list[Spec]]:
    """The ends of the segments of lines to periods that are not whole, and the points of these."""
    segments: list[Spec] = []
    partial: list[Spec] = []
    for track in tracks:
        for run in track.runs:
            for at, point in enumerate(run):
                if panel.line.partial_at(point) is None:
                    continue
                partial.append(datum_of(panel, point))
                for other in (at - 1, at + 1):
                    if 0 <= other < len(run):
                        edge = f"{track.name} {len(segments)}"
                        segments += [datum_of(panel, each, edge=edge) for each in (run[other], point)]
    return segments, partial


def _single_points(panel: Panel, color: Spec) -> list[Spec]:
    """Points whose neighbours are missing: a line cannot show them."""
    alone = [
        datum_of(panel, run[0])
        for track in panel.tracks
        for run in track.runs
        if len(run) == 1 and panel.line.partial_at(run[0]) is None
    ]
    if not alone:
        return []
    mark: Spec = {"type": "point", "style": "kai-end-point"}
    return [layer(mark, {**panel.encoding(), **color}, alone, name=f"single_{panel.index}")]


def _seen(panel: Panel) -> str:
    """A sentence on the ends of the first line, and the times it goes over."""
    whole = [each for each in panel.tracks[0].points if panel.line.partial_at(each) is None]
    if panel.has_series or not whole:
        return ""
    high = max(whole, key=lambda each: each.amount)
    low = min(whole, key=lambda each: each.amount)
    number = panel.numbers.exact
    return panel.canvas.say(
        "extremes", number(high.amount), when_of(panel, high), number(low.amount), when_of(panel, low)
    )


def _panels(canvas: Canvas, line: Timeline) -> Picture:
    """Panels one above the other: one for each measure, or for each series with the same axis of numbers."""
    plan = canvas.plan
    panels: list[Panel] = []
    if plan.facet:
        tracks, _ = _tracks(canvas, line)
        kept = tracks[:_MOST_PANELS]
        amounts = [point.amount for track in kept for point in track.points]
        for index, track in enumerate(kept):
            panel = panel_of(canvas, replace(line, points=line.points), [track])
            panels.append(replace(panel, index=index, extra=amounts, name=track.name))
    else:
        for index, value in enumerate(plan.values):
            own = line if index == 0 else timeline(canvas, value)
            panels.append(replace(panel_of(canvas, own, [track_of(own, "")], at=index), index=index))
    height = max(_LEAST_PANEL, (_PANELS_HEIGHT - _PANEL_GAP * (len(panels) - 1)) / len(panels))
    panels = [replace(each, height=height, count=len(panels)) for each in panels]
    views: list[JsonValue] = [
        {
            "width": WIDTH,
            "height": height,
            "transform": [{"filter": f"datum.panel == {each.index}"}],
            "layer": [*panel_layers(each)],
        }
        for each in panels
    ]
    return Picture(
        view={
            "vconcat": views,
            "spacing": _PANEL_GAP,
            "padding": TOP_PADDING,
        },
        values=[datum for panel in panels for datum in panel_data(panel)],
        seen=_seen(panels[0]),
        covered=line.covered,
    )
