"""Phrases of time become half-open ranges of days."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.sql_generation.builtin.periods import DateRange, compare_periods, read_period
from tests.support.cases import assert_each

TODAY = date(2025, 7, 15)
DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31))


def test_a_phrase_is_read_whole() -> None:
    def check(phrase: str, start: str | None, end: str | None) -> None:
        expected = DateRange(_day(start), _day(end))
        assert read_period(phrase.split(), TODAY) == (expected, len(phrase.split()))

    assert_each(
        [
            ("in 2025", "2025-01-01", "2026-01-01"),
            ("in march 2025", "2025-03-01", "2025-04-01"),
            ("in march", "2025-03-01", "2025-04-01"),
            ("in december", "2024-12-01", "2025-01-01"),
            ("last month", "2025-06-01", "2025-07-01"),
            ("this year", "2025-01-01", "2026-01-01"),
            ("last 30 days", "2025-06-16", "2025-07-16"),
            ("past 3 months", "2025-04-16", "2025-07-16"),
            ("since june", "2025-06-01", None),
            ("before 2020", None, "2020-01-01"),
            ("after 2020", "2021-01-01", None),
            ("between 2024-01-01 and 2024-06-30", "2024-01-01", "2024-07-01"),
            ("from january 2024 to march 2024", "2024-01-01", "2024-04-01"),
            ("in 2014 or 2015", "2014-01-01", "2016-01-01"),
            ("in feb", "2025-02-01", "2025-03-01"),
            ("in sept 2024", "2024-09-01", "2024-10-01"),
            ("feb 14 2025", "2025-02-14", "2025-02-15"),
            ("on february 14 , 2025", "2025-02-14", "2025-02-15"),
            ("on the 14th of february 2025", "2025-02-14", "2025-02-15"),
            ("in q1 2025", "2025-01-01", "2025-04-01"),
            ("2024 q4", "2024-10-01", "2025-01-01"),
            ("in q4", "2024-10-01", "2025-01-01"),
            ("in the second quarter of 2025", "2025-04-01", "2025-07-01"),
            ("last quarter", "2025-04-01", "2025-07-01"),
            ("last week", "2025-07-07", "2025-07-14"),
            ("this week", "2025-07-14", "2025-07-21"),
            ("last 2 weeks", "2025-07-02", "2025-07-16"),
            ("yesterday", "2025-07-14", "2025-07-15"),
            ("year to date", "2025-01-01", "2025-07-16"),
            ("so far this quarter", "2025-07-01", "2025-07-16"),
            ("in the 1990s", "1990-01-01", "2000-01-01"),
            ("from jan to mar 2025", "2025-01-01", "2025-04-01"),
        ],
        check,
    )


def test_a_period_is_compared_with_the_one_before_it() -> None:
    def check(phrase: str, before: str | None, after: str) -> None:
        found = read_period(phrase.split(), TODAY)
        assert found
        if before is None:
            with pytest.raises(ValueError, match=r"^$"):
                compare_periods([found[0]], TODAY)
        else:
            assert [str(each) for each in compare_periods([found[0]], TODAY)] == [before, after]

    assert_each(
        [
            ("in 2024", "in 2023", "in 2024"),
            ("from 2022 to 2024", "in 2022", "in 2024"),
            ("this year", "from 2024-01-01 to 2024-07-15", "from 2025-01-01 to 2025-07-15"),
            ("since 2025", "from 2024-01-01 to 2024-07-15", "from 2025-01-01 to 2025-07-15"),
            ("since 2024", "from 2024-01-01 to 2024-07-15", "from 2025-01-01 to 2025-07-15"),
            ("since june", "from 2025-06-01 to 2025-06-15", "from 2025-07-01 to 2025-07-15"),
            ("since 2023", None, ""),
            ("since may", None, ""),
            ("before 2024", None, ""),
            ("in 2027", None, ""),
        ],
        check,
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


@pytest.mark.parametrize(
    "phrase",
    [
        "may",
        "jan",
        "feb",
        "over 2",
        "q5",
        "last weekday",
        "february 30 2025",
        "in germany",
        "2025-02-30",
        "last 0 days",
        "last 999999 years",
    ],
)
def test_what_is_no_period_is_not_read(phrase: str) -> None:
    assert read_period(phrase.split(), TODAY) is None


@given(today=DAYS, unit=st.sampled_from(["day", "week", "month", "quarter", "year"]))
def test_this_and_the_last_unit_touch_and_this_one_holds_today(today: date, unit: str) -> None:
    this, last = read_period(["this", unit], today), read_period(["last", unit], today)
    assert this is not None
    assert last is not None
    assert last[0].end == this[0].start
    assert this[0].start is not None
    assert this[0].end is not None
    assert this[0].start <= today < this[0].end


@given(today=DAYS, number=st.integers(min_value=1, max_value=400))
def test_the_last_days_are_as_many_as_asked_for_and_end_with_today(today: date, number: int) -> None:
    found = read_period(["last", str(number), "days"], today)
    assert found is not None
    tomorrow = today + timedelta(days=1)
    assert found[0] == DateRange(tomorrow - timedelta(days=number), tomorrow)
