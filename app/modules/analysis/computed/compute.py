"""The computed option of a chart: its values, and the sentences on how they were made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import isfinite

import numpy as np
from pydantic import JsonValue

from app.modules.analysis.chart.drawing import Spec, covered_of
from app.modules.analysis.computed.drawn import Drawn, Extra, computed_spec
from app.modules.analysis.computed.forecasting import COVERED, Backtest, Forecaster, forecasters
from app.modules.analysis.computed.option import ChartOption, NotComputable, OptionKind
from app.modules.analysis.computed.periods import PeriodValues, period_values
from app.modules.analysis.figures.calendar import CalendarUnit, Period
from app.modules.analysis.words import title
from graph.state import Rows

_WINDOWS: Mapping[CalendarUnit, int] = {"day": 7, "week": 4, "month": 3, "quarter": 4, "year": 3}
_SEASONS: Mapping[CalendarUnit, int] = {"day": 7, "week": 52, "month": 12, "quarter": 4, "year": 1}
_STEPS: Mapping[CalendarUnit, int] = {"day": 14, "week": 8, "month": 6, "quarter": 4, "year": 3}
_MOST_ORIGINS = 6
_FEWEST_PROJECTED = 8
_FEWEST_FOR_OUTLIERS = 7
_LONGEST_TRAINING = 400
"""Values that a projection is made from; older ones say little of the next."""
_OUTLYING = 3.5
_NORMAL_MEDIAN, _NORMAL_MEAN = 0.6745, 1.253314
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class _Computed:
    """What an option adds to the values: its sentences, and what is drawn. `replaces` means that the values
    themselves are not drawn.
    """

    said: Sequence[str]
    extras: Sequence[Extra]
    axis_title: str = ""
    is_share: bool = False
    replaces: bool = False


def compute_chart(
    rows: Rows, option: ChartOption, chart: Mapping[str, JsonValue] | None, *, today: date
) -> Spec:
    """Compute the option from all rows at hand, and draw it with the values.

    `chart` is the chart that was proposed for the rows: it says which periods the data covers only in part.
    `today` is the day of the rows. Raises `NotComputable`.
    """
    covered = covered_of(chart or {})
    partial = covered.partial() if covered else []
    values = period_values(rows, option, partial=partial, today=today)
    made = _OPTIONS[option.kind](values, option, title(rows["columns"][option.value]["name"]))
    drawn = Drawn(
        values=values,
        said=[*made.said, *_not_over(values), *values.said],
        extras=made.extras,
        axis_title=made.axis_title,
        is_share=made.is_share,
        replaces=made.replaces,
    )
    return computed_spec(rows, option, drawn)


def _moving_average(found: PeriodValues, option: ChartOption, name: str) -> _Computed:
    window = option.window or _WINDOWS[found.unit]
    values = found.whole
    _enough(found, window + 1, f"A moving average of {window} {found.unit}s needs")
    means: list[float | None] = []
    for end in range(1, len(values) + 1):
        some = [value for value in values[max(0, end - window) : end] if value is not None]
        means.append(sum(some) / window if len(some) == window else None)
    if not any(mean is not None for mean in means):
        raise NotComputable(f"No {window} {found.unit}s in a row have a value. Choose fewer (`window`).")
    said = f"Moving average: each point is the mean of {window} {found.unit}s, up to and with its own."
    points = dict(zip(found.periods, means, strict=True))
    return _Computed(said=[said], extras=[Extra(f"Average of {window} {found.unit}s", points)])


def _change(found: PeriodValues, option: ChartOption, name: str) -> _Computed:
    values = found.whole
    pairs = list(pairwise(values))
    known = [(before, after) for before, after in pairs if before is not None and after is not None]
    if not known:
        raise NotComputable(
            f"No two {found.unit}s in a row have a value, so that there is no change to show."
        )
    is_share = all(before > 0 for before, _ in known)
    changes = [
        None if before is None or after is None else after / before - 1 if is_share else after - before
        for before, after in pairs
    ]
    how = "as a share of it" if is_share else "as a difference, because not all values are above zero"
    said = f"Change of {name} to the {found.unit} before, {how}."
    return _Computed(
        said=[said],
        extras=[Extra("Change", dict(zip(found.periods[1:], changes, strict=True)))],
        axis_title=f"Change of {name}",
        is_share=is_share,
        replaces=True,
    )


def _outliers(found: PeriodValues, option: ChartOption, name: str) -> _Computed:
    """Robust z-scores of the distances from a robust line: B. Iglewicz and D. Hoaglin, How to Detect and
    Handle Outliers (1993), with the line of H. Theil and P. Sen.
    """
    places = [at for at, value in enumerate(found.whole) if value is not None]
    _enough(found, _FEWEST_FOR_OUTLIERS, "Outliers need")
    at = np.array(places, dtype=float)
    values = np.array([found.values[place] for place in places], dtype=float)
    first, second = np.triu_indices(len(at), k=1)
    slope = float(np.median((values[second] - values[first]) / (at[second] - at[first])))
    away = values - slope * at
    away -= np.median(away)
    size = float(np.abs(values).max())
    spread = float(np.median(np.abs(away))) / _NORMAL_MEDIAN
    if spread <= size * 1e-12:
        spread = float(np.mean(np.abs(away))) * _NORMAL_MEAN
    scores = away / spread if spread > size * 1e-12 else np.zeros(len(away))
    outlying = {
        found.periods[places[each]]: float(values[each]) for each in np.flatnonzero(abs(scores) > _OUTLYING)
    }
    named = ", ".join(map(str, list(outlying)[:_NAMED]))
    more = f" and {len(outlying) - _NAMED:,} more" if len(outlying) > _NAMED else ""
    result = f"Outliers: {named}{more}." if outlying else "No outliers."
    said = (
        f"{result} A robust z-score of the distance from the trend (Theil–Sen line) above {_OUTLYING} is one."
    )
    return _Computed(said=[said], extras=[Extra("Outliers", outlying, kind="rings")])


def _projection(found: PeriodValues, option: ChartOption, name: str) -> _Computed:
    values, since = _latest_run(found)
    if len(values) < _FEWEST_PROJECTED:
        after = f" after the last gap ({since})" if since is not None else ""
        raise NotComputable(
            f"A projection needs {_FEWEST_PROJECTED} full {found.unit}s in a row, and there are "
            f"{len(values)}{after}."
        )
    known = np.array(values[-_LONGEST_TRAINING:], dtype=float)
    steps = min(_STEPS[found.unit], len(known) // 4)
    origins = min(_MOST_ORIGINS, len(known) // 4)
    tests = [
        (each.backtest(known, steps, origins), each)
        for each in forecasters(_SEASONS[found.unit], fewest=len(known) - steps - origins + 1)
    ]
    (best, chosen), (other, left) = sorted(tests, key=lambda each: each[0].mean_absolute_error)
    ahead = chosen.forecast(known, steps)
    low, high = ahead - best.spread, ahead + best.spread
    is_cut = bool((known >= 0).all() and (low < 0).any())
    if is_cut:
        ahead, low, high = (np.maximum(each, 0) for each in (ahead, low, high))
    last = _last_full(found)
    periods = [last.after(step + 1) for step in range(steps)]
    method = f"Projection of {steps} {found.unit}s by {_named(chosen, found.unit)}"
    tested = f"in a backtest from {origins} earlier {found.unit}s its mean error was {_error(best)}"
    said = [
        f"{method} from {len(known):,} full {found.unit}s: {tested}.",
        f"That of {_named(left, found.unit)} was {_error(other)}.",
        f"The band is as wide as {COVERED:.0%} of those errors were; it is no promise.",
    ]
    if since is not None:
        said.append(f"Only {found.unit}s after the gap at {since} are used.")
    if is_cut:
        said.append("It is cut off at zero, as no value was below.")
    points = dict(zip(periods, map(float, ahead), strict=True))
    band = {each: (float(a), float(b)) for each, a, b in zip(periods, low, high, strict=True)}
    return _Computed(said=said, extras=[Extra("Projection", points, band=band)])


_OPTIONS: Mapping[OptionKind, Callable[[PeriodValues, ChartOption, str], _Computed]] = {
    "moving_average": _moving_average,
    "change": _change,
    "outliers": _outliers,
    "projection": _projection,
}


def _enough(found: PeriodValues, fewest: int, needs: str) -> None:
    count = sum(value is not None for value in found.whole)
    if count < fewest:
        raise NotComputable(f"{needs} {fewest} full {found.unit}s with a value, and there are {count}.")


def _latest_run(found: PeriodValues) -> tuple[list[float], Period | None]:
    """The full values after the last gap, and the period of that gap; None if there is no gap."""
    values: list[float] = []
    running = False
    for period, value in zip(reversed(found.periods), reversed(found.whole), strict=True):
        if value is None:
            if running or period not in found.partial:
                return values[::-1], None if period in found.partial else period
            continue
        running = True
        values.append(value)
    return values[::-1], None


def _last_full(found: PeriodValues) -> Period:
    return next(
        period
        for period, value in zip(reversed(found.periods), reversed(found.whole), strict=True)
        if value is not None
    )


def _named(of: Forecaster, unit: CalendarUnit) -> str:
    if of.season > 1:
        return f"{of.method} (season of {of.season} {unit}s)"
    return f"naive (the last {unit})" if of.method == "seasonal naive" else f"{of.method} (no season)"


def _error(test: Backtest) -> str:
    if test.error is not None and isfinite(test.error):
        return f"{test.error:.1%}"
    return f"{test.mean_absolute_error:.3g}"


def _not_over(found: PeriodValues) -> list[str]:
    names = [str(period) for period in sorted(found.partial)]
    if not names:
        return []
    return [f"The data covers {' and '.join(names)} only in part: nothing is computed from it."]
