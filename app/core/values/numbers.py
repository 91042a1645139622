"""Numbers of cells: as readers of JSON keep them (exact decimals as text, doubles without the noise of sums),
and read from cells of JSON.
"""

import math
import re
import struct
from decimal import Decimal, InvalidOperation

from pydantic import JsonValue

_LARGEST_EXACT_INTEGER = 2**53
_NOISE = re.compile("00|99")
_NOISELESS_DIGITS = 10
_SHORT = 12
_DIGITS = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_LARGEST_NOISE = 0.001
"""So much of an amount is never noise, however large the amount."""


def as_json(value: int | float | Decimal) -> int | float | str | None:
    """The number itself; its digits as text where a double would round it; None if it is not finite."""
    if not math.isfinite(value):
        return None
    if isinstance(value, float):
        return without_noise(value)
    if not -_LARGEST_EXACT_INTEGER <= value <= _LARGEST_EXACT_INTEGER:
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    return value if isinstance(value, int) else _decimal(value)


def read_number(cell: JsonValue) -> Decimal | None:
    """Returns the number that `as_json` has written, None for any other value. Raises nothing."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = Decimal(str(cell))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def as_double(cell: JsonValue) -> float | None:
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
    return value if math.isfinite(value) else None


def as_decimal(cell: JsonValue) -> Decimal | None:
    """The cell as an exact decimal; None when `as_double` returns None for it.

    A double is rounded to 15 digits, as those beyond are noise (19366.140000000014).
    """
    if type(cell) is float:
        return Decimal(f"{cell:.15g}") if math.isfinite(cell) else None
    if type(cell) is int:
        return Decimal(cell)
    return Decimal(cell) if isinstance(cell, str) and as_double(cell) is not None else None


def without_noise(value: float) -> float:
    """A double as people mean it: 19366.140000000014 is 19366.14.

    A double has 15 digits. Where two zeros or two nines follow each other behind the tenth of them, it is
    rounded there, as what comes behind is what adding up ten thousands of doubles loses; but by less
    than a thousandth. Whole numbers stay as they are.
    """
    if value.is_integer() or len(repr(value)) <= _SHORT:
        return value + 0.0  # no negative zero
    digits, exponent = f"{abs(value):.14e}".replace(".", "").split("e")
    noise = _NOISE.search(digits, _NOISELESS_DIGITS)
    if noise is not None:
        rounded = float(f"{value:.{noise.start()}g}")
        if abs(rounded - value) < _LARGEST_NOISE:
            return rounded
    return math.copysign(float(f"{digits[0]}.{digits[1:]}e{exponent}"), value)


def of_single_precision(value: float) -> float:
    """The shortest decimal that is the same number of 32 bits: 0.10000000149011612 is 0.1."""
    if not math.isfinite(value):
        return value
    candidates = (float(f"{value:.{digits}g}") for digits in range(6, 9))
    return next((each for each in candidates if _single(each) == value), float(f"{value:.9g}"))


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _decimal(value: Decimal) -> int | float | str:
    """A double if it is shown by the same digits, else the digits themselves."""
    if value.as_tuple().exponent == 0:
        return int(value)
    double = float(value)
    return double if Decimal(repr(double)) == value else format(value, "f")
