"""Equality of values of two results."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from pydantic import JsonValue

from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import ColumnType

Cell = None | str | int | float
DatabaseRow = tuple[Cell, ...]

RELATIVE_TOLERANCE = 1e-4
_ABSOLUTE_TOLERANCE = 1e-9  # what is left of a sum that should be zero

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d))?(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?")
_UTC = (None, "Z", "+00", "+00:00", "+0000")


def rows_of(result: ResultSet) -> list[DatabaseRow]:
    """Returns rows with normalized values: whole numbers as int, other numbers as float, a midnight
    as its day.
    """
    types = [column.type for column in result.columns]
    return [tuple(_cell(value, kind) for value, kind in zip(row, types, strict=True)) for row in result.rows]


def bag_of(result: ResultSet) -> frozenset[tuple[DatabaseRow, int]]:
    """Returns the count of each row, without order. Numbers are rounded to six digits, so that sums that
    were added in another order are equal.
    """
    return frozenset(Counter(tuple(map(_to_six_digits, row)) for row in rows_of(result)).items())


def same_cell(one: Cell, other: Cell) -> bool:
    """True if the values are equal, or are numbers, at least one with a fraction, that differ by
    less than 1 in 10,000.
    """
    if one == other:
        return True
    if isinstance(one, float) and isinstance(other, int | float):
        return _near(one, other)
    return isinstance(other, float) and isinstance(one, int) and _near(one, other)


def same_row(one: Sequence[Cell], other: Sequence[Cell]) -> bool:
    return all(map(same_cell, one, other))


def _to_six_digits(cell: Cell) -> Cell:
    return float(f"{cell:.6g}") if isinstance(cell, float) else cell


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)


def _cell(value: JsonValue, kind: ColumnType) -> Cell:
    match value:
        case None:
            return None
        case bool() | int():
            return int(value)
        case float():
            return int(value) if value.is_integer() else value
        case str() if kind in ("integer", "number"):
            return _exact_number(value)
        case str():
            return one_spelling(value)
        case list() | dict():
            return json.dumps(value, sort_keys=True)


def _exact_number(text: str) -> Cell:
    """Returns a number that came as text because a double would have rounded it."""
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else float(number)


def one_spelling(text: str) -> str:
    """Returns a time in one spelling; midnight, without a zone or in UTC, as the bare day."""
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    day, minute, second, fraction, zone = found.groups()
    rest = f".{kept}" if (kept := (fraction or "").rstrip("0")) else ""
    time = f"{minute}:{second or '00'}{rest}"
    if time == "00:00:00" and zone in _UTC:
        return day
    return f"{day} {time}{'' if zone is None else '+00:00' if zone in _UTC else zone}"
