"""What is true of every pair of results."""

import random
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from app.evaluation.matching import matches_into
from app.modules.database_connection.cells import DatabaseRow, same_row
from app.modules.database_connection.results import ResultSet
from tests.unit.evaluation.results import kind, result

_CELLS = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.00009, 1.0001, 1.00019, 2.5]),
    st.sampled_from(["a", "b", "2024-01-01", "2024-01-01T00:00:00"]),
)
_NEAR = st.sampled_from([1.0, 1.00005, 1.00009, 1.00012, 1.0002, 1.0003])


def _tables(width: int) -> st.SearchStrategy[list[list[JsonValue]]]:
    row: st.SearchStrategy[list[JsonValue]] = st.lists(_CELLS, min_size=width, max_size=width)
    return st.lists(row, max_size=6)


_TABLES = st.integers(1, 4).flatmap(_tables)


def _table(rows: list[list[JsonValue]]) -> ResultSet:
    return result(*rows)


@given(_TABLES, st.randoms(use_true_random=False))
def test_a_result_is_right_in_every_order_of_its_rows_and_columns(
    rows: list[list[JsonValue]], chance: random.Random
) -> None:
    columns = list(range(len(rows[0]) if rows else 1))
    chance.shuffle(columns)
    shuffled = chance.sample([[row[at] for at in columns] for row in rows], len(rows))
    assert kind(_table(shuffled), _table(rows)) == "correct"


@given(_TABLES)
def test_a_result_in_its_own_order_is_in_order(rows: list[list[JsonValue]]) -> None:
    assert kind(_table(rows), _table(rows), ordered=True) == "correct"


@given(_TABLES, _CELLS)
def test_a_row_more_or_less_is_never_right(rows: list[list[JsonValue]], cell: JsonValue) -> None:
    longer = [*rows, [cell] * (len(rows[0]) if rows else 1)]
    assert kind(_table(longer), _table(rows)) not in ("correct", "extra_columns", "order")
    assert kind(_table(rows), _table(longer)) not in ("correct", "extra_columns", "order")


@given(_tables(2).filter(bool), st.lists(_CELLS, min_size=6, max_size=6))
def test_a_column_more_is_extra_and_one_less_is_wrong(
    rows: list[list[JsonValue]], cells: list[JsonValue]
) -> None:
    wider = [[*row, cell] for row, cell in zip(rows, cells, strict=False)]
    assert kind(_table(wider), _table(rows)) == "extra_columns"
    assert kind(_table(rows), _table(wider)) == "wrong_columns"


@given(_tables(2), _tables(2))
def test_right_is_right_from_both_sides(one: list[list[JsonValue]], other: list[list[JsonValue]]) -> None:
    assert (kind(_table(one), _table(other)) == "correct") == (kind(_table(other), _table(one)) == "correct")


@given(
    st.lists(st.tuples(_NEAR, _NEAR), max_size=5),
    st.lists(st.tuples(_NEAR, _NEAR), max_size=5),
)
def test_rows_within_a_tolerance_match_whenever_any_pairing_of_them_does(
    rows: list[DatabaseRow], others: list[DatabaseRow]
) -> None:
    pairings = permutations(others, len(rows)) if len(rows) <= len(others) else iter(())
    possible = any(all(map(same_row, rows, pairing)) for pairing in pairings)
    assert matches_into(rows, others) is possible
