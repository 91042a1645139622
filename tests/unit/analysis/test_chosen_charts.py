"""A reader's choice applied to a proposed plan: what is drawn, and what is refused with a reason."""

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.changing import change
from app.modules.analysis.chart.choice import ChartChoice, ChosenValue
from app.modules.analysis.chart.drawing import allowed_marks, draw
from app.modules.analysis.chart.plan import NotDrawable, Plan
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.figures import Figures, figures
from graph.state import Column, Rows

COLUMNS = [
    Column(name="month", type="date"),
    Column(name="region", type="text"),
    Column(name="revenue", type="number"),
    Column(name="avg_price", type="number"),
    Column(name="orders", type="integer"),
]
SQL = (
    "SELECT date_trunc('month', day) AS month, region, sum(amount) AS revenue, avg(price) AS avg_price, "
    "count(*) AS orders FROM sales GROUP BY 1, 2"
)
CELLS: list[list[JsonValue]] = [
    [f"2025-{month:02}-01", region, month * 10, 2.5, month] for month in range(1, 13) for region in ("N", "S")
]
LINES = Plan(mark="line", across=0, values=[ChosenValue(column=2)], series=1, time="month")
BARS = Plan(mark="bar", across=1, values=[ChosenValue(column=2, how="sum")], sort="value", limit=15)


def rows_of(cells: list[list[JsonValue]] = CELLS, columns: list[Column] = COLUMNS) -> Rows:
    return Rows(columns=columns, rows=cells, row_count=len(cells), truncated=False, cut_by=None)


def found_in(rows: Rows, sql: str = SQL) -> Figures:
    return figures("revenue per month by region", sql, "postgres", rows=rows)


def changed(plan: Plan | None, cells: list[list[JsonValue]] = CELLS, **choice: Any) -> Plan:
    rows = rows_of(cells)
    return change(plan, ChartChoice.model_validate(choice), ChartTable(rows, found_in(rows)))


def refused(plan: Plan | None, cells: list[list[JsonValue]] = CELLS, **choice: Any) -> str:
    with pytest.raises(NotDrawable) as error:
        changed(plan, cells, **choice)
    return str(error.value)


def test_what_is_not_chosen_stays_as_it_was_proposed() -> None:
    assert changed(LINES) == LINES
    drawn = changed(LINES, title="Takings", format="exact", unit="EUR", labels=False)
    assert (drawn.mark, drawn.series, drawn.title) == ("line", 1, "Takings")
    assert (drawn.format, drawn.unit, drawn.labels) == ("exact", "EUR", False)


def test_without_series_the_rows_of_a_period_are_added_up_or_averaged() -> None:
    assert changed(LINES, series=-1).values == [ChosenValue(column=2, how="sum")]
    price = changed(LINES, series=-1, values=[{"column": 3}])
    assert price.values == [ChosenValue(column=3, how="mean")]
    assert changed(LINES, series=-1, values=[{"column": 2, "how": "median"}]).values[0].how == "median"


def test_another_unit_of_time_puts_the_periods_together() -> None:
    drawn = changed(LINES, time="quarter")
    assert (drawn.time, drawn.values[0].how) == ("quarter", "sum")
    assert "has months: they cannot be split into days" in refused(LINES, time="day")
    assert "Choose a column that has." in refused(BARS, time="month")


def test_names_across_become_bars_and_times_become_a_line() -> None:
    names = changed(LINES, across=1)
    assert (names.mark, names.series, names.time, names.sort) == ("bar", None, None, "value")
    times = changed(BARS, across=0)
    assert (times.mark, times.time, times.values[0].how) == ("line", "month", "sum")


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"across": 9}, "There is no column 9: the result has 5, counted from 0."),
        ({"values": [{"column": 1}]}, "Region has no numbers. Choose another column, or count its rows."),
        ({"series": -1, "values": [{"column": 2, "how": "none"}]}, "Several rows have the same month."),
        ({"mark": "arc", "values": [{"column": 3}]}, "a mean is none"),
        ({"share": True, "values": [{"column": 3}]}, "values of avg price cannot be added up"),
        ({"mark": "area", "values": [{"column": 3}]}, "Values on top of each other are read as a total"),
        ({"mark": "heat", "series": -1}, "A heat map needs a second column of names."),
        ({"facet": True, "series": -1}, "Small pictures need a series."),
        ({"color": "#ff0000"}, "A colour of your own is for a chart without series."),
        ({"series": -1, "limit": 5}, "A limit is for names"),
        ({"computed": {"kind": "change"}}, "This is computed for one series. Choose no series."),
    ],
)
def test_what_would_mislead_is_refused_with_a_cure(choice: dict[str, Any], reason: str) -> None:
    assert reason in refused(LINES, **choice)


def test_a_pie_and_shares_need_values_that_are_not_below_zero() -> None:
    assert changed(BARS, mark="arc").mark == "arc"
    loss: list[list[JsonValue]] = [["2025-01-01", "N", -5, 1, 1], ["2025-01-01", "S", 5, 1, 1]]
    assert "values of revenue are not all above zero. Choose bars." in refused(BARS, loss, mark="arc")
    assert "not all above zero" in refused(BARS, loss, share=True)


def test_a_heat_map_and_small_pictures_find_their_series() -> None:
    plain = changed(LINES, series=-1)
    assert changed(plain, mark="heat").series == 1
    assert changed(plain, facet=True).series == 1
    assert changed(LINES, facet=True).facet


@pytest.mark.parametrize(
    ("column", "names", "is_map"),
    [
        ("country", ["Germany", "Deutschland", "DE"], False),
        ("country", ["Germany", "USA", "Côte d'Ivoire"], True),
        ("land", ["Deutschland", "Österreich", "die Schweiz"], False),
        ("land", ["Deutschland", "Österreich", "Vereinigte Staaten"], True),
        ("ship_country", ["de", "AT", "GBR"], True),
        ("state", ["CA", "DE", "IN"], False),
        ("country", ["Germany", "Atlantis", "France"], False),
        ("country", ["Germany", None, "France"], False),
        ("country", ["Germany", "Africa", "France"], False),
        ("country", ["Germany", "France", "Total"], False),
        ("country", ["Germany", "US", "USA"], False),
        ("country", ["Congo", "Niger", "Nigeria"], False),
        ("country", ["Congo (Kinshasa)", "Niger", "Nigeria", "Georgia", "Korea"], True),
        ("state", ["Georgia", "Texas", "Maine"], False),
        ("pays", ["États-Unis", "Allemagne", "the Netherlands"], True),
    ],
)
def test_a_map_needs_a_country_in_each_row(column: str, names: list[JsonValue], is_map: bool) -> None:
    columns = [Column(name=column, type="text"), Column(name="orders", type="integer")]
    rows = rows_of([[name, 3 + at] for at, name in enumerate(names)], columns)
    found = figures("orders", f"SELECT {column}, COUNT(*) AS orders FROM o GROUP BY 1", "postgres", rows=rows)
    chart: Any = choose_chart("orders", rows, found)
    assert ("map" in chart["usermeta"]["kai"]["marks"]) is is_map
    assert chart["usermeta"]["kai"]["mark"] == "bar", "so few rank better"


def map_of(amounts: list[float], question: str = "Revenue on a map", **choice: Any) -> Any:
    names: list[JsonValue] = ["Germany", "France", "Spain", "Poland", "Italy", "Norway", "Sweden", "Finland"]
    columns = [Column(name="country", type="text"), Column(name="revenue", type="number")]
    rows = rows_of([list(pair) for pair in zip(names, amounts, strict=False)], columns)
    sql = "SELECT country, SUM(amount) AS revenue FROM o GROUP BY 1"
    found = figures(question, sql, "postgres", rows=rows)
    return choose_chart(question, rows, found, choice=ChartChoice.model_validate(choice))


def color_of(chart: Any) -> Any:
    return chart["layer"][1]["encoding"]["color"]


def test_a_map_says_what_its_colours_mean() -> None:
    color = color_of(map_of([-40, 0, 5, 30, 8, 2, 1, 60]))
    assert color["legend"]["title"] == "revenue"
    assert color["legend"]["values"] == [-40, 0, 60]
    assert color["scale"]["domain"] == [-60, 0, 60]
    counted = color_of(map_of([1, 2, 3], values=[{"column": 1, "how": "count"}]))
    assert counted["legend"]["title"] == "rows"
    hostile = color_of(map_of([1, 2, 3], unit="m' + \\"))["legend"]["labelExpr"]
    labels, end = json.JSONDecoder().raw_decode(hostile)
    assert [each.endswith("m' + \\") for each in labels] == [True] * 3
    assert hostile[end:].startswith("[indexof([")


def test_one_huge_value_leaves_the_other_colours_of_a_map_apart() -> None:
    scale = color_of(map_of([1_000_000, 0, 1, 10, 100, 30, 3, 60]))["scale"]
    assert scale["type"] == "symlog"
    low, high = (math.copysign(math.log1p(abs(at) / scale["constant"]), at) for at in scale["domain"])
    shares = [(math.log1p(at / scale["constant"]) - low) / (high - low) for at in (0, 10, 100, 1_000_000)]
    assert shares[-1] == pytest.approx(1)
    assert all(after - before > 0.05 for before, after in pairwise([0, *shares])), "none is as without a row"
    equal = color_of(map_of([7] * 8))["scale"]
    assert equal["domain"] == [7, 7]
    for extreme in ([1e299, 5e-324, 0], [-1e299, 1e299, 0]):
        assert all(map(math.isfinite, color_of(map_of(extreme))["scale"]["domain"]))


def test_a_map_of_the_largest_says_what_it_leaves_out() -> None:
    chart = map_of([80, 70, 60, 50, 40, 30, 20, 10], mark="map", limit=3, sort="value")
    assert [each["c1"] for each in chart["data"]["values"]] == [80, 70, 60]
    assert "Of 8, the 3 with the highest revenue are shown." in chart["usermeta"]["kai"]["how"]


def test_a_map_has_a_colour_of_the_readers_own() -> None:
    assert color_of(map_of([1, 2, 3], color="#c0392b"))["scale"]["range"] == ["#c0392b26", "#c0392b"]


@pytest.mark.parametrize(
    "question",
    ["Show revenue on the map", "A map of revenue", "Umsatz als Karte", "ventas en un mapa", "sur une carte"],
)
def test_a_map_that_was_asked_for_is_drawn_or_the_reason_is_said(question: str) -> None:
    assert map_of([1, 2, 3], question)["usermeta"]["kai"]["mark"] == "map"
    columns = [Column(name="place", type="text"), Column(name="revenue", type="number")]
    rows = rows_of([["Germany", 1], ["Atlantis", 2]], columns)
    found = figures(question, "SELECT place, SUM(a) AS revenue FROM o GROUP BY 1", "postgres", rows=rows)
    chart: Any = choose_chart(question, rows, found)
    assert chart["usermeta"]["kai"]["mark"] == "bar"
    assert len(chart["usermeta"]["kai"]["how"]) == 1


def test_lines_are_drawn_over_time_only() -> None:
    assert "Lines are drawn over time." in refused(BARS, mark="line")
    assert "Lines are drawn over time." in refused(BARS, mark="area")


def test_parts_of_a_whole_need_no_series() -> None:
    parts = Plan(mark="percent", across=1, values=[ChosenValue(column=2, how="sum")])
    assert changed(parts) == parts
    assert changed(parts, title="Parts").series is None
    assert changed(BARS, mark="percent").series == 0


def test_two_panels_take_a_second_measure_and_need_time() -> None:
    drawn = changed(LINES, mark="combo")
    assert (drawn.series, [each.column for each in drawn.values]) == (None, [2, 3])
    assert "Two panels share an axis of time." in refused(BARS, mark="combo")


def test_points_are_two_measures_against_each_other() -> None:
    drawn = changed(BARS, mark="point")
    assert drawn.across in (3, 4)
    assert drawn.values[0] == ChosenValue(column=2)


def test_something_is_computed_for_a_line_without_series() -> None:
    drawn = changed(LINES, series=-1, computed={"kind": "moving_average", "window": 3})
    assert drawn.computed is not None
    assert drawn.values == [ChosenValue(column=2, how="sum")]
    assert "Region is no time axis." in refused(BARS, computed={"kind": "outliers"})


def test_rows_without_a_proposal_can_be_drawn() -> None:
    drawn = changed(None, mark="bar")
    assert (drawn.across, drawn.time) == (0, "month")
    names = [Column(name="name", type="text"), Column(name="city", type="text")]
    rows = rows_of([["Ann", "Bern"], ["Bob", "Bern"], ["Cy", "Rome"]], names)
    found = found_in(rows, "SELECT name, city FROM people")
    counted = change(None, ChartChoice(across=1), ChartTable(rows, found))
    assert (counted.mark, counted.values) == ("bar", [ChosenValue(column=1, how="count")])
    with pytest.raises(NotDrawable, match="no rows"):
        change(None, ChartChoice(), ChartTable(rows_of([]), found_in(rows_of([]))))


def test_the_marks_that_the_form_offers_are_those_that_can_be_drawn() -> None:
    rows = rows_of()
    drawable = ChartTable(rows, found_in(rows))
    allowed = allowed_marks(BARS, drawable)
    assert set(allowed) == {"bar", "arc", "point", "histogram", "heat"}
    for mark in allowed:
        assert draw(changed(BARS, mark=mark), drawable)
