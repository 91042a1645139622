"""Named values of a measure, highest first, with the rows that they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile

from app.modules.analysis.facts.table import Table
from app.modules.analysis.figures import NumericColumn


@dataclass(frozen=True)
class Entry:
    """A value and its name: as Markdown, and as `label` written in the cells."""

    name: str
    label: str
    value: Decimal
    rows: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Entries:
    """Entries of `measure`, highest first. `by` are the columns that name them. `unnamed` are rows with a
    value and without a name, `missing` those without a value. `summed` is true if one adds several rows up.
    """

    measure: NumericColumn
    by: Sequence[int]
    all: Sequence[Entry]
    unnamed: Sequence[int]
    missing: Sequence[int]
    summed: bool

    def end(self, *, rising: bool) -> list[Entry]:
        """The entries that share the lowest value (`rising`), or the highest."""
        return self.after([], rising=rising)

    def after(self, leaders: Sequence[Entry], *, rising: bool) -> list[Entry]:
        """The entries that share the value next to the leaders'."""
        way = (self.all[::-1] if rising else self.all)[len(leaders) :]
        found = list(takewhile(lambda each: each.value == way[0].value, way))
        return sorted(found, key=lambda each: each.rows[0])

    @property
    def total(self) -> Decimal | None:
        """Sum of all rows, also of those without a name; None if they may not be added up."""
        return self.measure.total

    @property
    def rows(self) -> list[int]:
        """Rows with a value."""
        return [row for row, value in enumerate(self.measure.values) if value is not None]


def entries_of(table: Table, measure: NumericColumn, by: Sequence[int], *, summed: bool) -> Entries:
    """Name the values of a measure; rows of one name are added up if they are `summed`."""
    gathered: dict[object, list[int]] = {}
    unnamed: list[int] = []
    missing: list[int] = []
    for row, value in enumerate(measure.values):
        if value is None:
            missing.append(row)
        elif table.is_unnamed(row, by):
            unnamed.append(row)
        else:
            cells = tuple(repr(table.rows["rows"][row][at]) for at in by)
            gathered.setdefault(cells if summed else row, []).append(row)
    found = [_entry(table, measure, by, rows=rows) for rows in gathered.values()]
    found = found if summed else _told_apart(table, found)
    return Entries(
        measure=measure,
        by=by,
        all=sorted(found, key=lambda each: each.value, reverse=True),
        unnamed=unnamed,
        missing=missing,
        summed=summed and any(len(each.rows) > 1 for each in found),
    )


def _entry(table: Table, measure: NumericColumn, by: Sequence[int], *, rows: Sequence[int]) -> Entry:
    values = [value for row in rows if (value := measure.values[row]) is not None]
    return Entry(table.named(rows[0], by), table.raw(rows[0], by), sum(values, Decimal(0)), rows)


def _told_apart(table: Table, found: Sequence[Entry]) -> list[Entry]:
    """Names that stand twice carry the period or the number of their row."""
    counts: dict[str, int] = {}
    for each in found:
        counts[each.name] = counts.get(each.name, 0) + 1
    return [each if counts[each.name] == 1 else _numbered(table, each) for each in found]


def _numbered(table: Table, entry: Entry) -> Entry:
    (row,) = entry.rows
    period = table.found.periods[row] if table.found.periods else None
    if period is not None:
        name = table.wording.say("label.period", label=entry.name, period=period)
    else:
        name = table.wording.say("label.row", label=entry.name, row=row + 1)
    return Entry(name, entry.label, entry.value, entry.rows)
