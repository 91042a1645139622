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
