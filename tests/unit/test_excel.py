"""Excel files of rows."""

import io
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import openpyxl
from pydantic import JsonValue

from app.modules.session.excel import excel_file
from graph.state import Column

COLUMNS: Sequence[Column] = [
    {"name": "=SUM(A1)", "type": "text"},
    {"name": "amount", "type": "number"},
    {"name": "day", "type": "date"},
    {"name": "at", "type": "datetime"},
]


async def sheets(rows: list[list[JsonValue]], note: str = "") -> dict[str, list[list[Any]]]:
    async def chunks() -> AsyncIterator[list[list[JsonValue]]]:
        yield rows

    book = openpyxl.load_workbook(io.BytesIO(await excel_file(COLUMNS, chunks(), [note] if note else [])))
    found: dict[str, list[list[Any]]] = {}
    for sheet in book.worksheets:
        found[sheet.title] = [[(each.data_type, each.value) for each in row] for row in sheet.iter_rows()]
    return found


async def test_numbers_and_dates_are_such_and_text_is_never_a_formula() -> None:
    rows: list[list[JsonValue]] = [
        ["=cmd|' /C calc'!A0", 1.5, "2026-01-31", "2026-01-31T10:00:00"],
        ["+1\x07", "12345678901234567890.5", "0001-01-01", "2026-01-31T10:00:00+00:00"],
        [None, "2.50", "soon", None],
    ]
    first, second, third, fourth = (await sheets(rows))["Rows"]
    assert first[0] == ("s", "=SUM(A1)")
    assert second == [
        ("s", "=cmd|' /C calc'!A0"),
        ("n", 1.5),
        ("d", datetime(2026, 1, 31)),  # noqa: DTZ001 - cells have no zone
        ("d", datetime(2026, 1, 31, 10)),  # noqa: DTZ001
    ]
    assert [value for _, value in third] == [
        "+1\ufffd",
        "12345678901234567890.5",
        "0001-01-01",
        "2026-01-31T10:00:00+00:00",
    ]
    assert [value for _, value in fourth] == [None, 2.5, "soon", None]


async def test_a_part_of_the_rows_says_so_on_a_sheet_of_notes() -> None:
    found = await sheets([["x" * 40_000, 1, None, None]], "Only the first 1 rows are kept; there are more.")
    assert [row[0][1] for row in found["Notes"]] == [
        "Only the first 1 rows are kept; there are more.",
        "1 texts are cut to the 32,767 characters that a cell holds.",
    ]
    assert "Notes" not in await sheets([])
