"""A result is held against the gold one by its values: not by names, not by the columns' order."""

import pytest
from pydantic import JsonValue

from app.evaluation.gold import Gold
from app.evaluation.verdict import judge
from app.modules.database_connection.results import ResultSet
from tests.unit.evaluation.results import gold, kind, result


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0.3, 0.30000000000000004),
        (3.3333, 3.33333333),
        (0, 1e-12),
        (True, 1),
        (None, None),
        ("2024-01-01", "2024-01-01T00:00:00"),
        ("2024-01-01", "2024-01-01 00:00:00.000+00:00"),
        ("2024-01-01 10:30", "2024-01-01T10:30:00"),
        ([1, {"a": 2}], [1, {"a": 2}]),
    ],
)
def test_these_are_the_same_value(one: JsonValue, other: JsonValue) -> None:
    assert kind(result([one]), result([other])) == kind(result([other]), result([one])) == "correct"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5", 5),
        (100_001, 100_002),
        (0.25, 25),
        (3.33, 3.3333),
        ("Paris", "paris"),
        (None, 0),
        (None, ""),
        ("2024-01-01", "2024-01-01 10:00:00"),
        ("2024-01-01 10:00:00+02:00", "2024-01-01 10:00:00"),
    ],
)
def test_these_are_different_values(one: JsonValue, other: JsonValue) -> None:
    assert kind(result([one]), result([other])) == "wrong_rows"


def test_a_number_that_came_as_text_because_it_is_long_is_a_number() -> None:
    exact = result(["12345678901234567890"], ["1.5"], types=["number"])
    assert kind(exact, result([12345678901234567890], [1.5], types=["number"])) == "correct"


def test_columns_may_be_swapped() -> None:
    assert kind(result(["a", 1], ["b", 2]), result([1, "a"], [2, "b"])) == "correct"


def test_swapped_columns_have_to_fit_row_by_row() -> None:
    assert kind(result([1, 2], [2, 1], [3, 3]), result([1, 1], [2, 2], [3, 3])) == "wrong_rows"


def test_a_column_more_is_its_own_kind_of_wrong() -> None:
    assert kind(result(["a", 1], ["b", 2]), result(["a"], ["b"])) == "extra_columns"


@pytest.mark.parametrize(
    ("predicted", "right"),
    [(result(["a"]), result(["a", 1])), (result(["a", 2]), result(["a", 1])), (result([2]), result([1, 2]))],
)
def test_a_gold_column_that_is_nowhere_is_a_wrong_column(predicted: ResultSet, right: ResultSet) -> None:
    assert kind(predicted, right) == "wrong_columns"


def test_a_duplicate_row_counts() -> None:
    assert kind(result(["a"], ["b"]), result(["a"], ["a"], ["b"])) == "wrong_rows"


def test_rows_may_come_in_any_order_when_the_gold_asks_for_none() -> None:
    assert kind(result(["b"], ["a"]), result(["a"], ["b"])) == "correct"


def test_the_order_counts_when_the_gold_asks_for_one() -> None:
    assert kind(result(["b"], ["a"]), result(["a"], ["b"]), ordered=True) == "order"
    assert kind(result(["a", 0], ["b", 0]), result(["a"], ["b"]), ordered=True) == "extra_columns"


def test_rows_that_tie_may_come_in_any_order() -> None:
    right = gold(["a"], ["b"], ["c"], ranks=[[("a",), ("b",)], [("c",)]])
    assert judge(result(["b"], ["a"], ["c"]), [right]).kind == "correct"
    assert judge(result(["b"], ["c"], ["a"]), [right]).kind == "order"


def test_where_the_limit_cuts_a_tie_any_of_the_tied_rows_may_stand() -> None:
    right = gold(["a"], ["b"], ranks=[[("a",)], [("b",), ("c",), ("d",)]])
    assert judge(result(["a"], ["d"]), [right]).kind == "correct"
    assert judge(result(["b"], ["c"]), [right]).kind == "wrong_rows"
    assert judge(result(["a"], ["d"], ["c"]), [right]).kind == "wrong_rows"


def test_no_rows_on_either_side_is_right_and_said_apart() -> None:
    verdict = judge(result(width=2), [gold(width=2)])
    assert (verdict.kind, verdict.empty) == ("correct", True)
    assert judge(result(width=3), [gold(width=2)]).kind == "extra_columns"
    assert not judge(result(["a"]), [gold(["a"])]).empty


@pytest.mark.parametrize("cell", [0, 0.0, None])
def test_a_single_zero_or_null_proves_as_little_as_no_rows(cell: JsonValue) -> None:
    assert judge(result([cell]), [gold([cell])]).empty
    assert not judge(result([cell], [cell]), [gold([cell], [cell])]).empty
    assert not judge(result([1]), [gold([1])]).empty


def test_of_several_golds_the_nearest_one_counts() -> None:
    near, far = gold(["a", "x"]), gold(["b"])
    verdict = judge(result(["x", "a"]), [far, near])
    assert (verdict.kind, verdict.gold) == ("correct", near)


@pytest.mark.parametrize(
    ("predicted", "right", "same"),
    [
        ([["a"]], [["a"], ["a"]], True),
        ([["b"], ["a"]], [["a"], ["b"]], True),
        ([["a", 1]], [[1, "a"]], False),
        ([[0.30000000000000004]], [[0.3]], False),
        ([[1.0]], [[1]], True),
        ([[{"a": 1}]], [[{"a": 1}]], True),
    ],
)
def test_bird_compares_sets_of_rows_as_they_stand(
    predicted: list[list[JsonValue]], right: list[list[JsonValue]], same: bool
) -> None:
    assert judge(result(*predicted), [Gold("select", result(*right))]).bird is same


def test_columns_that_are_all_alike_are_compared_in_no_time() -> None:
    rows: list[list[JsonValue]] = [[None] * 30 + [at] for at in range(200)]
    moved: list[list[JsonValue]] = [[at, *[None] * 30] for at in range(200)]
    assert kind(result(*rows), result(*moved)) == "correct"


def test_ten_thousand_rows_are_compared_in_time() -> None:
    def table(factor: float, last: float) -> list[list[JsonValue]]:
        sevenths = [at / 7 * factor for at in range(9_999)]
        return [[f"n{at % 7}", value, 1 / (at + 1)] for at, value in enumerate([*sevenths, last])]

    assert kind(result(*reversed(table(1.00001, 0.5))), result(*table(1, 0.5))) == "correct"
    assert kind(result(*table(1.00001, -1)), result(*table(1, 0.5))) == "wrong_columns"
