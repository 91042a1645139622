"""The selection of the names that fit into a chart; the others are added up or left out."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from app.modules.analysis.chart.values import PlottedCell, total
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.numbers import number
from app.modules.analysis.words import title


@dataclass(frozen=True)
class LeaderSelection:
    """Selects the names with the highest or the lowest values, as the question asks.

    The others are added up as one name if the measure is additive. Next to the lowest they are left out:
    their sum would dwarf them.
    """

    measure: NumericColumn
    end: Literal["highest", "lowest"]

    def of_places(self, cells: list[PlottedCell], most: int, column: str) -> tuple[list[PlottedCell], str]:
        """Keep the `most` leading names; combine or drop the others. The second value says how."""
        names, said, other = self._leaders(cells, _place, most, column=column)
        return _sorted(
            cells, _place, names, other=other, renamed=lambda cell: replace(cell, across=other)
        ), said

    def of_series(self, cells: list[PlottedCell], most: int, column: str) -> tuple[list[PlottedCell], str]:
        """Select series instead of names, as `of_places` does."""
        names, said, other = self._leaders(cells, _series, most, column=column)
        return _sorted(
            cells, _series, names, other=other, renamed=lambda cell: replace(cell, series=other)
        ), said

    def _leaders(
        self, cells: list[PlottedCell], of: Callable[[PlottedCell], str], most: int, *, column: str
    ) -> tuple[list[str], str, str]:
        lowest = self.end == "lowest"
        weights = self._weights(cells, of)
        names = sorted(weights, key=lambda each: weights[each] if lowest else -weights[each])[:most]
        count = len({of(cell) for cell in cells})
        left = count - len(names)
        measure = title(self.measure.name)
        shown = f"the {len(names)} with the {self.end} {measure} are shown"
        said = f"Of {count:,} values of {title(column)}, {shown}"
        if self.measure.additive and not lowest:
            other = f"Other ({left:,})"
            return names, f"{said}; the other {left:,} are added up as {other}.", other
        why = "" if self.measure.additive else f", as values of {measure} cannot be added up"
        return names, f"{said}; the other {left:,} are left out{why}.", ""

    def _weights(self, cells: Iterable[PlottedCell], of: Callable[[PlottedCell], str]) -> Mapping[str, float]:
        """Each name's sum, or its extreme value when the measure is not additive.

        Names without a number are left out.
        """
        values: defaultdict[str, list[JsonValue]] = defaultdict(list)
        for cell in cells:
            if number(cell.value) is not None:
                values[of(cell)].append(cell.value)
        if self.measure.additive:
            return {each: total(found) or 0 for each, found in values.items()}
        end = min if self.end == "lowest" else max
        return {each: end(number(cell) or 0.0 for cell in found) for each, found in values.items()}


def selection(found: Figures, measure: NumericColumn) -> LeaderSelection:
    """The selection by the question's direction, else by the statement's order, else by the highest."""
    if found.direction is not None:
        return LeaderSelection(measure, found.direction)
    return LeaderSelection(measure, "lowest" if found.sorted_descending is False else "highest")


def _sorted(
    cells: list[PlottedCell],
    of: Callable[[PlottedCell], str],
    names: list[str],
    *,
    other: str,
    renamed: Callable[[PlottedCell], PlottedCell],
) -> list[PlottedCell]:
    """Sort the cells by the order of `names`. If `other` is not empty, append the rest under that name."""
    place = {each: at for at, each in enumerate(names)}
    leading = sorted((cell for cell in cells if of(cell) in place), key=lambda cell: place[of(cell)])
    return [*leading, *(renamed(cell) for cell in cells if of(cell) not in place)] if other else leading


def _place(cell: PlottedCell) -> str:
    return cell.across


def _series(cell: PlottedCell) -> str:
    return cell.series
