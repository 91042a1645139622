"""Labels ranked by a measure: by the sum of each label's rows if they may be added, else row by row."""

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
    """A value, and the cells (one for each of `columns`) that name it."""

    value: Decimal
    cells: Sequence[JsonValue]
    columns: Sequence[Column]

    @property
    def label(self) -> str:
        """The name as Markdown; a number follows its column's title, as in "store 3"."""
        return " / ".join(map(named_cell, self.cells, self.columns))


_Cells = tuple[JsonValue, ...]
_Pair = tuple[Decimal, _Cells]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Values with the cells of `columns` that name them: `pairs`, highest first, never empty.

    `total` is their sum; None when the measure is not additive. `summed` is true when a pair may add up
    several rows. `missing` counts the names without a value.
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
        """The entries with the value next to the leaders; `rising` when the leaders are the lowest."""
        way = self.pairs[::-1] if rising else self.pairs
        return self._leading(way[len(leaders) :])

    def top(self, count: int) -> list[RankedValue]:
        return self._entries(self.pairs[:count])

    def _leading(self, pairs: Sequence[_Pair]) -> list[RankedValue]:
        """The leading entries that share the first one's value."""
        return self._entries(takewhile(lambda pair: pair[0] == pairs[0][0], pairs))

    def _entries(self, pairs: Iterable[_Pair]) -> list[RankedValue]:
        return [RankedValue(value, cells, self.columns) for value, cells in pairs]


def ranked(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> Ranking | None:
    """Rank the rows by `values`, named by the columns `by`; None without values.

    Rows with the same name are added up if the measure is `additive` and they belong together (`summed`);
    otherwise each row is an entry.
    """
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
    """The entries that share the highest value; none when all values are equal.

    Cheaper than `ranked` when no rows are added up.
    """
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
    """A hashable key for the cells: JSON lists become text, and 1 stays apart from true."""
    return tuple([cell if isinstance(cell, str) else repr(cell) for cell in cells])


def named_cell(cell: JsonValue, column: Column) -> str:
    """A cell as a name in Markdown; a number follows its column's title, as in "store 3"."""
    text = label(_MIDNIGHT.sub("", cell) if column["type"] == "datetime" and isinstance(cell, str) else cell)
    is_number = column["type"] in ("integer", "number", "boolean")
    is_number = is_number or (text.isdecimal() and is_calendar(column["name"]))
    return f"{title(column['name'])} {text}" if is_number else text
