"""The cells of a chart: at which place, in which series, how much."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pydantic import JsonValue

from app.modules.analysis.computed.drawn import HIGH, LOW, RING
from app.modules.reports.charts.model import Chart, name_of, number_of, text_of
from app.modules.reports.charts.numbers import plain
from app.modules.reports.charts.times import time_of, time_text

_LARGEST, _SMALLEST = 1e300, 1e-280
"""Beyond these, the distance of two values could not be computed."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """`at` is its number, or its seconds since 1970, on a scale of these; else its index."""

    name: str
    at: float


@dataclass(frozen=True, kw_only=True)
class Cell:
    """`place` and `series` are indices, `start` and `stop` the ends of what is drawn. A `value` of None is a
    gap.
    """

    place: int
    series: int
    value: float | None
    start: float = 0.0
    stop: float = 0.0
    band: tuple[float, float] | None = None
    is_ringed: bool = False


@dataclass
class Plotted:
    """`second` holds the values of the line by place, in a chart of bars and a line."""

    places: list[Place] = field(default_factory=list)
    series: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    second: dict[int, float | None] = field(default_factory=dict)

    def of_series(self, at: int) -> list[Cell]:
        return [cell for cell in self.cells if cell.series == at]


def plotted(chart: Chart) -> Plotted:
    """Rows without a place on the axis are left out."""
    across, found = chart.across, Plotted()
    times = [time for datum in chart.data if (time := time_of(datum.get(across.field)))]
    places: dict[str, int] = {}
    series: dict[str, int] = {}
    for datum in chart.data:
        cell = datum.get(across.field)
        key = "" if cell is None else text_of(cell)
        if key not in places:
            place = _place(chart, cell, times=times, index=len(places))
            if place is None:
                continue
            places[key] = len(places)
            found.places.append(place)
        name = name_of(datum.get(chart.series.field)) if chart.series else chart.value.title
        value = drawable(datum.get(chart.value.field))
        low, high = drawable(datum.get(LOW)), drawable(datum.get(HIGH))
        found.cells.append(
            Cell(
                place=places[key],
                series=series.setdefault(name, len(series)),
                value=value,
                stop=value or 0.0,
                band=None if low is None or high is None else (low, high),
                is_ringed=RING in datum,
            )
        )
        if chart.second:
            found.second[places[key]] = drawable(datum.get(chart.second.field))
    found.series = [*series, *([chart.second.title] if chart.second else [])]
    return found


def stacked(cells: Sequence[Cell], *, is_share: bool) -> list[Cell]:
    """Values on top of each other: those above zero upwards, those below downwards."""
    sums: dict[int, float] = {}
    for cell in cells:
        sums[cell.place] = sums.get(cell.place, 0.0) + abs(cell.value or 0.0)
    piles: dict[tuple[int, bool], float] = {}
    found: list[Cell] = []
    for cell in cells:
        value = (cell.value or 0.0) / ((sums[cell.place] or 1.0) if is_share else 1.0)
        start = piles.get((cell.place, value < 0), 0.0)
        stop = start + value
        if is_share:  # at most one, whatever the last digits say
            stop = max(-1.0, min(1.0, stop))
        piles[cell.place, value < 0] = stop
        found.append(replace(cell, start=start, stop=stop))
    return found


def drawable(cell: JsonValue) -> float | None:
    value = number_of(cell)
    if value is None or abs(value) > _LARGEST:
        return None
    return value if abs(value) >= _SMALLEST else 0.0


def seconds(time: datetime) -> float:
    return (time - _EPOCH).total_seconds()


def _place(chart: Chart, cell: JsonValue, *, times: Sequence[datetime], index: int) -> Place | None:
    match chart.across.kind:
        case "quantitative":
            at = drawable(cell)
            return None if at is None else Place(plain(at, 3), at)
        case "temporal":
            time = time_of(cell)
            return None if time is None else Place(time_text(times, time), seconds(time))
        case _:
            return Place(name_of(cell), index)
