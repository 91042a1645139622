"""The rows and the measure that the arguments of a call name."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.modules.analysis.facts.calls import Argument, FactCall, FactCallRefused
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import PeriodSpan
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.calendar import UNITS, Period, read_periods
from app.modules.analysis.words import title

_LONGEST = 60


@dataclass(frozen=True, kw_only=True)
class RowCondition:
    """The rows of a label or of periods. `name` is it as Markdown, `written` as the model has written it."""

    column: int
    rows: frozenset[int]
    name: str
    written: str


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A measure, and its rows with a value that meet all conditions; never empty."""

    table: FactTable
    measure: NumericColumn
    conditions: Sequence[RowCondition]
    rows: Sequence[int]

    def value(self, row: int) -> Decimal:
        return self.measure.values[row] or Decimal(0)

    def sum(self, rows: Sequence[int]) -> Decimal:
        """Raises `FactCallRefused` if the values of several rows may not be added up."""
        if len(rows) > 1:
            periods = self.table.found.periods
            is_over_time = bool(periods) and len({periods[row] for row in rows}) > 1
            if not (self.measure.adds_over_time if is_over_time else self.measure.additive):
                raise FactCallRefused(f"{title(self.measure.name)} may not be added up")
        return sum(map(self.value, rows), Decimal(0))

    def rows_of(self, condition: RowCondition) -> list[int]:
        """The rows of one condition that have a value. Raises `FactCallRefused` if there are none."""
        return _find_rows(self.measure, [condition])

    @property
    def every(self) -> list[int]:
        """All rows with a value."""
        return _find_rows(self.measure, [])


def select(table: FactTable, call: FactCall) -> Selection:
    """Read the measure and the conditions of a call. Raises `FactCallRefused`."""
    measure = _measure(table, call)
    conditions = [condition_of(table, each) for each in call.arguments if each.name]
    rows = _find_rows(measure, conditions)
    return Selection(table=table, measure=measure, conditions=conditions, rows=rows)


def column_of(table: FactTable, name: str) -> int:
    """The column of a name, also as words or in another case. Raises `FactCallRefused`."""
    columns = [column["name"] for column in table.rows["columns"]]
    for same in (str, str.casefold, title):
        found = [at for at, each in enumerate(columns) if same(each) == same(name)]
        if len(found) == 1:
            return found[0]
    is_plain = name.isidentifier() and not any(map(str.isdigit, name)) and len(name) <= _LONGEST
    raise FactCallRefused(f"there is no column {name}" if is_plain else "there is no such column")


def condition_of(table: FactTable, argument: Argument) -> RowCondition:
    """Raises `FactCallRefused` if there is no such column, or no row of it."""
    at = column_of(table, argument.name)
    written = argument.value if argument.until is None else f"{argument.value}..{argument.until}"
    rows, name = _labelled(table, at, argument)
    if not rows:
        rows, name = _dated(table, at, argument)
    if not rows:
        raise FactCallRefused(f"no row has this {title(table.rows['columns'][at]['name'])}")
    return RowCondition(column=at, rows=frozenset(rows), name=name, written=written)


def read_span(argument: Argument) -> tuple[Period, Period] | None:
    """The first and the last period of a range, or of one period. None if it is no range of one unit."""
    first, dots, last = argument.value.partition("..")
    if argument.until is not None:
        last = argument.until
    elif not dots:
        last = first
    begin, end = _period(first), _period(last)
    if begin is None or end is None or begin.unit != end.unit or begin > end:
        return None
    return begin, end


def _measure(table: FactTable, call: FactCall) -> NumericColumn:
    first = next((each for each in call.arguments if not each.name), None)
    if first is None:
        raise FactCallRefused("it names no measure")
    at = column_of(table, first.value)
    found = next((each for each in table.found.measures if each.column == at), None)
    if found is None:
        raise FactCallRefused(f"{title(table.rows['columns'][at]['name'])} is no measure")
    return found


def _find_rows(measure: NumericColumn, conditions: Sequence[RowCondition]) -> list[int]:
    rows = [
        row
        for row, value in enumerate(measure.values)
        if value is not None and all(row in each.rows for each in conditions)
    ]
    if not rows:
        raise FactCallRefused("no row with a value meets its conditions")
    return rows


def _labelled(table: FactTable, at: int, argument: Argument) -> tuple[list[int], str]:
    """The rows of a label, as it is written in the cells or else in another case, and its name."""
    if argument.until is not None:
        return [], ""
    cells = [table.raw(row, [at]) for row in range(len(table.rows["rows"]))]
    rows = [row for row, cell in enumerate(cells) if cell == argument.value]
    if not rows:
        rows = [row for row, cell in enumerate(cells) if cell.casefold() == argument.value.casefold()]
    if len({cells[row] for row in rows}) != 1:
        return [], ""
    return rows, table.cell_name(rows[0], at)


def _dated(table: FactTable, at: int, argument: Argument) -> tuple[list[int], str]:
    """The rows of periods, which may be of a coarser unit than the column's, and their name."""
    span = read_span(argument)
    periods = table.periods(at)
    unit = next((each.unit for each in periods if each is not None), None)
    if span is None or unit is None or UNITS.index(span[0].unit) < UNITS.index(unit):
        return [], ""
    first, last = span
    rows = [
        row
        for row, period in enumerate(periods)
        if period is not None and first <= period.within(first.unit) <= last
    ]
    return rows, table.wording.format(first if first == last else PeriodSpan(first, last))


def _period(text: str) -> Period | None:
    try:
        found = read_periods([text])
    except (ValueError, OverflowError):
        return None
    return found[0] if found else None
