"""A forecast of the periods to come, by the method that a backtest prefers.

The backtest has a rolling origin: R. J. Hyndman and G. Athanasopoulos, Forecasting: Principles and Practice
(3rd edition), section 5.10. The seasonal naive forecast is of section 5.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.modules.analysis.computed.estimates import decimals_of, rounded, student_quantile
from app.modules.analysis.computed.option import NotComputable
from app.modules.analysis.computed.periods import PeriodValues
from app.modules.analysis.figures.calendar import CalendarUnit, Period

Floats: TypeAlias = NDArray[np.float64]
Method = Literal[
    "naive",
    "seasonal naive with growth",
    "exponential smoothing",
    "theta",
    "STL with exponential smoothing",
]
_Forecaster: TypeAlias = Callable[[Floats, int, int], Floats]
"""Takes the values, the length of the season (1 for none) and the number of steps."""

COVERED = 0.8
"""Share of the true values that the ranges are made to hold."""
FEWEST = 8
"""Values that a forecast needs at least."""

_SEASONS: Mapping[CalendarUnit, int] = {
    "hour": 24,
    "day": 7,
    "week": 52,
    "month": 12,
    "quarter": 4,
    "year": 1,
}
_STEPS: Mapping[CalendarUnit, int] = {
    "hour": 24,
    "day": 14,
    "week": 8,
    "month": 6,
    "quarter": 4,
    "year": 3,
}
_MOST_TESTED: Mapping[CalendarUnit, int] = {
    "hour": 48,
    "day": 28,
    "week": 16,
    "month": 12,
    "quarter": 8,
    "year": 5,
}
_LONGEST_TRAINING = 400
"""Values that a forecast is made from; older ones say little of the next."""
_MOST_GAPS = 0.1
_FEWEST_WEEKS = 4
"""Weeks without any value on a weekday after which that weekday is closed."""
_FEWEST_SMOOTHED = 10
_MOST_GROWTH = 2.0
_SEASONS_COMPARED = 4


@dataclass(frozen=True, kw_only=True)
class ForecastStep:
    """A period to come. The value lies within the range in about `COVERED` of all cases.

    `held` is what the period already holds if it has begun and can only grow; nothing lies below it.
    """

    period: Period
    value: Decimal
    low: Decimal
    high: Decimal
    held: Decimal | None = None


@dataclass(frozen=True)
class MethodError:
    """The mean absolute error of a method in the backtest, in the unit of the values.

    `share` is its share of the mean absolute value; None if all values were zero.
    """

    method: Method
    absolute: float
    share: float | None


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The forecast of the method with the smallest error, and the errors of all, smallest first.

    `season` is the number of periods of the method's season, 1 if it has none. `trained`
    values were used, of which `filled` stand for gaps. The last `tested` of them were forecast in the
    backtest. `closed` are weekdays (0 is Monday) that never have a value and are left out.
    """

    unit: CalendarUnit
    season: int
    steps: Sequence[ForecastStep]
    errors: Sequence[MethodError]
    tested: int
    trained: int
    filled: int
    since: Period
    closed: Sequence[int]
    not_negative: bool


@dataclass(frozen=True)
class _Training:
    """Values without gaps, in order; `known` is false where a value stands for a gap."""

    values: Floats
    known: NDArray[np.bool_]
    first: Period
    last: Period
    closed: frozenset[int]


@dataclass(frozen=True)
class _Candidate:
    method: Method
    season: int
    forecaster: _Forecaster


@dataclass(frozen=True)
class _Test:
    """The error of a method, its forecast from all values, and the half width of each step's range."""

    error: MethodError
    season: int
    ahead: Floats
    spread: Floats


def forecast(found: PeriodValues) -> Forecast:
    """Forecast the next periods. Raises `NotComputable` when there are too few values."""
    training = _training(found)
    count = len(training.values)
    steps = min(_STEPS[found.unit], max(1, count // 4))
    season = _SEASONS[found.unit] - len(training.closed)
    tested = _tested(count, season, steps, most=_MOST_TESTED[found.unit])
    tests = [
        test
        for candidate in _candidates(training.values, season, count - tested)
        if (test := _backtest(training, candidate, steps, origins=tested - steps + 1)) is not None
    ]
    tests.sort(key=lambda each: each.error.absolute)
    best = tests[0]
    return Forecast(
        unit=found.unit,
        season=best.season,
        steps=_steps(found, training, best),
        errors=[each.error for each in tests],
        tested=tested,
        trained=count,
        filled=int((~training.known).sum()),
        since=training.first,
        closed=sorted(training.closed),
        not_negative=bool((training.values >= 0).all()),
    )


def _tested(count: int, season: int, steps: int, *, most: int) -> int:
    """The number of values to forecast in the backtest: as many as leave two seasons, else a third."""
    room = count - 2 * season
    return min(most, room) if season > 1 and room >= steps else max(steps, min(most, count // 3))


def values_for_season(unit: CalendarUnit) -> int | None:
    """The number of values from which all methods see a season; None for a unit without one."""
    season = _SEASONS[unit]
    counts = range(2 * season, 4 * season) if season > 1 else ()
    return next((count for count in counts if count - 2 * season >= min(_STEPS[unit], count // 4)), None)


def _training(found: PeriodValues) -> _Training:
    """The latest values with few gaps, which are filled; weekdays that never have a value are left out."""
    pairs = list(zip(found.periods, found.whole, strict=True))
    places = [at for at, (_, value) in enumerate(pairs) if value is not None]
    pairs = pairs[places[0] : places[-1] + 1] if places else []
    closed = _closed_weekdays(pairs) if found.unit == "day" else frozenset()
    pairs = [pair for pair in pairs if pair[0].start.weekday() not in closed][-_LONGEST_TRAINING:]
    gaps = np.array([value is None for _, value in pairs], dtype=bool)
    remaining = np.cumsum(gaps[::-1])[::-1]
    first = next(
        (at for at in range(len(pairs)) if not gaps[at] and remaining[at] <= _MOST_GAPS * (len(pairs) - at)),
        len(pairs),
    )
    if len(pairs) - first < FEWEST:
        gap = next((period for period, value in reversed(pairs[:first]) if value is None), None)
        after = f" after the gap at {gap}" if gap is not None else ""
        raise NotComputable(
            f"A projection needs {FEWEST} full {found.unit}s in a row, and there are {len(pairs) - first}"
            f"{after}. Ask for a longer time, or choose a finer unit of time."
        )
    pairs = pairs[first:]
    values = np.array([np.nan if value is None else value for _, value in pairs])
    season = _SEASONS[found.unit] - len(closed)
    return _Training(_filled(values, season), ~np.isnan(values), pairs[0][0], pairs[-1][0], closed)


def _closed_weekdays(pairs: Sequence[tuple[Period, float | None]]) -> frozenset[int]:
    if len(pairs) < 7 * _FEWEST_WEEKS:
        return frozenset()
    return frozenset(range(7)) - {period.start.weekday() for period, value in pairs if value is not None}


def _filled(values: Floats, season: int) -> Floats:
    """Fill gaps with the mean of the values a season before and after, else from both neighbours."""
    known = ~np.isnan(values)
    places = np.arange(len(values))
    filled = np.interp(places, places[known], values[known])
    for at in np.flatnonzero(~known):
        around = [values[each] for each in (at - season, at + season) if 0 <= each < len(values)]
        around = [each for each in around if not np.isnan(each)]
        if season > 1 and around:
            filled[at] = np.mean(around)
    return filled


def _candidates(values: Floats, season: int, fewest: int) -> list[_Candidate]:
    """The methods that can be fitted to `fewest` values, the least that one is given."""
    candidates = [_Candidate("naive", 1, _naive)]
    if 1 < season <= fewest:
        candidates.append(_Candidate("seasonal naive with growth", season, _naive))
    if find_spec("statsmodels") is None or fewest < _FEWEST_SMOOTHED or not np.ptp(values):
        return candidates
    from app.modules.analysis.computed import smoothing  # noqa: PLC0415  (an extra, and loads slowly)

    seen = season if fewest >= max(2 * season, _FEWEST_SMOOTHED + season) else 1
    candidates.append(_Candidate("exponential smoothing", seen, smoothing.smooth))
    candidates.append(_Candidate("theta", seen, smoothing.theta))
    if seen > 1:
        candidates.append(_Candidate("STL with exponential smoothing", seen, smoothing.decompose))
    return candidates


def _naive(values: Floats, season: int, steps: int) -> Floats:
    """The last season again, times its mean growth of up to four seasons; the last value without a season."""
    base = values[len(values) - season + np.arange(steps) % season]
    seasons = min(len(values) // (2 * season), _SEASONS_COMPARED) if season > 1 else 0
    if not seasons:
        return base
    last = float(values[-seasons * season :].mean())
    before = float(values[-2 * seasons * season : -seasons * season].mean())
    ahead = 1 + np.arange(steps) // season
    if before > 0 and (values >= 0).all():
        growth = (last / before) ** (1 / seasons)
        return base * float(np.clip(growth, 1 / _MOST_GROWTH, _MOST_GROWTH)) ** ahead
    return base + (last - before) / seasons * ahead


def _backtest(training: _Training, candidate: _Candidate, steps: int, *, origins: int) -> _Test | None:
    """Forecast from each of the last `origins` places that have `steps` values after them, and from the end.

    Returns None if a forecast fails.
    """
    values = training.values
    last = len(values) - steps
    starts = [*range(last - origins + 1, last + 1), len(values)]
    ahead = [found for start in starts if (found := _finite(candidate, values[:start], steps)) is not None]
    if len(ahead) < len(starts):
        return None
    places = np.array(starts[:-1])[:, None] + np.arange(steps)
    errors = np.where(training.known[places], np.abs(values[places] - np.array(ahead[:-1])), np.nan)
    size = float(np.nanmean(np.abs(values[places])))
    absolute = float(np.nanmean(errors)) if not np.isnan(errors).all() else 0.0
    error = MethodError(candidate.method, absolute, absolute / size if size > 0 else None)
    return _Test(error, candidate.season, ahead[-1], _spread(errors))


def _spread(errors: Floats) -> Floats:
    """The half width of the range of each step, from the errors (origins x steps) of the backtest.

    Forecasts from neighbouring origins share most of their values, so that their errors count for half.
    """
    known = ~np.isnan(errors)
    counts = known.sum(axis=0)
    squares = np.where(known, errors, 0.0) ** 2
    means = np.sqrt(squares.sum(axis=0) / np.maximum(counts, 1))
    factors = [student_quantile(1 - COVERED, max(1, int(count) // 2)) for count in counts]
    return np.maximum.accumulate(means * np.array(factors))


def _finite(candidate: _Candidate, values: Floats, steps: int) -> Floats | None:
    try:
        ahead = candidate.forecaster(values, candidate.season, steps)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None
    return ahead if np.isfinite(ahead).all() else None


def _steps(found: PeriodValues, training: _Training, test: _Test) -> list[ForecastStep]:
    begun = {
        period: value
        for period, value in zip(found.periods, found.values, strict=True)
        if period in found.partial and value is not None and found.accumulates
    }
    decimals = decimals_of([value for value in found.values if value is not None])
    steps: list[ForecastStep] = []
    period = training.last
    for value, half in zip(map(float, test.ahead), map(float, test.spread), strict=True):
        period = period.after(1)
        while training.closed and period.start.weekday() in training.closed:
            period = period.after(1)
        held = begun.get(period)
        least = held if held is not None else Decimal(0) if (training.values >= 0).all() else None
        middle, low, high = (
            rounded(each, half, decimals) if least is None else max(rounded(each, half, decimals), least)
            for each in (value, value - half, value + half)
        )
        steps.append(ForecastStep(period=period, value=middle, low=low, high=high, held=held))
    return steps
