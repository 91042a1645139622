"""Named values of a measure, highest first, with the rows that they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import takewhile

from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.figures import NumericColumn


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A value and the rows that it comes from. `is_repeated` is true if other rows have its name, too."""

    table: FactTable
    by: Sequence[int]
    value: Decimal
    rows: Sequence[int]
    is_repeated: bool = False

    @cached_property
    def label(self) -> str:
        """The name as it is written in the cells."""
        return self.table.raw(self.rows[0], self.by)

    @cached_property
    def name(self) -> str:
        """The name as Markdown; one that stands in several rows carries its period, the label in another
        column that tells these rows apart, or the row's number.
        """
        name = self.table.named(self.rows[0], self.by)
        if not self.is_repeated:
            return name
        (row,) = self.rows
        period = self.table.found.periods[row] if self.table.found.periods else None
        if period is not None:
            return self.table.wording.say("label.period", label=name, period=period)
        other = self.table.telling_apart(self.by, self.table.raw(row, self.by))
        if other is not None:
            return self.table.named(row, [*self.by, other])
        return self.table.wording.say("label.row", label=name, row=row + 1)


@dataclass(frozen=True, kw_only=True)
class RankedEntries:
    """Entries of `measure`, highest first. `by` are the columns that name them. `unnamed` are rows with a
    value and without a name, `nameless` the values that they would have as entries, unless they are
    subtotals. `summed` is true if an entry adds several rows up.
    """

    measure: NumericColumn
    by: Sequence[int]
    all: Sequence[Entry]
    unnamed: Sequence[int]
    nameless: Sequence[Decimal]
    summed: bool

    @property
    def count(self) -> int:
        """The number of entries, also of those without a name."""
        return len(self.all) + len(self.nameless)

    def end(self, *, rising: bool) -> list[Entry]:
        """The entries that share the lowest value (`rising`), or the highest."""
        return self.next_entries([], rising=rising)

    def next_entries(self, leaders: Sequence[Entry], *, rising: bool) -> list[Entry]:
        """The entries that share the value next to the leaders'."""
        way = (self.all[::-1] if rising else self.all)[len(leaders) :]
        found = list(takewhile(lambda each: each.value == way[0].value, way))
        return sorted(found, key=lambda each: each.rows[0])

    def has_nameless_before(self, value: Decimal, *, rising: bool) -> bool:
        """Return True if rows without a name have this value, or one that stands before it."""
        return any(each <= value if rising else each >= value for each in self.nameless)

    def unnamed_by(self, table: FactTable) -> list[int]:
        """The columns of the names whose cells are empty in the unnamed rows."""
        return [at for at in self.by if any(table.is_unnamed(row, [at]) for row in self.unnamed)]


def entries_of(table: FactTable, measure: NumericColumn, by: Sequence[int], *, summed: bool) -> RankedEntries:
    """Name the values of a measure; rows of one name are added up if they are `summed`."""
    gathered: dict[object, list[int]] = {}
    nameless: dict[object, list[int]] = {}
    for row, value in enumerate(measure.values):
        if value is not None:
            cells = table.rows["rows"][row]
            name = tuple([repr(cells[at]) for at in by])
            (nameless if table.is_unnamed(row, by) else gathered).setdefault(name, []).append(row)
    groups = [(rows, False) for rows in gathered.values()]
    if not summed:
        groups = [([row], len(rows) > 1) for rows in gathered.values() for row in rows]
    found = [
        Entry(table=table, by=by, value=_sum(measure, rows), rows=rows, is_repeated=is_repeated)
        for rows, is_repeated in groups
    ]
    unnamed = sorted(row for rows in nameless.values() for row in rows)
    hidden = list(nameless.values()) if summed else [[row] for row in unnamed]
    return RankedEntries(
        measure=measure,
        by=by,
        all=sorted(found, key=lambda each: (-each.value, each.rows[0])),
        unnamed=unnamed,
        nameless=[] if table.found.statement.added_up else [_sum(measure, rows) for rows in hidden],
        summed=summed and any(len(each.rows) > 1 for each in found),
    )


def _sum(measure: NumericColumn, rows: Sequence[int]) -> Decimal:
    return sum((value for row in rows if (value := measure.values[row]) is not None), Decimal(0))
