"""Axes whose labels never overlap."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from app.modules.reports.charts.model import Chart, Numbers
from app.modules.reports.charts.numbers import tick_format
from app.modules.reports.charts.scales import Bands, Linear
from app.modules.reports.charts.times import round_times, tick_text
from app.modules.reports.drawing.plotted import seconds
from app.modules.reports.drawing.svg import MUTED, WIDTH, cut, text, text_width

_GAP = 10
_LONGEST_NAME = 120
_SHORTEST_NAME = 80
_ROOM = 48
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Label:
    """`at` is its centre, which may be moved to stay within the drawing."""

    tick: float
    at: float
    text: str


def axis_numbers(chart: Chart) -> Numbers:
    """Numbers as the axis of values writes them; parts of a whole are percentages."""
    return Numbers("percent") if chart.mark == "percent" else chart.numbers


def are_whole(values: Sequence[float | None]) -> bool:
    """True if ticks between whole numbers would say nothing: there is no fifth of a customer."""
    return all(value is None or value.is_integer() for value in values)


def unit_title(chart: Chart) -> str:
    """The title of the axis of values, with the unit."""
    if chart.mark == "percent":
        return f"{chart.value.title} (%)"
    unit = chart.numbers.unit
    return f"{chart.value.title} ({unit})" if unit else chart.value.title


def vertical_ticks(scale: Linear, height: float, numbers: Numbers, *, whole: bool) -> list[Label]:
    return _number_ticks(scale, max(2, int(height / _ROOM)), numbers, whole=whole)


def horizontal_ticks(scale: Linear, left: float, numbers: Numbers, *, whole: bool) -> list[Label]:
    """As many as fit between the left edge and the end of the drawing."""
    return _most_that_fit(8, lambda most: _number_ticks(scale, most, numbers, whole=whole), left)


def time_ticks(scale: Linear) -> list[Label]:
    """As many as fit. The scale is of seconds since 1970."""
    try:
        first, last = (_EPOCH + timedelta(seconds=end) for end in scale.domain)
    except OverflowError:
        return []

    def ticks(most: int) -> list[Label]:
        times = round_times(first, last, most)
        return [
            Label(scale(seconds(each)), scale(seconds(each)), tick_text(times, (first, last), each))
            for each in times
        ]

    return _most_that_fit(10, ticks, 0)


def place_ticks(scale: Bands, names: Sequence[str]) -> list[Label]:
    """Labels of places beside each other: every one, or every second, third, …"""

    def labels(every: int) -> list[Label]:
        room = min(_LONGEST_NAME, max(_SHORTEST_NAME, every * scale.step - _GAP))
        centres = [scale(at) + scale.width / 2 for at in range(len(names))]
        return _within(
            [
                Label(centre, centre, cut(name, room))
                for centre, name in list(zip(centres, names, strict=True))[::every]
            ],
            0,
        )

    return next(
        (found for every in range(1, len(names)) if _are_clear(found := labels(every))),
        labels(max(1, len(names))),
    )


def labels_below(labels: Sequence[Label], y: float) -> list[str]:
    return [text(each.text, each.at, y + 18, text_anchor="middle", fill=MUTED) for each in labels]


def _number_ticks(scale: Linear, most: int, numbers: Numbers, *, whole: bool) -> list[Label]:
    ticks = [each for each in scale.ticks(most) if not whole or float(each).is_integer()]
    written = tick_format(ticks, numbers)
    return [Label(scale(each), scale(each), written(each)) for each in ticks]


def _most_that_fit(most: int, ticks: Callable[[int], list[Label]], left: float) -> list[Label]:
    for wanted in range(most, 1, -1):
        placed = _within(ticks(wanted), left)
        if placed and _are_clear(placed):
            return placed
    return _within(ticks(1)[:1], left)


def _within(labels: Sequence[Label], left: float) -> list[Label]:
    def moved(label: Label) -> Label:
        half = text_width(label.text) / 2
        return replace(label, at=max(left + half, min(WIDTH - half, label.at)))

    return [moved(each) for each in labels]


def _are_clear(labels: Sequence[Label]) -> bool:
    return all(
        one.at + text_width(one.text) / 2 + _GAP <= other.at - text_width(other.text) / 2
        for one, other in itertools.pairwise(labels)
    )
