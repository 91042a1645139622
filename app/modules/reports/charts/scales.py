"""Scales from values to coordinates, with ticks at round values."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt

Ends = tuple[float, float]

_SHORTEST, _LONGEST = 1e-290, 1e300


@dataclass(frozen=True)
class Linear:
    """A scale of numbers."""

    domain: Ends
    range: Ends

    @classmethod
    def nice(cls, domain: Ends, to: Ends, most: int) -> "Linear":
        """Widens the domain to round values, of which there are about `most`."""
        return cls(_widened(domain, most), to)

    def __call__(self, value: float) -> float:
        (low, high), (start, stop) = self.domain, self.range
        return (start + stop) / 2 if high == low else start + (value - low) / (high - low) * (stop - start)

    def ticks(self, most: int) -> list[float]:
        """About `most` round values within the domain."""
        return _round_values(self.domain, most)


@dataclass(frozen=True)
class Bands:
    """Equal bands for so many places. `padding` is the share of a step between two of them."""

    count: int
    range: Ends
    padding: float

    @property
    def step(self) -> float:
        return (self.range[1] - self.range[0]) / max(1.0, self.count + self.padding)

    @property
    def width(self) -> float:
        return self.step * (1 - self.padding)

    def __call__(self, at: int) -> float:
        start, stop = self.range
        return start + (stop - start - self.step * (self.count - self.padding)) / 2 + self.step * at


def extent(values: Sequence[float], *, zero: bool) -> Ends:
    """The lowest and highest value, zero included if `zero`. The ends differ."""
    known = [*values, *([0.0] if zero else [])]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    if low < high:
        return low, high
    return min(low, 0.0), high if high > 0 else 0.0 if low < 0 else 1.0


def _round_step(domain: Ends, most: int) -> tuple[float, float]:
    """The distance of about `most` round values: 1, 2 or 5 times a power of ten.

    It is a fraction, so that multiples of it have no errors of rounding.
    """
    step = (domain[1] - domain[0]) / most
    power = floor(log10(step))
    rest = step / 10.0**power
    factor = 10 if rest >= sqrt(50) else 5 if rest >= sqrt(10) else 2 if rest >= sqrt(2) else 1
    return (1.0, 10.0**-power / factor) if power < 0 else (10.0**power * factor, 1.0)


def _is_scalable(domain: Ends, most: int) -> bool:
    """False if a double cannot hold the distance of the ends, or of two ticks."""
    return _SHORTEST < (domain[1] - domain[0]) / most < _LONGEST


def _round_values(domain: Ends, most: int) -> list[float]:
    low, high = domain
    if not _is_scalable(domain, most):
        return [low]
    times, over = _round_step(domain, most)
    first, last = ceil(low / times * over - 1e-9), floor(high / times * over + 1e-9)
    if last < first and most < 2:
        return _round_values(domain, most * 2)
    return [each * times / over for each in range(first, last + 1)]


def _widened(domain: Ends, most: int) -> Ends:
    low, high = domain
    before = 0.0
    for _ in range(10):
        if not _is_scalable((low, high), most):
            break
        times, over = _round_step((low, high), most)
        if times / over == before:
            break
        before = times / over
        low, high = floor(low / times * over) * times / over, ceil(high / times * over) * times / over
    return low, high
