"""Labels within a picture over time: names of lines, their ends and peaks, and periods that are not whole."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from pydantic import JsonValue

from app.modules.analysis.chart.axes import LETTER, WIDTH, apart, label_room
from app.modules.analysis.chart.canvas import LABEL, Canvas, layer
from app.modules.analysis.chart.panel import LEFT, Panel, cut, datum_of, end_name, room_of
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.timeline import moment, short_period
from app.modules.analysis.chart.values import Point, numbered
from app.modules.analysis.figures.calendar import period_of
from app.modules.analysis.figures.trend import Partial

_NEAR_END = 0.12
_DISTANT = 0.2
_AT_LEFT = 0.15
_LOW = 0.15
_LABELS_HEIGHT = 45
_LABEL_ABOVE = 24
"""Pixels between two points of which one's label reaches the other's, or that of the axis."""
_ABOVE_AXIS = 14
"""Pixels from the middle of a label to the axis below it."""
_REACHED = 400
"""Pixels of the times of a picture of middle width."""


def label_layers(panel: Panel, color: Spec) -> list[Spec]:
    if not panel.canvas.plan.labels:
        return []
    return _series_labels(panel, color) if panel.has_series else _single_labels(panel)


def _series_labels(panel: Panel, color: Spec) -> list[Spec]:
    """Names at the ends of the lines, pushed apart, each with a dot of its colour."""
    scale = panel.scale
    named = [*panel.tracks, *(panel.grey if len(panel.grey) == 1 else ())]
    places = apart([scale.share(each.points[-1].amount) for each in named], panel.height * 0.8)
    names = numbered([cut(track.name) for track in named])
    ends: list[Spec] = [
        {panel.across: panel.last, "at": scale.value(place), "series": track.name, "label": name}
        for track, place, name in zip(named, places, names, strict=True)
    ]
    data, grey = ends[: len(panel.tracks)], ends[len(panel.tracks) :]
    style = panel.encoding(value="at")
    dot: Spec = {"type": "point", "size": 44, "xOffset": 12}
    words: Spec = {"type": "text", "limit": {"expr": f"{label_room(room_of(panel))} - 20"}}
    return [
        *_partial_names(panel),
        layer(dot, {**style, **color}, data, name=f"ends_{panel.index}"),
        layer(
            {**words, "style": "kai-series-label"},
            {**style, "text": LABEL},
            data,
            name="end_labels",
        ),
        *(
            [
                layer(
                    {**words, "style": "kai-context-label"},
                    {**style, "text": LABEL},
                    grey,
                    name="grey",
                )
            ]
            * bool(grey)
        ),
    ]


def _partial_names(panel: Panel) -> list[Spec]:
    """The names of periods that are not whole, above them: all series share them."""
    layers: list[Spec] = []
    for each in panel.line.partial:
        if each.reason in ("cut", "ahead") or (each.said is None and each.reason != "running"):
            continue
        mark: Spec = {"type": "text", "style": "kai-partial-label", "baseline": "bottom", "dy": -6}
        mark["align"] = "left" if each.is_first else "right"
        day = _short_day(each.edge, panel.canvas)
        name = panel.canvas.say("from" if each.is_first else "to", day)
        if each.reason == "running":
            name = panel.canvas.say(
                "so far", short_period(each.period, panel.canvas.plan.language, year=False)
            )
        x: Spec = {"field": panel.across, "type": "temporal"}
        data: list[Spec] = [{panel.across: each.period.start.isoformat(), "label": name}]
        encoding: Spec = {"x": x, "y": {"value": 0}, "text": LABEL}
        layers.append(layer(mark, encoding, data, name=f"part_{each.reason}_{panel.index}"))
    return layers


def _single_labels(panel: Panel) -> list[Spec]:
    """The highest point, the last whole one, and the periods that are not whole, each with its value."""
    canvas = panel.canvas
    points = panel.tracks[0].points
    whole = [each for each in points if panel.line.partial_at(each) is None]
    layers: list[Spec] = []
    last = whole[-1] if whole else None
    partial = panel.line.partial_at(points[-1])
    if last is not None and not panel.until:
        after = points[-1] if partial is not None and points[-1] is not last else None
        layers.append(_end_layer(panel, last, after))
    for each in (points[0], points[-1]):
        found = panel.line.partial_at(each)
        if found is not None and found.reason != "cut" and not (panel.until and each is points[-1]):
            layers.append(_partial_label(panel, each, found))
    peak = _peak(panel, whole)
    if (
        peak is not None
        and _share_across(panel, peak) < _AT_LEFT
        and panel.scale.share(peak.amount) > 1 - _LOW
    ):
        peak = None  # the label of the axis stands there
    if peak is not None and last is not None and peak is not last:
        name = f"{end_name(panel, peak)}: {panel.numbers.labels([peak.amount])[0]}"
        place = _share_across(panel, peak)
        near_end = abs(_share_across(panel, last) - place) < _NEAR_END
        if not (
            near_end and abs(panel.scale.share(peak.amount) - panel.scale.share(last.amount)) < _DISTANT * 3
        ):
            layers += _noted(panel, peak, name, last=last)
    dots = [each for each in (last, peak) if each is not None]
    mark: Spec = {"type": "point", "style": "kai-end-point"}
    if canvas.plan.color:
        mark["color"] = canvas.plan.color
    data = [datum_of(panel, each) for each in dict.fromkeys(dots)]
    return [layer(mark, panel.encoding(), data, name=f"dots_{panel.index}"), *layers] if data else layers


def _peak(panel: Panel, whole: Sequence[Point]) -> Point | None:
    """The highest point, or the lowest if the question asks for it; None if several are."""
    if len(whole) < 3:
        return None
    lowest = panel.canvas.found.direction == "lowest"
    end = (min if lowest else max)(each.amount for each in whole)
    at = [each for each in whole if each.amount == end]
    return at[0] if len(at) == 1 else None


def _share_across(panel: Panel, point: Point) -> float:
    first = panel.line.first
    return (moment(point.across) - first) / (moment(panel.last) - first)


def _noted(panel: Panel, peak: Point, name: str, *, last: Point) -> list[Spec]:
    """The label of the peak. Where the picture is narrow, it makes room for the label of the axis beside it,
    and gives way to the label of the last point.
    """
    lowest = panel.canvas.found.direction == "lowest"
    place = _share_across(panel, peak)
    is_left = place < _AT_LEFT
    mark: Spec = {"type": "text", "style": "kai-note", "align": "center", "baseline": "bottom", "dy": -10}
    if lowest:
        mark |= {"baseline": "top", "dy": 10}
    if is_left:
        mark |= {"align": "left", "dx": -4}
    elif place > 0.85:
        mark |= {"align": "right", "dx": 8}
    span = f"(width - {LEFT} - {label_room(room_of(panel))})"
    right = f"{LEFT} + {place:.4f} * {span} + {round(len(name) * LETTER / 2)}"
    if not (is_left or lowest) and (1 - panel.scale.share(peak.amount)) * panel.height < _LABEL_ABOVE:
        axis = f"{panel.numbers.ticks(panel.scale.ticks)[-1]}  {panel.name}"
        short = f"max(0, {round((len(axis) + len(name)) * LETTER)} - ({right}))"
        mark["dx"] = {"expr": f"{mark.get('dx', 0)} + {short}"}
        right = f"{right} + {short}"
    rise = abs(panel.scale.share(peak.amount) - panel.scale.share(last.amount)) * panel.height
    if rise < _LABELS_HEIGHT:
        end = f"{LEFT} + {_share_across(panel, last):.4f} * {span}"
        mark["opacity"] = {"expr": f"{right} < {end} ? 1 : 0"}
    data = [datum_of(panel, peak, label=name)]
    return [layer(mark, {**panel.encoding(), "text": LABEL}, data, name=f"notes_{panel.index}")]


def _end_layer(panel: Panel, last: Point, after: Point | None) -> Spec:
    value = panel.numbers.labels([last.amount])[0]
    lines: list[JsonValue] = [end_name(panel, last), value]
    mark: Spec = {"type": "text", "style": "kai-end-label"}
    if after is None:
        mark |= {"dy": -16 if panel.scale.share(last.amount) * panel.height < 16 else -8, "dx": 12}
    else:
        # The dashed line leaves the point to the right: the label stands above it if it falls, else below.
        falls = after.amount < last.amount
        is_near = abs(panel.scale.share(after.amount) - panel.scale.share(last.amount)) < _DISTANT
        mark |= {"dy": -30 if falls and is_near else -18 if falls else 20, "dx": 6}
        if not falls and panel.scale.share(last.amount) * panel.height < _LABELS_HEIGHT:
            mark |= {"dy": -26, "dx": -2, "align": "right"}
    data = [datum_of(panel, last, label=lines)]
    return layer(mark, {**panel.encoding(), "text": LABEL}, data, name=f"end_{panel.index}")


def _partial_label(panel: Panel, point: Point, partial: Partial) -> Spec:
    canvas = panel.canvas
    reason, day = partial.reason, partial.edge
    mark: Spec = {"type": "text", "style": "kai-partial-label", "lineHeight": 15}
    at = point
    if partial.is_first:
        is_known = partial.said is not None
        words = canvas.say("from", _short_day(day, canvas)) if is_known else end_name(panel, point)
        place, at = _free_place(panel, point, words)
        mark |= {"align": "left", **place}
        lines: list[JsonValue] = [words]
    else:
        is_running = reason == "running"
        value = panel.numbers.labels([point.amount])[0]
        to = canvas.say("to", _short_day(day, canvas)) if partial.said is not None else end_name(panel, point)
        before = panel.tracks[0].points[-2:-1]
        falls = bool(before) and before[0].amount > point.amount
        is_low = panel.scale.share(point.amount) * panel.height < _LABELS_HEIGHT
        mark |= {"align": "left", "dx": 10, "dy": 4 if falls and not is_low else -14}
        lines = [end_name(panel, point, is_running=True) if is_running else to, value]
    data = [datum_of(panel, at, label=lines)]
    return layer(mark, {**panel.encoding(), "text": LABEL}, data, name=f"part_{reason}_{panel.index}")


def _free_place(panel: Panel, first: Point, words: str) -> tuple[Spec, Point]:
    """A place on no line for the label of the first point, and the point of its height.

    It stands below or above all points that it reaches over, or beside the first where the line leaves it
    steeply.
    """
    points = panel.tracks[0].points
    reach = len(words) * LETTER / _REACHED
    beside = [*points[1:2], *(each for each in points[2:] if _share_across(panel, each) <= reach)]
    lowest, highest = (end([first, *beside], key=lambda each: each.amount) for end in (min, max))
    if highest is not first and panel.scale.share(lowest.amount) * panel.height >= _LABELS_HEIGHT:
        return {"dx": 2, "dy": 12, "baseline": "top"}, replace(first, value=lowest.value)
    if beside and lowest is first:
        rises = [
            (panel.scale.share(each.amount) - panel.scale.share(first.amount)) * panel.height
            for each in beside
        ]
        if rises[0] > _share_across(panel, beside[0]) * WIDTH and min(rises) > _LABEL_ABOVE:
            height = panel.scale.share(first.amount) * panel.height
            return {"dx": 12, "dy": min(4, round(height) - _ABOVE_AXIS), "baseline": "middle"}, first
    return {"dx": 0, "dy": -10, "baseline": "bottom"}, replace(first, value=highest.value)


def _short_day(day: date, canvas: Canvas) -> str:
    return short_period(period_of(day, "day"), canvas.plan.language, year=False)
