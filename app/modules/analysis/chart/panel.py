"""A set of lines over time with one axis of numbers: its tracks, its points, and the room that it needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from app.modules.analysis.chart.axes import (
    HEIGHT,
    LETTER,
    Scale,
    across_domain,
    ends_of,
    milliseconds,
    number_axis,
    scale_of,
    time_axis,
)
from app.modules.analysis.chart.canvas import Canvas
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.specification import mapping
from app.modules.analysis.chart.timeline import Timeline, moment, short_period
from app.modules.analysis.chart.values import Point, plotted

LEFT = 56
_LONGEST_LABEL = 24
_LEAST_HEIGHT = 150


@dataclass(frozen=True, kw_only=True)
class Track:
    """One line: its points with values in order of time, and the runs that nothing is missing in."""

    name: str
    points: Sequence[Point]
    runs: Sequence[Sequence[Point]]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A set of lines with one axis of numbers. `field` is that of their values.

    `grey` are the tracks without a colour. `extra` are values that the axis has room for besides the points.
    `under` and `over` are further layers, `ends` labels at their right ends, `until` the time they reach.
    """

    canvas: Canvas
    line: Timeline
    tracks: Sequence[Track]
    grey: Sequence[Track]
    numbers: Numbers
    name: str
    field: str
    height: float = HEIGHT
    index: int = 0
    count: int = 1
    extra: Sequence[float] = ()
    under: Sequence[Spec] = ()
    over: Sequence[Spec] = ()
    ends: Sequence[str] = ()
    until: str = ""

    @property
    def across(self) -> str:
        return f"c{self.canvas.plan.across}"

    @property
    def has_series(self) -> bool:
        return len(self.tracks) + len(self.grey) > 1

    @property
    def last(self) -> str:
        """The time at the right end."""
        return max(self.until, self.line.points[-1].across)

    @property
    def scale(self) -> Scale:
        values = [point.amount for track in (*self.tracks, *self.grey) for point in track.points]
        zero = self.count > 1 or self.canvas.plan.mark == "area"
        return scale_of([*values, *self.extra], zero=zero, count=4 if self.height > _LEAST_HEIGHT else 3)

    def encoding(self, *, own: bool = False, value: str = "") -> Spec:
        """Places of the points; the axes with `own`, for one layer of the panel."""
        x: Spec = {"field": self.across, "type": "temporal"}
        y: Spec = {"field": value or self.field, "type": "quantitative"}
        if own:
            first = self.line.first
            last = moment(self.last)
            domain = across_domain(milliseconds(first), milliseconds(last), left=LEFT, right=room_of(self))
            x["scale"] = {"type": "utc", "nice": False, "domain": domain}
            x["axis"] = time_axis(first, last, unit=self.line.axis_unit, language=self.canvas.plan.language)
            if self.index < self.count - 1:
                x["axis"] = {**mapping(x["axis"]), "labels": False}  # panels share the axis of the last one
            y["scale"] = ends_of(self.scale)
            y["axis"] = number_axis(self.scale, self.numbers, self.name)
        return {"x": x, "y": y}


def panel_of(
    canvas: Canvas, line: Timeline, tracks: Sequence[Track], *, at: int = 0, grey: Sequence[Track] = ()
) -> Panel:
    column = canvas.plan.values[at].column
    several = canvas.plan.series is None and len(canvas.plan.values) > 1 and canvas.plan.mark != "combo"
    return Panel(
        canvas=canvas,
        line=line,
        tracks=tracks,
        grey=grey,
        numbers=canvas.numbers(at),
        name="" if several else canvas.value_name(canvas.plan.values[at]),
        field="value" if several else f"c{column}",
    )


def track_of(line: Timeline, name: str) -> Track:
    """The points of a series with their runs. `name` is that of a measure if the points have no series."""
    points = [
        replace(each, series=name)
        for each in line.points
        if each.series in ("", name) and plotted(each.value) is not None
    ]
    # A series without a value at a time that others have is broken there, too.
    places = {across: at for at, across in enumerate(dict.fromkeys(each.across for each in line.points))}
    runs: list[list[Point]] = []
    for point in points:
        before = runs[-1][-1] if runs else point
        skips = line.unit is not None and places[point.across] - places[before.across] > 1
        if runs and not line.breaks(before, point) and not skips:
            runs[-1].append(point)
        else:
            runs.append([point])
    return Track(name=name, points=points, runs=runs)


def panel_data(panel: Panel) -> list[Spec]:
    """The data of the points, in order of time."""
    data: list[tuple[str, int, Spec]] = []
    across = panel.across
    for order, track in enumerate((*panel.tracks, *panel.grey)):
        run = 0
        for points in track.runs:
            run += 1
            for point in points:
                datum: Spec = {across: point.across, panel.field: plotted(point.value), "run": run}
                if panel.has_series:
                    datum["series"] = track.name
                if order >= len(panel.tracks):
                    datum["grey"] = True
                if panel.line.partial_at(point) is not None:
                    datum["part"] = True
                    run += 1  # a line does not go on behind a period that is not whole
                if panel.count > 1:
                    datum["panel"] = panel.index
                datum["said"] = _said(panel, point, track)
                if point.row is not None:
                    datum["row"] = point.row
                data.append((point.across, order, datum))
    return [datum for _, _, datum in sorted(data, key=lambda each: each[:2])]


def _said(panel: Panel, point: Point, track: Track) -> str:
    when = when_of(panel, point)
    partial = panel.line.partial_at(point)
    if partial is not None and partial.reason == "running":
        when = panel.canvas.say("so far", when)
    series = f", {track.name}" if panel.has_series else ""
    return f"{when}{series}: {panel.numbers.exact(point.amount)}"


def when_of(panel: Panel, point: Point) -> str:
    if point.period is not None:
        return panel.canvas.formats.period(point.period)
    at = moment(point.across)
    day = panel.canvas.formats.day(at.date())
    return f"{day}, {at:%H:%M}"


def datum_of(panel: Panel, point: Point, **more: JsonValue) -> Spec:
    return {panel.across: point.across, panel.field: plotted(point.value), "series": point.series, **more}


def room_of(panel: Panel) -> float:
    """Pixels that the labels at the right end need."""
    texts = [cut(track.name) for track in panel.tracks] if panel.has_series else [*panel.ends]
    if not panel.has_series:
        last = panel.tracks[0].points[-1]
        partial = panel.line.partial_at(last)
        texts += [end_name(panel, last, is_running=partial is not None and partial.reason == "running")]
        texts += panel.numbers.labels([last.amount])
    longest = max(map(len, texts), default=0)
    return longest * LETTER + (26 if panel.has_series else 16)


def cut(name: str) -> str:
    """Cut a long name in its middle, where names differ least."""
    if len(name) <= _LONGEST_LABEL:
        return name
    half = (_LONGEST_LABEL - 1) // 2
    return f"{name[:half].rstrip()}…{name[-half:].lstrip()}"


def end_name(panel: Panel, point: Point, *, is_running: bool = False) -> str:
    language = panel.canvas.plan.language
    if point.period is None:
        at = moment(point.across)
        return f"{at:%H:%M}"
    if is_running:
        return panel.canvas.say(
            "so far", short_period(point.period, language, year=point.period.unit == "year")
        )
    return short_period(point.period, language)
