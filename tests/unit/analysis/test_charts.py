"""Charts of all rows: what is added up, selected or left out, and that the chart says so."""

import json
import math
from datetime import date, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.choice import ChartChoice, ChosenValue
from app.modules.analysis.chart.leaders import band_of
from app.modules.analysis.chart.plan import NotDrawable
from app.modules.analysis.figures import DataSpan, figures
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


def drawn(rows: Rows, sql: str = "", question: str = "", span: DataSpan | None = None) -> Any:
    found = figures(question, sql, "sqlite", rows=rows, span=span, today=date(2030, 1, 1))
    return choose_chart(question, rows, found)


def note(chart: Any) -> Any:
    return chart["usermeta"]["kai"]


def cells(chart: Any, field: str) -> list[Any]:
    return [datum[field] for datum in chart["data"]["values"]]


def parts(chart: Any) -> list[str]:
    """The places of the periods that are not whole."""
    return [datum["c0"] for datum in chart["data"]["values"] if datum.get("part")]


def how(chart: Any) -> str:
    return " ".join(note(chart)["how"])


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
    assert note(chart)["mark"] == "line"
    assert cells(chart, "c0") == days(731)
    assert cells(chart, "c1") == list(range(1, 732))
    assert cells(chart, "row") == list(range(731))
    covered = {"unit": "day", "first": "2024-01-01", "last": "2025-12-31", "running": False, "dated": True}
    assert note(chart)["covered"] == covered
    assert (note(chart)["rows"], note(chart)["shown"], note(chart)["how"]) == (731, 731, [])
    assert chart["title"] == {"text": "Orders by day"}


def test_rows_that_come_latest_first_are_drawn_from_left_to_right() -> None:
    rows = table({"month": "text", "n": "integer"}, [["2024-03", 3], ["2024-02", 2], ["2024-01", 1]])
    chart = drawn(rows, "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY month DESC")
    assert cells(chart, "c0") == ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert cells(chart, "row") == [2, 1, 0]


def test_more_than_2000_days_are_added_up_to_a_coarser_unit_that_is_named() -> None:
    rows = table(TIMES, [[day, 2] for day in days(3000, "2016-01-06")])
    chart = drawn(rows, PER_DAY)
    assert note(chart)["shown"] == len(chart["data"]["values"]) <= 2000
    assert sum(cells(chart, "c1")) == 6000
    assert note(chart)["how"] == [
        "Each point adds up one week of 3,000 days.",
        "Week 1 of 2016 has data from 6 January 2016 on only.",
        "Week 12 of 2024 has data up to 23 March 2024 only.",
    ]
    assert [datum["c0"] for datum in chart["data"]["values"] if datum.get("part")] == [
        "2016-01-04",
        "2024-03-18",
    ]


def test_more_than_2000_days_of_an_average_are_selected_and_never_added_up() -> None:
    prices: Cells = [[day, 10 + at % 7] for at, day in enumerate(days(3000))]
    prices[1234][1] = 99.5
    rows = table({"day": "date", "price": "number"}, prices)
    chart = drawn(rows, MEAN_PER_DAY)
    assert len(chart["data"]["values"]) <= 2000
    pairs = list(zip(cells(chart, "c0"), cells(chart, "c1"), strict=True))
    assert set(pairs) <= {(day, price) for day, price in prices}
    assert (prices[1234][0], 99.5) in pairs
    assert pairs == sorted(pairs)
    assert "the lowest and highest of each" in how(chart)
    assert "cannot be added up over time" in how(chart)


def test_partial_periods_are_dashed_and_named_in_the_picture() -> None:
    rows = table({"month": "text", "revenue": "number"}, [["2024-06", 1.0], ["2024-07", 40], ["2024-08", 50]])
    sql = "SELECT strftime('%Y-%m', d) AS month, SUM(amount) AS revenue FROM o GROUP BY 1 ORDER BY 1"
    chart = drawn(rows, sql, span=DataSpan(date(2024, 6, 29), date(2024, 8, 31), 1000))
    assert how(chart) == "June 2024 has data from 29 June 2024 on only."
    assert "from 29 Jun" in json.dumps(chart["layer"])
    assert chart["data"]["values"][0]["part"] is True
    covered = {"unit": "month", "first": "2024-06-29", "last": "2024-08-31", "running": False, "dated": True}
    assert note(chart)["covered"] == covered


def test_a_day_that_the_statement_may_leave_out_is_not_said_in_a_chart() -> None:
    rows = table({"month": "text", "revenue": "number"}, [["2024-06", 1.0], ["2024-07", 40], ["2024-08", 50]])
    sql = "SELECT strftime('%Y-%m', d) AS month, SUM(amount) AS revenue FROM o WHERE kept GROUP BY 1"
    chart = drawn(rows, sql, span=DataSpan(date(2024, 6, 29), date(2024, 8, 31), 1000, narrowed=True))
    assert how(chart) == "June 2024 is covered in part only."
    assert "29 Jun" not in json.dumps(chart["layer"])
    covered = {"unit": "month", "first": "2024-06-29", "last": "2024-08-31", "running": False, "dated": False}
    assert note(chart)["covered"] == covered


def test_a_partial_first_period_far_below_the_others_is_named_at_its_own_point() -> None:
    amounts = [25, 520, 240, 212, 290, 340, 440, 441, 445, 390, 340, 345, 500, 690, 310, 270, 355, 380, 480]
    months = [f"{2024 + at // 12}-{at % 12 + 1:02}" for at in range(10, 10 + len(amounts))]
    rows = table(
        {"month": "text", "revenue": "number"}, [[*each] for each in zip(months, amounts, strict=True)]
    )
    sql = "SELECT strftime('%Y-%m', d) AS month, SUM(amount) AS revenue FROM o WHERE kept GROUP BY 1"
    chart = drawn(rows, sql, span=DataSpan(date(2024, 11, 28), date(2026, 5, 31), 1000, narrowed=True))
    (label,) = (each for each in chart["layer"] if str(each.get("data", {}).get("name")).startswith("part_"))
    (at,) = label["data"]["values"]
    assert (at["label"], at["c1"]) == (["Nov 2024"], 25)
    assert label["mark"]["dy"] < 0, "the axis runs through the label"


def test_a_partial_period_of_several_averages_is_named() -> None:
    columns = {"month": "text", "region": "text", "price": "number"}
    months: Cells = [
        ["2024-07", "North", 1.0],
        ["2024-07", "South", 4],
        ["2024-08", "North", 5],
        ["2024-08", "South", 3],
    ]
    sql = "SELECT strftime('%Y-%m', d) AS month, region, AVG(price) AS price FROM o GROUP BY 1, 2 ORDER BY 1"
    chart = drawn(table(columns, months), sql, span=DataSpan(date(2024, 7, 1), date(2024, 8, 10), 1000))
    assert how(chart) == "August 2024 has data up to 10 August 2024 only."


def test_a_gap_breaks_the_line_and_is_named_in_a_band() -> None:
    rows = table(
        {"month": "text", "n": "integer"}, [["2024-01", 3], ["2024-02", 2], ["2024-06", 1], ["2024-07", 4]]
    )
    chart = drawn(rows, "SELECT month, COUNT(*) AS n FROM t GROUP BY month ORDER BY month")
    assert cells(chart, "run") == [1, 1, 2, 2]
    bands = [layer["data"]["values"] for layer in chart["layer"] if layer["mark"].get("style") == "kai-gap"]
    assert [band["label"] for band in bands[0]] == [["no rows", "Mar\u2013May"]]
    assert how(chart) == "No rows: Mar 2024, Apr 2024 and May 2024."


def test_a_null_is_a_gap_and_a_row_without_a_date_is_named() -> None:
    rows = table(TIMES, [["2024-01-01", 3], ["2024-01-02", None], ["2024-01-03", 4], [None, 9]])
    chart = drawn(rows, PER_DAY)
    assert cells(chart, "c1") == [3, 4]
    assert cells(chart, "run") == [1, 2]
    assert how(chart) == "Rows without a day: 1. They are left out. No value: 2 Jan 2024."


def test_the_first_15_of_many_are_drawn_with_a_sentence_for_the_rest() -> None:
    chart = drawn(table(SALES, products(977)), SUMS)
    assert cells(chart, "c0") == [f"P{at:03}" for at in range(15)]
    assert note(chart)["how"] == [
        "Of 977, the 15 with the highest revenue are shown.",
        "962 more, together 463\u202fk, 97.0% of 478\u202fk.",
    ]
    assert "Other" not in json.dumps(chart)


def test_15_categories_are_all_shown() -> None:
    chart = drawn(table(SALES, products(15)), SUMS)
    assert (note(chart)["rows"], note(chart)["shown"], note(chart)["how"]) == (15, 15, [])


def test_averages_of_many_categories_are_not_added_up() -> None:
    rows = table({"product": "text", "price": "number"}, products(50))
    chart = drawn(rows, AVERAGES)
    assert len(cells(chart, "c0")) == 15
    assert how(chart) == (
        "Of 50, the 15 with the highest price are shown. "
        "35 more are left out, as values of price cannot be added up."
    )


def test_a_tie_with_those_left_out_is_said() -> None:
    chart = drawn(table(SALES, [[f"P{at:03}", 9 if at else 20] for at in range(18)]), SUMS)
    assert "3 of those left out have the same value as the last one shown: 9." in how(chart)


def test_all_that_share_the_highest_value_are_in_the_accent() -> None:
    chart = drawn(table(SALES, [["A", 9], ["B", 9], ["C", 3]]), SUMS)
    assert cells(chart, "answer") == [True, True, False]


def test_a_question_for_the_lowest_shows_the_lowest() -> None:
    chart = drawn(table(SALES, products(50)), SUMS, "Which products have the lowest revenue?")
    assert cells(chart, "c0") == [f"P{at:03}" for at in range(49, 34, -1)]
    assert cells(chart, "answer") == [True, *([False] * 14)]
    assert how(chart) == "Of 50, the 15 with the lowest revenue are shown."


def test_the_measure_asked_for_is_drawn_and_not_the_last_one() -> None:
    rows = table(
        {"product": "text", "revenue": "number", "units": "integer"}, [["A", 9.5, 1], ["B", 7.25, 8]]
    )
    sql = "SELECT product, SUM(a) AS revenue, SUM(u) AS units FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 10"
    chart = drawn(rows, sql, "Top 10 products by revenue")
    assert cells(chart, "c1") == [9.5, 7.25]
    assert chart["title"]["text"] == "Revenue by product"
    assert chart["description"].startswith("Bar chart: revenue by product.")


def test_grey_lines_go_up_to_a_period_that_is_not_whole_too() -> None:
    months = ["2024-06", "2024-07", "2024-08"]
    rows = table(REGIONS, [[month, f"R{at:02}", 100 - at] for month in months for at in range(8)])
    chart = drawn(rows, GROUPED, span=DataSpan(date(2024, 6, 1), date(2024, 8, 10), 1000))
    ends = {
        layer["data"]["name"]: {(datum["series"], datum["c0"]) for datum in layer["data"]["values"]}
        for layer in chart["layer"]
        if str(layer.get("data", {}).get("name")).startswith("partial_0")
    }
    grey = {(f"R{at:02}", month) for at in range(5, 8) for month in ("2024-07-01", "2024-08-01")}
    assert ends["partial_0_grey"] == grey
    assert len(ends["partial_0"]) == 10


@pytest.mark.parametrize("sql", [GROUPED, MEANS])
def test_beyond_6_series_five_have_a_colour_and_the_rest_are_grey(sql: str) -> None:
    months = ["2024-01", "2024-02"]
    rows = table(REGIONS, [[month, f"R{at:02}", 100 - at] for month in months for at in range(12)])
    chart = drawn(rows, sql.replace("AS price", "AS revenue"))
    assert {datum["series"] for datum in chart["data"]["values"] if not datum.get("grey")} == {
        f"R{at:02}" for at in range(5)
    }
    assert len({datum["series"] for datum in chart["data"]["values"]}) == 12
    assert "Of 12 series, the 5 with the highest revenue have a colour; the other 7 are grey." in how(chart)


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
    assert note(chart)["mark"] == "bar"
    assert reason in how(chart)


def test_a_pie_of_many_parts_is_drawn_as_bars_and_says_why() -> None:
    chart = drawn(table(SALES, products(20)), SUMS, "revenue by product as a pie")
    assert note(chart)["mark"] == "bar"
    assert "more parts than colours can tell apart" in how(chart)


def test_digits_that_came_as_text_are_drawn_as_numbers_and_said_exactly() -> None:
    rows = table(SALES, [["A", "12345678901234567890.25"], ["B", 2.5]])
    assert cells(drawn(rows, SUMS), "c1") == [12345678901234567890.25, 2.5]


def test_a_sum_of_floats_has_no_noise() -> None:
    chart = drawn(table(SALES, [[f"P{at}", 0.1] for at in range(45)]), SUMS)
    assert "30 more, together 3, 66.7% of 4.50." in how(chart)


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
    assert note(chart)["how"][0] == said
    assert chart["title"]["subtitle"][0] == said


def test_a_cut_result_has_no_shares_of_a_total() -> None:
    chart = drawn(table(SALES, products(40), cut_by="rows"), SUMS)
    assert "25 more, together 325." in note(chart)["how"]
    assert not any("share" in datum for datum in chart["data"]["values"])


def test_a_chart_of_the_first_rows_only_says_so() -> None:
    chart = drawn(table(TIMES, [[day, 1] for day in days(100)], row_count=731), PER_DAY)
    assert note(chart)["rows"] == 731
    assert how(chart).startswith("Made of the first 100 of 731 rows")


def test_hours_are_drawn_as_a_line_of_moments() -> None:
    hours: Cells = [[f"2024-01-01 {hour:02}:00:00", hour % 5] for hour in range(24)]
    chart = drawn(
        table({"at": "datetime", "temperature": "number"}, hours), "SELECT at, temperature FROM readings"
    )
    assert (note(chart)["mark"], cells(chart, "c0")[5]) == ("line", "2024-01-01T05:00:00")


def test_more_than_2000_points_of_two_measures_are_counted_in_hexagons() -> None:
    rows = table({"price": "number", "quantity": "number"}, [[at, at * 2] for at in range(5000)])
    chart = drawn(rows, "SELECT price, quantity FROM lines")
    assert sum(cells(chart, "count")) == note(chart)["shown"] == 5000
    assert len(chart["data"]["values"]) <= 2000
    assert "5,000 points are counted in hexagons" in how(chart)


def test_weeks_that_strftime_counts_are_drawn_on_their_own_days() -> None:
    weeks: Cells = [["2024-52", 5], ["2024-53", 2], ["2025-00", 3], ["2025-01", 6]]
    sql = "SELECT strftime('%Y-%W', d) AS week, COUNT(*) AS orders FROM o GROUP BY 1 ORDER BY 1"
    chart = drawn(table({"week": "text", "orders": "integer"}, weeks), sql)
    assert cells(chart, "c0") == ["2024-12-23", "2024-12-30", "2025-01-01", "2025-01-06"]
    assert [datum["c0"] for datum in chart["data"]["values"] if datum.get("part")] == [
        "2024-12-30",
        "2025-01-01",
    ]


def test_two_names_that_are_cut_stay_different() -> None:
    names = [f"{'Expedition tent '}{'very ' * 12}{at} for summer and winter, green" for at in (1, 2)]
    chart = drawn(table(SALES, [[name, 5 - at] for at, name in enumerate(names)]), SUMS)
    labels = [datum["name"] for layer in chart["layer"] for datum in layer.get("data", {}).get("values", [])]
    assert len({" ".join(each) for each in labels}) == 2


def test_a_chart_of_10000_rows_with_60_columns_is_small() -> None:
    columns = {"product": "text", "revenue": "number", **{f"m{at}": "number" for at in range(58)}}
    rows = table(columns, [[f"P{at % 5000}", at / 7, *([at * 0.5] * 58)] for at in range(10_000)])
    found = figures("revenue by product", "", "sqlite", rows=rows)
    chart = choose_chart("revenue by product", rows, found)
    assert chart is not None
    assert len(json.dumps(chart)) < 30_000


def test_single_rows_picked_by_their_values_are_not_added_up_to_their_names() -> None:
    rows = table({"customer": "text", "amount": "number"}, [["Ada", 90], ["Ben", 80], ["Ada", 70]])
    chart = drawn(
        rows, "SELECT customer, amount FROM orders ORDER BY amount DESC LIMIT 3", "top 3 orders by amount"
    )
    assert list(zip(cells(chart, "c0"), cells(chart, "c1"), strict=True)) == [
        ("Ada", 90),
        ("Ben", 80),
        ("Ada (2)", 70),
    ]
    assert how(chart) == "Rows with the same customer are numbered."


def test_a_chart_speaks_the_language_of_the_question() -> None:
    rows = table({"land": "text", "umsatz_eur": "number"}, [[f"L{at:02}", 100 - at] for at in range(30)])
    sql = "SELECT land, SUM(betrag) AS umsatz_eur FROM o GROUP BY 1 ORDER BY 2 DESC"
    chart = drawn(rows, sql, "Wie hoch ist der Umsatz nach Land?")
    assert chart["title"]["text"] == "Umsatz nach Land"
    assert how(chart).startswith("Von 30 sind die 15 mit dem höchsten Wert von Umsatz gezeigt. 15 weitere")
    assert chart["data"]["values"][0]["said"] == "L00: 100\xa0€, 3,9\xa0%"


def test_sums_that_differ_by_the_noise_of_floats_are_drawn_and_spread_over_no_bins() -> None:
    rows = table({"product": "text", "revenue": "number"}, [["A", 0.3], ["B", 0.1 + 0.2], ["C", 0.3]])
    assert "histogram" not in note(drawn(rows, SUMS))["marks"]


@pytest.mark.parametrize("low", [0, -1])
def test_values_too_large_for_a_scale_are_not_offered_as_a_histogram(low: int) -> None:
    chart = drawn(table({"name": "text", "size": "number"}, [["a", 1.5e308], ["b", low]]))
    assert note(chart)["mark"] == "bar"
    assert "histogram" not in note(chart)["marks"]


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("18-29", (18, 29)),
        ("75+", (75, math.inf)),
        ("under 18", (-math.inf, 18)),
        ("< 10 kg", (-math.inf, 10)),
        ("unter 18 Jahre", (-math.inf, 18)),
        ("€1,000–€2,500", (1000, 2500)),
        ("1.000 bis 2.500 €", (1000, 2500)),
        ("2.5 to 5", (2.5, 5)),
        ("10k-20k", (10_000, 20_000)),
        ("over 100", (100, math.inf)),
        ("65 and older", (65, math.inf)),
        ("42", None),
        ("Route 66", None),
        ("3-in-1 jacket", None),
        ("1.234,50 - 2.000", (1234.5, 2000)),
        ("1.2.3", None),
        ("2.10.0-2.11.1", None),
        ("24.12.2025", None),
        ("192.168.0.1", None),
    ],
)
def test_bands_are_read_by_their_ends(name: str, ends: tuple[float, float] | None) -> None:
    assert band_of(name) == ends


@pytest.mark.parametrize("names", [["1.2.3", "1.10.0", "2.0.1"], ["01.12.2025", "24.12.2025", "31.12.2025"]])
def test_versions_and_dates_of_dots_have_a_picture(names: list[JsonValue]) -> None:
    rows = table({"version": "text", "revenue": "number"}, [[name, at + 1] for at, name in enumerate(names)])
    sql = "SELECT version, SUM(amount) AS revenue FROM lines GROUP BY version"
    assert len(drawn(rows, sql)["data"]["values"]) == len(names)


def test_a_picture_names_the_measures_of_the_question_that_it_has_no_room_for() -> None:
    columns = {"region": "text", "revenue_eur": "number", "orders": "integer"}
    rows = table(columns, [["North", 90.5, 12], ["South", 70.0, 9], ["West", 12.0, 3]])
    sql = "SELECT region, SUM(amount) AS revenue_eur, COUNT(*) AS orders FROM sales GROUP BY region"
    chart = drawn(rows, sql, "Revenue and number of orders by region")
    assert how(chart) == "Only in the table: orders."
    assert how(chart) in chart["description"]
    assert "table" not in how(drawn(rows, sql, "Revenue by region"))
    named = {"region": "text", "umsatz_eur": "number", "bestellungen": "integer"}
    german = drawn(table(named, rows["rows"]), "", "Umsatz und Anzahl der Bestellungen je Region")
    assert how(german) == "Nur in der Tabelle: Bestellungen."


def heat(rows: Rows, sql: str, across: int, series: int) -> Any:
    found = figures("", sql, "sqlite", rows=rows, today=date(2030, 1, 1))
    choice = ChartChoice(mark="heat", across=across, series=series)
    return choose_chart("", rows, found, choice=choice)


def test_years_beside_months_are_years_in_a_heat_map() -> None:
    sql = "SELECT year, month, SUM(amount) AS revenue FROM o GROUP BY 1, 2 ORDER BY 1, 2"
    columns = {"year": "text", "month": "text", "revenue": "number"}
    rows = table(columns, [[str(2024 + at // 12), f"{at % 12 + 1:02}", 100 + at] for at in range(24)])
    said = ["01, 2024: 100", "12, 2025: 123"]
    assert [cells(heat(rows, sql, 1, 0), "said")[at] for at in (0, -1)] == said
    said = ["2024, 01: 100", "2025, 12: 123"]
    assert [cells(heat(rows, sql, 0, 1), "said")[at] for at in (0, -1)] == said


def test_hours_of_two_days_keep_their_own_cells_in_a_heat_map() -> None:
    hours: Cells = [
        [f"2025-11-{day}T{hour:02}:00:00", region, hour * 1.5 + day]
        for day in (24, 25)
        for hour in range(6, 12)
        for region in ("N", "S")
    ]
    rows = table({"hour": "datetime", "region": "text", "avg_price": "number"}, hours)
    chart = heat(rows, "SELECT hour, region, AVG(price) AS avg_price FROM o GROUP BY 1, 2", 0, 1)
    assert len({(datum["c0"], datum["c1"]) for datum in chart["data"]["values"]}) == 24


def test_rates_of_the_months_of_a_year_are_not_added_up_in_a_heat_map() -> None:
    sql = "SELECT year, month, months_since, retention_rate FROM c ORDER BY 1, 2, 3"
    columns = {"year": "integer", "month": "integer", "months_since": "integer", "retention_rate": "number"}
    rates: Cells = [
        [2024 + at // 12, at % 12 + 1, since, round(0.8**since, 3)] for at in range(24) for since in range(5)
    ]
    rows = table(columns, rates)
    chart = drawn(rows, sql, "Retention by cohort")
    assert note(chart)["mark"] == "line"
    chart = heat(rows, sql, 2, 0)
    assert note(chart)["values"] == [{"column": 3, "how": "mean"}]
    assert cells(chart, "said")[:2] == ["0, 2024: 100%", "1, 2024: 80%"]


def test_keys_over_months_are_lines_and_no_cohorts() -> None:
    columns = {"month": "text", "store_id": "integer", "revenue": "number"}
    rows: Cells = [
        [f"2025-{month:02}", store, 10 * month + store] for month in range(1, 7) for store in (1, 2, 3)
    ]
    sql = "SELECT month, store_id, SUM(amount) AS revenue FROM sales GROUP BY 1, 2 ORDER BY 1, 2"
    chart = drawn(table(columns, rows), sql, "Revenue by month and store")
    assert note(chart)["mark"] == "line"


def test_lines_over_more_names_than_points_are_refused() -> None:
    columns = {"number": "integer", "region": "text", "revenue": "number"}
    rows = table(columns, [[at, region, at] for at in range(2_001) for region in ("North", "South")])
    found = figures("", "", "sqlite", rows=rows, span=None, today=date(2030, 1, 1))
    choice = ChartChoice(mark="line", across=0, values=[ChosenValue(column=2)], series=1, sort="natural")
    with pytest.raises(NotDrawable, match="2 to 2,000 names"):
        choose_chart("", rows, found, choice=choice)


def test_numbers_with_a_hyphen_that_overlap_are_names_and_no_bands() -> None:
    rows = table({"part": "text", "revenue": "number"}, [["10-90", 5], ["20-30", 9], ["15-40", 7]])
    chart = drawn(rows, "SELECT part, SUM(amount) AS revenue FROM lines GROUP BY part")
    assert cells(chart, "c0") == ["20-30", "15-40", "10-90"]
