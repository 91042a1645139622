"""Pauses in series of days."""

from datetime import date, timedelta

import pytest

from app.modules.tools.toolsets.checks import longest_pauses

START = date(2024, 1, 1)  # a Monday


def days(*offsets: int) -> list[date]:
    return [START + timedelta(days=at) for at in offsets]


def test_missing_days_of_a_daily_series_are_one_pause() -> None:
    series = days(*(at for at in range(60) if at not in (20, 21, 22)))
    assert longest_pauses(series) == [(4, START + timedelta(days=19), 1)]


def test_weekends_are_no_pause_and_a_missing_week_is_one() -> None:
    working = [at for at in range(140) if at % 7 < 5]
    assert longest_pauses(days(*working)) == []
    without = days(*(at for at in working if not 70 <= at < 77))
    assert longest_pauses(without) == [(10, START + timedelta(days=67), 3)]


def test_a_missing_month_is_a_pause_and_february_is_none() -> None:
    months = [date(year, month, 1) for year in (2023, 2024) for month in range(1, 13)]
    assert longest_pauses(months) == []
    assert [pause for pause, *_ in longest_pauses([day for day in months if day.month != 2])] == [60, 59]


@pytest.mark.parametrize("step", [7, 14])
def test_a_missing_week_is_a_pause(step: int) -> None:
    series = days(*(at * step for at in range(30) if at != 12))
    assert [pause for pause, *_ in longest_pauses(series)] == [2 * step]


def test_days_at_random_have_no_pause_of_note() -> None:
    assert longest_pauses(days(*sorted({at * at * 7 % 211 for at in range(90)}))) == []


def test_a_few_days_say_nothing() -> None:
    assert longest_pauses(days(0, 1, 2, 90, 91)) == []
