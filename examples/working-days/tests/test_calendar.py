"""Public holidays by rule, compared with published calendars."""

from datetime import date

import pytest
from working_days.calendar import Country, easter_sunday, holidays


@pytest.mark.parametrize(
    "day", ["2000-04-23", "2008-03-23", "2011-04-24", "2019-04-21", "2024-03-31", "2025-04-20", "2038-04-25"]
)
def test_easter_is_computed(day: str) -> None:
    assert easter_sunday(int(day[:4])) == date.fromisoformat(day)


@pytest.mark.parametrize(
    ("country", "year", "days"),
    [
        ("DE", 2025, "01-01 04-18 04-21 05-01 05-29 06-09 10-03 12-25 12-26"),
        ("FR", 2024, "01-01 04-01 05-01 05-08 05-09 05-20 07-14 08-15 11-01 11-11 12-25"),
        ("GB", 2025, "01-01 04-18 04-21 05-05 05-26 08-25 12-25 12-26"),
        ("GB", 2021, "01-01 04-02 04-05 05-03 05-31 08-30 12-25 12-26 12-27 12-28"),
        ("GB", 2016, "01-01 03-25 03-28 05-02 05-30 08-29 12-25 12-26 12-27"),
        ("GB", 2017, "01-01 01-02 04-14 04-17 05-01 05-29 08-28 12-25 12-26"),
        ("NL", 2025, "01-01 04-21 04-26 05-29 06-09 12-25 12-26"),
        ("US", 2025, "01-01 01-20 02-17 05-26 06-19 07-04 09-01 10-13 11-11 11-27 12-25"),
        (
            "US",
            2021,
            "01-01 01-18 02-15 05-31 06-18 06-19 07-04 07-05 09-06 10-11 11-11 11-25 12-24 12-25 12-31",
        ),
        ("US", 2020, "01-01 01-20 02-17 05-25 07-03 07-04 09-07 10-12 11-11 11-26 12-25"),
    ],
)
def test_holidays_are_those_of_the_published_calendar(country: Country, year: int, days: str) -> None:
    assert [f"{day:%m-%d}" for day in holidays(country, year)] == days.split()
