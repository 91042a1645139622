"""Parse cells as numbers: doubles to compare, decimals for sums that are shown."""

import re
import statistics
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Literal

from pydantic import JsonValue

Aggregate = Literal["none", "sum", "mean", "count", "median"]
"""The way several values become one."""

_DIGITS = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")


def number(cell: JsonValue) -> float | None:
    """The cell as a double; None when it is null, not a number or not finite.

    Text of plain digits is a number: a decimal that a double would round arrives as text. Text with a
    leading zero ("007") is a code and not a number.
    """
    if isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        if not _DIGITS.fullmatch(cell):
            return None
    elif not isinstance(cell, int | float):
        return None
    try:
        value = float(cell)
    except OverflowError:
        return None
    return value if isfinite(value) else None


def exact(cell: JsonValue) -> Decimal | None:
    """The cell as an exact decimal; None when it is not a number or not finite.

    A double is rounded to 15 digits, as those beyond are noise (19366.140000000014).
    """
    if type(cell) is float:
        return Decimal(f"{cell:.15g}") if isfinite(cell) else None
    if type(cell) is int:
        return Decimal(cell)
    return Decimal(cell) if isinstance(cell, str) and number(cell) is not None else None


def together(numbers: Sequence[Decimal], how: Aggregate | None) -> Decimal:
    """One number of several, which are at least one; their sum unless `how` says otherwise."""
    match how:
        case "mean":
            return sum(numbers, Decimal(0)) / len(numbers)
        case "median":
            return statistics.median(numbers)
        case _:
            return sum(numbers, Decimal(0))
