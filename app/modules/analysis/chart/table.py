"""The columns of a result as a chart sees them: times, numbers, names, and which rows share a place."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from app.core.values.numbers import as_double
from app.modules.analysis.chart.values import moment_text
from app.modules.analysis.figures import Figures
from app.modules.analysis.figures.calendar import CalendarUnit, Period, read_periods
from app.modules.analysis.figures.names import is_additive
from app.modules.analysis.words import title
from graph.state import Rows

_TIMES = ("date", "datetime")
_NUMERIC = ("integer", "number")


@dataclass(frozen=True, eq=False)
class ChartTable:
    """A result with its figures. Columns are zero-based."""

    rows: Rows
    found: Figures
    _read: dict[int, Sequence[Period | None] | None] = field(default_factory=dict, repr=False)

    @property
    def width(self) -> int:
        return len(self.rows["columns"])

    def name(self, at: int) -> str:
        return title(self.rows["columns"][at]["name"])

    def cells(self, at: int) -> list[JsonValue]:
        return [row[at] for row in self.rows["rows"]]

    def is_numeric(self, at: int) -> bool:
        """True for a column of numbers, also of those that arrive as text."""
        if self.rows["columns"][at]["type"] in _NUMERIC:
            return True
        return any(each.column == at for each in self.found.measures)

    def has_numbers(self, at: int) -> bool:
        return self.is_numeric(at) and any(as_double(cell) is not None for cell in self.cells(at))

    def is_timed(self, at: int) -> bool:
        return self.rows["columns"][at]["type"] in _TIMES or self.unit(at) is not None

    def periods(self, at: int) -> Sequence[Period | None] | None:
        """The period of each row; None for a column of names, or of numbers that are no time."""
        if at == self.found.time:
            return self.found.periods
        if at not in self._read:
            self._read[at] = None if self.is_numeric(at) else read_periods(self.cells(at))
        return self._read[at]

    def unit(self, at: int) -> CalendarUnit | None:
        """The unit of the periods of a column; None for a column without."""
        return next((each.unit for each in self.periods(at) or () if each is not None), None)

    def names_time(self) -> int | None:
        """The time of the rows, else the first column of times."""
        if self.found.time is not None:
            return self.found.time
        return next((at for at in range(self.width) if self.is_timed(at)), None)

    def colours(self) -> list[int]:
        """Columns of few enough names to tell them apart as series."""
        few = max(2, len(self.rows["rows"]) / 2)
        return [
            at
            for at in range(self.width)
            if not self.is_numeric(at) and 1 < len({str(cell) for cell in self.cells(at)}) <= few
        ]

    def numbers(self) -> list[int]:
        """Columns of numbers, the measures first."""
        measures = [each.column for each in self.found.measures]
        return [*measures, *(at for at in range(self.width) if at not in measures and self.has_numbers(at))]

    def adds(self, at: int, *, across: int | None) -> bool:
        """True if the values of a column may be added up at the places of another, or over all of them."""
        measure = next((each for each in self.found.measures if each.column == at), None)
        if measure is None:
            return is_additive(self.rows["columns"][at]["name"])
        over_time = across is not None and self.is_timed(across)
        return measure.additive and (measure.adds_over_time or not over_time)

    def repeats(self, across: int, series: int | None, time: CalendarUnit | None) -> bool:
        """True if several rows have one place, in one series."""
        places = {
            (str(place), None if series is None else str(row[series]))
            for place, row in zip(self._places(across, time), self.rows["rows"], strict=True)
        }
        return len(places) < len(self.rows["rows"])

    def times(self, at: int, time: CalendarUnit | None) -> set[str]:
        """The different times of a column: periods of a unit, or moments without one."""
        periods = None if time is None else self.periods(at)
        cells = self.cells(at)
        return {
            moment_text(cell) if period is None or time is None else period.within(time).start.isoformat()
            for cell, period in zip(cells, periods or [None] * len(cells), strict=True)
            if cell is not None
        }

    def _places(self, across: int, time: CalendarUnit | None) -> Sequence[object]:
        periods = self.periods(across)
        if time is None or periods is None:
            return self.cells(across)
        if self.unit(across) == time:  # the year and the month of a period may be two columns
            return list(zip(self.cells(across), periods, strict=True))
        return [None if each is None else each.within(time) for each in periods]
