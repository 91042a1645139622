"""Comparison of two results."""

import pytest
from pydantic import JsonValue

from app.modules.tools.tool import ToolFailed
from app.modules.tools.toolsets.comparing import compare
from graph.state import Column, Rows


def rows(*values: list[JsonValue]) -> Rows:
    columns = [Column(name="day", type="date"), Column(name="n", type="number")]
    return Rows(columns=columns, rows=list(values), row_count=len(values), truncated=False)


def test_rows_that_databases_write_differently_are_equal() -> None:
    left = rows(["2025-01-01", 1], ["2025-01-02", 2.0])
    right = rows(["2025-01-01 00:00:00", 1.0], ["2025-01-02T00:00:00", 2])
    found = compare(left, right, [("day", 0, 0)], values=[("n", 1, 1)])
    assert (found.equal, found.differing, found.only_left, found.only_right) == (2, 0, 0, 0)


def test_rows_that_differ_come_first_then_those_of_one_side() -> None:
    left = rows(["a", 1], ["b", 2], ["c", 3])
    right = rows(["b", 5], ["c", 3], ["d", 4])
    found = compare(left, right, [("day", 0, 0)], values=[("n", 1, 1)])
    assert found.rows == [
        ["b", "differs", 2, 5, 3.0],
        ["a", "only left", 1, None, None],
        ["d", "only right", None, 4, None],
        ["c", "equal", 3, 3, 0.0],
    ]
    assert found.totals == [("n", 6.0, 12.0)]


def test_keys_that_name_several_rows_are_refused() -> None:
    with pytest.raises(ToolFailed, match="left result"):
        compare(rows(["a", 1], ["a", 2]), rows(["a", 1]), [("day", 0, 0)], values=[("n", 1, 1)])


def test_a_factor_of_all_rows_that_differ_is_named() -> None:
    left = rows(["a", 10], ["b", 20.4], ["c", 30], ["d", 7])
    right = rows(["a", 12.5], ["b", 25.5], ["c", 37.5], ["d", 7])
    found = compare(left, right, [("day", 0, 0)], values=[("n", 1, 1)])
    assert found.patterns == ["n on the right is 1.25 times the left one in all 3 rows that differ in it."]


def test_a_shift_in_time_is_named_and_counted_in_hours() -> None:
    ours: list[list[JsonValue]] = [[at, f"2025-01-0{at} 23:30:00"] for at in range(1, 5)]
    theirs: list[list[JsonValue]] = [[at, f"2025-01-0{at + 1}T01:30:00"] for at in range(1, 5)]
    left = rows(*ours)
    right = rows(*theirs)
    found = compare(left, right, [("day", 0, 0)], values=[("n", 1, 1)])
    assert [row[4] for row in found.rows] == [2.0] * 4
    assert found.patterns == ["n is 2 hours later on the right in all 4 rows that differ in it."]


def test_rows_that_differ_without_a_pattern_have_none() -> None:
    left = rows(["a", 10], ["b", 20], ["c", 30])
    right = rows(["a", 12], ["b", 29], ["c", 31])
    assert compare(left, right, [("day", 0, 0)], values=[("n", 1, 1)]).patterns == []


def test_values_that_became_zero_are_a_factor_of_zero() -> None:
    left = rows(["a", 10], ["b", 20], ["c", 30])
    right = rows(["a", 0], ["b", 0], ["c", 0])
    (said,) = compare(left, right, [("day", 0, 0)], values=[("n", 1, 1)]).patterns
    assert said.startswith("n on the right is 0 times the left one")
