"""Cells as numbers: doubles for comparing, decimals for sums that are shown."""

import re
from decimal import Decimal
from math import isfinite

from pydantic import JsonValue

_DIGITS = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")


def number(cell: JsonValue) -> float | None:
    """Returns None for null, for what is no number, and for what is not finite.

    Text of plain digits is a number: a decimal that a double would round arrives as text. Digits after
    a leading zero are a code.
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
    """The number in decimal digits; None where `number` gives None.

    A double keeps 15 of them: what it holds beyond these is noise (19366.140000000014).
    """
    if type(cell) is float:
        return Decimal(f"{cell:.15g}") if isfinite(cell) else None
    if type(cell) is int:
        return Decimal(cell)
    return Decimal(cell) if isinstance(cell, str) and number(cell) is not None else None
