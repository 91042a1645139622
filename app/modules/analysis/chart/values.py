"""Cells as a chart draws them: numbers, names and sums."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from app.modules.analysis.figures.numbers import exact, number

_LONGEST_NAME = 120


@dataclass(frozen=True)
class Cell:
    """A value at a place: the name of a bar or a moment, and the name of a series."""

    across: str
    value: JsonValue
    series: str = ""


def plotted(cell: JsonValue) -> int | float | None:
    """A cell as a number that can be drawn; digits that came as text are rounded to a double."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    return number(cell)


def total(cells: Sequence[JsonValue]) -> int | float | None:
    """The exact sum as a double; None where no cell is a number."""
    if len(cells) == 1:
        return plotted(cells[0])
    numbers = [value for cell in cells if (value := exact(cell)) is not None]
    if not numbers:
        return None
    summed = sum(numbers, Decimal(0))
    return int(summed) if summed == summed.to_integral_value() else float(summed)


def name(cell: JsonValue) -> str:
    if cell is None:
        return "(none)"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = " ".join(str(cell).split())
    if not text:
        return "(empty)"
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def numbered(names: Sequence[str]) -> list[str]:
    """The names with a number behind each one that was there before."""
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


def summed(cells: Iterable[Cell]) -> list[Cell]:
    """One cell a place, with the sum of its values, in the order in which places come first."""
    places: defaultdict[tuple[str, str], list[JsonValue]] = defaultdict(list)
    for cell in cells:
        places[cell.across, cell.series].append(cell.value)
    return [Cell(across, total(values), series) for (across, series), values in places.items()]
