"""Files of rows: CSV, streamed a chunk at a time, and Parquet."""

import csv
import io
import re
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TypeAlias

from pydantic import JsonValue

from app.core.values.text import text_of
from app.modules.records.model import Row
from graph.state import Column

_NUMBERS = ("integer", "number")
_CsvCell: TypeAlias = str | int | float | None
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\x00", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are the full-width forms of the first, which spreadsheets set to Chinese or Japanese read."""
_INNER_FORMULA = re.compile(r"""([;\t][\s"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""Where a spreadsheet that separates cells by a semicolon or a tab begins a cell with a formula."""


async def csv_file(columns: Sequence[Column], chunks: AsyncIterable[Sequence[Row]]) -> AsyncGenerator[str]:
    """RFC 4180 with a header. Text that a spreadsheet would run as a formula gets an apostrophe before it,
    also after a semicolon or a tab, which separate cells where a comma is part of numbers.
    """
    yield _csv_lines([[_cell(column["name"]) for column in columns]])
    numeric = [column["type"] in _NUMBERS for column in columns]
    async for rows in chunks:
        yield _csv_lines(
            [
                value if digits and isinstance(value, str) else _cell(value)
                for value, digits in zip(row, numeric, strict=True)
            ]
            for row in rows
        )


async def parquet_file(columns: Sequence[Column], chunks: AsyncIterable[Sequence[Row]]) -> bytes:
    """Builds the whole file in memory, because results are bounded.

    Raises `RowsGone`.
    """
    import pyarrow  # noqa: PLC0415 - slow to load
    from pyarrow import parquet  # noqa: PLC0415

    rows = [row async for chunk in chunks for row in chunk]
    table = pyarrow.table(
        {
            column["name"]: _arrow_array(column, [row[index] for row in rows])
            for index, column in enumerate(columns)
        }
    )
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def _csv_lines(rows: Iterable[Sequence[_CsvCell]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _cell(value: JsonValue) -> _CsvCell:
    match value:
        case bool() | str() | list() | dict():
            return _without_formulas(text_of(value))
        case number_or_null:
            return number_or_null


def _without_formulas(text: str) -> str:
    inner = _INNER_FORMULA.sub(r"\1'", text)
    return f"'{inner}" if inner.startswith(_FORMULA_STARTS) else inner


def _arrow_array(column: Column, values: Sequence[JsonValue]) -> object:
    """Numbers, some of them as text with all their digits, become decimals, so that none is rounded. They
    become text if they have more digits than a Parquet decimal.
    """
    import pyarrow  # noqa: PLC0415 - slow to load

    if column["type"] in _NUMBERS and any(isinstance(value, str) for value in values):
        with suppress(pyarrow.ArrowInvalid):
            return pyarrow.array([None if value is None else Decimal(str(value)) for value in values])
    return pyarrow.array(_of_one_type(values))


def _of_one_type(values: Sequence[JsonValue]) -> list[JsonValue]:
    """Returns the values of a column. A column of mixed types becomes text, because a Parquet
    column has one type.
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and not kinds & {list, dict}):
        return [
            float(value) if kinds == {int, float} and isinstance(value, int) else value for value in values
        ]
    return [None if value is None else text_of(value) for value in values]
