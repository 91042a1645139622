"""The judgement of a predicted result against one or more gold results."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.evaluation.gold import Gold
from app.evaluation.matching import aligned, alignments, counterparts, matches_into
from app.modules.database_connection.cells import DatabaseRow, rows_of
from app.modules.database_connection.results import ResultSet

ResultKind = Literal["correct", "extra_columns", "order", "wrong_columns", "wrong_rows"]
"""Ordered from right to wrong; with several golds, the earliest kind counts."""

_KINDS: tuple[ResultKind, ...] = ("correct", "extra_columns", "order", "wrong_columns", "wrong_rows")


@dataclass(frozen=True)
class Judgement:
    """The judgement of a result, and the nearest `gold`, which it was compared with.

    `bird` is true when the result equals any gold by BIRD's rule: the same set of rows, columns in order.
    """

    kind: ResultKind
    bird: bool
    gold: Gold

    @property
    def empty(self) -> bool:
        """True when the gold has no rows, or a single 0 or NULL: a wrong statement may return that too."""
        match rows_of(self.gold.result):
            case [] | [(None | 0,)]:
                return True
            case _:
                return False


def judge(predicted: ResultSet, golds: Sequence[Gold]) -> Judgement:
    """Judge a result by the nearest gold. Takes seconds for tens of thousands of rows; run it in a thread."""
    found = [Judgement(_kind(predicted, gold), _same_set(predicted, gold.result), gold) for gold in golds]
    nearest = min(found, key=lambda each: _KINDS.index(each.kind))
    return Judgement(nearest.kind, any(each.bird for each in found), nearest.gold)


def _kind(predicted: ResultSet, gold: Gold) -> ResultKind:
    rows, right = rows_of(predicted), rows_of(gold.result)
    width, gold_width = len(predicted.columns), len(gold.result.columns)
    pool = right if gold.ranks is None else [row for rank in gold.ranks for row in rank]
    found = counterparts(pool, rows, gold_width, width=width)
    reordered = False
    if len(rows) == len(right):
        for alignment in alignments(pool, rows, found):
            lined_up = aligned(rows, alignment)
            if gold.ranks is None or _in_ranks(lined_up, gold.ranks):
                return "correct" if width == gold_width else "extra_columns"
            reordered = reordered or matches_into(right, lined_up)
    if reordered:
        return "order"
    some_found = len(rows) == len(right) and any(found) and not all(found)
    return "wrong_columns" if width < gold_width or some_found else "wrong_rows"


def _in_ranks(rows: Sequence[DatabaseRow], ranks: Sequence[Sequence[DatabaseRow]]) -> bool:
    """Return True if consecutive slices of the rows match the ranks; the last rank may hold more rows."""
    start = 0
    for rank in ranks:
        if not matches_into(rows[start : start + len(rank)], rank):
            return False
        start += len(rank)
    return True


def _same_set(predicted: ResultSet, gold: ResultSet) -> bool:
    return _as_set(predicted) == _as_set(gold)


def _as_set(result: ResultSet) -> set[tuple[object, ...]]:
    return {
        tuple(json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in row)
        for row in result.rows
    }
