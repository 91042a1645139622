"""Phrases of time, read as half-open ranges of days."""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, TypeGuard

Unit = Literal["day", "week", "month", "quarter", "year"]
UNITS: tuple[Unit, ...] = ("day", "week", "month", "quarter", "year")

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"([12]?\d|3[01]|0\d)(?:st|nd|rd|th)?")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


@dataclass(frozen=True)
class Period:
    """Days from `start` to before `end`; None is open on that side. At least one is set."""

    start: date | None
    end: date | None

    def __str__(self) -> str:
        if self.start is None:
            return f"before {self.end}"
        if self.end is None:
            return f"since {self.start}"
        if (self.start, self.end) == (date(self.start.year, 1, 1), _years_later(self.start, 1)):
            return f"in {self.start.year}"
        return f"from {self.start} to {self.end - timedelta(days=1)}"

    @property
    def whole_years(self) -> bool:
        return all((day.month, day.day) == (1, 1) for day in (self.start, self.end) if day is not None)


Found = tuple[Period, int]


def read_period(words: Sequence[str], today: date) -> Found | None:
    """The period that `words` (lower case) begin with, and how many of them say it.

    A month or quarter without a year is the latest one that has begun; "last 30 days" end with today.
    """
    try:
        return _phrase(list(words), today)
    except (ValueError, OverflowError):  # no such day, or one beyond the calendar
        return None


def unit_of(word: str) -> Unit | None:
    return word if _is_unit(word) else None


def _is_unit(word: str) -> TypeGuard[Unit]:
    return word in UNITS


def _phrase(words: list[str], today: date) -> Found | None:
    if not words:
        return None
    match words[0]:
        case "between" | "from" if found := _span(words[1:], today):
            return found[0], found[1] + 1
        case "since" | "from":
            return _open(words, today, lambda point: Period(point.start, None))
        case "after":
            return _open(words, today, lambda point: Period(point.end, None))
        case "before":
            return _open(words, today, lambda point: Period(None, point.start))
        case "until" | "till":
            return _open(words, today, lambda point: Period(None, point.end))
        case "in" | "during" | "for" | "of" | "on" | "within" | "over":
            found = _points(words[1:], today)
            return (found[0], found[1] + 1) if found else None
        case month if month in _MONTHS and not (len(words) > 1 and _dated(words[1:])):
            return None  # "may" and "march" are also verbs
        case _:
            return _points(words, today)


def _dated(words: list[str]) -> bool:
    return bool(_YEAR.fullmatch(words[0]) or _DAY.fullmatch(words[0]))


def _open(words: list[str], today: date, shape: Callable[[Period], Period]) -> Found | None:
    point = _point(words[1:], today)
    return (shape(point[0]), point[1] + 1) if point else None


def _span(words: list[str], today: date) -> Found | None:
    first = _point(words, today)
    if not first or words[first[1] : first[1] + 1] not in (["and"], ["to"], ["until"], ["till"], ["through"]):
        return None
    last = _point(words[first[1] + 1 :], today)
    if not last or first[0].start is None or last[0].end is None or last[0].end <= first[0].start:
        return None
    return Period(first[0].start, last[0].end), first[1] + 1 + last[1]


def _points(words: list[str], today: date) -> Found | None:
    """One point, or two that touch: "2024 or 2025"."""
    first = _point(words, today)
    if not first or words[first[1] : first[1] + 1] not in (["or"], ["and"]):
        return first
    last = _point(words[first[1] + 1 :], today)
    if not last or last[0].start != first[0].end:
        return first
    return Period(first[0].start, last[0].end), first[1] + 1 + last[1]


def _point(words: list[str], today: date) -> Found | None:
    if words and words[0] == "the":
        return _one_more(_point(words[1:], today))
    if not words:
        return None
    match words:
        case ["year", year, *_] if _YEAR.fullmatch(year):
            return _one_more(_point(words[1:], today))
        case ["year", "of", year, *_] if _YEAR.fullmatch(year):
            return _one_more(_one_more(_point(words[2:], today)))
        case [year, *_] if _YEAR.fullmatch(year):
            return _unit_period(date(int(year), 1, 1), "year"), 1
        case [iso, *_] if re.fullmatch(r"\d{4}-\d\d-\d\d", iso):
            return _unit_period(date.fromisoformat(iso), "day"), 1
        case ["today", *_]:
            return _unit_period(today, "day"), 1
        case ["yesterday", *_]:
            return _unit_period(today - timedelta(days=1), "day"), 1
        case ["last" | "past" | "previous" | "this" | "current", *_]:
            return _relative(words, today)
        case [quarter, *_] if re.fullmatch("q[1-4]", quarter):
            return _quarter(int(quarter[1]), words[1:], today, said=1)
        case [ordinal, "quarter", *_] if ordinal in _ORDINALS:
            return _quarter(_ORDINALS[ordinal], words[2:], today, said=2)
        case [day, month, year, *_] if _DAY.fullmatch(day) and _month(month) and _YEAR.fullmatch(year):
            return _unit_period(date(int(year), _month(month), _day(day)), "day"), 3
        case [month, *_] if _month(month):
            return _in_month(_month(month), words[1:], today)
    return None


def _relative(words: list[str], today: date) -> Found | None:
    match words:
        case ["this" | "current", word, *_] if unit := unit_of(word):
            return _unit_period(today, unit), 2
        case ["last" | "past" | "previous", word, *_] if unit := unit_of(word):
            return _unit_period(_first_day(today, unit) - timedelta(days=1), unit), 2
        case ["last" | "past" | "previous", number, word, *_] if number.isdecimal():
            unit = unit_of(word.removesuffix("s"))
            return (_rolling(int(number), unit, today), 3) if unit and int(number) else None
    return None


def _rolling(number: int, unit: Unit, today: date) -> Period:
    tomorrow = today + timedelta(days=1)
    match unit:
        case "day":
            return Period(tomorrow - timedelta(days=number), tomorrow)
        case "week":
            return Period(tomorrow - timedelta(weeks=number), tomorrow)
        case _:
            months = {"month": 1, "quarter": 3, "year": 12}[unit]
            return Period(_months_later(tomorrow, -number * months), tomorrow)


def _quarter(number: int, rest: list[str], today: date, said: int) -> Found:
    month = 3 * number - 2
    words = rest[1:] if rest[:1] == ["of"] else rest
    if words and _YEAR.fullmatch(words[0]):
        start = date(int(words[0]), month, 1)
        return _unit_period(start, "quarter"), said + len(rest) - len(words) + 1
    return _unit_period(_latest(month, today), "quarter"), said


def _in_month(month: int, rest: list[str], today: date) -> Found:
    match [word for word in rest[:3] if word != ","]:
        case [day, year, *_] if _DAY.fullmatch(day) and _YEAR.fullmatch(year):
            said = 4 if rest[1] == "," else 3
            return _unit_period(date(int(year), month, _day(day)), "day"), said
        case [year, *_] if _YEAR.fullmatch(year) and rest[0] == year:
            return _unit_period(date(int(year), month, 1), "month"), 2
        case [day, *_] if rest[0] == day and _DAY.fullmatch(day):
            return _unit_period(_latest(month, today).replace(day=_day(day)), "day"), 2
    return _unit_period(_latest(month, today), "month"), 1


def _latest(month: int, today: date) -> date:
    return date(today.year if month <= today.month else today.year - 1, month, 1)


def _unit_period(day: date, unit: Unit) -> Period:
    start = _first_day(day, unit)
    match unit:
        case "day":
            return Period(start, start + timedelta(days=1))
        case "week":
            return Period(start, start + timedelta(weeks=1))
        case "month":
            return Period(start, _months_later(start, 1))
        case "quarter":
            return Period(start, _months_later(start, 3))
        case "year":
            return Period(start, _years_later(start, 1))


def _first_day(day: date, unit: Unit) -> date:
    match unit:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
        case "year":
            return date(day.year, 1, 1)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _years_later(day: date, years: int) -> date:
    return _months_later(day, 12 * years)


def _month(word: str) -> int:
    """1 to 12, or 0 for a word that is no month."""
    names = [number for number, name in enumerate(_MONTHS, 1) if word == name]
    short = [number for number, name in enumerate(_MONTHS, 1) if word in (name[:3], name[:4])]
    return next(iter(names + short), 0)


def _day(word: str) -> int:
    return int(re.sub(r"\D", "", word))


def _one_more(found: Found | None) -> Found | None:
    return (found[0], found[1] + 1) if found else None
