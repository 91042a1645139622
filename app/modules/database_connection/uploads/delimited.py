"""Reads delimited text: finds out its encoding and separator, and yields its rows."""

import codecs
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.modules.database_connection.uploads.cells import TextTable, Unreadable, write_table
from app.modules.database_connection.uploads.model import MAX_CELL_CHARACTERS

_SEPARATORS = ",;\t|"
_SAMPLE_CHARACTERS = 64 * 1024
_BLOCK_BYTES = 1024 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_delimited(source: Path, target: Path, title: str, *, has_header: bool | None) -> TextTable:
    """Raises `Unreadable`."""
    encoding = _encoding(source)
    separator = _separator(source, encoding)
    rows = _rows(source, encoding, separator)
    table = write_table(rows, target, title, has_header=has_header, prefers_comma=separator == ";")
    if table is None:
        raise Unreadable("The file is empty.")
    if encoding == "cp1252":
        table.notes.append("The file is not UTF-8; it was read as Windows-1252 (Western European).")
    return table


def _encoding(source: Path) -> str:
    with source.open("rb") as file:
        head = file.read(4)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            if _decodes(source, encoding):
                return encoding
            raise Unreadable(f"The file begins as {encoding.upper()} and is not. Save it as UTF-8.")
    if _has_nul(source):
        raise Unreadable("The file is not text. Upload CSV, an Excel workbook (.xlsx) or Parquet.")
    for encoding in ("utf-8", "cp1252"):
        if _decodes(source, encoding):
            return encoding
    raise Unreadable("The text is neither UTF-8 nor Windows-1252. Save the file as UTF-8.")


def _has_nul(source: Path) -> bool:
    with source.open("rb") as file:
        return any(b"\x00" in block for block in iter(lambda: file.read(_BLOCK_BYTES), b""))


def _decodes(source: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with source.open("rb") as file:
            for block in iter(lambda: file.read(_BLOCK_BYTES), b""):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _separator(source: Path, encoding: str) -> str:
    """Returns the separator that splits most rows of a sample into the same number of cells."""
    with source.open(encoding=encoding, newline="") as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    lines = sample.splitlines(keepends=True)
    if len(sample) == _SAMPLE_CHARACTERS and len(lines) > 1:
        lines.pop()  # it may be cut
    scored = [(_evenness(lines, each), each) for each in _SEPARATORS]
    (share, _), best = max(scored, key=lambda each: each[0])
    return best if share > 0 else ","


def _evenness(lines: Sequence[str], separator: str) -> tuple[float, int]:
    """Share of the rows that have the most frequent number of cells, and that number. (0, 1) for one cell."""
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=separator) if row)
    except csv.Error:
        return (0, 1)
    width, count = max(widths.items(), key=lambda each: each[1], default=(1, 0))
    return (count / widths.total(), width) if width > 1 else (0, 1)


def _rows(source: Path, encoding: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    with source.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise Unreadable(_said(error, reader.line_num)) from None
            if row is None:
                return
            yield reader.line_num, row


def _said(error: csv.Error, line: int) -> str:
    if "field limit" in str(error):
        return (
            f"Before line {line} there is a cell of more than {MAX_CELL_CHARACTERS:,} characters. Perhaps a "
            "quotation mark is not closed."
        )
    return (
        f"The quotation marks up to line {line} do not match: a quoted cell ends with one, and one within it "
        "is written twice."
    )
