"""Values that lie far from what their weekday or month, the trend and other years lead to expect.

A robust regression on a bent line and the places of a season: Tukey's bisquare from least absolute
deviations, P. J. Huber and E. M. Ronchetti, Robust Statistics (2nd edition), chapter 7, with the spread of
the n - p largest distances. It takes gaps as they are. `python -m tests.bench.outlook` compares it with the
residuals of a robust STL.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.modules.analysis.computed.estimates import decimals_of, rounded, student_quantile
from app.modules.analysis.computed.option import NotComputable
from app.modules.analysis.computed.periods import PeriodValues
from app.modules.analysis.figures.calendar import CalendarUnit, Period

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
_Curve: TypeAlias = Callable[[Floats], Floats]

FEWEST = 7
"""Values that outliers are looked for in at least."""
BY_CHANCE = 1 / 2000
"""Share of ordinary values that are called outliers."""

_SEASONS: Mapping[CalendarUnit, int] = {
    "hour": 24,
    "day": 7,
    "week": 1,
    "month": 12,
    "quarter": 4,
    "year": 1,
}
_FEWEST_SEASONS = 3
_BENDS: Mapping[CalendarUnit, int] = {
    "hour": 168,
    "day": 30,
    "week": 13,
    "month": 12,
    "quarter": 6,
    "year": 6,
}
"""Periods after which the line may bend."""
_YEARS: Mapping[CalendarUnit, tuple[int, int]] = {
    "day": (364, 3),
    "week": (52, 1),
    "month": (12, 0),
    "quarter": (4, 0),
}
"""Periods of a year, and those before and after the same time of another year that are compared."""
_AS_FAR = 0.5
_MOST_SHARE = 0.2
_ROUNDS = 30
_TUNING = 4.685
_FAR = 9.0
_NORMAL_MEDIAN, _NORMAL_MEAN = 0.6745, 1.253314
_EXACT = 1e-9
_LEAST_COUNT = 0.25
"""The least value at which the slope of a scale is taken: roots have none at zero."""


@dataclass(frozen=True, kw_only=True)
class Outlier:
    """A value far from the expected one. Ordinary values lie between `low` and `high`, rounded inwards."""

    period: Period
    value: Decimal
    expected: Decimal
    low: Decimal
    high: Decimal

    @property
    def is_high(self) -> bool:
        return self.value > self.expected


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """The outliers in order of time. Of the `checked` values about `by_chance` would be called so if all were
    ordinary.

    `season` is the number of places, such as weekdays, that values are compared by; 1 if there are too few
    values. `is_yearly` is true if a value counts as ordinary when another year was as far off at that time.
    `is_irregular` is true if so many values are far off that none stands out: none is named then.
    """

    unit: CalendarUnit
    found: Sequence[Outlier]
    checked: int
    by_chance: float
    season: int
    is_yearly: bool
    is_irregular: bool


@dataclass(frozen=True)
class _Scale:
    """A scale on which the values may spread evenly: to it, back, and its slope at a value."""

    to: _Curve
    back: _Curve
    slope: _Curve


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """What is expected, and the range of ordinary values. `distances` are in units of the spread."""

    expected: Floats
    low: Floats
    high: Floats
    distances: Floats
    misfit: float


def find_outliers(found: PeriodValues) -> Outliers:
    """Find values far above or below what is expected. Raises `NotComputable` when there are too few."""
    whole = [(at, value) for at, value in enumerate(found.whole) if value is not None]
    if len(whole) < FEWEST:
        raise NotComputable(
            f"Outliers need {FEWEST} full {found.unit}s with a value, and there are {len(whole)}. Ask for a "
            "longer time, or choose a finer unit of time."
        )
    at = np.array([place for place, _ in whole])
    values = np.array([value for _, value in whole])
    season = _SEASONS[found.unit]
    if at[-1] - at[0] + 1 < _FEWEST_SEASONS * season:
        season = 1
    columns = _columns(at, season, _BENDS[found.unit] * (2 if season in (4, 12) else 1))
    fit = min((_fit(values, columns, scale) for scale in _scales(values)), key=lambda each: each.misfit)
    far = (values < fit.low) | (values > fit.high)
    year = _YEARS.get(found.unit)
    is_yearly = year is not None and bool(at[-1] - at[0] >= year[0])
    if year is not None and is_yearly:
        far &= ~_usual_in_other_years(at, fit.distances, year)
    is_irregular = bool(far.sum() > max(1, _MOST_SHARE * len(values)))
    return Outliers(
        unit=found.unit,
        found=[]
        if is_irregular
        else [_outlier(found, int(at[row]), fit, row=int(row)) for row in np.flatnonzero(far)],
        checked=len(values),
        by_chance=len(values) * BY_CHANCE,
        season=season,
        is_yearly=is_yearly,
        is_irregular=is_irregular,
    )


def _outlier(found: PeriodValues, at: int, fit: _Fit, *, row: int) -> Outlier:
    value = found.values[at]
    decimals = decimals_of([each for each in found.values if each is not None])
    half = float(fit.high[row] - fit.low[row]) / 2
    expected = rounded(float(fit.expected[row]), half, decimals)
    return Outlier(
        period=found.periods[at],
        value=Decimal(0) if value is None else value,
        expected=expected,
        low=min(expected, rounded(float(fit.low[row]), half, decimals, rounding=ROUND_CEILING)),
        high=max(expected, rounded(float(fit.high[row]), half, decimals, rounding=ROUND_FLOOR)),
    )


def _scales(values: Floats) -> list[_Scale]:
    """The values themselves, and their roots and logarithms where they have them."""
    scales = [_Scale(_itself, _itself, np.ones_like)]
    if (values >= 0).all():
        scales.append(
            _Scale(np.sqrt, lambda each: np.maximum(each, 0) ** 2, lambda each: 0.5 / np.sqrt(each))
        )
    if (values > 0).all():
        scales.append(_Scale(np.log, np.exp, lambda each: 1 / each))
    return scales


def _itself(values: Floats) -> Floats:
    return values


def _columns(at: NDArray[np.int_], season: int, bends: int) -> Floats:
    """The columns of the regression: a line that may bend, and the places of the season."""
    length = int(at[-1] - at[0]) + 1
    time = (at - at[0]) / length
    knots = np.linspace(0, 1, max(1, length // bends) + 1)[1:-1]
    columns = [np.ones(len(at)), time, *(np.maximum(0, time - knot) for knot in knots)]
    places = at % season
    columns += [(places == each).astype(float) - (places == 0) for each in range(1, season)]
    return np.column_stack(columns)


def _fit(values: Floats, columns: Floats, scale: _Scale) -> _Fit:
    """Fit on a scale. Its misfit is the negative log likelihood of a value, without constants."""
    scaled = scale.to(values)
    parameters = int(np.linalg.matrix_rank(columns))
    away, weights = _robust(scaled, columns, parameters)
    size = float(np.abs(scaled).max())
    spread = _spread(away, parameters)
    if spread > _EXACT * size:
        spread = _even_spread(away, spread, parameters)
    else:
        spread = float(np.mean(np.abs(away))) * _NORMAL_MEAN
    inverse = np.linalg.pinv((columns * weights[:, None]).T @ columns)
    influence = np.einsum("ij,jk,ik->i", columns, inverse, columns)
    unit = np.maximum(spread * np.sqrt(1 + np.maximum(influence, 0)), _EXACT * size)
    reach = unit * student_quantile(BY_CHANCE, max(1, len(values) - parameters))
    expected = scaled - away
    slope = scale.slope(np.maximum(values, _LEAST_COUNT)) if scale.to is not _itself else np.ones(1)
    return _Fit(
        expected=scale.back(expected),
        low=scale.back(expected - reach),
        high=scale.back(expected + reach),
        distances=away / unit if size > 0 else away,
        misfit=float(np.log(max(spread, _EXACT * size, _EXACT)) - np.mean(np.log(slope))),
    )


def _robust(values: Floats, columns: Floats, parameters: int) -> tuple[Floats, Floats]:
    """The distances of the values from a robust fit, and the weights of the values in it."""
    size = float(np.abs(values).max())
    weights = np.ones(len(values))
    away = values
    for _ in range(_ROUNDS):
        away = _distances(values, columns, weights)
        weights = 1 / np.maximum(np.abs(away), _EXACT * size + _EXACT)
    spread = _spread(away, parameters)
    if spread <= _EXACT * size:
        return away, (np.abs(away) <= _EXACT * size).astype(float)
    for _ in range(_ROUNDS):
        weights = np.maximum(0, 1 - (away / (_TUNING * spread)) ** 2) ** 2
        away = _distances(values, columns, weights)
    return away, weights


def _distances(values: Floats, columns: Floats, weights: Floats) -> Floats:
    roots = np.sqrt(weights)
    found = np.linalg.lstsq(columns * roots[:, None], values * roots, rcond=None)[0]
    away: Floats = values - columns @ found
    return away


def _spread(away: Floats, parameters: int) -> float:
    """The spread from the middle of the distances, without as many of the least as a fit makes zero."""
    ordered = np.sort(np.abs(away))
    return float(np.median(ordered[min(parameters, len(ordered) - 2) :])) / _NORMAL_MEDIAN


def _even_spread(away: Floats, spread: float, parameters: int) -> float:
    """The biweight spread, which grows evenly where whole numbers make that of the middle jump.

    F. Mosteller and J. W. Tukey, Data Analysis and Regression (1977), chapter 10.
    """
    shares = np.minimum(1, (away / (_FAR * spread)) ** 2)
    above = np.sum(away**2 * (1 - shares) ** 4)
    below = np.sum((1 - shares) * (1 - 5 * shares))
    even = np.sqrt(len(away) * above) / abs(below) * np.sqrt(len(away) / max(1, len(away) - parameters))
    return max(float(even), spread)


def _usual_in_other_years(at: NDArray[np.int_], distances: Floats, year: tuple[int, int]) -> Bools:
    """True where the same time of another year is at least half as far off, in the same direction."""
    length, around = year
    series = np.zeros(int(at[-1]) + 1)
    series[at] = distances
    usual = np.zeros(len(at), dtype=bool)
    for row, place in enumerate(at):
        for other in range(int(place) % length, len(series) + around, length):
            near = series[max(0, other - around) : other + around + 1]
            if other != place and len(near):
                usual[row] |= bool((near * np.sign(distances[row])).max() >= _AS_FAR * abs(distances[row]))
    return usual
