"""Text of arguments that was read from a database."""

import pytest
from pydantic import JsonValue

from app.modules.agent.quoting import quotations
from app.modules.tools.results import KeptResult, NamedResult
from graph.state import Column, Rows


def result(*cells: JsonValue) -> NamedResult:
    columns = [Column(name="c", type="text")]
    rows = Rows(columns=columns, rows=[[cell] for cell in cells], row_count=len(cells), truncated=False)
    kept = KeptResult(
        sql="",
        database="",
        dialect="",
        columns=columns,
        row_count=len(cells),
        truncated=False,
        cut_by=None,
    )
    return NamedResult("id", kept, rows)


@pytest.mark.parametrize(
    ("argument", "cell"),
    [
        ("ada@shop.example", "ada@shop.example"),
        ("Write to ADA@shop.example  today", "ada@shop.example"),
        ("secret", "the secret of the house"),
        ({"to": ["x", {"who": "ada@shop.example"}]}, "ada@shop.example"),
        ({"ada@shop.example": 1}, "ada@shop.example"),
        (1234567, 1234567),
        ("in all 1234567.5 euros", 1234567.5),
    ],
)
def test_text_that_is_part_of_a_cell_or_holds_one_is_named(argument: JsonValue, cell: JsonValue) -> None:
    (warning,) = quotations({"body": argument}, [result("other", cell)], ["r1.1"])
    assert warning.endswith("(r1.1).")
    assert warning.startswith("body")


@pytest.mark.parametrize(
    ("argument", "cell"),
    [("short", "short"), ("Norway", "Nor"), (True, True), (None, None), ("customers", "orders of a year")],
)
def test_short_and_other_text_is_not(argument: JsonValue, cell: JsonValue) -> None:
    assert quotations({"body": argument}, [result(cell)], ["r1.1"]) == []
