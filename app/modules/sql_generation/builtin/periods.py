"""Parser of time phrases into half-open ranges of days."""

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal, get_args

PeriodUnit = Literal["day", "week", "month", "quarter", "year"]
CalendarUnit = Literal[PeriodUnit, "weekday", "hour"]
"""A unit to group by. A weekday and an hour are parts of a date, and no period."""
PERIOD_UNITS: Sequence[PeriodUnit] = get_args(PeriodUnit)
"""The shortest first."""
_UNITS: dict[str, PeriodUnit] = {unit: unit for unit in PERIOD_UNITS}
_CALENDAR_UNITS: dict[str, CalendarUnit] = {unit: unit for unit in get_args(CalendarUnit)}
_MONTHS = {
    name.lower(): number for names in (month_name, month_abbr) for number, name in enumerate(names) if name
} | {"sept": 9}
_MONTHS_IN: dict[PeriodUnit, int] = {"month": 1, "quarter": 3, "year": 12}
_YEAR = re.compile(r"(?:19|20)\d\d")
_DECADE = re.compile(r"((?:19|20)\d)0s")
_QUARTER = re.compile(r"q([1-4])")
_QUARTERS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DAY_OF_MONTH = re.compile(r"([0-3]?\d)(?:st|nd|rd|th)?")
_ONWARDS = (["on"], ["onward"], ["onwards"])
_LATEST = ("last", "past", "previous")
_SO_FAR = (["so", "far"], ["to", "date"])


@dataclass(frozen=True)
class DateRange:
    """Days from `start` up to, not including, `end`. None leaves that side open; at least one is set."""

    start: date | None
    end: date | None
    parts: tuple["DateRange", ...] = field(default=(), compare=False)
    """The periods that were written side by side: "in 2023 and 2025". Days between them are left out."""
    joined: bool = field(default=False, compare=False)
    """True if they were written with "and"."""
    ends: tuple["DateRange", ...] = field(default=(), compare=False)
    """The first and the last period of "from 2023 to 2025"."""

    def __str__(self) -> str:
        if self.has_gaps:
            return " or ".join(map(str, self.parts))
        if self.start is None:
            return f"before {self.end}"
        if self.end is None:
            return f"since {self.start}"
        if (self.start, self.end) == (date(self.start.year, 1, 1), _months_later(self.start, 12)):
            return f"in {self.start.year}"
        return f"from {self.start} to {self.end - timedelta(days=1)}"

    @property
    def has_gaps(self) -> bool:
        """True if there are days between the parts."""
        return any(one.end != other.start for one, other in pairwise(self.parts))

    @property
    def unit(self) -> PeriodUnit | None:
        """The calendar unit that this is one of; None for any other range."""
        if self.start is None:
            return None
        return next((unit for unit in _UNITS.values() if _whole(self.start, unit) == self), None)

    def overlaps(self, other: "DateRange") -> bool:
        """True if a day may lie in both; days between parts are not looked at."""
        begins = max(self.start or date.min, other.start or date.min)
        return begins < min(self.end or date.max, other.end or date.max)

    @property
    def last(self) -> date | None:
        """The last day."""
        return self.end and self.end - timedelta(days=1)

    def neighbour(self, *, earlier: bool) -> "DateRange":
        """Returns the unit before this one, or after it. Raises `ValueError` if this is not one unit."""
        if self.unit is None or self.start is None or self.end is None:
            raise ValueError
        return _whole(self.start - timedelta(days=1), self.unit) if earlier else _whole(self.end, self.unit)

    @property
    def whole_years(self) -> bool:
        return all((day.month, day.day) == (1, 1) for day in (self.start, self.end) if day is not None)


PeriodRead = tuple[DateRange, int]


def read_period(words: Sequence[str], today: date) -> PeriodRead | None:
    """Returns the period that `words` (lower case) begin with, and how many words it has; None without one.

    A month without a year is the latest one that has begun. "Last 30 days" includes today.
    """
    try:
        return _phrase(list(words), today)
    except (ValueError, OverflowError):  # no such day, or one beyond the calendar
        return None


def one_of(periods: Sequence[DateRange]) -> DateRange:
    """Returns the range of several periods. Raises `ValueError` if they overlap or are open at a side."""
    parts = [part for each in periods for part in each.parts or (each,)]
    if any(part.start is None or part.end is None for part in parts):
        raise ValueError
    parts.sort(key=lambda part: part.start or date.min)
    if any((one.end or date.max) > (other.start or date.min) for one, other in pairwise(parts)):
        raise ValueError
    return DateRange(parts[0].start, parts[-1].end, parts=tuple(parts))


def compare_periods(said: Sequence[DateRange], today: date) -> tuple[DateRange, DateRange]:
    """Returns the earlier and the later period of a comparison: the two that were said, one and that before
    it, or the twelve months up to today and those before. A period that is not over ends today, and the one
    before it as early. Raises `ValueError` for any other number of periods, two of different units, one that
    has not begun, and the time since a period that is not the latest or the one before.
    """
    parts = sorted(
        (part for each in said for part in each.parts or each.ends or (each,)),
        key=lambda part: part.start or date.min,
    )
    tomorrow = today + timedelta(days=1)
    if not parts:
        parts = [_rolling(12, "month", today)]
    if len(parts) == 2 and parts[0].unit and parts[0].unit == parts[1].unit:
        before, after = one_of(parts).parts
        return before, after
    (later,) = parts
    if later.start is None or later.start > today:
        raise ValueError
    begun = next(each for each in reversed(PERIOD_UNITS) if _whole_start(later.start, each) == later.start)
    unit = later.unit or begun
    if later.end is None:
        this = _whole(today, unit)
        if this.start not in (later.start, _whole(later.start, unit).end):
            raise ValueError  # several periods since then
        later = this
    start, end = later.start or today, min(later.end or today, tomorrow)
    months = (end.year - start.year) * 12 + end.month - start.month if end.day == start.day else 0
    if unit in _MONTHS_IN and (later.unit or end == tomorrow):
        months = _MONTHS_IN[unit]
    if not months:
        return DateRange(start - (end - start), start), DateRange(start, end)
    return DateRange(_months_later(start, -months), _months_later(end, -months)), DateRange(start, end)


def unit_of(word: str) -> CalendarUnit | None:
    return _CALENDAR_UNITS.get(word)


def _phrase(words: list[str], today: date) -> PeriodRead | None:
    match words:
        case ["between" | "from", *rest] if found := _span(rest, today):
            return _one_more(found)
        case ["from", *rest] if (found := _point(rest, today)) and rest[found[1] :][:1] in _ONWARDS:
            return DateRange(found[0].start, None), found[1] + 2
        case ["since", *rest] | ["starting", "from", *rest]:
            found = _open(rest, today, lambda point: DateRange(point.start, None))
            return _one_more(found) if found and words[0] == "starting" else found
        case ["after", *rest]:
            return _open(rest, today, lambda point: DateRange(point.end, None))
        case ["before", *rest]:
            return _open(rest, today, lambda point: DateRange(None, point.start))
        case ["from" | "in" | "during" | "for" | "of" | "on" | "within" | "over", *rest]:
            return _or_later(words, _one_more(_points(rest, today)))
        case [month, *rest] if month in _MONTHS and not (rest and rest[0][:1].isdecimal()):
            return None  # "may" and "march" are also verbs, "Jan" and "April" also names
        case _:
            return _points(words, today)


def _or_later(words: list[str], found: PeriodRead | None) -> PeriodRead | None:
    """Extends a period that "or after" or "or before" follows: "in 2014 or after"."""
    rest = tuple(words[found[1] : found[1] + 2]) if found else ()
    if found and rest in (("or", "after"), ("or", "later")):
        return DateRange(found[0].start, None), found[1] + 2
    if found and rest in (("or", "before"), ("or", "earlier")):
        return DateRange(None, found[0].end), found[1] + 2
    return found


def _open(words: list[str], today: date, shape: Callable[[DateRange], DateRange]) -> PeriodRead | None:
    point = _point(words, today)
    return (shape(point[0]), point[1] + 1) if point else None


def _span(words: list[str], today: date) -> PeriodRead | None:
    """Reads two points in time as one range: "2024 to 2025"."""
    first, last, said = _two(words, today, ("and", "to", "until", "till", "through"))
    if not first or not last or not first.start or not last.end or last.end <= first.start:
        return None
    return DateRange(first.start, last.end, ends=(first, last)), said


def _points(words: list[str], today: date) -> PeriodRead | None:
    """Reads one point in time, or two that are of the same unit or adjacent: "2024 or 2025"."""
    first, last, said = _two(words, today, ("or", "and", "vs", "versus"))
    if first and last and (first.end == last.start or (first.unit and first.unit == last.unit)):
        with suppress(ValueError):
            return replace(one_of([first, last]), joined="and" in words[:said]), said
    return _point(words, today)


def _two(
    words: list[str], today: date, joints: tuple[str, ...]
) -> tuple[DateRange | None, DateRange | None, int]:
    first = _point(words, today)
    if not first or words[first[1] : first[1] + 1] not in [[joint] for joint in joints]:
        return None, None, 0
    last = _point(words[first[1] + 1 :], today)
    if last and first[1] == 1 and words[0] in _MONTHS and last[0].start and last[0].unit == "month":
        same_year = _whole(date(last[0].start.year, _MONTHS[words[0]], 1), "month")  # "May and June 2023"
        first = (same_year if (same_year.start or today) < last[0].start else first[0], 1)
    return (first[0], last[0], first[1] + 1 + last[1]) if last else (None, None, 0)


def _point(words: list[str], today: date) -> PeriodRead | None:
    if found := _day_in_month(words, today) or _quarter(words, today):
        return found
    match words:
        case ["the", *rest]:
            return _one_more(_point(rest, today))
        case ["year", year, *_] if _YEAR.fullmatch(year):
            return _whole(date(int(year), 1, 1), "year"), 2
        case [year, *_] if _YEAR.fullmatch(year):
            return _whole(date(int(year), 1, 1), "year"), 1
        case [day, *_] if _DAY.fullmatch(day):
            return _whole(date.fromisoformat(day), "day"), 1
        case [month, year, *_] if month in _MONTHS and _YEAR.fullmatch(year):
            return _whole(date(int(year), _MONTHS[month], 1), "month"), 2
        case [month, *_] if month in _MONTHS:
            latest_year = today.year if _MONTHS[month] <= today.month else today.year - 1
            return _whole(date(latest_year, _MONTHS[month], 1), "month"), 1
        case [decade, *_] if match := _DECADE.fullmatch(decade):
            first = int(match[1]) * 10
            return DateRange(date(first, 1, 1), date(first + 10, 1, 1)), 1
        case ["today", *_]:
            return _whole(today, "day"), 1
        case ["yesterday", *_]:
            return _whole(today - timedelta(days=1), "day"), 1
        case ["ytd", *_]:
            return _so_far("year", today), 1
        case ["year" | "quarter" | "month" as word, *rest] if rest[:2] in _SO_FAR:
            return _so_far(_UNITS[word], today), 3
        case ["so", "far", "this", word, *_] if unit := _UNITS.get(word):
            return _so_far(unit, today), 4
        case ["this" | "current", word, *rest] if unit := _UNITS.get(word):
            return (_so_far(unit, today), 4) if rest[:2] in _SO_FAR else (_whole(today, unit), 2)
        case [latest, word, *_] if latest in _LATEST and (unit := _UNITS.get(word)):
            return _whole(_whole_start(today, unit) - timedelta(days=1), unit), 2
        case [latest, number, word, *_] if latest in _LATEST and number.isdecimal() and int(number):
            unit = _UNITS.get(word.removesuffix("s"))
            return (_rolling(int(number), unit, today), 3) if unit else None
    return None


def _day_in_month(words: list[str], today: date) -> PeriodRead | None:
    """Reads "February 14, 2025" and "14th of February 2025". Without a year it is the latest such day."""
    match [word for word in words[:5] if word not in (",", "of")]:
        case [month, day, *rest] if month in _MONTHS and (match := _DAY_OF_MONTH.fullmatch(day)):
            pass
        case [day, month, *rest] if month in _MONTHS and (match := _DAY_OF_MONTH.fullmatch(day)):
            pass
        case _:
            return None
    has_year = bool(rest and _YEAR.fullmatch(rest[0]))
    year = int(rest[0]) if has_year else today.year
    found = date(year, _MONTHS[month], int(match[1]))
    if not has_year and found > today:
        found = found.replace(year=year - 1)
    return _whole(found, "day"), _length(words, 3 if has_year else 2)


def _quarter(words: list[str], today: date) -> PeriodRead | None:
    """Reads "Q1 2025", "2025 Q1" and "first quarter of 2025"; without a year the latest that has begun."""
    rest = [word for word in words[:6] if word not in (",", "of", "the", "in")]
    before = rest.pop(0) if rest and _YEAR.fullmatch(rest[0]) else None
    match rest:
        case [word, *after] if match := _QUARTER.fullmatch(word):
            number, said = int(match[1]), 1
        case [word, "quarter", *after] if word in _QUARTERS:
            number, said = _QUARTERS[word], 2
        case ["quarter", word, *after] if word in ("1", "2", "3", "4"):
            number, said = int(word), 2
        case _:
            return None
    year = before or next((word for word in after[:1] if _YEAR.fullmatch(word)), None)
    start = date(int(year) if year else today.year, number * 3 - 2, 1)
    if year is None and start > today:
        start = start.replace(year=start.year - 1)
    return _whole(start, "quarter"), _length(words, said + (year is not None))


def _length(words: list[str], said: int) -> int:
    """Returns how many words hold the first `said` that are no filler."""
    fillers = (",", "of", "the", "in")
    places = [at for at, word in enumerate(words) if word not in fillers]
    return places[said - 1] + 1


def _so_far(unit: PeriodUnit, today: date) -> DateRange:
    return DateRange(_whole_start(today, unit), today + timedelta(days=1))


def _rolling(number: int, unit: PeriodUnit, today: date) -> DateRange:
    tomorrow = today + timedelta(days=1)
    if unit in _MONTHS_IN:
        return DateRange(_months_later(tomorrow, -number * _MONTHS_IN[unit]), tomorrow)
    return DateRange(tomorrow - timedelta(days=number * (7 if unit == "week" else 1)), tomorrow)


def _whole(day: date, unit: PeriodUnit) -> DateRange:
    start = _whole_start(day, unit)
    if unit in _MONTHS_IN:
        return DateRange(start, _months_later(start, _MONTHS_IN[unit]))
    return DateRange(start, start + timedelta(days=7 if unit == "week" else 1))


def _whole_start(day: date, unit: PeriodUnit) -> date:
    match unit:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return day.replace(month=1, day=1)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _one_more(found: PeriodRead | None) -> PeriodRead | None:
    return (found[0], found[1] + 1) if found else None
