"""Options of charts that are computed from all rows, against values computed by hand."""

from datetime import date
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.computed import ChartOption, NotComputable
from app.modules.analysis.computed.compute import compute_chart
from app.modules.analysis.computed.option import OptionKind
from app.modules.analysis.figures.statement import StatementReading
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


def spec_of(
    rows: Rows, of: ChartOption, chart: dict[str, JsonValue] | None = None, *, today: date = LATER
) -> Any:
    return compute_chart(rows, of, chart, statement=StatementReading(), today=today)


def drawn(rows: Rows, of: ChartOption, today: date = LATER) -> tuple[dict[str, dict[str, Any]], str]:
    """The computed data by place, and what is said of them."""
    spec = spec_of(rows, of, today=today)
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
    spec: Any = spec_of(by_month([100, 110, 121, 10]), option("change"), chart)
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


def test_outliers_have_rings_and_say_what_is_usual() -> None:
    values: list[float | None] = [10.0 * at + (1 if at % 2 else -1) for at in range(24)]
    assert "No outliers." in drawn(by_month(values), option("outliers"))[1]
    values[12] = 300
    spec: Any = spec_of(by_month(values), option("outliers"))
    ringed = [each for each in spec["data"]["values"] if "o0" in each]
    assert ringed == [{"a0": "2023-01-01", "v0": 300, "s0": "revenue", "o0": 300}]
    assert "Outliers, high: January 2023 (300, usually" in spec["usermeta"]["kai"]["how"]


def test_a_projection_goes_on_after_the_last_full_month_with_a_band() -> None:
    values: list[float | None] = [200 + 2 * at + SEASON[at % 12] for at in range(48)]
    found, how = drawn(by_month(values), option("projection"))
    projected = [each for each in found.values() if "b0" in each]
    assert [each["a0"] for each in projected] == [f"2026-{month:02}-01" for month in range(1, 7)]
    assert all(each["b0"] <= each["v0"] <= each["b1"] for each in projected)
    assert "Projection of 6 months by" in how
    assert "from 48 full months: on the last 12 months, projected up to 6 months ahead, it was off by" in how


@pytest.mark.parametrize(
    ("rows", "of", "said"),
    [
        (
            by_month([1, 2, 3]),
            option("projection"),
            "needs 8 full months in a row, and there are 3. Ask for a longer",
        ),
        (by_month([1, 2, 3]), option("moving_average"), "needs 4 full months"),
        (by_month([1, 2, 3]), option("outliers"), "Outliers need 7 full months.*Ask for a longer time"),
        (result([["Norway", 1], ["Japan", 2]]), option("change"), "is no time axis"),
        (result([["2024-01", 1], ["2024-01", 2], ["2024-02", 1]]), option("change"), "several series"),
        (result([["2024-01", 1], ["2024-02", 2]]), option("change", unit="day"), "cannot be split into days"),
        (by_month([1, 2]), ChartOption(kind="change", across=0, value=2), "There is no column 2"),
        (by_month([None, None]), option("change"), "has no numbers"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(rows: Rows, of: ChartOption, said: str) -> None:
    with pytest.raises(NotComputable, match=said):
        spec_of(rows, of)


def test_names_of_quarters_stay_and_go_on() -> None:
    rows = result([[f"{2020 + at // 4}-Q{at % 4 + 1}", 10.0 + at] for at in range(16)])
    spec: Any = spec_of(rows, option("projection"))
    assert spec["data"]["values"][0]["a0"] == "2020-Q1"
    assert spec["data"]["values"][16]["a0"] == "2024-Q1"
    assert spec["layer"][-1]["encoding"]["x"]["type"] == "ordinal"
