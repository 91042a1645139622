"""Excel workbooks of rows: numbers and dates as such, all else as text, and no formula ever."""

import io
from collections.abc import AsyncIterable, Iterable, Sequence
from datetime import date, datetime
from typing import TypeAlias

from pydantic import JsonValue

from app.core.values.numbers import read_number
from app.core.values.text import text_of
from app.modules.records.model import Row
from graph.state import Column

MAX_ROWS = 1_048_575
"""Rows of a sheet below the header."""
_MAX_CHARACTERS = 32_767
_DIGITS_OF_A_DOUBLE = 15
_CellValue: TypeAlias = str | int | float | bool | date | datetime | None


async def excel_file(
    columns: Sequence[Column], chunks: AsyncIterable[Sequence[Row]], notes: Iterable[str]
) -> bytes:
    """Builds a workbook, with the notes and what is left out on a second sheet, if there are any.

    Raises `RowsGone`.
    """
    from openpyxl import Workbook  # noqa: PLC0415 - slow to load
    from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE  # noqa: PLC0415
    from openpyxl.styles import Font  # noqa: PLC0415

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("Rows")
    sheet.freeze_panes = "A2"
    cut = 0

    def cell_of(value: _CellValue, *, bold: bool = False) -> object:
        nonlocal cut
        if not isinstance(value, str):
            return value
        text = ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)
        cut += len(text) > _MAX_CHARACTERS
        cell = WriteOnlyCell(sheet, text[:_MAX_CHARACTERS])
        cell.data_type = "s"  # text that begins with = is no formula
        if bold:
            cell.font = Font(bold=True)
        return cell

    sheet.append([cell_of(column["name"], bold=True) for column in columns])
    written = 0
    left = 0
    async for rows in chunks:
        for row in rows:
            if written == MAX_ROWS:
                left += 1
                continue
            sheet.append([cell_of(_value(each, column)) for each, column in zip(row, columns, strict=True)])
            written += 1
    said = [*notes]
    if left:
        said.append(f"A sheet of Excel holds {MAX_ROWS:,} rows; {left:,} more are left out.")
    if cut:
        said.append(f"{cut:,} texts are cut to the {_MAX_CHARACTERS:,} characters that a cell holds.")
    if said:
        second = workbook.create_sheet("Notes")
        for each in said:
            second.append([cell_of(each)])
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def _value(value: JsonValue, column: Column) -> _CellValue:
    match value, column["type"]:
        case str(text), "date":
            return _date(text, whole=True)
        case str(text), "datetime":
            return _date(text, whole=False)
        case str(text), "integer" | "number":
            return _number(text)
        case int() as number, _ if abs(number) >= 10**_DIGITS_OF_A_DOUBLE:
            return str(number)  # a cell holds a double
        case (str() | bool() | int() | float() | None) as plain, _:
            return plain
    return text_of(value)


def _number(text: str) -> float | str:
    """Returns the number unless a double would change its digits."""
    number = read_number(text)
    is_exact = number is not None and len(number.as_tuple().digits) <= _DIGITS_OF_A_DOUBLE
    return float(text) if is_exact else text


def _date(text: str, *, whole: bool) -> date | datetime | str:
    """Returns a date that Excel knows: since 1900, and without a time zone."""
    try:
        read = date.fromisoformat(text) if whole else datetime.fromisoformat(text)
    except ValueError:
        return text
    if read.year < 1901 or (isinstance(read, datetime) and read.tzinfo is not None):
        return text
    return read
