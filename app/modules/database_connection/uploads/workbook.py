"""Reads Excel workbooks: one table for each sheet with cells. Formulas give the values stored with them."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from app.modules.database_connection.uploads.cells import (
    NoRows,
    SurplusCells,
    TextTable,
    Unreadable,
    write_table,
)
from app.modules.database_connection.uploads.model import MAX_NAME_CHARACTERS, MAX_TABLES
from app.modules.database_connection.uploads.names import table_names

_BROKEN = "The workbook is damaged. Open it in Excel and save it again."
_BLOCK_BYTES = 1024 * 1024
_MOST_TIMES = 100
"""Honest workbooks unpack to fewer times their size; Apache POI has the same limit."""
_SMALL_BYTES = 10 * 1024 * 1024
"""As much as any workbook may unpack to."""


def read_workbook(
    source: Path, folder: Path, title: str, *, max_bytes: int, headers: Mapping[str, bool]
) -> list[TextTable]:
    """`headers` says for some names of tables whether the first row is a header. Raises `Unreadable`."""
    _check_size(source, max_bytes)
    try:
        workbook = load_workbook(
            BytesIO(source.read_bytes()), read_only=True, data_only=True, keep_links=False
        )
        sheets = workbook.worksheets
        if len(sheets) > MAX_TABLES:
            raise Unreadable(f"The workbook has {len(sheets)} sheets; KAI reads up to {MAX_TABLES}.")
        tables: list[TextTable] = []
        left_out: list[str] = []
        for number, sheet in enumerate(sheets):
            sheet.reset_dimensions()  # a file may claim any size
            name = title if len(sheets) == 1 else sheet.title[:MAX_NAME_CHARACTERS]
            sql_name = table_names([*(each.title for each in tables), name])[-1]
            read = partial(sheet.iter_rows, values_only=True)
            try:
                table = _table(read, folder / f"{number}.csv", name, has_header=headers.get(sql_name))
            except NoRows as error:
                left_out.append(str(error))
                continue
            if table is not None:
                tables.append(table)
        workbook.close()
    except (
        zipfile.BadZipFile,
        InvalidFileException,
        ParseError,
        expat.ExpatError,
        AttributeError,
        EOFError,
        IndexError,
        KeyError,
        NotImplementedError,
        OverflowError,
        TypeError,
        ValueError,
    ):  # openpyxl checks little of what it reads; it runs in a process of its own
        raise Unreadable(_BROKEN) from None
    if not tables:
        raise Unreadable(" ".join(left_out) or "The workbook has no cells.")
    tables[0].notes += [f"{each} It was left out." for each in left_out]
    missing = _formulas_without_value(source)
    if missing:
        tables[0].notes.append(
            f"{missing} formulas have no stored value and are empty. Open the workbook in Excel and save it."
        )
    return tables


def _table(
    read: Callable[[], Iterator[tuple[object, ...]]], path: Path, title: str, *, has_header: bool | None
) -> TextTable | None:
    """`read` returns the rows of a sheet. Merged cells have their text in the first of them, so a header may
    be shorter than its rows.
    """
    try:
        table = write_table(_rows(read()), path, title, has_header=has_header)
    except SurplusCells:
        width = max(
            number for row in read() for number, cell in enumerate(row, start=1) if _text(cell).strip()
        )
        table = write_table(_rows(read()), path, title, has_header=has_header, width=width)
    if table is not None and table.has_header:
        named = sum(bool(each.strip()) for each in table.headers)
        if named < len(table.headers):
            table.notes.append(
                f"{title}: the header names {named} of {len(table.headers)} columns; perhaps some of its "
                "cells are merged."
            )
    return table


def _check_size(source: Path, max_bytes: int) -> None:
    """Raises `Unreadable` for a workbook whose parts are larger than it may be, or than they say."""
    most = min(max_bytes, max(_SMALL_BYTES, _MOST_TIMES * source.stat().st_size))
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
            names = {each.filename for each in parts}
            if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
                raise Unreadable("The file is a ZIP archive and no Excel workbook. Upload the files in it.")
            if sum(each.file_size for each in parts) > most:
                raise Unreadable(f"The workbook unpacks to more than {most:,} bytes.")
            for part in parts:
                _check_part(archive, part)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, zlib.error):
        raise Unreadable(_BROKEN) from None


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Unpacks a part in blocks: `zipfile` unpacks all of it at once before it looks at the size declared."""
    declared = part.file_size
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable(_BROKEN)
    part.file_size = declared + 1
    with archive.open(part) as file:
        unpacked = sum(len(block) for block in iter(lambda: file.read(_BLOCK_BYTES), b""))
    if unpacked != declared:
        raise Unreadable(_BROKEN)


def _rows(rows: Iterator[tuple[object, ...]]) -> Iterator[tuple[int, list[str]]]:
    for number, row in enumerate(rows, start=1):
        yield number, [_text(cell) for cell in row]


def _text(cell: object) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case datetime():
            return cell.isoformat(sep=" ", timespec="seconds")
        case date() | time():
            return cell.isoformat()
        case timedelta():
            return str(cell)
    return str(cell)


def _formulas_without_value(source: Path) -> int:
    with zipfile.ZipFile(source) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
        return sum(_count_in_sheet(archive, name) for name in sheets)


def _count_in_sheet(archive: zipfile.ZipFile, name: str) -> int:
    count = 0
    has_formula = False
    has_value = False
    element = ""

    def start(tag: str, _: object) -> None:
        nonlocal has_formula, has_value, element
        element = tag.rpartition(":")[2]
        has_formula = element == "f" or (has_formula and element != "c")
        has_value = has_value and element != "c"

    def text(_: str) -> None:
        nonlocal has_value
        has_value = has_value or element == "v"

    def end(tag: str) -> None:
        nonlocal count, element
        element = ""
        if tag.rpartition(":")[2] == "c":
            count += has_formula and not has_value

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.EndElementHandler = end
    try:
        with archive.open(name) as sheet:
            for block in iter(lambda: sheet.read(_BLOCK_BYTES), b""):
                parser.Parse(block, False)
            parser.Parse(b"", True)
    except (zipfile.BadZipFile, expat.ExpatError):
        raise Unreadable(_BROKEN) from None
    return count
