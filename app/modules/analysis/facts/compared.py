"""Facts of two measures that a result sets side by side, such as two years, or a profit and its budget."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.notes import note
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Counted, Names, Percent, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.requested_measures import naming

_FEW = 4
_COMPARING = re.compile(
    r"\b(?:compar\w+|against|versus|vs|vergleich\w*|verglichen|gegen|gegenüber|frente|rapport)\b",
    re.IGNORECASE,
)


class _Pair(NamedTuple):
    """A row with the values of both measures."""

    row: int
    new: Decimal
    old: Decimal


def compares(table: FactTable) -> bool:
    """Return True if the question asks for the comparison: by a word for it, or by both measures."""
    found = table.found.comparison
    if found is None:
        return False
    names = [table.found.measures[at].name for at in (found.after, found.before)]
    return bool(_COMPARING.search(table.question)) or all(naming(table.question, each) >= 1 for each in names)


def compared_facts(table: FactTable) -> list[Fact]:
    """In how many rows the one is above the other, where it is most so and where not; and both in all."""
    found = table.found.comparison
    by = table.dimensions
    if found is None or not by:
        return []
    after, before = table.found.measures[found.after], table.found.measures[found.before]
    left_out = {each.period for each in table.found.partial}
    pairs = [
        _Pair(row, new, old)
        for row, (new, old) in enumerate(zip(after.values, before.values, strict=True))
        if new is not None and old is not None
        if row not in found.unfinished and not table.is_unnamed(row, by)
        if not table.found.periods or table.found.periods[row] not in left_out
    ]
    if len(pairs) < 2:
        return []
    unit = "month" if found.unfinished else table.found.unit or "row"
    compared = _Compared(table=table, after=after, before=before, pairs=pairs, unit=unit)
    facts = [_above(compared), *_together(compared)]
    if found.running is not None:
        running = found.running
        slots: dict[str, Slot] = {"period": running.period, "day": running.day, "value": None}
        key = ["partial", str(running.period)]
        facts.append(note(table, "partial.running", key, columns=[after.name], **slots))
    return facts


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
    slots: dict[str, Slot] = {
        "new": table.amount(new, after),
        "old": table.amount(old, before),
        "change": Percent((new - old) / old, signed=True) if old > 0 and new >= 0 else None,
    }
    return [compared.fact("total", "compared.total", slots, how="sum", value=new)]
