"""Prints measurements."""

import statistics
from collections.abc import Sequence


def title(text: str) -> None:
    print(f"\n{text}", flush=True)


def row(name: str, *cells: str) -> None:
    print(f"  {name:<42}" + "".join(f"{cell:>19}" for cell in cells), flush=True)


def spread(milliseconds: Sequence[float]) -> str:
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return f"{cuts[49]:.1f} / {cuts[98]:.1f} ms"
