"""Labels by their measure: sums over each label's rows where these may be added, else the rows themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from app.modules.analysis.figures.numbers import exact
from graph.state import Rows

LabelOf = Callable[[Sequence[JsonValue]], str]


@dataclass(frozen=True)
class Entry:
    label: str
    value: Decimal


@dataclass(frozen=True)
class Ranking:
    """Entries from the highest to the lowest; `total` is their sum, None where nothing may be added.

    `summed` says that an entry adds up several rows; `missing` counts the labels without a value.
    """

    entries: Sequence[Entry]
    total: Decimal | None
    summed: bool
    missing: int

    @property
    def highest(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.value == self.entries[0].value]

    @property
    def lowest(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.value == self.entries[-1].value]

    def after(self, leaders: Sequence[Entry], *, rising: bool) -> list[Entry]:
        """The entries next to the leaders on the way to the other end."""
        way = list(reversed(self.entries)) if rising else list(self.entries)
        rest = way[len(leaders) :]
        return [entry for entry in rest if entry.value == rest[0].value]


def ranked(rows: Rows, column: int, label: LabelOf, *, additive: bool) -> Ranking | None:
    """Rows of one label are added where the measure is additive, else each stands for itself.

    Returns None without values.
    """
    sums: dict[str, Decimal] = {}
    entries: list[Entry] = []
    labels: set[str] = set()
    for row in rows["rows"]:
        name, value = label(row), exact(row[column])
        labels.add(name)
        if value is None:
            continue
        entries.append(Entry(name, value))
        sums[name] = sums.get(name, Decimal(0)) + value
    if not entries:
        return None
    summed = additive and len(sums) < len(entries)
    if summed:
        entries = [Entry(name, value) for name, value in sums.items()]
    return Ranking(
        entries=sorted(entries, key=lambda entry: -entry.value),
        total=sum(sums.values(), Decimal(0)) if additive else None,
        summed=summed,
        missing=len(labels) - len(sums),
    )
