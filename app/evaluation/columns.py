"""Which column of one result stands for which of another: found by values, for names are free."""

from collections.abc import Iterator, Sequence
from itertools import count

from app.evaluation.cells import Row
from app.evaluation.matching import matches_into

_MOST_TRIES = 2_000
"""So many part-alignments are looked at; results that need more are taken as not alike."""

Alignment = tuple[int, ...]


def counterparts(
    gold: Sequence[Row], predicted: Sequence[Row], gold_width: int, width: int
) -> list[list[int]]:
    """For each gold column the predicted columns whose values, in any order, stand in it too."""
    return [
        [at for at in range(width) if matches_into(_only(predicted, (at,)), _only(gold, (column,)))]
        for column in range(gold_width)
    ]


def alignments(gold: Sequence[Row], predicted: Sequence[Row], found: list[list[int]]) -> Iterator[Alignment]:
    """Every choice of a predicted column for each gold column by which the predicted rows are gold rows.

    Of predicted columns that are the same in every row, only the first free one is tried.
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
            if matches_into(_only(predicted, longer), _only(gold, tuple(range(len(longer))))):
                yield from extend(longer)

    return extend(())


def aligned(rows: Sequence[Row], alignment: Alignment) -> list[Row]:
    """The rows with the gold's columns in the gold's order."""
    return _only(rows, alignment)


def _only(rows: Sequence[Row], columns: Alignment) -> list[Row]:
    return [tuple(row[at] for at in columns) for row in rows]


def _first_alike(rows: Sequence[Row]) -> dict[int, int]:
    firsts: dict[Row, int] = {}
    columns = zip(*rows, strict=True)
    return {at: firsts.setdefault(column, at) for at, column in enumerate(columns)}
