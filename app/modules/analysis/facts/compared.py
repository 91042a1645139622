"""Facts of two measures that a result sets side by side, such as two years, or a profit and its budget."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.notes import note
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Amount, Counted, Names, Percent, Points, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.comparing import MeasureComparison
from app.modules.analysis.figures.requested_measures import naming

_FEW = 4
_COMPARING = re.compile(
    r"\b(?:compar\w+|against|versus|vs|vergleich\w*|verglichen|gegen|gegenüber|frente|rapport"
    r"|than (?:in )?(?:last|the previous|before|20\d\d)|als (?:im )?(?:vorjahr|letzte\w*|20\d\d)"
    r"|que (?:el|en|l'|l’)? ?(?:año (?:anterior|pasado)|année (?:dernière|précédente)|20\d\d))\b",
    re.IGNORECASE,
)


class _Pair(NamedTuple):
    """A row with the values of both measures."""

    row: int
    new: Decimal
    old: Decimal


def compares(table: FactTable) -> bool:
    """Return True if the question asks for the comparison: by a word for it, or by both measures.

    A target beside the main measure is asked for unless the rows are sorted by one of the two.
    """
    found = table.found.comparison
    if found is None:
        return False
    measures = [table.found.measures[at] for at in (found.after, found.before)]
    if _COMPARING.search(table.question) or all(naming(table.question, each.name) >= 1 for each in measures):
        return True
    is_sorted = table.found.sorted_by in {each.column for each in measures}
    return found.is_target and table.found.main in measures and not is_sorted


def compared_facts(table: FactTable) -> list[Fact]:
    """In how many rows the one is above the other, where it is most so and where not; and both in all."""
    found = table.found.comparison
    by = table.dimensions
    if found is None or not by:
        return []
    after, before = table.found.measures[found.after], table.found.measures[found.before]
    left_out = {each.period for each in table.found.partial}
    pairs = [
        pair
        for pair in _pairs(after, before)
        if pair.row not in found.unfinished and not table.is_unnamed(pair.row, by)
        if not table.found.periods or table.found.periods[pair.row] not in left_out
    ]
    if len(pairs) < 2:
        return []
    unit = "month" if found.unfinished else table.found.unit or "row"
    compared = _Compared(table=table, after=after, before=before, pairs=pairs, unit=unit)
    return [_above(compared), *_together(compared), *_running(table, found)]


def differences(table: FactTable) -> list[Fact]:
    """Of one row, by how much each measure is above or below the one that it stands beside."""
    facts = list[Fact]()
    for found in sorted(table.found.comparisons, key=lambda each: table.found.measures[each.after].column):
        after, before = table.found.measures[found.after], table.found.measures[found.before]
        for pair in _pairs(after, before):
            compared = _Compared(table=table, after=after, before=before, pairs=[pair], unit="row")
            facts.append(_difference(compared, pair))
    notes = [note for found in table.found.comparisons for note in _running(table, found)]
    return [*facts, *notes[:1]] if facts else []


def _pairs(after: NumericColumn, before: NumericColumn) -> list[_Pair]:
    return [
        _Pair(row, new, old)
        for row, (new, old) in enumerate(zip(after.values, before.values, strict=True))
        if new is not None and old is not None
    ]


def _running(table: FactTable, found: MeasureComparison) -> list[Fact]:
    if found.running is None:
        return []
    slots: dict[str, Slot] = {"period": found.running.period, "day": found.running.day, "value": None}
    columns = [table.found.measures[found.after].name]
    return [note(table, "partial.running", ["partial", str(found.running.period)], columns=columns, **slots)]


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """The measure `after` against `before`, in rows that have both. `unit` is the noun of the rows."""

    table: FactTable
    after: NumericColumn
    before: NumericColumn
    pairs: Sequence[_Pair]
    unit: str

    def fact(
        self, kind: FactKind, template: str, slots: Mapping[str, Slot], *, how: str, value: Decimal | None
    ) -> Fact:
        table, after, before = self.table, self.after, self.before
        rows = [pair.row for pair in self.pairs]
        said = {"measure": table.measure(after), "other": table.measure(before)}
        return table.fact(
            kind,
            template,
            {**said, "rows": Counted(len(rows), self.unit), **slots},
            key=[after.name, "against", before.name],
            how=table.how(how, table.measure(after), len(rows)),
            value=value,
            cells=[*table.cells(rows, after), *table.cells(rows, before)],
            columns=[after.name, before.name],
        )

    def sides(self, new: Decimal, old: Decimal) -> dict[str, Slot]:
        """Both values, and the change between them; a change of percentages is a difference only."""
        is_share = isinstance(self.apart(new, old), Points)
        change = Percent((new - old) / old, signed=True) if old > 0 and new >= 0 and not is_share else None
        return {
            "new": self.table.amount(new, self.after),
            "old": self.table.amount(old, self.before),
            "change": change,
        }

    def apart(self, new: Decimal, old: Decimal) -> Points | Amount:
        return self.table.difference(abs(new - old), self.after)

    def say(self, pair: _Pair) -> str:
        """The name of a row with both values."""
        return self.table.wording.say(
            "compared.pair",
            label=self.table.named(pair.row, self.table.dimensions),
            value=self.table.amount(pair.new, self.after),
            other=self.table.amount(pair.old, self.before),
        )


def _above(compared: _Compared) -> Fact:
    ordered = sorted(compared.pairs, key=lambda pair: pair.old - pair.new)
    above = [pair for pair in ordered if pair.new > pair.old]
    below = [pair for pair in ordered[::-1] if pair.new < pair.old]
    slots: dict[str, Slot] = {
        "count": len(above),
        "named": compared.say(above[0]) if above else None,
        "leaders": Names(list(map(compared.say, below[:_FEW])), len(below[_FEW:])) if below else None,
    }
    return compared.fact("gap", "compared", slots, how="values", value=None)


def _together(compared: _Compared) -> list[Fact]:
    """The sums of both over the rows, and the change between them."""
    table, after, before = compared.table, compared.after, compared.before
    is_over_time = table.found.time is not None
    adds = all(each.adds_over_time if is_over_time else each.additive for each in (after, before))
    if not adds or not table.found.whole:
        return []
    new = sum((pair.new for pair in compared.pairs), Decimal(0))
    old = sum((pair.old for pair in compared.pairs), Decimal(0))
    slots = {**compared.sides(new, old), "difference": None if new == old else compared.apart(new, old)}
    return [compared.fact("total", "compared.total", slots, how="sum", value=new)]


def _difference(compared: _Compared, pair: _Pair) -> Fact:
    way = "above" if pair.new > pair.old else "below" if pair.new < pair.old else "equal"
    slots = {**compared.sides(pair.new, pair.old), "difference": compared.apart(pair.new, pair.old)}
    return compared.fact("gap", f"compared.{way}", slots, how="difference", value=pair.new - pair.old)
