"""Charts of all rows: what is added up, selected or left out, and that the chart says so."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.figures import Span, figures
from graph.state import Column, Cut, Rows

Cells = list[list[JsonValue]]
SUMS = "SELECT product, SUM(amount) AS revenue FROM lines GROUP BY product"
AVERAGES = "SELECT product, AVG(price) AS price FROM lines GROUP BY product"
PER_DAY = "SELECT day, COUNT(*) AS orders FROM orders GROUP BY day ORDER BY day"
MEAN_PER_DAY = "SELECT day, AVG(price) AS price FROM orders GROUP BY day ORDER BY day"
GROUPED = "SELECT month, region, SUM(amount) AS revenue FROM orders GROUP BY month, region ORDER BY month"
MEANS = "SELECT month, region, AVG(price) AS price FROM orders GROUP BY month, region ORDER BY month"


def table(
    columns: dict[str, str], rows: Cells, cut_by: Cut | None = None, row_count: int | None = None
) -> Rows:
    named = [Column(name=name, type=kind) for name, kind in columns.items()]
    count = len(rows) if row_count is None else row_count
    return Rows(columns=named, rows=rows, row_count=count, truncated=cut_by is not None, cut_by=cut_by)


def drawn(rows: Rows, sql: str = "", question: str = "", span: Span | None = None) -> Any:
    found = figures(question, sql, "sqlite", rows=rows, span=span, today=date(2030, 1, 1))
    return choose_chart(question, rows, found)


def note(chart: Any) -> Any:
    return chart["usermeta"]["kai"]


def cells(chart: Any, channel: str) -> list[Any]:
    field = chart["encoding"][channel]["field"]
    return [datum[field] for datum in chart["data"]["values"]]


def days(count: int, first: str = "2024-01-01") -> list[str]:
    start = date.fromisoformat(first)
    return [(start + timedelta(days=at)).isoformat() for at in range(count)]


def products(count: int) -> Cells:
    return [[f"P{at:03}", count - at] for at in range(count)]


TIMES = {"day": "date", "orders": "integer"}
SALES = {"product": "text", "revenue": "number"}
REGIONS = {"month": "text", "region": "text", "revenue": "number"}


def test_a_chart_of_two_years_of_days_has_every_day() -> None:
    rows = table(TIMES, [[day, at + 1] for at, day in enumerate(days(731))])
    chart = drawn(rows, PER_DAY)
    assert chart["mark"]["type"] == "line"
    assert cells(chart, "x") == days(731)
    assert cells(chart, "y") == list(range(1, 732))
    covered = {"unit": "day", "first": "2024-01-01", "last": "2025-12-31", "running": False}
    assert note(chart) == {"rows": 731, "shown": 731, "how": "", "covered": covered}
    assert chart["title"] == {"text": "Orders by day"}


def test_rows_that_come_latest_first_are_drawn_from_left_to_right() -> None:
    rows = table({"month": "text", "n": "integer"}, [["2024-03", 3], ["2024-02", 2], ["2024-01", 1]])
    chart = drawn(rows, "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY month DESC")
    assert cells(chart, "x") == ["2024-01", "2024-02", "2024-03"]


def test_more_than_2000_days_are_added_up_to_a_coarser_unit_that_is_named() -> None:
    rows = table(TIMES, [[day, 2] for day in days(3000, "2016-01-06")])
    chart = drawn(rows, PER_DAY)
    assert note(chart)["shown"] == len(chart["data"]["values"]) <= 2000
    assert sum(cells(chart, "y")) == 6000
    assert note(chart)["how"] == (
        "Each point adds up one week of 3,000 days. The first week has data from 2016-01-06 on only. "
        "The last week has data up to 2024-03-23 only."
    )
    assert chart["title"]["subtitle"] == [note(chart)["how"]]


def test_more_than_2000_days_of_an_average_are_selected_and_never_added_up() -> None:
    prices: Cells = [[day, 10 + at % 7] for at, day in enumerate(days(3000))]
    prices[1234][1] = 99.5
    rows = table({"day": "date", "price": "number"}, prices)
    chart = drawn(rows, MEAN_PER_DAY)
    assert len(chart["data"]["values"]) <= 2000
    pairs = list(zip(cells(chart, "x"), cells(chart, "y"), strict=True))
    assert set(pairs) <= {(day, price) for day, price in prices}
    assert (prices[1234][0], 99.5) in pairs
    assert pairs == sorted(pairs)
    assert "the lowest and the highest of every" in note(chart)["how"]
    assert "cannot be added up over time" in note(chart)["how"]


def test_partial_periods_are_named_in_the_chart() -> None:
    rows = table({"month": "text", "revenue": "number"}, [["2024-06", 1.0], ["2024-07", 40], ["2024-08", 50]])
    sql = "SELECT strftime('%Y-%m', d) AS month, SUM(amount) AS revenue FROM o GROUP BY 1 ORDER BY 1"
    chart = drawn(rows, sql, span=Span(date(2024, 6, 29), date(2024, 8, 31), 1000))
    assert note(chart)["how"] == "2024-06 has data from 2024-06-29 on only."
    assert note(chart)["covered"] == {
        "unit": "month",
        "first": "2024-06-29",
        "last": "2024-08-31",
        "running": False,
    }


def test_a_partial_period_of_several_averages_is_named() -> None:
    columns = {"month": "text", "region": "text", "price": "number"}
    months: Cells = [
        ["2024-07", "North", 1.0],
        ["2024-07", "South", 4],
        ["2024-08", "North", 5],
        ["2024-08", "South", 3],
    ]
    sql = "SELECT strftime('%Y-%m', d) AS month, region, AVG(price) AS price FROM o GROUP BY 1, 2 ORDER BY 1"
    chart = drawn(table(columns, months), sql, span=Span(date(2024, 7, 1), date(2024, 8, 10), 1000))
    assert note(chart)["how"] == "2024-08 has data up to 2024-08-10 only."


def test_months_with_a_gap_lie_on_a_scale_of_time() -> None:
    rows = table({"month": "text", "n": "integer"}, [["2024-01", 3], ["2024-02", 2], ["2024-06", 1]])
    chart = drawn(rows, "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY month")
    assert chart["encoding"]["x"]["type"] == "temporal"
    assert cells(chart, "x") == ["2024-01-01", "2024-02-01", "2024-06-01"]


def test_a_null_is_a_gap_and_a_row_without_a_date_is_named() -> None:
    rows = table(TIMES, [["2024-01-01", 3], ["2024-01-02", None], ["2024-01-03", 4], [None, 9]])
    chart = drawn(rows, PER_DAY)
    assert cells(chart, "y") == [3, None, 4]
    assert note(chart)["how"] == "1 row without a day is left out."


def test_beyond_30_categories_the_top_20_and_the_sum_of_the_others_are_shown() -> None:
    chart = drawn(table(SALES, products(977)), SUMS)
    assert cells(chart, "y") == [*(f"P{at:03}" for at in range(20)), "Other (957)"]
    assert cells(chart, "x")[-1] == sum(range(1, 958))
    assert note(chart) == {
        "rows": 977,
        "shown": 21,
        "how": "Of 977 values of product, the 20 with the highest revenue are shown; "
        "the other 957 are added up as Other (957).",
    }


def test_thirty_categories_are_all_shown() -> None:
    chart = drawn(table(SALES, products(30)), SUMS)
    assert note(chart) == {"rows": 30, "shown": 30, "how": ""}


def test_averages_of_many_categories_have_no_other() -> None:
    rows = table({"product": "text", "price": "number"}, products(50))
    chart = drawn(rows, AVERAGES)
    assert len(cells(chart, "y")) == 20
    assert note(chart)["how"] == (
        "Of 50 values of product, the 20 with the highest price are shown; "
        "the other 30 are left out, as values of price cannot be added up."
    )


def test_a_question_for_the_lowest_shows_the_lowest() -> None:
    chart = drawn(table(SALES, products(50)), SUMS, "Which products have the lowest revenue?")
    assert cells(chart, "y") == [f"P{at:03}" for at in range(49, 29, -1)]
    assert "the 20 with the lowest revenue" in note(chart)["how"]


def test_the_measure_asked_for_is_drawn_and_not_the_last_one() -> None:
    rows = table(
        {"product": "text", "revenue": "number", "units": "integer"}, [["A", 9.5, 1], ["B", 7.25, 8]]
    )
    sql = "SELECT product, SUM(a) AS revenue, SUM(u) AS units FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10"
    chart = drawn(rows, sql, "Top 10 products by revenue")
    assert cells(chart, "x") == [9.5, 7.25]
    assert chart["title"]["text"] == "Revenue by product"
    assert chart["description"] == "bar chart of revenue by product"


def test_beyond_8_series_the_others_are_one_series() -> None:
    months = ["2024-01", "2024-02"]
    rows = table(REGIONS, [[month, f"R{at:02}", 100 - at] for month in months for at in range(12)])
    chart = drawn(rows, GROUPED)
    assert len(set(cells(chart, "color"))) == 9
    others = [
        datum["c2"]
        for datum in chart["data"]["values"]
        if datum["c1"] == "Other (4)" and datum["c0"] == months[0]
    ]
    assert others == [92 + 91 + 90 + 89]
    assert sum(cells(chart, "y")) == 2 * sum(range(89, 101))
    assert "the other 4 are added up as Other (4)" in note(chart)["how"]


def test_beyond_8_series_of_averages_the_others_are_left_out() -> None:
    columns = {"month": "text", "region": "text", "price": "number"}
    rows = table(
        columns, [[month, f"R{at:02}", 100 - at] for month in ("2024-01", "2024-02") for at in range(12)]
    )
    chart = drawn(rows, MEANS)
    assert set(cells(chart, "color")) == {f"R{at:02}" for at in range(8)}
    assert "the other 4 are left out, as values of price cannot be added up" in note(chart)["how"]


def test_two_groups_are_stacked_only_where_they_add_up() -> None:
    columns = {"region": "text", "channel": "text", "revenue": "number"}
    cells_: Cells = [[region, channel, 5] for region in ("North", "South") for channel in ("web", "shop")]
    sums = drawn(table(columns, cells_), "SELECT region, channel, SUM(a) AS revenue FROM t GROUP BY 1, 2")
    means = drawn(table(columns, cells_), "SELECT region, channel, AVG(a) AS revenue FROM t GROUP BY 1, 2")
    assert "yOffset" not in sums["encoding"]
    assert means["encoding"]["yOffset"]["field"] == means["encoding"]["color"]["field"]
    assert means["encoding"]["x"]["stack"] is None


@pytest.mark.parametrize(
    ("sql", "values", "reason"),
    [
        (AVERAGES, [3, 4], "cannot be added up"),
        (SUMS, [3, -4], "not all values"),
        (SUMS, [3, None], "not all"),
    ],
)
def test_a_pie_of_what_has_no_whole_is_drawn_as_bars_and_says_why(
    sql: str, values: list[JsonValue], reason: str
) -> None:
    rows = table({"product": "text", "price": "number"}, [["A", values[0]], ["B", values[1]], ["C", 1]])
    chart = drawn(rows, sql.replace("revenue", "price"), "as a pie")
    assert chart["mark"]["type"] == "bar"
    assert reason in note(chart)["how"]


def test_a_pie_of_many_slices_has_seven_and_the_others() -> None:
    chart = drawn(table(SALES, products(20)), SUMS, "revenue by product as a pie")
    assert chart["mark"]["type"] == "arc"
    assert cells(chart, "color")[-1] == "Other (13)"
    assert sum(cells(chart, "theta")) == sum(range(1, 21))


def test_digits_that_came_as_text_are_drawn_as_numbers() -> None:
    rows = table(SALES, [["A", "12345678901234567890.25"], ["B", 2.5]])
    assert cells(drawn(rows, SUMS), "x") == [12345678901234567890.25, 2.5]


def test_a_sum_of_floats_has_no_noise() -> None:
    rows = table(SALES, [[f"P{at}", 0.1] for at in range(50)])
    assert cells(drawn(rows, SUMS), "x")[-1] == 3.0


@pytest.mark.parametrize(
    ("cut_by", "said"),
    [
        ("rows", "Only the first 40 rows are kept, the limit of a result; there are more."),
        ("bytes", "Only the first 40 rows are kept, as the result is too large; there are more."),
        ("values", "Some values are too long to be kept whole: their ends are cut."),
    ],
)
def test_a_chart_of_a_cut_result_says_so_first(cut_by: Cut, said: str) -> None:
    chart = drawn(table(SALES, products(40), cut_by=cut_by), SUMS)
    assert note(chart)["how"].startswith(said)
    assert chart["title"]["subtitle"][0] == said


def test_a_chart_of_the_first_rows_only_says_so() -> None:
    chart = drawn(table(TIMES, [[day, 1] for day in days(100)], row_count=731), PER_DAY)
    assert note(chart)["rows"] == 731
    assert note(chart)["how"].startswith("Made of the first 100 of 731 rows")


def test_hours_are_drawn_as_a_line_of_moments() -> None:
    hours: Cells = [[f"2024-01-01 {hour:02}:00:00", hour % 5] for hour in range(24)]
    chart = drawn(
        table({"at": "datetime", "temperature": "number"}, hours), "SELECT at, temperature FROM readings"
    )
    assert (chart["mark"]["type"], chart["encoding"]["x"]["type"]) == ("line", "temporal")
    assert len(cells(chart, "x")) == 24


def test_many_points_of_two_measures_are_thinned_out_evenly() -> None:
    rows = table({"price": "number", "quantity": "number"}, [[at, at * 2] for at in range(5000)])
    chart = drawn(rows, "SELECT price, quantity FROM lines")
    assert note(chart) == {"rows": 5000, "shown": 1667, "how": "Of 5,000 rows, one in 3 is shown."}


def test_a_chart_of_10000_rows_with_60_columns_is_small() -> None:
    columns = {"product": "text", "revenue": "number", **{f"m{at}": "number" for at in range(58)}}
    rows = table(columns, [[f"P{at % 5000}", at / 7, *([at * 0.5] * 58)] for at in range(10_000)])
    found = figures("revenue by product", "", "sqlite", rows=rows)
    chart = choose_chart("revenue by product", rows, found)
    assert chart is not None
    assert len(json.dumps(chart)) < 10_000


def test_names_that_are_numbered_only_among_the_others_are_not_spoken_of() -> None:
    rows = table(SALES, [*products(40), ["P039", 0.5]])
    picked = drawn(rows, "SELECT product, revenue FROM sales ORDER BY revenue DESC LIMIT 41")
    assert "numbered" not in note(picked)["how"]
    assert "Other (21)" in note(picked)["how"]


def test_single_rows_picked_by_their_values_are_not_added_up_to_their_names() -> None:
    rows = table({"customer": "text", "amount": "number"}, [["Ada", 90], ["Ben", 80], ["Ada", 70]])
    chart = drawn(
        rows, "SELECT customer, amount FROM orders ORDER BY amount DESC LIMIT 3", "top 3 orders by amount"
    )
    assert list(zip(cells(chart, "y"), cells(chart, "x"), strict=True)) == [
        ("Ada", 90),
        ("Ben", 80),
        ("Ada (2)", 70),
    ]
    assert note(chart)["how"] == "Rows with the same customer are numbered."
