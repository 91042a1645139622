"""Forecasts of the library statsmodels, which the extra `forecast` installs.

This module loads pandas and SciPy: it is imported with the first forecast, and only where they are there.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from statsmodels.tools.sm_exceptions import ConvergenceWarning, ValueWarning
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.forecasting.theta import ThetaModel
from statsmodels.tsa.seasonal import STL

_MOST_ITERATIONS = 100
_SEASONS_SMOOTHED = 13
"""Values of a place in the season, such as Mondays, over which STL smooths it."""


# A fit that does not converge is judged by its backtest.
for _category in (ConvergenceWarning, ValueWarning):
    warnings.filterwarnings("ignore", category=_category)
warnings.filterwarnings("ignore", category=RuntimeWarning, module="statsmodels")


def smooth(values: NDArray[np.float64], season: int, steps: int) -> NDArray[np.float64]:
    """Forecast by exponential smoothing with a damped trend and an additive season (1 for none)."""
    model = ETSModel(
        values,
        error="add",
        trend="add",
        damped_trend=True,
        seasonal="add" if season > 1 else None,
        seasonal_periods=season if season > 1 else None,
        initialization_method="heuristic",
    )
    return np.asarray(model.fit(disp=False, maxiter=_MOST_ITERATIONS).forecast(steps), dtype=float)


def theta(values: NDArray[np.float64], season: int, steps: int) -> NDArray[np.float64]:
    """Forecast by the theta method: V. Assimakopoulos and K. Nikolopoulos (2000)."""
    model = ThetaModel(
        values,
        period=season,
        deseasonalize=season > 1,
        use_test=False,
        method="multiplicative" if (values > 0).all() else "additive",
    )
    return np.asarray(model.fit().forecast(steps), dtype=float)


def decompose(values: NDArray[np.float64], season: int, steps: int) -> NDArray[np.float64]:
    """Forecast the values without the season that STL finds, robustly, by smoothing, and add the season.

    Values above zero are decomposed as logarithms: their season grows with their level.
    """
    is_growing = bool((values > 0).all())
    scaled = np.log(values) if is_growing else values
    found = STL(scaled, period=season, seasonal=_SEASONS_SMOOTHED, robust=True).fit()
    seasonal = np.asarray(found.seasonal, dtype=float)
    places = len(values) - season + np.arange(steps) % season
    ahead: NDArray[np.float64] = smooth(scaled - seasonal, 1, steps) + seasonal[places]
    return np.exp(ahead) if is_growing else ahead
