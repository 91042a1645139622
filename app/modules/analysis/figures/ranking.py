"""Labels ranked by a measure: by the sum of each label's rows if they may be added, else row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from graph.state import Rows


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
