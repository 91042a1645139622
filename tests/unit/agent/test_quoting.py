"""Text of arguments that was read from a database, or by a tool of others."""

import pytest
from pydantic import JsonValue

from app.modules.agent.quoting import quotations
from app.modules.records.steps import KeptResult
from app.modules.tools.results import NamedResult
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
    (warning,) = quotations({"body": argument}, [("r1.1", result("other", cell))])
    assert warning.endswith("(r1.1).")
    assert warning.startswith("body")


@pytest.mark.parametrize(
    ("argument", "cell"),
    [("short", "short"), ("Norway", "Nor"), (True, True), (None, None), ("customers", "orders of a year")],
)
def test_short_and_other_text_is_not(argument: JsonValue, cell: JsonValue) -> None:
    assert quotations({"body": argument}, [("r1.1", result(cell))]) == []


PAGE = """Notes of the supplier, as of today.
Call Ms Okafor before Friday.
{"items": [{"mail": "okafor@supplier.example", "text": "Use \\"Delta\\" rate", "account": 88213407}]}"""


@pytest.mark.parametrize(
    "argument",
    [
        "okafor@supplier.example",
        "Send it to okafor@supplier.example.",
        'use "delta" rate',
        "no. 88213407",
        "Hello. Call Ms Okafor before Friday. Bye",
        "supplier, as of today. Call",
    ],
)
def test_text_of_a_tool_of_others_is_named(argument: str) -> None:
    (warning,) = quotations({"body": argument}, [], [("notes__read, r2.1", PAGE)])
    assert warning.startswith("body")
    assert warning.endswith("(notes__read, r2.1).")


@pytest.mark.parametrize("argument", ["The supplier of the year", "before noon", "rates today"])
def test_words_that_a_tool_of_others_uses_too_are_not(argument: str) -> None:
    assert quotations({"body": argument}, [], [("notes__read, r2.1", PAGE)]) == []
