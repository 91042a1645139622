"""Courses over time: weeks as the statement numbers them, few periods, gaps, groups and running totals."""

from datetime import date

from app.modules.analysis.figures import Span
from tests.unit.analysis.test_facts_of_shapes import (
    BY_MONTH,
    BY_MONTH_AND_GROUP,
    GROUPED,
    MONTHS,
    Case,
    Cells,
    months,
    sheet_of,
)

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
    assert "Ventas in 2025 rose by 34.8% on 2024, from 46 to 62." in text


def test_a_short_course_says_in_how_many_periods_it_rose_and_where_it_began_and_ended() -> None:
    rows = weeks(10, [500, 520, 515, 540, 560])
    text = lead(Case("How do calls develop?", WEEKS, COUNTED, rows, []))
    assert "560 (week 14 of 2026), from 500 in the first to 560 in the last. Calls rose" in text
    assert "Calls rose on the period before in 3 of 4 weeks." in text


def test_sums_of_single_days_are_not_compared_first_with_last() -> None:
    sql = "SELECT DATE(d) AS day, COUNT(*) AS calls FROM t GROUP BY 1 ORDER BY 1"
    rows: Cells = [[f"2026-03-{day:02}", 10 + day % 7] for day in range(2, 20)]
    text = lead(Case("calls per day", sql, {"day": "date", "calls": "integer"}, rows, []))
    assert "in the first" not in text


def test_months_with_rows_in_both_years_are_compared_where_others_have_none() -> None:
    rows: Cells = [["2024-06", 40], ["2024-07", 60], ["2024-08", 50], ["2024-09", 9]]
    rows += [["2025-05", 7], ["2025-06", 44], ["2025-07", 66], ["2025-08", 55]]
    text = lead(Case("Is revenue going up?", BY_MONTH, MONTHS, rows, []))
    assert (
        "In the 3 months with rows in both years, revenue of June to August 2025 rose by 10% on June to "
        "August 2024, from 150 to 165."
    ) in text
    assert "in the first" not in text
    assert "season" not in text


def test_each_group_says_in_how_many_periods_it_rose() -> None:
    rows: Cells = []
    for at in range(5):
        rows += [[f"2026-0{at + 1}", "North", 10 + at], [f"2026-0{at + 1}", "South", 50 - at]]
    text = lead(Case("revenue per month and category", BY_MONTH_AND_GROUP, GROUPED, rows, []))
    assert "Revenue rose on the period before: North in 4 of 4 months and South in 0 of 4 months." in text


def test_of_many_groups_the_largest_three_are_said() -> None:
    rows: Cells = [
        [f"2026-0{month}", name, size * 10 + month]
        for month in range(1, 6)
        for size, name in enumerate("ABCDE", 1)
    ]
    text = said(Case("revenue per month and category", BY_MONTH_AND_GROUP, GROUPED, rows, []))
    assert "rose on the period before: E in 4 of 4 months, D in 4 of 4 months and C in 4 of 4 months." in text


def test_a_running_total_has_no_season_and_no_extremes() -> None:
    sql = "SELECT month, SUM(amount) OVER (ORDER BY month) AS so_far FROM t ORDER BY month"
    rows = months("2026-01", [5, 9, 9, 14, 20])
    sheet = sheet_of(Case("donations so far", sql, {"month": "text", "so_far": "number"}, rows, []))
    assert {fact.kind for fact in sheet.facts} == {"span", "value"}


def test_a_change_between_values_of_both_signs_is_no_percentage() -> None:
    rows = months("2024-01", [-5, 8, *[1] * 10, 6, -2, *[1] * 10])
    text = lead(Case("How did revenue develop?", BY_MONTH, MONTHS, rows, []))
    assert "rose by 1 on 2024, from 13 to 14." in text
    assert "%" not in text
