"""Labels by their measure: sums over each label's rows where these may be added, else the rows themselves."""

import re
from collections.abc import Hashable, Iterable, Sequence
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


class RankedValue(NamedTuple):
    """What the cells in `columns` name, and its value."""

    value: Decimal
    cells: Sequence[JsonValue]
    columns: Sequence[Column]

    @property
    def label(self) -> str:
        """Markdown; numbers go with what they number."""
        return " / ".join(map(named_cell, self.cells, self.columns))


_Cells = tuple[JsonValue, ...]
_Pair = tuple[Decimal, _Cells]


@dataclass(frozen=True)
class Ranking:
    """What the cells in `columns` name, by its value: `pairs` from the highest to the lowest.

    `total` is their sum, None where nothing may be added. `summed` says that a pair adds up several rows;
    `missing` counts the labels without a value.
    """

    pairs: Sequence[_Pair]
    columns: Sequence[Column]
    total: Decimal | None
    summed: bool
    missing: int

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def maximum(self) -> Decimal:
        return self.pairs[0][0]

    @property
    def minimum(self) -> Decimal:
        return self.pairs[-1][0]

    @property
    def highest(self) -> list[RankedValue]:
        return self._leading(self.pairs)

    @property
    def lowest(self) -> list[RankedValue]:
        return self._leading(self.pairs[::-1])[::-1]

    def after(self, leaders: Sequence[RankedValue], *, rising: bool) -> list[RankedValue]:
        """The entries next to the leaders on the way to the other end."""
        way = self.pairs[::-1] if rising else self.pairs
        return self._leading(way[len(leaders) :])

    def top(self, count: int) -> list[RankedValue]:
        return self._entries(self.pairs[:count])

    def _leading(self, pairs: Sequence[_Pair]) -> list[RankedValue]:
        """Those that share the first one's value."""
        return self._entries(takewhile(lambda pair: pair[0] == pairs[0][0], pairs))

    def _entries(self, pairs: Iterable[_Pair]) -> list[RankedValue]:
        return [RankedValue(value, cells, self.columns) for value, cells in pairs]


def ranked(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> Ranking | None:
    """Ranks what the columns `by` name. Rows of one name are added where the measure is `additive` and they
    belong together (`summed`), else each stands for itself. Returns None without values."""
    names = [tuple([row[at] for at in by]) for row in rows["rows"]]
    known = [(value, name) for value, name in zip(values, names, strict=True) if value is not None]
    if not known:
        return None
    sums = _sums(known) if additive and summed else {}
    adds_up = bool(sums) and len(sums) < len(known)
    valued = {_key(name) for _, name in known} if len(known) < len(names) else set()
    return Ranking(
        pairs=sorted(sums.values() if adds_up else known, key=itemgetter(0), reverse=True),
        columns=[rows["columns"][at] for at in by],
        total=sum((value for value, _ in known), Decimal(0)) if additive else None,
        summed=adds_up,
        missing=len({_key(name) for name in names} - valued) if valued else 0,
    )


def led(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> list[RankedValue]:
    """The entries that share the highest value; none where all are alike. Cheaper than the whole ranking
    where no rows are added up."""
    if additive and summed:
        ranking = ranked(rows, values, by, additive=additive, summed=summed)
        return [] if ranking is None or ranking.maximum == ranking.minimum else ranking.highest
    known = [value for value in values if value is not None]
    if not known or (highest := max(known)) == min(known):
        return []
    columns = [rows["columns"][at] for at in by]
    return [
        RankedValue(value, [row[at] for at in by], columns)
        for row, value in zip(rows["rows"], values, strict=True)
        if value == highest
    ]


def _sums(known: Sequence[_Pair]) -> dict[Hashable, _Pair]:
    sums: dict[Hashable, _Pair] = {}
    for value, name in known:
        key = _key(name)
        sums[key] = (sums[key][0] + value, name) if key in sums else (value, name)
    return sums


def _key(cells: _Cells) -> Hashable:
    """A JSON list is no key, and 1 is not true."""
    return tuple([cell if isinstance(cell, str) else repr(cell) for cell in cells])


def named_cell(cell: JsonValue, column: Column) -> str:
    """A cell that names something, as Markdown; numbers go with what they number."""
    text = label(_MIDNIGHT.sub("", cell) if column["type"] == "datetime" and isinstance(cell, str) else cell)
    is_number = column["type"] in ("integer", "number", "boolean")
    is_number = is_number or (text.isdecimal() and is_calendar(column["name"]))
    return f"{title(column['name'])} {text}" if is_number else text
