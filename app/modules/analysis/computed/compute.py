"""The computed option of a chart: its values, and the sentences on how they were made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import Spec, covered_of
from app.modules.analysis.computed.drawn import Drawn, Extra, computed_spec
from app.modules.analysis.computed.forecasting import forecast
from app.modules.analysis.computed.option import ChartOption, NotComputable, OptionKind
from app.modules.analysis.computed.outlying import find_outliers
from app.modules.analysis.computed.periods import PeriodValues, period_values
from app.modules.analysis.computed.sentences import forecast_sentences, outlier_sentences
from app.modules.analysis.figures.calendar import CalendarUnit
from app.modules.analysis.figures.statement import StatementReading
from app.modules.analysis.words import title
from graph.state import Rows

_WINDOWS: Mapping[CalendarUnit, int] = {"day": 7, "week": 4, "month": 3, "quarter": 4, "year": 3}


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
    rows: Rows,
    option: ChartOption,
    chart: Mapping[str, JsonValue] | None,
    *,
    statement: StatementReading,
    today: date,
) -> Spec:
    """Compute the option from all rows at hand, and draw it with the values.

    `chart` is the chart that was proposed for the rows: it says which periods the data covers only in part.
    `statement` is where the rows come from: it says what a period without rows means. `today` is the day of
    the rows. Raises `NotComputable`.
    """
    covered = covered_of(chart or {})
    partial = covered.partial() if covered else []
    values = period_values(rows, option, statement, partial=partial, today=today)
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
    outliers = find_outliers(found)
    points = {each.period: float(each.value) for each in outliers.found}
    return _Computed(said=outlier_sentences(outliers), extras=[Extra("Outliers", points, kind="rings")])


def _projection(found: PeriodValues, option: ChartOption, name: str) -> _Computed:
    ahead = forecast(found)
    points = {each.period: float(each.value) for each in ahead.steps}
    band = {each.period: (float(each.low), float(each.high)) for each in ahead.steps}
    return _Computed(
        said=forecast_sentences(ahead, found.periods[0]), extras=[Extra("Projection", points, band=band)]
    )


_OPTIONS: Mapping[OptionKind, Callable[[PeriodValues, ChartOption, str], _Computed]] = {
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
