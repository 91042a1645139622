"""Labels by their measure: sums over each label's rows where these may be added, else the rows themselves."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import NamedTuple

from pydantic import JsonValue

from app.modules.analysis.figures.names import is_calendar
from app.modules.analysis.words import label, title
from graph.state import Column, Rows

_MIDNIGHT = re.compile(r"[T ]00:00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$")


class Entry(NamedTuple):
    """What the cells in `columns` name, and its value."""

    value: Decimal
    cells: Sequence[JsonValue]
    columns: Sequence[Column]

    @property
    def label(self) -> str:
        """Markdown; numbers go with what they number."""
        return " / ".join(map(_label, self.cells, self.columns))


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


def ranked(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> Ranking | None:
    """Ranks what the columns `by` name. Rows of one name are added where the measure is `additive` and they
    belong together (`summed`), else each stands for itself. Returns None without values."""
    columns = [rows["columns"][at] for at in by]
    sums: dict[Hashable, Decimal] = {}
    named: dict[Hashable, Sequence[JsonValue]] = {}
    single: list[Entry] = []
    for row, value in zip(rows["rows"], values, strict=True):
        cells = [row[at] for at in by]
        key = tuple([cell if isinstance(cell, str) else repr(cell) for cell in cells])
        named.setdefault(key, cells)
        if value is not None:
            sums[key] = sums[key] + value if key in sums else value
            single.append(Entry(value, cells, columns))
    if not single:
        return None
    summed = additive and summed and len(sums) < len(single)
    entries = [Entry(value, named[key], columns) for key, value in sums.items()] if summed else single
    return Ranking(
        entries=sorted(entries, key=attrgetter("value"), reverse=True),
        total=sum(sums.values(), Decimal(0)) if additive else None,
        summed=summed,
        missing=len(named) - len(sums),
    )


def _label(cell: JsonValue, column: Column) -> str:
    text = label(_MIDNIGHT.sub("", cell) if column["type"] == "datetime" and isinstance(cell, str) else cell)
    is_number = column["type"] in ("integer", "number", "boolean")
    is_number = is_number or (text.isdecimal() and is_calendar(column["name"]))
    return f"{title(column['name'])} {text}" if is_number else text
