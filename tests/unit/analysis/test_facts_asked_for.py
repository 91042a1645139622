"""The measure, the rows and the words that a question asks for, of results that misled people."""

from datetime import date

import pytest

from app.modules.analysis.figures import DataSpan
from tests.unit.analysis.test_facts_of_shapes import Case, Cells, sheet_of


def lead(
    question: str, sql: str, columns: dict[str, str], rows: Cells, *, span: DataSpan | None = None
) -> str:
    case = Case(question, sql, columns, rows, [], span=span)
    return " ".join(fact.statement for fact in sheet_of(case).lead)


def said(case: Case) -> str:
    return " ".join(fact.statement for fact in sheet_of(case).facts)


def test_a_week_that_a_condition_cuts_is_partial_where_weeks_are_dates() -> None:
    sql = """
        SELECT DATE(d, 'weekday 0', '-6 days') AS week, COUNT(*) AS orders FROM orders
        WHERE d >= '2026-01-01' GROUP BY 1"""
    rows: Cells = [["2025-12-29", 4], ["2026-01-05", 12], ["2026-01-12", 9], ["2026-01-19", 11]]
    span = DataSpan(date(2026, 1, 1), date(2026, 1, 25), 36)
    text = lead("Orders per week", sql, {"week": "text", "orders": "integer"}, rows, span=span)
    assert "Orders in the 3 weeks covered whole" in text
    assert "is partial: the data begins on 1 January 2026." in text


@pytest.mark.parametrize(
    ("dialect", "week", "cells"),
    [
        ("mysql", "YEARWEEK(d)", [202601, 202602, 202603]),
        ("mysql", "DATE_FORMAT(d, '%Y-%u')", ["2026-01", "2026-02", "2026-03"]),
        ("mysql", "CONCAT(YEAR(d), '-W', WEEK(d))", ["2026-W1", "2026-W2", "2026-W3"]),
        ("postgres", "TO_CHAR(d, 'YYYY-WW')", ["2026-01", "2026-02", "2026-03"]),
    ],
)
def test_nothing_is_said_of_weeks_whose_numbering_is_unknown(
    dialect: str, week: str, cells: list[int | str]
) -> None:
    sql = f"SELECT {week} AS week, COUNT(*) AS orders FROM orders GROUP BY 1 ORDER BY 1"
    kind = "integer" if isinstance(cells[0], int) else "text"
    rows: Cells = [[cell, 4 + at] for at, cell in enumerate(cells)]
    text = said(Case("Orders", sql, {"week": kind, "orders": "integer"}, rows, [], dialect=dialect))
    assert "2026" in text
    assert "January" not in text
    assert "weeks" not in text


@pytest.mark.parametrize(
    ("dialect", "week"),
    [("mysql", "DATE_FORMAT(d, '%x-W%v')"), ("postgres", "TO_CHAR(d, 'IYYY-\"W\"IW')")],
)
def test_weeks_of_the_standard_are_read_from_every_database(dialect: str, week: str) -> None:
    rows: Cells = [["2026-W01", 4], ["2026-W02", 12], ["2026-W03", 9]]
    sql = f"SELECT {week} AS week, COUNT(*) AS orders FROM orders GROUP BY 1 ORDER BY 1"
    case = Case("Orders", sql, {"week": "text", "orders": "integer"}, rows, [], dialect=dialect)
    assert "Orders in the 3 weeks" in said(case)


@pytest.mark.parametrize("name", ["jahr", "año", "annee", "year"])
def test_years_are_time_by_their_names_in_every_language(name: str) -> None:
    sql = f"SELECT {name}, SUM(x) AS revenue FROM t GROUP BY 1 ORDER BY 1"
    text = lead("revenue", sql, {name: "integer", "revenue": "integer"}, [[2023, 10], [2024, 20], [2025, 30]])
    assert "in 2025 rose by 50% on 2024" in text


def test_a_unit_beside_the_values_is_not_said_twice() -> None:
    columns = {"shop": "text", "revenue_eur": "number", "lost_rate_pct": "number", "late_pct": "number"}
    sql = "SELECT shop, SUM(a) AS revenue_eur, AVG(b) AS lost_rate_pct, AVG(c) AS late_pct FROM t GROUP BY 1"
    text = said(Case("", sql, columns, [["A", 7, 12.5, 3.5], ["B", 2, 4, 7.5]], []))
    assert "the highest revenue: €7" in text
    assert "the highest lost rate: 12.5%" in text
    assert "the highest late percentage: 7.5%" in text


def test_an_average_is_not_asked_for_by_below_the_average() -> None:
    sql = "SELECT state, population FROM s WHERE population < (SELECT AVG(population) FROM s)"
    columns = {"state": "text", "population": "integer"}
    text = lead(
        "Which states are below the average population?", sql, columns, [["A", 1], ["B", 2], ["C", 6]]
    )
    assert not text.startswith("The average")


def test_a_label_that_leads_every_column_is_said_first_where_no_column_is_asked_for() -> None:
    columns = {"country": "text", "web": "integer", "app": "integer", "store": "integer"}
    sql = "SELECT country, SUM(a) AS web, SUM(b) AS app, SUM(c) AS store FROM t GROUP BY 1"
    rows: Cells = [["Germany", 9, 8, 7], ["Chad", 3, 2, 1], ["Peru", 1, 3, 2]]
    text = lead("Customers by country and channel", sql, columns, rows)
    assert text.startswith("Germany is highest in web, app and store.")


def test_sums_of_days_are_not_compared_with_the_day_before() -> None:
    rows: Cells = [[f"2026-03-{day:02}", 10 + day % 7] for day in range(1, 29)]
    sql = "SELECT day, COUNT(*) AS visits FROM t GROUP BY day ORDER BY day"
    assert "period before" not in said(
        Case("Visits per day", sql, {"day": "date", "visits": "integer"}, rows, [])
    )
