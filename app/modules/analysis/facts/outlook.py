"""A forecast and outliers as facts. They are made on request only: numpy loads slowly."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import has_gaps
from app.modules.analysis.facts.over_time import OverTime
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Counted, Names, Percent, Slot
from app.modules.analysis.figures.trend import PeriodValue

if TYPE_CHECKING:
    from app.modules.analysis.computed.forecasting import ForecastStep
    from app.modules.analysis.computed.outlying import Outlier
    from app.modules.analysis.computed.periods import PeriodValues

_NAMED = 5


def forecast_fact(table: FactTable) -> Fact | None:
    """The next and the last period of a forecast of the main measure, with ranges and the error of a test.

    Returns None if the result is no course of periods, or holds too few for a forecast.
    """
    from app.modules.analysis.computed.forecasting import COVERED, forecast  # noqa: PLC0415  (numpy)
    from app.modules.analysis.computed.option import NotComputable  # noqa: PLC0415

    over = _over(table)
    if over is None:
        return None
    try:
        found = forecast(_values(over))
    except NotComputable:
        return None
    steps = [found.steps[0], *found.steps[1:][-1:]]
    error = found.errors[0].share
    unit = over.course.unit
    slots: dict[str, Slot] = {
        "steps": Names([_step(over, each) for each in steps]),
        "covered": Percent(Decimal(str(COVERED))),
        "periods": Counted(found.tested, unit),
        "error": Percent(Decimal(f"{error:.3g}")) if error is not None else None,
    }
    return table.measure_fact(
        "forecast",
        "forecast",
        over.measure,
        slots=slots,
        rows=over.rows_of(over.course.full),
        how="forecast",
        value=found.steps[0].value,
        key=[over.measure.name, str(steps[0].period)],
    )


def outliers_fact(table: FactTable) -> Fact | None:
    """The periods that lie far from what season and trend lead to expect, also if there are none.

    Returns None if the result is no course of periods, or holds too few of them.
    """
    from app.modules.analysis.computed.option import NotComputable  # noqa: PLC0415
    from app.modules.analysis.computed.outlying import find_outliers  # noqa: PLC0415  (numpy)

    over = _over(table)
    if over is None:
        return None
    try:
        found = find_outliers(_values(over))
    except NotComputable:
        return None
    if found.is_irregular:
        return None
    first = found.found[:_NAMED]
    checked = over.rows_of(over.course.full)
    points = [PeriodValue(each.period, each.value) for each in found.found]
    slots: dict[str, Slot] = {
        "periods": Counted(found.checked, found.unit),
        "leaders": Names([_outlier(over, each) for each in first], len(points) - len(first)),
    }
    return table.measure_fact(
        "outliers",
        "outliers" if points else "outliers.none",
        over.measure,
        slots=slots,
        rows=over.rows_of(points) if points else checked,
        how="outliers",
        counted=len(checked),
        value=Decimal(len(points)),
        labels=[str(point.period) for point in points],
    )


def _over(table: FactTable) -> OverTime | None:
    """The course of the main measure; None of a result that a limit or a condition on groups cut."""
    found = table.found
    if found.main is None or found.course is None or not found.whole:
        return None
    adds = found.shape == "grouped series"
    return OverTime(table=table, measure=found.main, course=found.course, adds=adds)


def _values(over: OverTime) -> "PeriodValues":
    from app.modules.analysis.computed.periods import PeriodValues  # noqa: PLC0415

    course = over.course
    known = {point.period: point.value for point in course.points}
    first = course.points[0].period
    count = first.steps_to(course.points[-1].period) + 1
    periods = [first.after(step) for step in range(count)]
    counts = over.measure.kind in ("count", "distinct") and has_gaps(over.table, course)
    empty = Decimal(0) if counts else None
    return PeriodValues(
        unit=course.unit,
        periods=periods,
        values=[known.get(period, empty) for period in periods],
        partial=frozenset(each.period for each in course.partial),
        accumulates=over.measure.adds_over_time and over.measure.minimum >= 0,
    )


def _step(over: OverTime, step: "ForecastStep") -> str:
    return over.table.wording.say(
        "forecast.step",
        period=step.period,
        **_amounts(over, [step.value, step.low, step.high]),
    )


def _outlier(over: OverTime, outlier: "Outlier") -> str:
    return over.table.wording.say(
        "outliers.one",
        label=over.table.period(outlier.period),
        **_amounts(over, [outlier.value, outlier.low, outlier.high]),
    )


def _amounts(over: OverTime, values: Sequence[Decimal]) -> dict[str, Slot]:
    amounts = [over.table.amount(value, over.measure) for value in values]
    return dict(zip(("value", "low", "high"), amounts, strict=True))
