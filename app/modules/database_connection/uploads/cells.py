"""Rows of text cells, from which a table is made, and what is wrong with a file."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from app.modules.database_connection.uploads.model import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_NAME_CHARACTERS,
)

_MAX_ROW_CHARACTERS = 4 * MAX_CELL_CHARACTERS
_MOST_ABOVE = 9
"""Most rows above a header that are passed over."""
_NO_HEADER = re.compile(r"[+-]?[\d.,\s:/TZ-]*\d[\d.,\s:/TZ-]*")


class Unreadable(Exception):
    """The file cannot be read as a table. The text says why and what helps, for users."""


class NoRows(Unreadable):
    """There is a header, and nothing below it."""


class SurplusCells(Unreadable):
    """A row has more cells than the first row."""


@dataclass
class TextTable:
    """A table whose cells were written to `path` as CSV with every cell quoted. Empty cells are unquoted."""

    title: str
    path: Path
    headers: Sequence[str]
    has_header: bool
    prefers_comma: bool = False
    notes: list[str] = field(default_factory=list)


def write_table(
    rows: Iterable[tuple[int, Sequence[str]]],
    path: Path,
    title: str,
    *,
    has_header: bool | None,
    prefers_comma: bool = False,
    width: int | None = None,
) -> TextTable | None:
    """Write rows, each with its number in the file, as one table. Returns None if all cells are empty.

    `width` is the number of columns. Left out, it is that of the first row. Raises `Unreadable`, and of
    these `NoRows` and `SurplusCells`.
    """
    filled, above = _from_header((number, row) for number, row in rows if any(cell.strip() for cell in row))
    first = next(filled, None)
    if first is None:
        return None
    width = width or _width(first[1])
    if width > MAX_COLUMNS:
        raise Unreadable(f"The file has {width:,} columns; KAI reads up to {MAX_COLUMNS:,}. Leave some out.")
    named = _looks_like_header(first[1]) if has_header is None else has_header
    headers = [cell[:MAX_NAME_CHARACTERS] for cell in first[1][:width]] if named else []
    headers += [""] * (width - len(headers))
    table = TextTable(title, path, headers, named, prefers_comma)
    table.notes += [f"{title}: “{each}” stands above the table and was left out." for each in above]
    short = 0
    written = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, row in _body(first, filled, named):
            short += len(row) < width
            file.write(",".join(map(_quoted, _fitted(row, width, number))) + "\n")
            written += 1
    if written == 0:
        raise NoRows(f"{title} has a header and no rows.")
    if short:
        table.notes.append(
            f"{title}: {short} of {written} rows have fewer cells than the first row; the others are empty."
        )
    return table


def _from_header(
    rows: Iterator[tuple[int, Sequence[str]]],
) -> tuple[Iterator[tuple[int, Sequence[str]]], list[str]]:
    """Returns the rows from the header on, and the cells of those above it, such as a title.

    Rows above a header have one cell each, and those that follow it several.
    """
    head = list(islice(rows, _MOST_ABOVE + 2))
    filled = [sum(bool(cell.strip()) for cell in row) for _, row in head]
    first = next((at for at, count in enumerate(filled) if count > 1), 0)
    if len(filled) - first < 2 or min(filled[first:]) < 2:
        first = 0
    above = [cell.strip()[:MAX_NAME_CHARACTERS] for _, row in head[:first] for cell in row if cell.strip()]
    return chain(head[first:], rows), above


def _body(
    first: tuple[int, Sequence[str]], rest: Iterator[tuple[int, Sequence[str]]], named: bool
) -> Iterator[tuple[int, Sequence[str]]]:
    if not named:
        yield first
    yield from rest


def _fitted(row: Sequence[str], width: int, number: int) -> list[str | None]:
    extra = [cell for cell in row[width:] if cell.strip()]
    if extra:
        raise SurplusCells(
            f"Row {number} has {_width(row)} cells, the first row {width}. Put quotation marks around cells "
            "that hold the separator, or remove the surplus."
        )
    if sum(map(len, row)) > _MAX_ROW_CHARACTERS or any(len(cell) > MAX_CELL_CHARACTERS for cell in row):
        raise Unreadable(f"Row {number} holds a cell of more than {MAX_CELL_CHARACTERS:,} characters.")
    cells: list[str | None] = [cell.replace("\x00", "") if cell.strip() else None for cell in row[:width]]
    return cells + [None] * (width - len(cells))


def _quoted(cell: str | None) -> str:
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def _width(row: Sequence[str]) -> int:
    """Number of cells up to the last that is not empty."""
    return max((number for number, cell in enumerate(row, start=1) if cell.strip()), default=0)


def _looks_like_header(row: Sequence[str]) -> bool:
    return not all(_NO_HEADER.fullmatch(cell.strip()) for cell in row if cell.strip())
