"""Numbers as JSON readers keep them: exact decimals, and doubles without the noise of binary sums."""

import math
import struct
from decimal import Decimal

_LARGEST_EXACT_INTEGER = 2**53
_PLAIN_DECIMALS = 2
_NOISE = ((10, 1e-12), (12, 1e-13), (13, 2e-14))
"""How far a double may be, relative to it, from a decimal of so many digits to be taken for it: sums of
ten thousands of doubles are off by less."""


def as_json(value: int | float | Decimal) -> int | float | str | None:
    """The number itself; its digits as text where a double would round it; None if it is not finite."""
    if not math.isfinite(value):
        return None
    if isinstance(value, float):
        return without_noise(value)
    if not -_LARGEST_EXACT_INTEGER <= value <= _LARGEST_EXACT_INTEGER:
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    return value if isinstance(value, int) else _decimal(value)


def without_noise(value: float) -> float:
    """A double as people mean it: 19366.140000000014 is 19366.14.

    A whole number stays as it is, and so does one of at most 15 significant digits with at most two
    decimals. Any other becomes a decimal of 10, 12 or 13 digits that is as good as equal to it, or its first
    15 digits.
    """
    shown = float(f"{value:.15g}")
    if value.is_integer() or (shown == value and round(value, _PLAIN_DECIMALS) == value):
        return value + 0.0  # no negative zero
    for digits, noise in _NOISE:
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded - value) <= noise * abs(value):
            return rounded
    return shown


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
