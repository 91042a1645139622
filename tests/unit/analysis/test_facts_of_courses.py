"""Courses over time: weeks as the statement numbers them, few periods, gaps, groups and running totals."""

from datetime import date

from app.modules.analysis.figures import Span
from tests.unit.analysis.test_facts_of_shapes import Case, Cells, sheet_of

WEEKS = "SELECT STRFTIME('%Y-%W', d) AS week, COUNT(*) AS calls FROM t GROUP BY 1 ORDER BY 1"
SUNDAYS = WEEKS.replace("%Y-%W", "%Y-W%U")
COUNTED = {"week": "text", "calls": "integer"}


def said(case: Case) -> str:
    """All statements of the sheet."""
    return " ".join(fact.statement for fact in sheet_of(case).facts)


def lead(case: Case) -> str:
    return " ".join(fact.statement for fact in sheet_of(case).lead)


def weeks(first: int, values: list[int], form: str = "2026-{:02}") -> Cells:
    return [[form.format(first + at), value] for at, value in enumerate(values)]


def test_a_week_that_the_data_covers_in_part_is_no_extreme_also_when_it_is_numbered_by_strftime() -> None:
    rows = weeks(8, [310, 305, 320, 90])  # week 11 of %W begins on Monday 16 March
    case = Case(
        "Calls per week", WEEKS, COUNTED, rows, [], span=Span(date(2026, 2, 23), date(2026, 3, 18), 1025)
    )
    assert "Week 11 of 2026 (90) is partial: the data ends on 18 March 2026." in lead(case)
    assert "week 9 of 2026** has the fewest calls: 305" in said(case)


def test_weeks_that_begin_on_sunday_end_on_saturday() -> None:
    rows = weeks(8, [310, 305, 320, 290], "2026-W{:02}")  # the last one begins on Sunday 15 March
    whole = Span(date(2026, 2, 22), date(2026, 3, 21), 1225)
    case = Case("Calls per week", SUNDAYS, COUNTED, rows, [], span=whole)
    assert "is partial" not in said(case)
    assert "week 11 of 2026" in lead(case)


def test_a_week_without_its_weekend_is_partial() -> None:
    rows = weeks(8, [310, 305, 320, 250])
    case = Case(
        "Calls per week", WEEKS, COUNTED, rows, [], span=Span(date(2026, 2, 23), date(2026, 3, 20), 1185)
    )
    assert "Week 11 of 2026 (250) is partial" in lead(case)


def test_the_two_parts_of_the_week_that_the_turn_of_the_year_cuts_are_partial() -> None:
    rows: Cells = [["2025-51", 300], ["2025-52", 100], ["2026-00", 150], ["2026-01", 310], ["2026-02", 320]]
    text = said(Case("Calls per week", WEEKS, COUNTED, rows, []))
    assert "Week 52 of 2025 (100) is partial: the turn of the year cuts it." in text
    assert "Week 0 of 2026 (150) is partial" in text
    assert "week 51 of 2025** has the fewest calls: 300" in text


def test_quarters_of_other_languages_are_periods() -> None:
    rows: Cells = [[f"T{1 + at % 4} {2024 + at // 4}", 10 + at] for at in range(8)]
    sql = "SELECT trimestre, SUM(v) AS ventas FROM t GROUP BY trimestre"
    text = lead(Case("sales per quarter", sql, {"trimestre": "text", "ventas": "integer"}, rows, []))
    assert "Ventas of 2025 rose by 34.8% on 2024, from 46 to 62." in text
