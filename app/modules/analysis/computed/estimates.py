"""Quantiles of Student's distribution, and estimates rounded to what is known of them."""

from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from math import floor, log10, pi, sqrt, tan

import numpy as np

_ANGLES = 20_001
_DIGITS = 2
"""Digits of an estimate's half width to which it is rounded."""


@lru_cache(maxsize=256)
def student_quantile(outside: float, freedom: int) -> float:
    """The distance from zero beyond which a share `outside` of Student's distribution lies, on both sides.

    Student's t is sqrt(freedom) * tan(angle), where the density of the angle is a power of its cosine.
    """
    angles = np.linspace(0, pi / 2, _ANGLES)
    heights = np.cos(angles) ** (freedom - 1)
    within = np.cumsum((heights[1:] + heights[:-1]) / 2)
    angle = float(angles[1 + np.searchsorted(within, (1 - outside) * within[-1])])
    return sqrt(freedom) * tan(angle)


def decimals_of(values: list[Decimal]) -> int:
    """The most decimal places of any of the values."""
    return max((-int(value.as_tuple().exponent) for value in values), default=0)


def rounded(value: float, half_width: float, decimals: int, *, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    """The value to two digits of its half width, and to at most so many decimal places."""
    place = -decimals if half_width <= 0 else max(floor(log10(half_width)) - _DIGITS + 1, -decimals)
    return Decimal(f"{Decimal(value).quantize(Decimal(1).scaleb(place), rounding) + 0:f}")
