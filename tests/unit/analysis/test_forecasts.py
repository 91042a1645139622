"""Forecasts: chosen by a backtest, honest about their error, and never below what a period holds."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.computed import NotComputable
from app.modules.analysis.computed.forecasting import Forecast, forecast
from app.modules.analysis.computed.periods import PeriodValues, period_values
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.calendar import CalendarUnit, Period, period_of
from graph.state import Rows


def series(
    values: Sequence[float | None], unit: CalendarUnit = "month", *, begun: bool = False
) -> PeriodValues:
    """Values from January 2022 on, of which the last is of a period that has begun."""
    first = period_of(date(2022, 1, 3) if unit == "week" else date(2022, 1, 1), unit)
    periods = [first.after(step) for step in range(len(values))]
    return PeriodValues(
        unit=unit,
        periods=periods,
        values=[None if value is None else Decimal(str(value)) for value in values],
        partial=frozenset(periods[-1:] if begun else []),
        accumulates=all(value is None or value >= 0 for value in values),
    )


def december(months: int, noise: float = 0.0) -> list[float]:
    random = np.random.default_rng(1)
    at = np.arange(months)
    level = 1000 * 1.01**at * (1 + 0.8 * (at % 12 == 11)) * np.exp(noise * random.normal(size=months))
    return [round(float(each), 2) for each in level]


def monthly(values: Sequence[JsonValue]) -> Rows:
    return Rows(
        columns=[{"name": "month", "type": "text"}, {"name": "n", "type": "number"}],
        rows=[[f"{2022 + at // 12}-{at % 12 + 1:02}", value] for at, value in enumerate(values)],
        row_count=len(values),
        truncated=False,
        cut_by=None,
    )


def test_the_peak_of_every_december_is_forecast_and_no_other_month_is_raised() -> None:
    known = december(58, noise=0.03)
    truth = december(64)[58:]
    found = forecast(series(known))
    assert [str(each.period) for each in found.steps] == [
        *("2026-11", "2026-12", "2027-01", "2027-02", "2027-03", "2027-04")
    ]
    assert [float(each.value) for each in found.steps] == pytest.approx(truth, rel=0.12)


def test_three_methods_of_the_library_and_two_naive_ones_compete_and_the_smallest_error_wins() -> None:
    found = forecast(series(december(48, noise=0.05)))
    assert {each.method for each in found.errors} == {
        *("naive", "seasonal naive with growth", "exponential smoothing", "theta"),
        "STL with exponential smoothing",
    }
    assert found.errors[0].absolute == min(each.absolute for each in found.errors)
    assert (found.tested, found.trained) == (12, 48)


def test_the_error_of_the_backtest_is_that_of_forecasts_from_the_values_before_only() -> None:
    values = [float(each) for each in (3, 9, 2, 40, 7, 1, 30, 8, 5, 60, 4, 2) * 3]
    values[30] += 36
    found = forecast(series([*values, *values[:12]]))
    naive = next(each for each in found.errors if each.method == "naive")
    last = [*values, *values[:12]]
    away = [abs(last[start - 1] - last[start + step]) for start in range(36, 43) for step in range(6)]
    size = [last[start + step] for start in range(36, 43) for step in range(6)]
    assert naive.absolute == pytest.approx(np.mean(away))
    assert naive.share == pytest.approx(np.mean(away) / np.mean(size))


def test_a_growing_season_is_repeated_with_its_growth_where_the_library_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels", None)  # as if it were not installed
    values = [float(100 * 2 ** (at // 12) + 10 * (at % 12)) for at in range(36)]
    grown = [1.25 ** (at // 12) * (100 + 10 * (at % 12)) for at in range(42)]
    found = forecast(series([round(each, 6) for each in grown[:36]]))
    assert {each.method for each in found.errors} == {"naive", "seasonal naive with growth"}
    assert [float(each.value) for each in found.steps] == pytest.approx(grown[36:], rel=1e-5)
    assert forecast(series(values)).errors[0].method == "seasonal naive with growth"


@settings(max_examples=25, deadline=None)
@given(
    values=st.lists(st.integers(0, 500), min_size=8, max_size=40),
    held=st.decimals(0, 5000, places=2),
    unit=st.sampled_from(["day", "week", "month", "quarter", "year"]),
)
def test_no_begun_period_is_forecast_below_what_it_holds(
    values: list[int], held: Decimal, unit: CalendarUnit
) -> None:
    found = series([*values, float(held)], unit, begun=True)
    found = replace(found, values=[*found.values[:-1], held])
    steps = forecast(found).steps
    assert steps[0].period == found.periods[-1]
    assert steps[0].held == held
    assert held <= steps[0].low <= steps[0].value <= steps[0].high
    assert all(0 <= each.low <= each.value <= each.high for each in steps)


def values_of(rows: Rows, sql: str, *, today: date) -> PeriodValues:
    found = figures("", sql, "sqlite", rows=rows, today=today)
    return period_values(rows, found, across=0, column=1)


def test_an_average_or_a_loss_of_a_begun_period_may_still_fall() -> None:
    loss = series([*([-20.0, 10.0] * 8), 300.0], begun=True)
    assert forecast(loss).steps[0].value < 100
    rows = monthly([*([20] * 12), 90])
    average = "SELECT month, avg(x) AS n FROM t GROUP BY 1"
    total = "SELECT month, sum(x) AS n FROM t GROUP BY 1"
    for sql, accumulates in ((average, False), (total, True)):
        found = values_of(rows, sql, today=date(2023, 1, 5))
        assert found.accumulates is accumulates
        assert forecast(found).steps[0].value == (90 if accumulates else 20)


def test_a_month_without_rows_counts_zero_only_where_all_rows_are_counted() -> None:
    rows = monthly([4, 5, 3, 6, 5, 4])
    rows["rows"].pop(2)
    rows["row_count"] = 5

    def third(sql: str) -> Decimal | None:
        return values_of(rows, sql, today=date(2030, 1, 1)).values[2]

    assert third("SELECT month, count(*) AS n FROM t GROUP BY 1") == 0
    assert third("SELECT month, count(DISTINCT x) AS n FROM t GROUP BY 1") == 0
    assert third("SELECT month, sum(x) AS n FROM t GROUP BY 1") is None
    assert third("SELECT month, avg(x) AS n FROM t GROUP BY 1") is None
    assert third("SELECT month, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 3") is None
    assert third("SELECT month, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 5") is None


def test_a_few_gaps_are_filled_and_many_leave_the_values_after_them() -> None:
    values: list[float | None] = [*december(48)]
    values[20] = None
    few = forecast(series(values))
    assert (few.trained, few.filled, few.since) == (48, 1, Period(date(2022, 1, 1), "month"))
    values[8:20] = [None] * 12
    many = forecast(series(values))
    assert many.since >= Period(date(2023, 7, 1), "month")
    assert many.filled <= 0.1 * many.trained


def test_weekdays_on_which_a_shop_is_closed_are_not_forecast() -> None:
    days: list[float | None] = [
        None if (5 + at) % 7 == 6 else 100.0 + 10 * ((5 + at) % 7) for at in range(84)
    ]
    found = forecast(series(days, "day"))
    assert found.closed == [6]
    assert all(each.period.start.weekday() != 6 for each in found.steps)
    for each in found.steps:
        assert float(each.value) == pytest.approx(100 + 10 * each.period.start.weekday())


@pytest.mark.parametrize("value", [0, 7, -3.5])
def test_a_constant_series_goes_on(value: float) -> None:
    found = forecast(series([value] * 20))
    assert all(each.low == each.value == each.high == Decimal(str(value)) for each in found.steps)
    assert found.errors[0].absolute == 0


def test_negative_values_are_forecast_below_zero() -> None:
    found = forecast(series([-50.0 + (at % 12) - at for at in range(40)]))
    assert all(each.high < 0 for each in found.steps)


@pytest.mark.parametrize(
    ("values", "there"),
    [([5.0] * 7, 7), ([None, None, 4.0], 1), ([1.0, None] * 10, 1)],
)
def test_too_few_values_are_refused_with_what_helps(values: list[float | None], there: int) -> None:
    with pytest.raises(
        NotComputable, match=rf"needs 8 full months in a row, and there are {there}\b.*Ask for"
    ):
        forecast(series(values))


def test_values_are_rounded_to_what_is_known_of_them() -> None:
    found: Forecast = forecast(series([each * 1000 for each in december(48, noise=0.05)]))
    for each in found.steps:
        wide = len(str(int(each.high - each.low)))
        assert int(each.value) % 10 ** max(0, wide - 3) == 0


def test_a_chart_says_the_error_and_the_begun_month_in_words() -> None:
    rows = monthly([*[round(each) for each in december(48, noise=0.05)], 900])
    sql = "SELECT month, sum(x) AS n FROM t GROUP BY 1"
    found = figures("n per month", sql, "sqlite", rows=rows, today=date(2026, 1, 20))
    choice = ChartChoice.model_validate({"computed": {"kind": "projection"}})
    spec: Any = choose_chart("n per month", rows, found, choice=choice)
    how = " ".join(spec["usermeta"]["kai"]["how"])
    assert "on the last 12 months, projected up to 6 months ahead, it was off by" in how
    assert "January 2026 has begun and holds 900: it is not projected below that." in how
