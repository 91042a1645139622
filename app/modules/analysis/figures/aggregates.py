"""Several values as one."""

import statistics
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

Aggregate = Literal["none", "sum", "mean", "count", "median"]
"""The way several values become one."""


def together(numbers: Sequence[Decimal], how: Aggregate | None) -> Decimal:
    """One number of several, which are at least one; their sum unless `how` says otherwise."""
    match how:
        case "mean":
            return sum(numbers, Decimal(0)) / len(numbers)
        case "median":
            return statistics.median(numbers)
        case _:
            return sum(numbers, Decimal(0))
