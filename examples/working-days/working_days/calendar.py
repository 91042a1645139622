"""Public holidays by rule. A country's rules name each holiday and return its day in a year."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Literal

Country = Literal["DE", "FR", "GB", "NL", "US"]
FIRST_YEAR = 2000
LAST_YEAR = 2100

_MONDAY = 0
_THURSDAY = 3
_SATURDAY = 5
_SUNDAY = 6

Rule = Callable[[int], date]


def easter_sunday(year: int) -> date:
    """Returns Easter Sunday of the Gregorian calendar, by the anonymous algorithm."""
    golden = year % 19
    century, year_of_century = divmod(year, 100)
    leap_centuries, century_rest = divmod(century, 4)
    correction = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * golden + century - leap_centuries - correction + 15) % 30
    leaps, leap_rest = divmod(year_of_century, 4)
    weekday = (32 + 2 * century_rest + 2 * leaps - moon - leap_rest) % 7
    late = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _on(month: int, day: int) -> Rule:
    return lambda year: date(year, month, day)


def _easter(days: int) -> Rule:
    return lambda year: easter_sunday(year) + timedelta(days=days)


def _nth(number: int, weekday: int, month: int) -> Rule:
    def find(year: int) -> date:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))

    return find


def _last(weekday: int, month: int) -> Rule:
    def find(year: int) -> date:
        last = date(year, month + 1, 1) - timedelta(days=1)
        return last - timedelta(days=(last.weekday() - weekday) % 7)

    return find


def _kings_day(year: int) -> date:
    """27 April, or the day before if that is a Sunday; until 2013 Queen's Day, 30 April, likewise."""
    day = date(year, 4, 27) if year >= 2014 else date(year, 4, 30)
    if day.weekday() != _SUNDAY:
        return day
    return day - timedelta(days=1)


_RULES: Mapping[Country, Mapping[str, Rule]] = {
    "DE": {
        "New Year's Day": _on(1, 1),
        "Good Friday": _easter(-2),
        "Easter Monday": _easter(1),
        "Labour Day": _on(5, 1),
        "Ascension Day": _easter(39),
        "Whit Monday": _easter(50),
        "German Unity Day": _on(10, 3),
        "Christmas Day": _on(12, 25),
        "Second Day of Christmas": _on(12, 26),
    },
    "FR": {
        "New Year's Day": _on(1, 1),
        "Easter Monday": _easter(1),
        "Labour Day": _on(5, 1),
        "Victory Day": _on(5, 8),
        "Ascension Day": _easter(39),
        "Whit Monday": _easter(50),
        "Bastille Day": _on(7, 14),
        "Assumption Day": _on(8, 15),
        "All Saints' Day": _on(11, 1),
        "Armistice Day": _on(11, 11),
        "Christmas Day": _on(12, 25),
    },
    "GB": {
        "New Year's Day": _on(1, 1),
        "Good Friday": _easter(-2),
        "Easter Monday": _easter(1),
        "Early May Bank Holiday": _nth(1, _MONDAY, 5),
        "Spring Bank Holiday": _last(_MONDAY, 5),
        "Summer Bank Holiday": _last(_MONDAY, 8),
        "Christmas Day": _on(12, 25),
        "Boxing Day": _on(12, 26),
    },
    "NL": {
        "New Year's Day": _on(1, 1),
        "Easter Monday": _easter(1),
        "King's Day": _kings_day,
        "Ascension Day": _easter(39),
        "Whit Monday": _easter(50),
        "Christmas Day": _on(12, 25),
        "Second Day of Christmas": _on(12, 26),
    },
    "US": {
        "New Year's Day": _on(1, 1),
        "Martin Luther King Jr. Day": _nth(3, _MONDAY, 1),
        "Presidents' Day": _nth(3, _MONDAY, 2),
        "Memorial Day": _last(_MONDAY, 5),
        "Juneteenth": _on(6, 19),
        "Independence Day": _on(7, 4),
        "Labor Day": _nth(1, _MONDAY, 9),
        "Columbus Day": _nth(2, _MONDAY, 10),
        "Veterans Day": _on(11, 11),
        "Thanksgiving": _nth(4, _THURSDAY, 11),
        "Christmas Day": _on(12, 25),
    },
}
_JUNETEENTH_SINCE = 2021


def holidays(country: Country, year: int) -> dict[date, str]:
    """Returns the public holidays of a year, with the days on which weekend holidays are made up for.

    A holiday of the next year that is observed in this one is included.
    """
    found: dict[date, str] = {}
    for each in (year, year + 1):
        named = [
            (rule(each), name)
            for name, rule in _RULES[country].items()
            if name != "Juneteenth" or each >= _JUNETEENTH_SINCE
        ]
        days = {day for day, _ in named}
        for day, name in sorted(named):
            found[day] = name if day not in found else f"{found[day]}, {name}"
            if (made_up := _made_up(country, day, days)) is not None:
                days.add(made_up)
                found[made_up] = f"{name} (observed)"
    return {day: name for day, name in sorted(found.items()) if day.year == year}


def _made_up(country: Country, day: date, taken: set[date]) -> date | None:
    """Returns the working day that is free in place of a holiday at a weekend, if any."""
    if country == "US" and day.weekday() == _SATURDAY:
        return day - timedelta(days=1)
    if country == "US" and day.weekday() == _SUNDAY:
        return day + timedelta(days=1)
    if country != "GB" or day.weekday() < _SATURDAY:
        return None
    free = day
    while free.weekday() >= _SATURDAY or free in taken:
        free += timedelta(days=1)
    return free
