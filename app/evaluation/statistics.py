"""How far a share of right answers can be trusted, and a difference between two."""

import math
from dataclasses import dataclass
from statistics import NormalDist

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Share:
    """`right` of `all`; `low` and `high` bound it with 95 % confidence, by Wilson's interval."""

    right: int
    all: int

    @property
    def value(self) -> float:
        return self.right / self.all if self.all else 0.0

    @property
    def low(self) -> float:
        return max(0.0, self._center - self._margin) if self.all else 0.0

    @property
    def high(self) -> float:
        return min(1.0, self._center + self._margin) if self.all else 1.0

    @property
    def _center(self) -> float:
        return (self.value + _Z**2 / (2 * self.all)) / (1 + _Z**2 / self.all)

    @property
    def _margin(self) -> float:
        spread = self.value * (1 - self.value) / self.all + _Z**2 / (4 * self.all**2)
        return _Z * math.sqrt(spread) / (1 + _Z**2 / self.all)

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%}), {self.right} of {self.all}"


@dataclass(frozen=True)
class Difference:
    """Two shares of the same `asked` questions: the second lost and won these against the first.

    `low` and `high` bound the difference of the shares with 95 % confidence, by Bonett and Price's interval
    for pairs.
    """

    lost: int
    won: int
    asked: int

    @property
    def value(self) -> float:
        return (self.won - self.lost) / self.asked

    @property
    def low(self) -> float:
        return max(-1.0, self._center - self._margin)

    @property
    def high(self) -> float:
        return min(1.0, self._center + self._margin)

    @property
    def _center(self) -> float:
        return (self.won - self.lost) / (self.asked + 2)

    @property
    def _margin(self) -> float:
        differing = (self.won + self.lost + 2) / (self.asked + 2)
        return _Z * math.sqrt((differing - self._center**2) / (self.asked + 2))

    def __str__(self) -> str:
        value, low, high = (f"{100 * each:+.1f}" for each in (self.value, self.low, self.high))
        return f"{value} points ({low} to {high})"


def mcnemar_exact(lost: int, won: int) -> float:
    """How probable a difference like this one, or a greater, is when both are equally good.

    Of `lost` + `won` questions that only one of two answered rightly, `lost` were the first one's.
    """
    differing = lost + won
    tail = sum(math.comb(differing, few) for few in range(min(lost, won) + 1))
    return min(1.0, 2 * tail / (1 << differing))
