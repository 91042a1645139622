"""The values of a chart: numbers, names and sums of cells."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from app.modules.analysis.figures.numbers import exact, number
from app.modules.analysis.words import plain_label

_LONGEST_NAME = 120


@dataclass(frozen=True)
class PlottedCell:
    """A value, with the name or time it is drawn at (`across`) and its series (empty for none)."""

    across: str
    value: JsonValue
    series: str = ""


def plotted(cell: JsonValue) -> int | float | None:
    """The cell as a number; digits in text are rounded to a double. None when it is not a number."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    return number(cell)


def total(cells: Sequence[JsonValue]) -> int | float | None:
    """The sum, exact until it is rounded to a double; None when no cell is a number."""
    if len(cells) == 1:
        return plotted(cells[0])
    numbers = [value for cell in cells if (value := exact(cell)) is not None]
    if not numbers:
        return None
    summed = sum(numbers, Decimal(0))
    return int(summed) if summed == summed.to_integral_value() else float(summed)


def name(cell: JsonValue) -> str:
    """Format the label of a cell for an axis or a legend."""
    return plain_label(cell, _LONGEST_NAME)


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


def summed(cells: Iterable[PlottedCell]) -> list[PlottedCell]:
    """Sum the cells of the same place and series, in order of first occurrence."""
    places: defaultdict[tuple[str, str], list[JsonValue]] = defaultdict(list)
    for cell in cells:
        places[cell.across, cell.series].append(cell.value)
    return [PlottedCell(across, total(values), series) for (across, series), values in places.items()]
