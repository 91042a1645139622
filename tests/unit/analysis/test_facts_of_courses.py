"""Courses over time: weeks as the statement numbers them, few periods, gaps, groups and running totals."""

from datetime import date

import pytest

from app.core.language import Language
from app.modules.analysis.figures import DataSpan
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
        "Calls per week", WEEKS, COUNTED, rows, [], span=DataSpan(date(2026, 2, 23), date(2026, 3, 18), 1025)
    )
    assert "Week 11 of 2026 (90) is partial: the data ends on 18 March 2026." in lead(case)
    assert "week 9 of 2026** has the fewest calls: 305" in said(case)


def test_weeks_that_begin_on_sunday_end_on_saturday() -> None:
    rows = weeks(8, [310, 305, 320, 290], "2026-W{:02}")  # the last one begins on Sunday 15 March
    whole = DataSpan(date(2026, 2, 22), date(2026, 3, 21), 1225)
    case = Case("Calls per week", SUNDAYS, COUNTED, rows, [], span=whole)
    assert "is partial" not in said(case)
    assert "week 11 of 2026" in lead(case)


def test_a_week_without_its_weekend_is_partial() -> None:
    rows = weeks(8, [310, 305, 320, 250])
    case = Case(
        "Calls per week", WEEKS, COUNTED, rows, [], span=DataSpan(date(2026, 2, 23), date(2026, 3, 20), 1185)
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
    text = said(Case("revenue per month and category", BY_MONTH_AND_GROUP, GROUPED, rows, []))
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
    assert [fact.statement for fact in sheet.facts] == ["So far up to May 2026: 20."]


def test_a_change_between_values_of_both_signs_is_no_percentage() -> None:
    rows = months("2024-01", [-5, 8, *[1] * 10, 6, -2, *[1] * 10])
    text = lead(Case("How did revenue develop?", BY_MONTH, MONTHS, rows, []))
    assert "rose by 1 on 2024, from 13 to 14." in text
    assert "%" not in text


def test_a_course_of_counted_things_says_most_and_fewest() -> None:
    values = [20 + 3 * at + (50 if at % 12 == 11 else -20 if at % 12 == 0 else 0) for at in range(24)]
    rows: Cells = [[f"{2024 + at // 12}-{at % 12 + 1:02}", value] for at, value in enumerate(values)]
    sql = "SELECT month, COUNT(*) AS sessions FROM t GROUP BY month ORDER BY month"
    text = said(Case("Sessions per month", sql, {"month": "text", "sessions": "integer"}, rows, []))
    assert "December 2025 has the most sessions of the 12 months to December 2025" in text
    assert "January 2025 has the fewest sessions of the 12 months" in text
    assert "highest sessions" not in text
    assert "lowest sessions" not in text


def test_a_week_that_the_statement_cuts_is_partial_and_one_at_whose_turn_it_begins_is_whole() -> None:
    rows: Cells = [[f"2026-03-{day:02}", 20 + day] for day in (2, 9, 16, 23)]
    sql = "SELECT DATE(d, 'weekday 0', '-6 days') AS week, COUNT(*) AS calls FROM t GROUP BY 1 ORDER BY 1"
    few = DataSpan(
        *(date(2026, 3, 4), date(2026, 3, 25), 9),
        since=date(2026, 3, 2),
        until=date(2026, 3, 26),
        earliest=date(2025, 1, 1),
        latest=date(2026, 6, 1),
    )
    text = lead(Case("Calls per week", sql, {"week": "date", "calls": "integer"}, rows, [], span=few))
    assert "in the 3 weeks covered whole" in text
    assert "Week 13 of 2026 (43) is partial: only its days up to 26 March 2026 are counted." in text
    later = DataSpan(
        date(2026, 3, 4), date(2026, 3, 29), 99, since=date(2026, 3, 3), earliest=date(2025, 1, 1)
    )
    text = lead(Case("Calls per week", sql, {"week": "date", "calls": "integer"}, rows, [], span=later))
    assert "Week 10 of 2026 (22) is partial: only its days from 3 March 2026 on are counted." in text


@pytest.mark.parametrize(
    ("language", "ahead"),
    [
        ("en", "Week 14 of 2026 and week 15 of 2026 lie in the future."),
        ("de", "liegen in der Zukunft."),
        ("es", "están en el futuro."),
        ("fr", "sont dans le futur."),
    ],
)
def test_weeks_after_today_and_its_own_end_no_course(language: Language, ahead: str) -> None:
    rows = weeks(8, [30, 31, 35, 33, 32, 12, 1, 2])
    case = Case("Calls per week", WEEKS, COUNTED, rows, [], today=date(2026, 4, 1))
    text = " ".join(fact.statement for fact in sheet_of(case, language).lead)
    assert ahead in text
    assert "(12)" in text  # week 13 is running
    if language == "en":
        assert "in the 5 weeks covered whole: 32.20 on average" in text
        assert "from 30 in the first to 32 in the last" in text


def test_weeks_that_are_all_after_today_are_compared_as_they_are() -> None:
    rows = weeks(8, [30, 31, 35, 33])
    text = lead(Case("Calls per week", WEEKS, COUNTED, rows, [], today=date(2026, 2, 1)))
    assert "Calls in the 4 weeks: 32.25 on average" in text
    assert "future" not in text


def test_the_group_that_grew_most_and_the_one_that_fell_most_are_in_the_lead() -> None:
    values = {"Rock": [50, 60, 70, 90], "Jazz": [20, 24, 22, 25], "Pop": [40, 30, 35, 12]}
    rows: Cells = [[f"2026-0{at + 1}", name, each[at]] for at in range(4) for name, each in values.items()]
    text = lead(Case("revenue per month and category", BY_MONTH_AND_GROUP, GROUPED, rows, []))
    assert (
        "Rock grew most in revenue: from 50 (January 2026) to 90 (April 2026); Pop fell most, from 40 to 12."
        in text
    )
    rows = [row for row in rows if row[:2] != ["2026-01", "Jazz"]]
    assert "grew most" not in said(Case("revenue per month", BY_MONTH_AND_GROUP, GROUPED, rows, []))


PER_HOUR = "SELECT at, load_mw FROM grid ORDER BY at"
GRID = {"at": "text", "load_mw": "number"}


def hours(days: int) -> Cells:
    """Loads from midnight on 1 June 2026: highest at 18:00 of the last day."""
    return [
        [f"2026-06-{1 + at // 24:02} {at % 24:02}:00:00", 100 + at // 24 + (10 if at % 24 == 18 else 0)]
        for at in range(24 * days)
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "3 June 2026, 18:00"),
        ("de", "3. Juni 2026, 18:00"),
        ("es", "3 de junio de 2026, 18:00"),
        ("fr", "3 juin 2026, 18:00"),
    ],
)
def test_hours_are_named_by_day_and_hour(language: Language, text: str) -> None:
    facts = sheet_of(Case("Load per hour", PER_HOUR, GRID, hours(3), []), language).facts
    assert any(text in fact.statement for fact in facts if fact.kind == "highest")


def test_an_hour_without_a_row_is_a_gap() -> None:
    rows = [row for row in hours(2) if row[0] != "2026-06-02 05:00:00"]
    assert "1 hour has no row: 2 June 2026, 05:00." in said(Case("Load per hour", PER_HOUR, GRID, rows, []))


def test_times_within_an_hour_are_no_series_of_hours() -> None:
    rows: Cells = [[f"2026-06-01 09:{minute:02}:00", minute] for minute in range(0, 60, 5)]
    facts = sheet_of(Case("Load", PER_HOUR, GRID, rows, [])).facts
    assert not any(fact.kind in ("change", "rises") for fact in facts)


def test_hours_are_compared_with_the_same_hours_of_the_day_before() -> None:
    sql = "SELECT at, SUM(calls) AS calls FROM t GROUP BY 1 ORDER BY 1"
    rows: Cells = [[f"2026-06-{1 + at // 24:02} {at % 24:02}:00", 10 + at // 24] for at in range(60)]
    text = lead(Case("Calls per hour", sql, {"at": "text", "calls": "integer"}, rows, []))
    assert text.startswith(
        "Calls on 3 June 2026, 00:00–12:00 rose by 9.1% on 2 June 2026, 00:00–12:00, from 132 to 144."
    )
    whole = lead(Case("Calls per hour", sql, {"at": "text", "calls": "integer"}, rows[:48], []))
    assert whole.startswith("Calls on 2 June 2026 rose by 10% on 1 June 2026, from 240 to 264.")


@pytest.mark.parametrize(("first", "after"), [(8, 20), (8, 14), (0, 12)])
def test_opening_hours_of_two_days_are_said(first: int, after: int) -> None:
    sql = "SELECT strftime('%Y-%m-%d %H:00', at) AS at, count(*) AS calls FROM calls GROUP BY 1 ORDER BY 1"
    rows: Cells = [
        [f"2026-06-0{day} {hour:02}:00", day * 10 + hour] for day in (1, 2) for hour in range(first, after)
    ]
    text = said(Case("Calls per hour", sql, {"at": "text", "calls": "integer"}, rows, []))
    pairs = after - first
    assert f"Calls rose on the same hour of the day before in {pairs} of {pairs} hours." in text


def test_a_value_of_an_hour_that_does_not_add_up_comes_after_all_of_them() -> None:
    text = said(Case("Load per hour", PER_HOUR, GRID, hours(3), []))
    assert "Load mw on 3 June 2026, 23:00 rose by 1% on 2 June 2026, 23:00, from 101 to 102." in text
    assert text.index("on average") < text.index("rose by 1%")
    assert "Load mw rose on the same hour of the day before in 48 of 48 hours." in text


STOCK = "SELECT day, open_tickets FROM backlog ORDER BY day"


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("en", "Open tickets on 3 May 2026 rose by 25% on 1 May 2026, from 40 to 50."),
        ("de", "Open Tickets am 3. Mai 2026: Anstieg um 25 % gegenüber dem 1. Mai 2026, von 40 auf 50."),
        (
            "es",
            "Open tickets del 3 de mayo de 2026: aumento de 25 % frente al 1 de mayo de 2026, de 40 a 50.",
        ),
        ("fr", "Open tickets du 3 mai 2026 : hausse de 25 % par rapport au 1er mai 2026, de 40 à 50."),
    ],
)
def test_a_stock_is_said_by_its_last_value_and_its_change_and_never_added(
    language: Language, first: str
) -> None:
    rows: Cells = [["2026-05-01", 40], ["2026-05-02", 60], ["2026-05-03", 50]]
    case = Case("Open tickets", STOCK, {"day": "text", "open_tickets": "integer"}, rows, [])
    facts = sheet_of(case, language).facts
    assert facts[0].statement.replace("\u00a0", " ") == first
    assert not any(fact.kind == "total" or "150" in fact.statement for fact in facts)


def test_open_rows_that_are_counted_by_the_period_in_which_they_began_are_added() -> None:
    sql = "SELECT month, COUNT(*) AS open_tickets FROM t WHERE closed IS NULL GROUP BY 1 ORDER BY 1"
    case = Case(
        "Open tickets", sql, {"month": "text", "open_tickets": "integer"}, months("2026-01", [1, 2, 4]), []
    )
    assert "The total number of open tickets over the 3 months is 7." in said(case)


def test_the_stocks_of_groups_are_said_of_the_last_period() -> None:
    rows: Cells = [
        [month, name, count + at]
        for at, month in enumerate(("2026-01", "2026-02", "2026-03"))
        for name, count in (("Ulm", 10), ("Bonn", 30))
    ]
    sql = "SELECT month, plant, headcount FROM staff ORDER BY 1"
    columns = {"month": "text", "plant": "text", "headcount": "integer"}
    text = lead(Case("Headcount per plant and month", sql, columns, rows, []))
    assert text.startswith("Headcount in March 2026: Bonn (32) and Ulm (12).")


def test_the_stocks_of_months_of_any_year_have_no_total() -> None:
    sql = "SELECT STRFTIME('%m', d) AS month, SUM(stock) AS stock FROM t GROUP BY 1"
    columns = {"month": "text", "stock": "integer"}
    text = said(Case("Stock by month", sql, columns, [["01", 10], ["02", 30], ["03", 20]], []))
    assert "highest stock: 30" in text
    assert "60" not in text


@pytest.mark.parametrize(
    ("values", "is_first"), [([10, 12, 14, 13, 15, 18], True), ([10, 12, 9, 13, 11, 14], False)]
)
def test_rises_are_said_first_only_where_they_are_hardly_chance(values: list[float], is_first: bool) -> None:
    case = Case("Revenue", BY_MONTH, MONTHS, months("2026-01", values), [])
    second = sheet_of(case).facts[1]
    assert (second.kind == "rises") == is_first
    assert is_first or second.statement.startswith("The total of revenue")


def test_a_difference_over_time_is_said_by_its_sign_first() -> None:
    sql = "SELECT month, SUM(a) - SUM(b) AS cost_minus_plan FROM t GROUP BY 1 ORDER BY 1"
    columns = {"month": "text", "cost_minus_plan": "number"}
    case = Case("Cost against plan", sql, columns, months("2026-01", [-5, 3, -2, -8]), [])
    assert lead(case).startswith("3 of 4 months have cost minus plan below zero.")


def test_the_number_of_rows_of_a_list_that_has_its_own_limit_comes_last() -> None:
    sql = "SELECT name, hired FROM staff ORDER BY hired LIMIT 2"
    rows: Cells = [["Ada", "2019-04-01"], ["Ben", "2020-02-01"]]
    facts = sheet_of(Case("Longest serving staff", sql, {"name": "text", "hired": "date"}, rows, [])).facts
    assert [fact.kind for fact in facts] == ["order", "count"]


def test_dates_of_the_last_days_of_months_are_months_and_stock_on_hand_has_no_total() -> None:
    rows: Cells = [["2026-01-31", 10], ["2026-02-28", 30], ["2026-03-31", 20]]
    sql = "SELECT month_end, units_on_hand FROM snapshots ORDER BY month_end"
    case = Case("How did stock change?", sql, {"month_end": "date", "units_on_hand": "integer"}, rows, [])
    assert lead(case).startswith("Units on hand in March 2026 rose by 100% on January 2026, from 10 to 20.")
    assert "60" not in said(case)


def test_the_months_since_a_beginning_are_no_measure() -> None:
    rows: Cells = [[cohort, at, 100 - 7 * at] for cohort in ("2026-01", "2026-02") for at in range(3)]
    sql = "SELECT cohort, months_since_signup, retention_percent FROM cohorts ORDER BY 1, 2"
    columns = {"cohort": "text", "months_since_signup": "integer", "retention_percent": "number"}
    text = said(Case("How many stay?", sql, columns, rows, []))
    assert "retention percent: 100%" in text
    assert "since signup goes from" not in text


@pytest.mark.parametrize(("condition", "is_said"), [("", True), ("HAVING AVG(sales) > 5 ", False)])
def test_steps_along_a_scale_are_counted_where_no_group_is_left_out(condition: str, is_said: bool) -> None:
    sql = f"SELECT discount, AVG(sales) AS sales FROM orders GROUP BY discount {condition}ORDER BY discount"
    rows: Cells = [[0, 10], [10, 20], [20, 30], [30, 25], [40, 60]]
    text = said(Case("Sales by discount", sql, {"discount": "integer", "sales": "number"}, rows, []))
    assert ("rising discount, sales rose in 3 of 4 steps" in text) == is_said


def test_values_of_groups_below_zero_are_rows_and_not_periods() -> None:
    sql = "SELECT shop, year, AVG(margin) AS margin FROM margins GROUP BY shop, year"
    rows: Cells = [["A", 2024, 1], ["A", 2025, 2], ["B", 2024, 3], ["B", 2025, -1]]
    columns = {"shop": "text", "year": "integer", "margin": "number"}
    assert "1 of 4 rows has margin below zero" in said(Case("Margins", sql, columns, rows, []))
