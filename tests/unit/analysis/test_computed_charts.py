"""Options of charts that are computed from all rows, against values computed by hand."""

from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from app.modules.analysis.computed import ChartOption, NotComputable
from app.modules.analysis.computed.compute import compute_chart
from app.modules.analysis.computed.forecasting import Forecaster
from app.modules.analysis.computed.option import OptionKind
from graph.state import Rows

LATER = date(2031, 1, 1)
SEASON = [0.0, 5, 9, 12, 9, 5, 0, -5, -9, -12, -9, -5]


def by_month(values: list[float | None], first: int = 2022 * 12) -> Rows:
    rows: list[list[JsonValue]] = [
        [f"{(first + at) // 12}-{(first + at) % 12 + 1:02}-01", value] for at, value in enumerate(values)
    ]
    return result(rows)


def result(rows: list[list[JsonValue]]) -> Rows:
    return Rows(
        columns=[{"name": "month", "type": "date"}, {"name": "revenue", "type": "number"}],
        rows=rows,
        row_count=len(rows),
        truncated=False,
        cut_by=None,
    )


def option(kind: OptionKind, **fields: Any) -> ChartOption:
    return ChartOption(kind=kind, across=0, value=1, **fields)


def drawn(rows: Rows, of: ChartOption, today: date = LATER) -> tuple[dict[str, dict[str, Any]], str]:
    """The computed data by place, and what is said of them."""
    spec: Any = compute_chart(rows, of, None, today=today)
    data = spec["data"]["values"]
    return {each["a0"]: each for each in data if each.get("s0") != "revenue"}, spec["usermeta"]["kai"]["how"]


def test_a_moving_average_needs_all_values_of_its_window() -> None:
    found, how = drawn(by_month([3, 6, 9, None, 1, 2, 3]), option("moving_average", window=3))
    means = [each["v0"] for each in found.values()]
    assert means == [None, None, 6, None, None, None, 2]
    assert "mean of 3 months" in how
    assert "2022-04 has no value." in how


def test_a_month_that_is_not_over_is_no_fall() -> None:
    rows = by_month([100, 110, 121, 10])
    found, how = drawn(rows, option("change"), today=date(2022, 4, 9))
    assert [each["v0"] for each in found.values()] == [0.1, 0.1, None]
    assert "2022-04 only in part" in how
    over, _ = drawn(rows, option("change"))
    assert over["2022-04-01"]["v0"] == pytest.approx(10 / 121 - 1)


def test_the_proposed_chart_says_which_months_are_short() -> None:
    covered: dict[str, JsonValue] = {
        "unit": "month",
        "first": "2022-01-01",
        "last": "2022-04-09",
        "running": False,
    }
    chart: dict[str, JsonValue] = {"usermeta": {"kai": {"covered": covered}}}
    spec: Any = compute_chart(by_month([100, 110, 121, 10]), option("change"), chart, today=LATER)
    assert spec["data"]["values"][-1] == {"a0": "2022-04-01", "v0": None}


def test_days_are_put_together_and_a_short_last_month_is_left_out() -> None:
    days: list[list[JsonValue]] = [
        [date.fromordinal(date(2024, 1, 1).toordinal() + at).isoformat(), 1.0] for at in range(70)
    ]
    found, how = drawn(result([*days]), option("change", unit="month", how="sum"))
    assert found["2024-02-01"]["v0"] == pytest.approx(29 / 31 - 1)
    assert found["2024-03-01"]["v0"] is None
    assert "2024-03 only in part" in how


def test_change_is_a_difference_where_values_are_not_above_zero() -> None:
    found, how = drawn(by_month([-5, 5, 20]), option("change"))
    assert [each["v0"] for each in found.values()] == [10, 15]
    assert "as a difference" in how


def test_outliers_lie_far_from_the_trend_not_from_the_mean() -> None:
    values: list[float | None] = [10.0 * at + (1 if at % 2 else -1) for at in range(24)]
    assert "No outliers." in drawn(by_month(values), option("outliers"))[1]
    values[12] = 300
    spec: Any = compute_chart(by_month(values), option("outliers"), None, today=LATER)
    ringed = [each for each in spec["data"]["values"] if "o0" in each]
    assert ringed == [{"a0": "2023-01-01", "v0": 300, "s0": "revenue", "o0": 300}]
    assert "Outliers: 2023-01." in spec["usermeta"]["kai"]["how"]


def test_a_season_on_a_line_is_projected_with_the_method_of_the_smaller_error() -> None:
    values: list[float | None] = [200 + 2 * at + SEASON[at % 12] for at in range(48)]
    found, how = drawn(by_month(values), option("projection"))
    projected = [each for each in found.values() if "b0" in each]
    assert [each["a0"] for each in projected] == [f"2026-{month:02}-01" for month in range(1, 7)]
    expected = [200 + 2 * at + SEASON[at % 12] for at in range(48, 54)]
    assert [each["v0"] for each in projected] == pytest.approx(expected)
    assert "by Holt-Winters (season of 12 months) from 48 full months" in how
    assert "That of seasonal naive (season of 12 months) was" in how
    repeated: list[float | None] = [float(each) for each in (3, 9, 2, 40, 7, 1, 30, 8, 5, 60, 4, 2) * 4]
    found, how = drawn(by_month(repeated), option("projection"))
    assert "by seasonal naive (season of 12 months)" in how
    assert "its mean error was 0.0%" in how
    ahead = [each["v0"] for each in found.values() if "b0" in each]
    assert ahead == [3, 9, 2, 40, 7, 1]


def test_a_projection_begins_after_the_last_full_month_and_uses_those_after_a_gap() -> None:
    values: list[float | None] = [100.0] * 30
    values[5] = None
    found, how = drawn(by_month(values), option("projection"), today=date(2024, 6, 3))
    projected = [each for each in found.values() if "b0" in each]
    assert projected[0] == {"a0": "2024-06-01", "v0": 100, "s0": "Projection", "b0": 100, "b1": 100}
    assert "Only months after the gap at 2022-06 are used." in how
    assert "from 23 full months" in how


@pytest.mark.parametrize(
    ("rows", "of", "said"),
    [
        (by_month([1, 2, 3]), option("projection"), "needs 8 full months in a row, and there are 3."),
        (by_month([1, 2, 3]), option("moving_average"), "needs 4 full months"),
        (by_month([1, 2, 3]), option("outliers"), "Outliers need 7 full months"),
        (result([["Norway", 1], ["Japan", 2]]), option("change"), "is no time axis"),
        (result([["2024-01", 1], ["2024-01", 2], ["2024-02", 1]]), option("change"), "several series"),
        (result([["2024-01", 1], ["2024-02", 2]]), option("change", unit="day"), "cannot be split into days"),
        (by_month([1, 2]), ChartOption(kind="change", across=0, value=2), "There is no column 2"),
        (by_month([None, None]), option("change"), "has no numbers"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(rows: Rows, of: ChartOption, said: str) -> None:
    with pytest.raises(NotComputable, match=said):
        compute_chart(rows, of, None, today=LATER)


def test_names_of_quarters_stay_and_go_on() -> None:
    rows = result([[f"{2020 + at // 4}-Q{at % 4 + 1}", 10.0 + at] for at in range(16)])
    spec: Any = compute_chart(rows, option("projection"), None, today=LATER)
    assert spec["data"]["values"][0]["a0"] == "2020-Q1"
    assert spec["data"]["values"][16]["a0"] == "2024-Q1"
    assert spec["layer"][-1]["encoding"]["x"]["type"] == "ordinal"


@settings(max_examples=25, deadline=None)
@given(
    values=st.lists(st.integers(-1000, 1000), min_size=24, max_size=30),
    factor=st.sampled_from([0.5, 2.0, 8.0]),
    shift=st.integers(-500, 500),
)
def test_forecasts_follow_scale_and_origin(values: list[int], factor: float, shift: int) -> None:
    known = np.array(values, dtype=float)
    for each in (
        Forecaster("seasonal naive", 12),
        Forecaster("Holt-Winters", 12),
        Forecaster("Holt-Winters", 1),
    ):
        ahead = each.forecast(known, 6)
        moved = each.forecast(known * factor + shift, 6)
        assert np.isfinite(ahead).all()
        if each.method == "seasonal naive":
            assert moved == pytest.approx(ahead * factor + shift)
            assert list(ahead) == values[-12:][:6]


def test_holt_winters_goes_on_with_a_straight_line() -> None:
    line = np.arange(20, dtype=float) * 3 + 7
    (ahead,) = Forecaster("Holt-Winters", 1).forecast(line, 1)
    assert ahead == pytest.approx(67)
