"""Cells as numbers and as text, in one way for schedules, files, comparisons and reports."""

from decimal import Decimal

import pytest
from pydantic import JsonValue

from app.core.values.numbers import as_json, read_number
from app.core.values.text import text_of
from app.modules.database_connection.cells import one_spelling


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (7, Decimal(7)),
        (0.1, Decimal("0.1")),
        ("12345678901234567", Decimal(12345678901234567)),
        ("0.12345678901234567", Decimal("0.12345678901234567")),
        ("1e3", Decimal(1_000)),
        ("+5", Decimal(5)),
        ("007", Decimal(7)),
        (" 12 ", Decimal(12)),
        ("NaN", None),
        ("Infinity", None),
        ("twelve", None),
        ("", None),
        (True, None),
        (None, None),
        ([1], None),
        ({"a": 1}, None),
    ],
)
def test_a_cell_is_read_as_the_number_that_it_writes(cell: JsonValue, number: Decimal | None) -> None:
    assert read_number(cell) == number


@pytest.mark.parametrize("number", [Decimal(9007199254740993), Decimal("0.12345678901234567"), Decimal(3)])
def test_what_is_written_as_json_is_read_without_a_loss(number: Decimal) -> None:
    assert read_number(as_json(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (True, "true"),
        (1.5, "1.5"),
        (12, "12"),
        (["ä", 1], '["ä", 1]'),
        ({"größe": None}, '{"größe": null}'),
    ],
)
def test_a_value_is_text_or_else_json_with_its_letters(value: JsonValue, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("written", "spelling"),
    [
        ("2026-03-01T00:00:00", "2026-03-01"),
        ("2026-03-01 00:00:00+00:00", "2026-03-01"),
        ("2026-03-01T10:30", "2026-03-01 10:30:00"),
        ("2026-03-01T10:30:00.500Z", "2026-03-01 10:30:00.5+00:00"),
        ("2026-03-01 10:30:00+02", "2026-03-01 10:30:00+02"),
        ("2026-03-01", "2026-03-01"),
        ("2026 Tours", "2026 Tours"),
    ],
)
def test_a_time_has_one_spelling(written: str, spelling: str) -> None:
    assert one_spelling(written) == spelling
