"""Two forecasts of a series of values, and a backtest that compares them.

Holt-Winters is the additive form whose trend may be damped: R. J. Hyndman and G. Athanasopoulos, Forecasting:
Principles and Practice (3rd edition), sections 8.2 to 8.4. The seasonal naive forecast is of section 5.2, the
backtest with a rolling origin of section 5.10. The library statsmodels computes the same; with SciPy and
pandas it would be larger than all of KAI.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Method = Literal["seasonal naive", "Holt-Winters"]

COVERED = 0.8
"""Share of the backtest's errors that lie within the band."""

_LEVEL = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_TREND = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
_SEASON = (0.05, 0.1, 0.2, 0.4, 0.6)
_DAMPING = (0.8, 0.9, 0.98, 1.0)
_FIRST_STEPS = 4
"""Steps from which the first trend of values without a season is taken."""


@dataclass(frozen=True, kw_only=True)
class Backtest:
    """Errors of a forecast over the last values, each forecast from the values before it only.

    `error` is the sum of the absolute errors over that of the values: None when all of these are zero.
    `spread[step]` is the half width of a band that holds four fifths of the absolute errors up to that step.
    """

    mean_absolute_error: float
    error: float | None
    spread: Floats


@dataclass(frozen=True)
class Forecaster:
    """A method with the number of values of a season, 1 for none."""

    method: Method
    season: int

    def forecast(self, values: Floats, steps: int) -> Floats:
        """The next `steps` values. Needs one season of values, and two for Holt-Winters with a season."""
        if self.method == "seasonal naive":
            first = len(values) - self.season
            return np.array([values[first + step % self.season] for step in range(steps)])
        return _holt_winters(values, self.season, steps)

    def backtest(self, values: Floats, steps: int, origins: int) -> Backtest:
        """Forecast `steps` values from each of the last `origins` places that have as many after them."""
        last = len(values) - steps
        starts = range(last - origins + 1, last + 1)
        actual = np.array([values[start : start + steps] for start in starts])
        ahead = np.array([self.forecast(values[:start], steps) for start in starts])
        errors = np.abs(actual - ahead)
        size = float(np.abs(actual).sum())
        held = [float(np.quantile(errors[:, step], COVERED)) for step in range(steps)]
        return Backtest(
            mean_absolute_error=float(errors.mean()),
            error=float(errors.sum()) / size if size > 0 else None,
            spread=np.maximum.accumulate(held),
        )


def forecasters(season: int, fewest: int) -> list[Forecaster]:
    """Both methods, with a season if `fewest` values, the least that one is given, are enough for it."""
    return [
        Forecaster("seasonal naive", season if fewest >= season else 1),
        Forecaster("Holt-Winters", season if fewest >= 2 * season else 1),
    ]


def _holt_winters(values: Floats, season: int, steps: int) -> Floats:
    """The forecast with those parameters, of a grid, that have the least squared errors one step ahead.

    All parameters are tried at once: each array has one element, or one row, for each choice of them.
    """
    seasonal = season > 1
    grid = np.array(list(product(_LEVEL, _TREND, _SEASON if seasonal else (0.0,), _DAMPING)))
    alpha, beta, gamma, phi = grid.T
    start = values[:season]
    reach = season if seasonal else min(_FIRST_STEPS, len(values) - 1)
    slope = float(values[reach : reach + season].mean() - start.mean()) / reach
    line = float(start.mean()) + slope * (np.arange(season) - (season - 1) / 2)
    level = np.full(len(grid), line[-1])
    trend = np.full(len(grid), slope)
    seasons = np.tile(start - line, (len(grid), 1))
    squares = np.zeros(len(grid))
    for at in range(season, len(values)):
        place = at % season
        expected = level + phi * trend
        surprise = values[at] - expected - seasons[:, place]
        squares += surprise**2
        level = expected + alpha * surprise
        trend = phi * trend + alpha * beta * surprise
        if seasonal:
            seasons[:, place] += gamma * (1 - alpha) * surprise
    best = int(np.argmin(squares))
    damped = np.cumsum(phi[best] ** np.arange(1, steps + 1))
    places = [(len(values) + step) % season for step in range(steps)]
    ahead: Floats = level[best] + damped * trend[best] + seasons[best, places]
    return ahead
