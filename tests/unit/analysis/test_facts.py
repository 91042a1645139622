"""What the rows say: facts, a chart and what to ask next."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.vega_schema import mistake_in
from app.modules.analysis.facts import FactSheet
from app.modules.analysis.facts.outlook import forecast_fact, outliers_fact
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import Figures
from app.modules.analysis.figures import figures as figures_of
from app.modules.analysis.follow_ups import suggest
from app.modules.analysis.summary import results_summary
from app.modules.analysis.whole_names import merge_names
from graph.state import Column, Rows

NUMBERED: list[list[JsonValue]] = [[str(at), at] for at in range(60)]
POINTS: list[list[JsonValue]] = [[at, at * 2] for at in range(20)]


def figures(rows: Rows, question: str = "", sql: str = "") -> Figures:
    return figures_of(question, sql, "sqlite", rows=rows)


def sheet(rows: Rows, question: str = "", sql: str = "") -> FactSheet:
    return fact_sheet(
        FactTable(question=question, rows=rows, found=figures(rows, question, sql), wording=Wording("en"))
    )


def text_of(rows: Rows, question: str = "", sql: str = "") -> str:
    """The analysis without a model."""
    made = sheet(rows, question, sql)
    return " ".join(filter(None, [made.notice, *(fact.statement for fact in made.lead)]))


def table(
    columns: dict[str, str], *rows: list[JsonValue], row_count: int | None = None, cut: bool = False
) -> Rows:
    return Rows(
        columns=[Column(name=name, type=kind) for name, kind in columns.items()],
        rows=list(rows),
        row_count=len(rows) if row_count is None else row_count,
        truncated=cut,
    )


COUNTRIES = table(
    {"country": "text", "revenue": "number"}, ["Brazil", 60.0], ["Norway", 30.0], ["Chad", 10.0]
)
PEOPLE = table({"FirstName": "text", "last_name": "text", "spent": "number"}, ["A", "B", 2], ["C", "D", 1])
MONTHS = table({"month": "text", "revenue": "number"}, ["2025-01", 10], ["2025-02", 40], ["2025-03", 20])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (table({"total_revenue": "number"}, [1234.5]), "**Total revenue: 1,234.50**."),
        (table({"n": "integer"}, [1_000_000]), "**N: 1,000,000**."),
        (
            COUNTRIES,
            (
                "**Brazil** has the highest revenue: 60, 60% of the total of 100. "
                "Norway is second by revenue with 30. Chad has the lowest revenue: 10."
            ),
        ),
        (
            MONTHS,
            (
                "Revenue in the 3 months: 23.33 on average, "
                "between 10 (January 2025) and 40 (February 2025), from 10 in the first to 20 in the last. "
                "The total of revenue over the 3 months is 70. Revenue in March 2025: 20. "
                "With fewer than 13 complete months, growth cannot be distinguished from a season."
            ),
        ),
        (
            table({"country": "text", "orders": "integer"}, ["A", 2], ["B", 2]),
            "All 2 have the same number of orders: 2. The total number of orders is 4.",
        ),
        (table({"name": "text"}, ["Ada"], ["Ben"]), "2 rows with name."),
        (
            merge_names(PEOPLE),
            (
                "**A B** has the highest spent: 2, 66.7% of the total of 3. C D has the lowest spent: 1. "
                "The total of spent is 3."
            ),
        ),
        (
            table({"name": "text", "n": "integer"}, ["Ada", 1], ["Ben", 3], row_count=500, cut=True),
            (
                "The result was cut off at 500 rows, and only the first 2 of 500 rows are at hand: all "
                "figures here are of these. Of the 2 shown, **Ben** has the highest n: 3. "
                "Of the 2 shown, next by n comes Ada (1)."
            ),
        ),
    ],
)
def test_the_reading_is_what_the_rows_bear_out(rows: Rows, expected: str) -> None:
    assert text_of(rows) == expected


def test_an_empty_result_is_said_plainly() -> None:
    rows = table({"name": "text"})
    assert text_of(rows).startswith("No rows match.")


@pytest.mark.parametrize(
    "cell", ["<script>alert(1)</script>", "![x](http://evil)", "a|b", "`x`", "**x**", "\n# x"]
)
def test_text_of_cells_is_never_markup(cell: str) -> None:
    rows = table({"name": "text", "n": "integer"}, [cell, 2], ["b", 1])
    shown = MarkdownIt("commonmark").render(text_of(rows))
    assert set(re.findall(r"<(\w+)", shown)) == {"p", "strong"}
    assert shown.count("<strong>") == 1


def test_keys_and_years_are_not_summed() -> None:
    rows = table(
        {"customer_id": "integer", "year": "integer", "sales": "integer"}, [1, 2024, 5], [2, 2025, 6]
    )
    found = figures(rows)
    assert [(measure.name, str(measure.total)) for measure in found.measures] == [("sales", "11")]
    assert found.main is not None
    assert found.main.name == "sales"


def test_the_summary_for_the_memory_is_one_short_line() -> None:
    long = table({"text": "text"}, ["x" * 500], ["y"])
    assert results_summary(COUNTRIES) == "3 rows of country, revenue: Brazil, 60.0; Norway, 30.0; Chad, 10.0"
    assert len(results_summary(long)) < 300


@pytest.mark.parametrize(
    ("question", "rows", "mark"),
    [
        ("revenue per country", COUNTRIES, "bar"),
        ("revenue per country as a pie", COUNTRIES, "arc"),
        ("revenue by month", MONTHS, "line"),
        ("revenue by month as bars", MONTHS, "bar"),
        ("how many", table({"n": "integer"}, [5]), None),
        ("names", table({"name": "text"}, ["a"], ["b"]), None),
        ("nothing", table({"name": "text", "n": "integer"}), None),
        ("nulls", table({"name": "text", "n": "number"}, ["a", None], ["b", None]), None),
        ("many", table({"name": "text", "n": "integer"}, *NUMBERED), "bar"),
        ("points", table({"a": "number", "b": "number"}, *POINTS), "point"),
        ("two dates", table({"day": "date", "n": "integer"}, ["2025-01-01", 1], ["2025-01-02", 2]), "bar"),
        (
            "dates",
            table({"day": "date", "n": "integer"}, ["2025-01-01", 1], ["2025-01-02", 2], ["2025-01-03", 4]),
            "line",
        ),
    ],
)
def test_the_chart_fits_columns_and_question(question: str, rows: Rows, mark: str | None) -> None:
    spec: Any = choose_chart(question, rows, figures(rows))
    assert (None if spec is None else spec["usermeta"]["kai"]["mark"]) == mark


def test_names_in_two_columns_are_one_name_on_the_axis() -> None:
    people = merge_names(PEOPLE)
    spec = json.dumps(choose_chart("who", people, figures(people)))
    assert '"A B"' in spec
    assert '"C D"' in spec


def test_suggestions_follow_from_the_rows_and_do_not_repeat_the_question() -> None:
    assert suggest("revenue by month", MONTHS, figures(MONTHS)) == ["Which of these has the lowest revenue?"]
    assert suggest("Which of these has the lowest revenue?", MONTHS, figures(MONTHS)) == []
    assert suggest("x", table({"n": "integer"}), figures(table({"n": "integer"}))) == []


CELL: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
    | st.dates().map(str)
)


@st.composite
def any_rows(draw: st.DrawFn) -> Rows:
    width = draw(st.integers(1, 4))
    kinds = ["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"]
    columns = {f"{draw(st.text(max_size=5))}{at}": draw(st.sampled_from(kinds)) for at in range(width)}
    rows = draw(st.lists(st.lists(CELL, min_size=width, max_size=width), max_size=12))
    return table(columns, *rows, cut=draw(st.booleans()))


@given(any_rows(), st.sampled_from(["", "as a pie", "line chart", "bars", "scatter"]))
def test_no_rows_are_too_strange_to_read(rows: Rows, question: str) -> None:
    found = figures(rows)
    made = sheet(rows, question)
    assert made.lead or made.notice
    assert all(fact.statement for fact in made.facts)
    assert len(suggest(question, rows, found)) <= 3
    spec = choose_chart(question, rows, found)
    if spec is not None:
        json.dumps(spec, allow_nan=False)
        assert mistake_in(spec) is None


def test_a_result_of_which_only_a_long_value_was_cut_is_not_said_to_lack_rows() -> None:
    long = Rows(**{**table({"body": "text"}, ["x" * 100], cut=True), "cut_by": "values"})
    text = text_of(long)
    assert text.startswith("Some values are too long to be kept whole: their ends are cut.")
    assert "1 rows" not in text


def test_a_result_whose_first_row_is_too_large_is_not_said_to_be_empty() -> None:
    empty = Rows(**{**table({"body": "text"}, cut=True), "cut_by": "bytes"})
    text = text_of(empty)
    assert text == "The result was cut off before its first row, which is too large to be kept."


def test_a_single_row_with_a_date_is_named_by_its_name() -> None:
    cheapest = table(
        {"id": "integer", "name": "text", "unit_price": "number", "launch_date": "date"},
        [95, "Summit Gas Stove", 6.95, "2025-10-17"],
    )
    sql = "SELECT id, name, unit_price, launch_date FROM products ORDER BY unit_price LIMIT 1"
    text = text_of(cheapest, "Least expensive product", sql)
    assert text.startswith("**Summit Gas Stove** has the lowest unit price: 6.95.")


def test_rows_of_things_that_are_called_alike_are_not_added_up() -> None:
    names: list[list[JsonValue]] = [[f"Ann {at}", 1] for at in range(20)]
    one_order = table({"name": "text", "number of orders": "integer"}, *names, ["Ann 1", 1], ["Ann 1", 1])
    count = "(SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id)"
    sql = f'SELECT name, {count} AS "number of orders" FROM customers c WHERE {count} = 1'
    text = text_of(one_order, "Customers with only one order", sql)
    assert text.startswith("All 22 have the same number of orders: 1.")


def test_a_column_that_refers_to_a_row_is_nothing_to_compare() -> None:
    reports = table({"name": "text", "ReportsTo": "integer"}, ["Jane", 2], ["Margaret", 2], ["Steve", 2])
    text = text_of(reports, "Who reports to Nancy?", "SELECT name, ReportsTo FROM e")
    assert text == "3 rows with name, reports to."


def test_a_day_or_month_of_mere_digits_goes_with_what_it_numbers() -> None:
    weekdays = table({"weekday": "text", "revenue": "number"}, ["0", 5.0], ["4", 9.0])
    sql = "SELECT strftime('%w', day) AS weekday, SUM(amount) AS revenue FROM sales GROUP BY 1"
    assert text_of(weekdays, "", sql).startswith("**Weekday 4** has the highest revenue: 9")


def test_no_rows_may_be_the_answer() -> None:
    nothing = table({"name": "text"})
    assert text_of(nothing).startswith("No rows match. If there should be some, ")


MONTHLY = "SELECT month, SUM(amount) AS revenue FROM t WHERE region = 'West' AND {0} GROUP BY 1"


def monthly(count: int) -> Rows:
    cells: list[list[JsonValue]] = [
        [f"{2024 + at // 12}-{at % 12 + 1:02}", 100 + at % 12] for at in range(count)
    ]
    return table({"month": "text", "revenue": "number"}, *cells)


def test_a_total_names_all_its_cells_and_the_simple_conditions_of_its_statement() -> None:
    sql = MONTHLY.format("day >= '2024-01-01' AND lower(name) LIKE '%a%'")
    fact = sheet(monthly(24), "revenue per month", sql).by_key["total_revenue"]
    assert fact.how == "sum of revenue over 24 rows where region = West, day ≥ 2024-01-01"
    assert (fact.cell_count, len(fact.cells)) == (24, 24)
    assert fact.value == sum(100 + at % 12 for at in range(24))


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("WHERE day BETWEEN '2024-01-01' AND '2024-03-31'", "day: 2024-01-01 – 2024-03-31"),
        ("WHERE delivered_on > due_on", "delivered on > due on"),
        ("GROUP BY month HAVING COUNT(*) > 20 AND SUM(amount) <= 9", "count > 20, total amount ≤ 9"),
    ],
)
def test_ranges_comparisons_of_columns_and_conditions_of_groups_are_named(clause: str, said: str) -> None:
    found = figures(monthly(3), "", f"SELECT month, revenue FROM sales {clause}")
    assert ", ".join(found.statement.conditions) == said


def test_a_share_names_the_cells_of_the_part_and_of_the_whole() -> None:
    fact = sheet(COUNTRIES).by_key["share_revenue_norway"]
    assert fact.cells == ((1, "revenue"), (0, "revenue"), (2, "revenue"))
    assert fact.how == "share of the sum of revenue over 3 rows"


def test_a_yes_or_no_goes_with_the_name_of_its_column() -> None:
    rows = table({"returned": "text", "orders": "integer"}, ["Yes", 3], ["No", 9])
    sql = "SELECT returned, COUNT(*) AS orders FROM t GROUP BY 1"
    assert text_of(rows, "orders by returned", sql).startswith("**Returned = No** has the most orders: 9")
    flags = table({"is_open": "boolean", "orders": "integer"}, [True, 3], [False, 9])
    assert text_of(flags, "", "SELECT is_open, COUNT(*) AS orders FROM t GROUP BY 1").startswith(
        "**Is open = no**"
    )


def test_no_list_is_cut_through_a_tie() -> None:
    cells: list[list[JsonValue]] = [["A", 9], ["B", 8], ["C", 7], ["D", 7], ["E", 1]]
    tied = table({"country": "text", "orders": "integer"}, *cells)
    sql = "SELECT country, COUNT(*) AS orders FROM t GROUP BY 1"
    assert "order_orders" not in sheet(tied, "", sql).by_key
    cells[3] = ["D", 6]
    apart = table({"country": "text", "orders": "integer"}, *cells)
    order = sheet(apart, "", sql).by_key["order_orders"]
    assert order.statement == "The 3 highest by orders, in order, are A (9), B (8) and C (7)."


def test_ties_in_the_middle_are_the_same() -> None:
    rows = table({"museum": "text", "staff": "integer"}, ["A", 20], ["B", 16], ["C", 16], ["D", 2])
    same = sheet(rows, "", "SELECT museum, staff FROM museums").by_key["same_staff_b_c"]
    assert same.statement == "B and C have the same staff: 16."


def test_one_that_leads_in_all_measures_is_the_leader() -> None:
    rows = table(
        {"region": "text", "revenue": "number", "orders": "integer"}, ["West", 9, 5], ["North", 3, 4]
    )
    sql = "SELECT region, SUM(a) AS revenue, COUNT(*) AS orders FROM t GROUP BY 1"
    assert sheet(rows, "", sql).by_key["leader_west"].statement == "West is highest in revenue and orders."


def test_what_the_question_names_comes_first() -> None:
    first = sheet(COUNTRIES, "What is the share of Norway?").lead[0]
    assert first.statement == "Revenue of Norway: 30, 30% of the total of 100."
    assert sheet(COUNTRIES, "What is the total revenue?").lead[0].key == "total_revenue"
    assert sheet(COUNTRIES, "total revenue per country").lead[0].key == "highest_revenue"


@pytest.mark.parametrize(
    "question",
    [
        "Welches Land hat den niedrigsten Umsatz?",
        "¿Qué país tiene los ingresos más bajos?",
        "Quel pays a le chiffre d'affaires le plus faible ?",
    ],
)
def test_the_lowest_is_asked_for_in_other_languages(question: str) -> None:
    assert sheet(COUNTRIES, question).lead[0].key == "lowest_revenue"


def test_constants_of_the_statement_are_no_facts() -> None:
    rows = table({"goal": "integer", "revenue": "number"}, [500, 12.5])
    sql = "SELECT 500 AS goal, SUM(amount) AS revenue FROM t"
    assert text_of(rows, "", sql) == "**Revenue: 12.50**."


def test_a_column_of_markup_is_no_markup() -> None:
    rows = table({"<b>x</b>": "text", "a*b": "integer"}, ["A", 2], ["B", 1])
    shown = MarkdownIt("commonmark").render(text_of(rows))
    assert set(re.findall(r"<(\w+)", shown)) == {"p", "strong"}


def outlook(count: int) -> FactTable:
    rows = monthly(count)
    found = figures(rows, "revenue per month", MONTHLY.format("1"))
    return FactTable(question="revenue per month", rows=rows, found=found, wording=Wording("en"))


def test_a_forecast_is_a_fact_of_its_own() -> None:
    fact = forecast_fact(outlook(36))
    assert fact is not None
    assert fact.statement.startswith("Forecast of revenue: 100 in January 2027 (")
    assert "The ranges are made to hold 80% of the values." in fact.statement
    assert fact.cell_count == 36
    assert forecast_fact(outlook(5)) is None


def test_outliers_are_a_fact_also_if_there_are_none() -> None:
    fact = outliers_fact(outlook(36))
    assert fact is not None
    assert fact.statement == "None of 36 months stands out in revenue."
    assert outliers_fact(outlook(5)) is None


def test_values_that_are_written_alike_are_not_set_apart() -> None:
    rows = table({"shop": "text", "price": "number"}, ["A", 5.00002], ["B", 5.00001], ["C", 1.0])
    keys = sheet(rows, "", "SELECT shop, price FROM shops").by_key
    assert "second_price" not in keys
    assert "gap_price" not in keys
