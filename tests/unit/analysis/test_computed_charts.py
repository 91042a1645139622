"""What is computed for charts over time from all rows, against values computed by hand."""

from datetime import date
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.plan import NotDrawable
from app.modules.analysis.computed.option import OptionKind
from app.modules.analysis.figures import DataSpan, figures
from graph.state import Rows

LATER = date(2031, 1, 1)
SEASON = [0.0, 5, 9, 12, 9, 5, 0, -5, -9, -12, -9, -5]
SQL = "SELECT month, SUM(amount) AS revenue FROM orders GROUP BY month"


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


def drawn(
    rows: Rows,
    kind: OptionKind,
    *,
    window: int | None = None,
    today: date = LATER,
    span: DataSpan | None = None,
    **choice: Any,
) -> Any:
    found = figures("revenue per month", SQL, "sqlite", rows=rows, span=span, today=today)
    computed = {"kind": kind, "window": window}
    chosen = ChartChoice.model_validate(
        {"across": 0, "values": [{"column": 1}], "computed": computed, **choice}
    )
    return choose_chart("revenue per month", rows, found, choice=chosen)


def values(spec: Any, *, series: str = "") -> dict[str, Any]:
    data = spec["data"]["values"]
    return {each["c0"]: each["c1"] for each in data if not series or each.get("series") == series}


def how(spec: Any) -> str:
    return " ".join(spec["usermeta"]["kai"]["how"])


def test_a_moving_average_needs_all_values_of_its_window() -> None:
    spec = drawn(by_month([3, 6, 9, None, 1, 2, 3]), "moving_average", window=3)
    assert values(spec, series="Average of 3 months") == {"2022-03-01": 6, "2022-07-01": 2}
    assert "mean of 3 months" in how(spec)
    assert "2022-04 has no value." in how(spec)


def test_a_month_that_is_not_over_is_no_fall() -> None:
    rows = by_month([100, 110, 121, 10])
    spec = drawn(rows, "change", today=date(2022, 4, 9))
    assert [*values(spec)] == ["2022-02-01", "2022-03-01"]
    assert [each["to"] for each in spec["data"]["values"]] == [0.1, 0.1]
    assert "2022-04 only in part" in how(spec)
    assert values(drawn(rows, "change"))["2022-04-01"] == pytest.approx(10 / 121 - 1)


def test_a_month_that_the_data_covers_in_part_is_left_out() -> None:
    span = DataSpan(date(2022, 1, 1), date(2022, 4, 9), 900)
    spec = drawn(by_month([100, 110, 121, 10]), "change", span=span)
    assert "2022-04-01" not in values(spec)


def test_days_are_put_together_and_a_short_last_month_is_left_out() -> None:
    days: list[list[JsonValue]] = [
        [date.fromordinal(date(2024, 1, 1).toordinal() + at).isoformat(), 1.0] for at in range(70)
    ]
    spec = drawn(result(days), "change", time="month")
    assert values(spec) == {"2024-02-01": pytest.approx(29 / 31 - 1)}
    assert "2024-03 only in part" in how(spec)


def test_change_is_a_difference_where_values_are_not_above_zero() -> None:
    spec = drawn(by_month([-5, 5, 20]), "change")
    assert [*values(spec).values()] == [10, 15]
    assert "as a difference" in how(spec)


def test_outliers_have_rings_and_say_what_is_usual() -> None:
    course: list[float | None] = [10.0 * at + (1 if at % 2 else -1) for at in range(24)]
    assert "No outliers." in how(drawn(by_month(course), "outliers"))
    course[12] = 300
    spec = drawn(by_month(course), "outliers")
    rings = [each["data"]["values"] for each in spec["layer"] if each["mark"].get("style") == "kai-ring"]
    assert rings == [[{"c0": "2023-01-01", "c1": 300}]]
    assert "Outliers, high: January 2023 (300, usually" in how(spec)


def test_a_projection_goes_on_after_the_last_full_month_with_a_band() -> None:
    course: list[float | None] = [200 + 2 * at + SEASON[at % 12] for at in range(48)]
    spec = drawn(by_month(course), "projection")
    ahead = [each["c0"] for each in spec["data"]["values"] if each.get("ahead")]
    assert ahead == [f"2026-{month:02}-01" for month in range(1, 7)]
    band = next(each["data"]["values"] for each in spec["layer"] if each["mark"]["type"] == "area")
    assert all(each["low"] <= each["c1"] <= each["high"] for each in band)
    assert "Projection of 6 months by" in how(spec)
    assert "from 48 full months: on the last 12 months, projected up to 6 months ahead" in how(spec)


@pytest.mark.parametrize(
    ("rows", "kind", "choice", "said"),
    [
        (
            by_month([1, 2, 3]),
            "projection",
            {},
            "needs 8 full months in a row, and there are 3. Ask",
        ),
        (by_month([1, 2, 3]), "moving_average", {}, "needs 4 full months"),
        (by_month([1, 2, 3]), "outliers", {}, "Outliers need 7 full months.*Ask for a longer time"),
        (by_month([1, 2]), "change", {"time": "day"}, "cannot be split into days"),
        (by_month([1, 2]), "change", {"values": [{"column": 2}]}, "There is no column 2"),
        (by_month([None, None]), "change", {}, "has no numbers"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(
    rows: Rows, kind: OptionKind, choice: dict[str, Any], said: str
) -> None:
    with pytest.raises(NotDrawable, match=said):
        drawn(rows, kind, **choice)


def test_weeks_that_strftime_counts_are_computed_on_their_own_days() -> None:
    weeks: list[list[JsonValue]] = [[f"2024-{at:02}", 10.0 + at] for at in range(30, 53)]
    weeks += [[f"2025-{at:02}", 20.0] for at in range(4)]
    rows = Rows(
        **{**result(weeks), "columns": [{"name": "week", "type": "text"}, {"name": "n", "type": "number"}]}
    )
    sql = "SELECT strftime('%Y-%W', d) AS week, SUM(n) AS n FROM t GROUP BY 1"
    found = figures("n per week", sql, "sqlite", rows=rows, today=LATER)
    choice = ChartChoice.model_validate({"computed": {"kind": "change"}})
    spec: Any = choose_chart("n per week", rows, found, choice=choice)
    assert {*values(spec)} <= {period.start.isoformat() for period in found.periods if period is not None}
    assert "2025-W00" in how(spec)
