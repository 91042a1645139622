"""Rows as they leave a database: plain JSON values under the column's type, cut to bounds."""

import base64
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from app.core.values.numbers import as_json
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.schema import ColumnType
from graph.state import Column, Cut, Rows

_TEXT_SHAPES: Sequence[tuple[ColumnType, re.Pattern[str]]] = (
    ("date", re.compile(r"\d{4}-[01]\d-[0-3]\d")),
    (
        "datetime",
        re.compile(r"\d{4}-[01]\d-[0-3]\d[ T][0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?"),
    ),
    ("time", re.compile(r"[0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?")),
)


class ResultColumn(NamedTuple):
    name: str
    type: ColumnType


@dataclass(frozen=True)
class ResultSet:
    """Rows of JSON values in the columns' order; `truncated`: a bound cut rows or a cell, see `cut_by`."""

    columns: tuple[ResultColumn, ...]
    rows: list[list[JsonValue]]
    truncated: bool
    cut_by: Cut | None = None
    are_secret: Sequence[bool] = ()
    """For each column whether its values are made of a column named as secrets are. Empty: none is."""
    row_policies: Sequence[str] = ()
    """Names of the policies that limit its rows to those that the person may see."""
    rows_read: int | None = None
    """Rows that the database read for it. None if it does not say."""
    bytes_read: int | None = None
    """Bytes that the database read for it. None if it does not say."""

    def as_rows(self) -> Rows:
        """Returns the same rows as an answer keeps them."""
        are_secret = self.are_secret or [False] * len(self.columns)
        return Rows(
            columns=[
                marked_column(column.name, column.type, is_secret=is_secret)
                for column, is_secret in zip(self.columns, are_secret, strict=True)
            ],
            rows=self.rows,
            row_count=len(self.rows),
            truncated=self.truncated,
            cut_by=self.cut_by,
        )


def marked_column(name: str, kind: ColumnType, *, is_secret: bool) -> Column:
    column = Column(name=name, type=kind)
    if is_secret:
        column["secret"] = True
    return column


@dataclass(frozen=True)
class RawRows:
    """A result under way: `types` holds None where the driver does not know the column's type.

    `rows_read` and `bytes_read` are what the database read for it; None if it does not say.
    """

    names: Sequence[str]
    types: Sequence[ColumnType | None]
    rows: Iterable[Sequence[object]]
    rows_read: int | None = None
    bytes_read: int | None = None


def collect(raw: RawRows, limits: StatementLimits) -> ResultSet:
    """Take rows until they end or a bound is reached; one row more than kept is looked at."""
    kept: list[Sequence[object]] = []
    values: list[list[JsonValue]] = []
    size = 0
    cut_by: Cut | None = None
    for row in raw.rows:
        cells = [_Cell.of(value, limits.max_cell_characters) for value in row]
        size += sum(cell.size for cell in cells)
        if len(values) == limits.max_rows or size > limits.max_bytes:
            cut_by = "rows" if len(values) == limits.max_rows else "bytes"
            break
        if cut_by is None and any(cell.cut for cell in cells):
            cut_by = "values"
        kept.append(row)
        values.append([cell.value for cell in cells])
    return ResultSet(
        _columns(raw, kept),
        values,
        cut_by is not None,
        cut_by,
        rows_read=raw.rows_read,
        bytes_read=raw.bytes_read,
    )


def type_of_values(values: Iterable[object]) -> ColumnType:
    """The one type that fits all values (null fits every type); text when there is none."""
    types = {_type_of(value) for value in values if value is not None}
    if types == {"integer", "number"}:
        return "number"
    return types.pop() if len(types) == 1 else "text"


def _type_of(value: object) -> ColumnType:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float() | Decimal():
            return "number"
        case datetime():
            return "datetime"
        case date():
            return "date"
        case time():
            return "time"
        case bytes() | memoryview():
            return "binary"
        case list() | dict() | tuple():
            return "json"
    shapes = (kind for kind, shape in _TEXT_SHAPES if shape.fullmatch(str(value)))
    return next(shapes, "text")


def _columns(raw: RawRows, rows: Sequence[Sequence[object]]) -> tuple[ResultColumn, ...]:
    names = _unique(raw.names)
    return tuple(
        ResultColumn(name, known or type_of_values(row[index] for row in rows))
        for index, (name, known) in enumerate(zip(names, raw.types, strict=True))
    )


def _unique(names: Sequence[str]) -> list[str]:
    """Names as given, the repeated ones numbered from 2."""
    taken = set(names)
    unique: list[str] = []
    for name in names:
        candidate = name
        number = 1
        while candidate in unique or (number > 1 and candidate in taken):
            number += 1
            candidate = f"{name}_{number}"
        unique.append(candidate)
    return unique


class _Cell(NamedTuple):
    """A JSON value, its size in characters, and whether it was cut."""

    value: JsonValue
    size: int
    cut: bool = False

    @classmethod
    def of(cls, value: object, longest: int) -> "_Cell":
        match value:
            case None | bool():
                return cls(value, 5)
            case int() | float() | Decimal():
                number = as_json(value)
                return cls(number, 20 if not isinstance(number, str) else len(number))
            case datetime() | date() | time():
                return cls(value.isoformat(), 32)
            case bytes() | memoryview():
                data = bytes(value)
                return cls._text(base64.b64encode(data[:longest]).decode("ascii"), longest)
            case list() | dict() | tuple():
                return cls._json(value, longest)
            case timedelta():
                return cls._text(_duration(value), longest)
        return cls._text(str(value), longest)

    @classmethod
    def _text(cls, text: str, longest: int) -> "_Cell":
        return cls(text[:longest], min(len(text), longest), len(text) > longest)

    @classmethod
    def _json(cls, value: object, longest: int) -> "_Cell":
        plain = _nested(value)
        text = json.dumps(plain, ensure_ascii=False)
        return cls(plain, len(text)) if len(text) <= longest else cls._text(text, longest)


def _nested(value: object) -> JsonValue:
    """Convert a value inside a list or map to JSON, by the same rules. Keys become text."""
    match value:
        case None | bool() | str():
            return value
        case int() | float() | Decimal():
            return as_json(value)
        case datetime() | date() | time():
            return value.isoformat()
        case dict():
            return {str(key): _nested(each) for key, each in value.items()}
        case list() | tuple():
            return [_nested(each) for each in value]
    return str(value)


def _duration(value: timedelta) -> str:
    """Format an interval as PostgreSQL does: `2 days 03:04:05`."""
    hours, rest = divmod(value - timedelta(days=value.days), timedelta(hours=1))
    minutes, seconds = divmod(rest, timedelta(minutes=1))
    clock = f"{hours:02}:{minutes:02}:{seconds.total_seconds():0>9.6f}".removesuffix(".000000")
    days = f"{value.days} day{'' if value.days == 1 else 's'}" if value.days else ""
    return f"{days} {clock}".strip() if clock != "00:00:00" or not days else days


def cut_sentence(rows: Rows) -> str:
    """Returns one sentence, or an empty text if no limit cut the result."""
    if not rows["truncated"]:
        return ""
    kept = f"{rows['row_count']:,}"
    match rows.get("cut_by"):
        case "values":
            return "Some values are too long to be kept whole: their ends are cut."
        case "bytes":
            return f"Only the first {kept} rows are kept, as the result is too large; there are more."
        case "rows" | None:
            return f"Only the first {kept} rows are kept, the limit of a result; there are more."
