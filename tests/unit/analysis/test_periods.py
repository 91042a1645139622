"""Cells as periods of the calendar, where one form fits all of them."""

from datetime import date

import pytest

from app.modules.analysis.figures.calendar import CalendarUnit, WeekNumbering, period_of, read_periods
from tests.support.cases import assert_each


def test_the_usual_forms_are_read() -> None:
    def check(cells: list[str | None], shown: list[str], unit: CalendarUnit) -> None:
        periods = read_periods(cells)
        assert periods is not None
        assert [str(period) for period in periods] == shown
        assert {period.unit for period in periods if period is not None} == {unit}

    assert_each(
        [
            (["2025-03-04", "2025-03-05"], ["2025-03-04", "2025-03-05"], "day"),
            (["2025-03-04T10:00:00", "2025-03-05 11:30"], ["2025-03-04", "2025-03-05"], "day"),
            (["2025-01-01", "2025-02-01", "2025-04-01"], ["2025-01", "2025-02", "2025-04"], "month"),
            (["2023-01-01", "2024-01-01", "2025-01-01"], ["2023", "2024", "2025"], "year"),
            (["2025-03-03", "2025-03-10", "2025-03-17"], ["2025-W10", "2025-W11", "2025-W12"], "week"),
            (["2025-03", "2025-04"], ["2025-03", "2025-04"], "month"),
            (["2025/03", "2025/04"], ["2025-03", "2025-04"], "month"),
            (["03/2025", "04/2025"], ["2025-03", "2025-04"], "month"),
            (["2025-Q1", "2025-Q2"], ["2025-Q1", "2025-Q2"], "quarter"),
            (["Q1 2025", "Q2 2025"], ["2025-Q1", "2025-Q2"], "quarter"),
            (["2025-W07", "2025-W08"], ["2025-W07", "2025-W08"], "week"),
            (["2024", "2025"], ["2024", "2025"], "year"),
            ([2024, 2025], ["2024", "2025"], "year"),
            ([202503, 202504], ["2025-03", "2025-04"], "month"),
            (["20250304", "20250305"], ["2025-03-04", "2025-03-05"], "day"),
            (["Mar 2025", "Apr 2025"], ["2025-03", "2025-04"], "month"),
            (["March 2025", "September 2025"], ["2025-03", "2025-09"], "month"),
            (["04/03/2025", "25/12/2025"], ["2025-03-04", "2025-12-25"], "day"),
            (["3/4/2025", "12/25/2025"], ["2025-03-04", "2025-12-25"], "day"),
            (["04.03.2025", "05.03.2025"], ["2025-03-04", "2025-03-05"], "day"),
            (["4 Mar 2025", "5 March 2025"], ["2025-03-04", "2025-03-05"], "day"),
            (["Mar 4, 2025", "March 5, 2025"], ["2025-03-04", "2025-03-05"], "day"),
            (["2025-03", None], ["2025-03", "None"], "month"),
            (["2023-T3", "2023-T4"], ["2023-Q3", "2023-Q4"], "quarter"),
            (["T3 2023", "T4 2023"], ["2023-Q3", "2023-Q4"], "quarter"),
            (["3. Quartal 2023", "4. Quartal 2023"], ["2023-Q3", "2023-Q4"], "quarter"),
            (["1er trimestre 2023", "2e trimestre 2023"], ["2023-Q1", "2023-Q2"], "quarter"),
            (["2023 Q3", "2023 Q4"], ["2023-Q3", "2023-Q4"], "quarter"),
            (["März 2023", "Dezember 2023"], ["2023-03", "2023-12"], "month"),
            (["enero de 2023", "agosto de 2023"], ["2023-01", "2023-08"], "month"),
            (["févr. 2023", "août 2023"], ["2023-02", "2023-08"], "month"),
        ],
        check,
    )


@pytest.mark.parametrize(
    "cells",
    [
        ["03/04/2025", "05/06/2025"],
        ["2025-03", "Clothing"],
        ["2025-02-30", "2025-03-01"],
        ["2025-13"],
        ["12345", "12346"],
        ["00501", "10001"],
        ["10.5", "11.5"],
        ["A-2025-03"],
        [None, None],
        [],
    ],
)
def test_what_fits_no_form_or_two_is_no_time(cells: list[str | None]) -> None:
    assert read_periods(cells) is None


def test_a_month_and_day_that_read_both_ways_are_read_where_they_mean_the_same() -> None:
    periods = read_periods(["01/01/2025", "02/02/2025"])
    assert periods is not None
    assert [str(period) for period in periods] == ["2025-01-01", "2025-02-02"]


def test_a_number_of_a_week_is_not_taken_for_a_month() -> None:
    assert read_periods(["2025-07", "2025-08"], "week") is None


@pytest.mark.parametrize(
    ("cell", "weeks", "start", "end"),
    [
        ("2025-00", "monday", "2025-01-01", "2025-01-06"),
        ("2025-01", "monday", "2025-01-06", "2025-01-13"),
        ("2025-52", "monday", "2025-12-29", "2026-01-01"),
        ("2025-W01", "sunday", "2025-01-05", "2025-01-12"),
        ("2025-00", "sunday", "2025-01-01", "2025-01-05"),
        ("2025-01", "iso", "2024-12-30", "2025-01-06"),
    ],
)
def test_a_week_has_the_days_of_its_numbering(cell: str, weeks: WeekNumbering, start: str, end: str) -> None:
    (period,) = read_periods([cell], "week", weeks) or []
    assert period is not None
    assert (period.start.isoformat(), period.end.isoformat()) == (start, end)
    assert period.numbered_week == (2025, int(cell[-2:]))


@pytest.mark.parametrize("weeks", ["monday", "sunday"])
def test_weeks_follow_each_other_over_the_turn_of_the_year(weeks: WeekNumbering) -> None:
    cells = ["2025-51", "2025-52", "2026-00", "2026-01"]
    periods = [each for each in read_periods(cells, "week", weeks) or [] if each is not None]
    assert [periods[0].after(step) for step in range(4)] == periods
    assert [periods[-1].after(-step) for step in range(4)] == periods[::-1]
    assert periods[0].steps_to(periods[-1]) == 3
    assert periods[-1].steps_to(periods[0]) == -3
    assert [each.is_cut_week for each in periods] == [False, True, True, False]


def test_a_week_that_its_year_does_not_have_is_no_period() -> None:
    assert read_periods(["2025-53"], "week", "monday") is None


def test_the_statements_unit_decides_what_a_date_stands_for() -> None:
    periods = read_periods(["2025-01-01", "2025-04-01"], "quarter")
    assert periods is not None
    assert [str(period) for period in periods] == ["2025-Q1", "2025-Q2"]


@pytest.mark.parametrize(
    ("unit", "steps", "shown"),
    [
        ("day", 1, "2025-03-01"),
        ("week", 2, "2025-W11"),
        ("month", 11, "2026-01"),
        ("quarter", -1, "2024-Q4"),
        ("year", 3, "2028"),
    ],
)
def test_periods_are_counted_as_the_calendar_does(unit: CalendarUnit, steps: int, shown: str) -> None:
    start = period_of(date(2025, 2, 28), unit)
    assert str(start.after(steps)) == shown
    assert start.steps_to(start.after(steps)) == steps
