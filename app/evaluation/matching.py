"""Compare the rows of two results in any order, and find which columns correspond.

Each row needs a counterpart of its own. Equality within a tolerance is not transitive (a may equal b, and
b equal c, but not a equal c), so equal rows cannot simply be counted: where counting fails, a bipartite
matching decides. Columns are matched by their values, because their names are free.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import count

from app.modules.database_connection.cells import RELATIVE_TOLERANCE, Cell, DatabaseRow, same_row

_SLACK = 2 * RELATIVE_TOLERANCE


def matches_into(rows: Sequence[DatabaseRow], others: Sequence[DatabaseRow]) -> bool:
    """Return True if every row has a counterpart of its own among the others. Others may be left over."""
    if len(rows) > len(others):
        return False
    if not Counter(rows) - Counter(others):
        return True
    theirs = _by_skeleton(others)
    return all(_group_matches(group, theirs.get(kind, [])) for kind, group in _by_skeleton(rows).items())


def _by_skeleton(rows: Sequence[DatabaseRow]) -> dict[DatabaseRow, list[DatabaseRow]]:
    """The rows grouped by their cells that must be equal exactly; numbers are replaced by 0."""
    groups: defaultdict[DatabaseRow, list[DatabaseRow]] = defaultdict(list)
    for row in rows:
        groups[tuple(0 if isinstance(cell, int | float) else cell for cell in row)].append(row)
    return groups


def _group_matches(rows: list[DatabaseRow], others: list[DatabaseRow]) -> bool:
    if len(rows) > len(others):
        return False
    return not Counter(rows) - Counter(others) or _Matching(rows, others).is_whole()


class _Matching:
    """Rows that differ in their numbers only, matched by augmenting paths.

    Both sides are sorted by the column with the most distinct values, so that a row is compared with few
    candidates.
    """

    def __init__(self, rows: list[DatabaseRow], others: list[DatabaseRow]) -> None:
        pivot = _pivot(others)
        self._pivot = pivot
        self._rows = sorted(rows, key=lambda row: (_number(row[pivot]), _numbers(row)))
        self._others = sorted(others, key=lambda row: (_number(row[pivot]), _numbers(row)))
        self._keys = [_number(row[pivot]) for row in self._others]
        self._other_of: dict[int, int] = {}
        self._row_of: dict[int, int] = {}

    def is_whole(self) -> bool:
        """Return True if every row can be matched. Call it once: it changes the matching."""
        for at, (row, other) in enumerate(zip(self._rows, self._others, strict=False)):
            if same_row(row, other):
                self._other_of[at] = self._row_of[at] = at
        free = [at for at in range(len(self._rows)) if at not in self._other_of]
        return all(map(self._augment, free))

    def _augment(self, start: int) -> bool:
        """Match one more row, reassigning other rows where needed. Returns False if there is no way."""
        reached_from: dict[int, int] = {}
        waiting = deque([start])
        while waiting:
            row = waiting.popleft()
            for other in self._candidates(row):
                if other in reached_from:
                    continue
                reached_from[other] = row
                if other not in self._row_of:
                    self._flip(start, other, reached_from)
                    return True
                waiting.append(self._row_of[other])
        return False

    def _flip(self, start: int, end: int, reached_from: dict[int, int]) -> None:
        other: int | None = end
        while other is not None:
            row = reached_from[other]
            before = self._other_of.get(row)
            self._other_of[row], self._row_of[other] = other, row
            other = None if row == start else before

    def _candidates(self, row: int) -> Iterator[int]:
        value = _number(self._rows[row][self._pivot])
        reach = abs(value) * _SLACK + _SLACK
        first, last = bisect_left(self._keys, value - reach), bisect_right(self._keys, value + reach)
        return (at for at in range(first, last) if same_row(self._rows[row], self._others[at]))


def _pivot(rows: Sequence[DatabaseRow]) -> int:
    columns = range(len(rows[0]))
    return max(columns, key=lambda at: len({row[at] for row in rows}))


def _numbers(row: DatabaseRow) -> tuple[float, ...]:
    return tuple(map(_number, row))


def _number(cell: Cell) -> float:
    return cell if isinstance(cell, int | float) else 0


_MOST_TRIES = 2_000
"""The most partial alignments that are tried; results that need more count as different."""

Alignment = tuple[int, ...]


def counterparts(
    gold: Sequence[DatabaseRow], predicted: Sequence[DatabaseRow], gold_width: int, *, width: int
) -> list[list[int]]:
    """Return, for each gold column, the predicted columns whose values all occur in it, in any order."""
    return [
        [at for at in range(width) if matches_into(aligned(predicted, (at,)), aligned(gold, (column,)))]
        for column in range(gold_width)
    ]


def alignments(
    gold: Sequence[DatabaseRow], predicted: Sequence[DatabaseRow], found: list[list[int]]
) -> Iterator[Alignment]:
    """Yield each assignment of predicted to gold columns under which all predicted rows are gold rows.

    Among predicted columns with identical values, only the first free one is tried.
    """
    tries = count()
    alike = _first_alike(predicted)

    def extend(chosen: Alignment) -> Iterator[Alignment]:
        if len(chosen) == len(found):
            yield chosen
            return
        tried: set[int] = set()
        for at in sorted(found[len(chosen)], key=lambda at: at != len(chosen)):
            if at in chosen or alike.get(at, at) in tried or next(tries) > _MOST_TRIES:
                continue
            tried.add(alike.get(at, at))
            longer = (*chosen, at)
            if matches_into(aligned(predicted, longer), aligned(gold, tuple(range(len(longer))))):
                yield from extend(longer)

    return extend(())


def aligned(rows: Sequence[DatabaseRow], columns: Alignment) -> list[DatabaseRow]:
    """The rows, reduced to these columns in this order: those of an alignment are in the gold's."""
    return [tuple(row[at] for at in columns) for row in rows]


def _first_alike(rows: Sequence[DatabaseRow]) -> dict[int, int]:
    firsts: dict[DatabaseRow, int] = {}
    columns = zip(*rows, strict=True)
    return {at: firsts.setdefault(column, at) for at, column in enumerate(columns)}
