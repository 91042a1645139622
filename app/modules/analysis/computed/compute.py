"""The computed option of a chart: its values, and the sentences on how they were made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from app.modules.analysis.computed.forecasting import forecast
from app.modules.analysis.computed.option import NotComputable, OptionKind
from app.modules.analysis.computed.outlying import find_outliers
from app.modules.analysis.computed.periods import PeriodValues
from app.modules.analysis.computed.sentences import forecast_sentences, outlier_sentences
from app.modules.analysis.figures.calendar import CalendarUnit, Period

_WINDOWS: Mapping[CalendarUnit, int] = {
    "hour": 24,
    "day": 7,
    "week": 4,
    "month": 3,
    "quarter": 4,
    "year": 3,
}


@dataclass(frozen=True, kw_only=True)
class Added:
    """What an option adds to the values: its sentences, and values by period.

    `band` are the ends of a band around them. `rings` go around the values themselves, and `changes` replace
    them: `is_share` says that these are shares of one.
    """

    kind: Literal["line", "rings", "changes"]
    said: Sequence[str]
    name: str
    points: Mapping[Period, float | None]
    band: Mapping[Period, tuple[float, float]] = field(default_factory=dict)
    is_share: bool = False


def compute(kind: OptionKind, values: PeriodValues, *, name: str, window: int | None = None) -> Added:
    """Compute an option of values that have a `name`; `window` is that of an average, in periods.

    Raises `NotComputable`.
    """
    made = _OPTIONS[kind](values, window, name)
    return replace(made, said=[*made.said, *_not_over(values), *values.said])


def _moving_average(found: PeriodValues, window: int | None, name: str) -> Added:
    window = window or _WINDOWS[found.unit]
    values = found.whole
    count = sum(value is not None for value in values)
    if count <= window:
        raise NotComputable(
            f"A moving average of {window} {found.unit}s needs {window + 1} full {found.unit}s with a value, "
            f"and there are {count}. Choose fewer (`window`), or ask for a longer time."
        )
    means: list[float | None] = []
    for end in range(1, len(values) + 1):
        some = [value for value in values[max(0, end - window) : end] if value is not None]
        means.append(sum(some) / window if len(some) == window else None)
    if not any(mean is not None for mean in means):
        raise NotComputable(f"No {window} {found.unit}s in a row have a value. Choose fewer (`window`).")
    said = f"Moving average: each point is the mean of {window} {found.unit}s, up to and with its own."
    points = dict(zip(found.periods, means, strict=True))
    return Added(kind="line", said=[said], name=f"Average of {window} {found.unit}s", points=points)


def _change(found: PeriodValues, window: int | None, name: str) -> Added:
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
    return Added(
        kind="changes",
        said=[said],
        name=f"change of {name}",
        points=dict(zip(found.periods[1:], changes, strict=True)),
        is_share=is_share,
    )


def _outliers(found: PeriodValues, window: int | None, name: str) -> Added:
    outliers = find_outliers(found)
    points = {each.period: float(each.value) for each in outliers.found}
    return Added(kind="rings", said=outlier_sentences(outliers), name="Outliers", points=points)


def _projection(found: PeriodValues, window: int | None, name: str) -> Added:
    ahead = forecast(found)
    points = {each.period: float(each.value) for each in ahead.steps}
    band = {each.period: (float(each.low), float(each.high)) for each in ahead.steps}
    said = forecast_sentences(ahead, found.periods[0])
    return Added(kind="line", said=said, name="Projection", points=points, band=band)


_OPTIONS: Mapping[OptionKind, Callable[[PeriodValues, int | None, str], Added]] = {
    "moving_average": _moving_average,
    "change": _change,
    "outliers": _outliers,
    "projection": _projection,
}


def _not_over(found: PeriodValues) -> list[str]:
    names = [str(period) for period in sorted(found.partial)]
    if not names:
        return []
    return [f"The data covers {' and '.join(names)} only in part: nothing is computed from it."]
