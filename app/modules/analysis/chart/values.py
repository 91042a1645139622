"""The values of a chart: numbers, names, and cells of one place put together."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from pydantic import JsonValue

from app.core.values.numbers import as_decimal, as_double
from app.modules.analysis.figures.aggregates import Aggregate, together
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.formats import Formats
from app.modules.analysis.words import plain_label, title
from graph.state import Rows

_LONGEST_NAME = 120
_FLAGS = ("is", "has", "was", "can")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a picture. A `value` of None is a gap; `row` is None if it is made of several rows.

    `across` is the name or the time that it is drawn at, `series` is empty for none.
    """

    across: str
    value: JsonValue
    series: str = ""
    row: int | None = None
    period: Period | None = None

    @property
    def amount(self) -> float:
        return as_double(self.value) or 0.0


def plotted(cell: JsonValue) -> int | float | None:
    """The cell as a number; digits in text are rounded to a double. None when it is not a number."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    return as_double(cell)


def combine(cells: Sequence[JsonValue], how: Aggregate | None) -> int | float | None:
    """Several values as one, exact until it is rounded to a double; None when no cell is a number."""
    if how == "count":
        return sum(cell is not None for cell in cells)
    numbers = [value for cell in cells if (value := as_decimal(cell)) is not None]
    if len(cells) == 1 or not numbers:
        return plotted(cells[0]) if len(cells) == 1 else None
    made = together(numbers, how)
    return int(made) if made == made.to_integral_value() else float(made)


def namer(rows: Rows, column: int, formats: Formats) -> "dict[str, str]":
    """The name of each different cell of a column, by the cell's JSON. Flags of 0 and 1 are yes and no."""
    cells = [row[column] for row in rows["rows"]]
    first = title(rows["columns"][column]["name"]).split(" ")[0]
    flags = first in _FLAGS and all(cell in (0, 1, None) for cell in cells)
    named: dict[str, str] = {}
    for cell in cells:
        if repr(cell) not in named:
            shown = bool(cell) if flags and cell is not None else cell
            text = shown.strip() if isinstance(shown, str) else shown
            is_word = text is None or text == "" or isinstance(text, bool)
            named[repr(cell)] = formats.cell(text) if is_word else plain_label(text, _LONGEST_NAME)
    return named


def moment_text(cell: object) -> str:
    """A time as ISO writes it, without a zone: it is drawn as the clock shows it."""
    try:
        return datetime.fromisoformat(str(cell)).replace(tzinfo=None).isoformat()
    except ValueError:
        return date.min.isoformat()


def numbered(names: Sequence[str]) -> list[str]:
    """Make the names unique: a repeated name gets a number, as in "A (2)"."""
    seen: dict[str, int] = {}
    unique: list[str] = []
    taken = set(names)
    for each in names:
        count = seen.get(each, 0) + 1
        while count > 1 and f"{each} ({count})" in taken:
            count += 1
        seen[each] = count
        unique.append(each if count == 1 else f"{each} ({count})")
        taken.add(unique[-1])
    return unique


def totals_of(points: Iterable[Point]) -> dict[str, float]:
    """The sum of each place, in order of first occurrence."""
    totals: dict[str, float] = {}
    for point in points:
        totals[point.across] = totals.get(point.across, 0.0) + point.amount
    return totals


def spans_of(
    points: Sequence[Point], lengths: Sequence[float], *, is_stacked: bool
) -> list[tuple[float, float]]:
    """The beginning and end of the bar of each point, on top of those before it if they are stacked."""
    ends: dict[str, float] = {}
    spans: list[tuple[float, float]] = []
    for point, length in zip(points, lengths, strict=True):
        start = ends.get(point.across, 0.0) if is_stacked else 0.0
        ends[point.across] = start + length
        spans.append((start, start + length))
    return spans


def gathered(points: Iterable[Point], how: Aggregate | None = None) -> list[Point]:
    """Put the points of the same place and series together, in order of first occurrence."""
    places: defaultdict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in points:
        places[point.across, point.series].append(point)
    return [
        each[0]
        if len(each) == 1 and how != "count"
        else replace(
            each[0],
            value=combine([point.value for point in each], how),
            row=None if len(each) > 1 else each[0].row,
        )
        for each in places.values()
    ]
