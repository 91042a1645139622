"""Rows as files: what a spreadsheet and a data frame read is what the database has."""

import io
import re
from collections.abc import AsyncGenerator
from decimal import Decimal

import pyarrow
import pytest
from pyarrow import parquet
from pydantic import JsonValue

from app.modules.session.export import csv_file, parquet_file
from graph.state import Column

COLUMNS = [Column(name="name", type="text"), Column(name="total", type="number")]
ROWS: list[list[JsonValue]] = [["=1+1", "-12345678901234567890.25"], ["b", 0.5], ["c", 3], ["d", None]]


async def in_chunks() -> AsyncGenerator[list[list[JsonValue]]]:
    yield ROWS[:2]
    yield ROWS[2:]


async def test_text_that_is_a_formula_is_made_inert_and_a_negative_number_is_none() -> None:
    lines = "".join([line async for line in csv_file(COLUMNS, in_chunks())]).splitlines()
    assert lines == ["name,total", "'=1+1,-12345678901234567890.25", "b,0.5", "c,3", "d,"]


async def test_numbers_of_which_one_came_as_digits_are_exact_decimals_in_parquet() -> None:
    table = parquet.read_table(io.BytesIO(await parquet_file(COLUMNS, in_chunks())))
    assert pyarrow.types.is_decimal(table.schema.field("total").type)
    assert table.column("total").to_pylist() == [
        Decimal("-12345678901234567890.25"),
        Decimal("0.5"),
        Decimal(3),
        None,
    ]


async def test_numbers_with_more_digits_than_parquet_has_are_text() -> None:
    async def rows() -> AsyncGenerator[list[list[JsonValue]]]:
        yield [["a", "9" * 80], ["b", 0.5]]

    table = parquet.read_table(io.BytesIO(await parquet_file(COLUMNS, rows())))
    assert table.column("total").to_pylist() == ["9" * 80, "0.5"]


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
async def test_no_beginning_that_a_spreadsheet_runs_stays_at_the_beginning_of_a_cell(start: str) -> None:
    async def rows() -> AsyncGenerator[list[list[JsonValue]]]:
        yield [[f"{start}1+1", 1]]

    _, line = [line async for line in csv_file(COLUMNS, rows())]
    assert line.lstrip('"').startswith(f"'{start}")


@pytest.mark.parametrize("before", ["a;", "a; ", "a\t", 'a;"'])
async def test_no_formula_begins_a_cell_of_a_spreadsheet_that_separates_them_otherwise(before: str) -> None:
    async def rows() -> AsyncGenerator[list[list[JsonValue]]]:
        yield [[f"{before}=HYPERLINK(A1);b", 1], [{"note": f"{before}=HYPERLINK(A1)"}, 2]]

    lines = "".join([line async for line in csv_file(COLUMNS, rows())])
    assert lines.count("HYPERLINK") == 2
    assert not re.search(r"""[;\t][\s"]*=""", lines)
