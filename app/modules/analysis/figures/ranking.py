"""Labels by their measure: sums over each label's rows where these may be added, else the rows themselves."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from operator import itemgetter
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
        return _first(self.entries)

    @property
    def lowest(self) -> list[Entry]:
        return _first(self.entries[::-1])[::-1]

    def after(self, leaders: Sequence[Entry], *, rising: bool) -> list[Entry]:
        """The entries next to the leaders on the way to the other end."""
        way = self.entries[::-1] if rising else self.entries
        return _first(way[len(leaders) :])


def _first(entries: Sequence[Entry]) -> list[Entry]:
    """Those that share the first one's value."""
    return list(takewhile(lambda entry: entry.value == entries[0].value, entries))


def ranked(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> Ranking | None:
    """Ranks what the columns `by` name. Rows of one name are added where the measure is `additive` and they
    belong together (`summed`), else each stands for itself. Returns None without values."""
    columns = [rows["columns"][at] for at in by]
    names = [tuple([row[at] for at in by]) for row in rows["rows"]]
    known = [(value, name) for value, name in zip(values, names, strict=True) if value is not None]
    if not known:
        return None
    sums = _sums(known) if additive and summed else {}
    adds_up = bool(sums) and len(sums) < len(known)
    pairs = list(sums.values()) if adds_up else known
    return Ranking(
        entries=[
            Entry(value, cells, columns) for value, cells in sorted(pairs, key=itemgetter(0), reverse=True)
        ],
        total=sum((value for value, _ in known), Decimal(0)) if additive else None,
        summed=adds_up,
        missing=0
        if len(known) == len(names)
        else len(set(map(_key, names)) - {_key(name) for _, name in known}),
    )


def led(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> list[Entry]:
    """The entries that share the highest value; none where all are alike. Cheaper than the whole ranking
    where no rows are added up."""
    if additive and summed:
        ranking = ranked(rows, values, by, additive=additive, summed=summed)
        return [] if ranking is None or ranking.lowest == ranking.entries else ranking.highest
    known = [value for value in values if value is not None]
    if not known or (highest := max(known)) == min(known):
        return []
    columns = [rows["columns"][at] for at in by]
    return [
        Entry(value, [row[at] for at in by], columns)
        for row, value in zip(rows["rows"], values, strict=True)
        if value == highest
    ]


_Cells = tuple[JsonValue, ...]


def _sums(known: Sequence[tuple[Decimal, _Cells]]) -> dict[Hashable, tuple[Decimal, _Cells]]:
    sums: dict[Hashable, tuple[Decimal, _Cells]] = {}
    for value, name in known:
        key = _key(name)
        sums[key] = (sums[key][0] + value, name) if key in sums else (value, name)
    return sums


def _key(cells: _Cells) -> Hashable:
    """A JSON list is no key, and 1 is not true."""
    return tuple([cell if isinstance(cell, str) else repr(cell) for cell in cells])


def _label(cell: JsonValue, column: Column) -> str:
    text = label(_MIDNIGHT.sub("", cell) if column["type"] == "datetime" and isinstance(cell, str) else cell)
    is_number = column["type"] in ("integer", "number", "boolean")
    is_number = is_number or (text.isdecimal() and is_calendar(column["name"]))
    return f"{title(column['name'])} {text}" if is_number else text
