"""Labels ranked by a measure: by the sum of each label's rows if they may be added, else row by row."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from app.modules.analysis.figures.names import is_calendar
from app.modules.analysis.words import label, title
from graph.state import Column, Rows

_MIDNIGHT = re.compile(r"[T ]00:00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$")


@dataclass(frozen=True)
class Ranking:
    """The columns that name ranked values, and the number of different names. `summed` is true when a value
    may add up several rows.
    """

    by: Sequence[int]
    count: int
    summed: bool

    def __len__(self) -> int:
        return self.count


def ranked(
    rows: Rows, values: Sequence[Decimal | None], by: Sequence[int], *, additive: bool, summed: bool
) -> Ranking | None:
    """Rank the rows by `values`, named by the columns `by`; None without values.

    Rows with the same name are added up if the measure is `additive` and they belong together (`summed`);
    otherwise each row is an entry.
    """
    known = [row for row, value in zip(rows["rows"], values, strict=True) if value is not None]
    if not known:
        return None
    count = len({tuple([repr(row[at]) for at in by]) for row in known}) if additive and summed else len(known)
    return Ranking(by, count, summed=count < len(known))


def named_cell(cell: JsonValue, column: Column) -> str:
    """A cell as a name in Markdown; a number follows its column's title, as in "store 3"."""
    text = label(_MIDNIGHT.sub("", cell) if column["type"] == "datetime" and isinstance(cell, str) else cell)
    is_number = column["type"] in ("integer", "number", "boolean")
    is_number = is_number or (text.isdecimal() and is_calendar(column["name"]))
    return f"{title(column['name'])} {text}" if is_number else text
