"""Parse cells as calendar periods: hours, days, weeks, months, quarters and years in the usual formats."""

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, NamedTuple

from pydantic import JsonValue

CalendarUnit = Literal["hour", "day", "week", "month", "quarter", "year"]
UNITS: Sequence[CalendarUnit] = ("hour", "day", "week", "month", "quarter", "year")
"""From the finest to the coarsest."""
WeekNumbering = Literal["iso", "monday", "sunday"]
"""The numbering of weeks: ISO's, or strftime's %W and %U. These count from the year's first Monday or Sunday;
the days before it are week 0, so that the turn of the year cuts a week in two."""
WrittenWeeks = WeekNumbering | Literal["unknown"]
"""The numbering of the weeks that a statement writes: no period is read of an unknown one."""

_MONTHS = {name.lower(): at for names in (month_name, month_abbr) for at, name in enumerate(names) if name}
_MONTHS["sept"] = 9
_OTHER_MONTHS = (
    ("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "", "oktober", "", "dezember"),
    ("jän", "", "mär", "", "", "", "", "", "", "okt", "", "dez"),
    ("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto"),
    ("", "", "", "", "", "", "", "", "septiembre", "octubre", "noviembre", "diciembre"),
    ("ene", "", "", "abr", "", "", "", "ago", "", "", "", "dic"),
    ("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août"),
    ("", "", "", "", "", "", "", "", "septembre", "octobre", "novembre", "décembre"),
    ("janv", "févr", "", "avr", "", "", "juil", "", "", "", "", "déc"),
)
_MONTHS |= {name: at for names in _OTHER_MONTHS for at, name in enumerate(names, 1) if name}
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_LONGEST_TEXT = 40
_DAY = timedelta(days=1)
_LENGTHS: Mapping[CalendarUnit, timedelta] = {
    "hour": timedelta(hours=1),
    "day": _DAY,
    "week": timedelta(days=7),
}
_DENSE = 0.5
_ISO_DATE = len("2025-03-04")


class Period(NamedTuple):
    """A calendar period: the days from `start` to before `end`. Periods of one unit sort by time.

    An hour begins at a `datetime` without a zone, the others at a `date`.
    """

    start: date
    unit: CalendarUnit
    weeks: WeekNumbering = "iso"

    @property
    def end(self) -> date:
        """The day after the last one."""
        return self.after(1).start

    def after(self, steps: int) -> "Period":
        """The period `steps` later. Raises OverflowError or ValueError outside the years 1 to 9999."""
        if self.weeks != "iso":
            start = self.start
            for _ in range(abs(steps)):
                start = _next_week(start, self.weeks) if steps > 0 else _week_of(start - _DAY, self.weeks)
            return Period(start, self.unit, self.weeks)
        if (length := _LENGTHS.get(self.unit)) is not None:
            return Period(self.start + steps * length, self.unit)
        months = self.start.year * 12 + self.start.month - 1 + steps * _MONTHS_IN[self.unit]
        return Period(date(months // 12, months % 12 + 1, 1), self.unit)

    def steps_to(self, later: "Period") -> int:
        """The number of periods from this one to `later`, which has the same unit."""
        if self.weeks != "iso":
            first, last = sorted((self.start, later.start))
            steps = 0
            while first < last:
                first = _next_week(first, self.weeks)
                steps += 1
            return steps if self.start <= later.start else -steps
        if (length := _LENGTHS.get(self.unit)) is not None:
            return (later.start - self.start) // length
        months = (later.start.year - self.start.year) * 12 + later.start.month - self.start.month
        return months // _MONTHS_IN[self.unit]

    def within(self, unit: CalendarUnit) -> "Period":
        """The period of a coarser unit that holds the start of this one."""
        return self if unit == self.unit else period_of(self.start, unit)

    @property
    def is_cut_week(self) -> bool:
        """True for a week that the turn of the year cuts in two."""
        return self.weeks != "iso" and (self.end - self.start).days < 7

    @property
    def numbered_week(self) -> tuple[int, int]:
        """The year and the number of a week."""
        if self.weeks == "iso":
            year, week, _ = self.start.isocalendar()
            return year, week
        return self.start.year, int(self.start.strftime("%W" if self.weeks == "monday" else "%U"))

    def __str__(self) -> str:
        match self.unit:
            case "hour" | "day":
                return self.start.isoformat()
            case "week":
                year, week = self.numbered_week
                return f"{year}-W{week:02}"
            case "month":
                return f"{self.start.year}-{self.start.month:02}"
            case "quarter":
                return f"{self.start.year}-Q{(self.start.month + 2) // 3}"
            case "year":
                return str(self.start.year)


def _week_of(day: date, weeks: WeekNumbering) -> date:
    """The first day of the week that holds a day, not before the day's year."""
    return max(day - timedelta(days=_weekday(day, weeks)), day.replace(month=1, day=1))


def _next_week(start: date, weeks: WeekNumbering) -> date:
    return min(start + timedelta(days=7 - _weekday(start, weeks)), date(start.year + 1, 1, 1))


def _weekday(day: date, weeks: WeekNumbering) -> int:
    return day.isoweekday() % 7 if weeks == "sunday" else day.weekday()


def period_of(day: date, unit: CalendarUnit) -> Period:
    """The period that holds a day, or the moment of a datetime; weeks begin on Monday."""
    if unit == "hour":
        moment = day if isinstance(day, datetime) else datetime.combine(day, time())
        return Period(moment.replace(minute=0, second=0, microsecond=0), unit)
    day = day.date() if isinstance(day, datetime) else day
    match unit:
        case "day":
            return Period(day, unit)
        case "week":
            return Period(day - timedelta(days=day.weekday()), unit)
        case "month":
            return Period(day.replace(day=1), unit)
        case "quarter":
            return Period(day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1), unit)
        case "year":
            return Period(day.replace(month=1, day=1), unit)


@dataclass(frozen=True)
class _Form:
    """A format of a period; the named groups of `shape` are the parts of a date."""

    unit: CalendarUnit
    shape: re.Pattern[str]


def _form(unit: CalendarUnit, shape: str) -> _Form:
    return _Form(unit, re.compile(shape, re.IGNORECASE))


_Y = r"(?P<year>(?:1[5-9]|2[01])\d\d)"
_M = r"(?P<month>0?[1-9]|1[0-2])"
_MM = r"(?P<month>0[1-9]|1[0-2])"
_D = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_DD = r"(?P<day>0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[ T]\d{1,2}:\d\d.*)?"
_N = rf"(?P<name>{_NAME})\.?"
_QUARTER = "quarter|quartal|trimestre"
_NUMBERED = re.compile(rf"{_Y}[-/ .]?(?:W|KW|S)?[-/ ]?(?P<week>[0-4]?\d|5[0-3])", re.IGNORECASE)
_FORMS: Sequence[_Form] = (
    _form("day", rf"{_Y}-{_MM}-{_DD}{_CLOCK}"),
    _form("month", rf"{_Y}-{_MM}"),
    _form("year", _Y),
    _form("quarter", rf"{_Y}[- /]?[QT](?P<quarter>[1-4])"),
    _form("quarter", rf"[QT](?P<quarter>[1-4])[- /']*{_Y}"),
    _form("quarter", rf"(?P<quarter>[1-4])(?:\.|st|nd|rd|th|er|e|ème|º|o)? ?(?:{_QUARTER}) (?:de )?{_Y}"),
    _form("week", rf"{_Y}-?W(?P<week>0?[1-9]|[1-4]\d|5[0-3])"),
    _form("day", rf"{_Y}{_MM}{_DD}"),
    _form("month", rf"{_Y}{_MM}"),
    _form("day", rf"{_Y}[/.]{_M}[/.]{_D}{_CLOCK}"),
    _form("month", rf"{_Y}[/.]{_M}"),
    _form("month", rf"{_MM}[/.]{_Y}"),
    _form("day", rf"{_D}\.{_M}\.{_Y}{_CLOCK}"),
    _form("day", rf"{_D}[/-]{_M}[/-]{_Y}{_CLOCK}"),
    _form("day", rf"{_M}[/-]{_D}[/-]{_Y}{_CLOCK}"),
    _form("month", rf"{_N}(?: de)?[ \-/]+{_Y}"),
    _form("month", rf"{_Y}[ \-/]+{_N}"),
    _form("day", rf"{_D}(?:st|nd|rd|th)?[ \-]+{_N},?[ \-]+{_Y}{_CLOCK}"),
    _form("day", rf"{_N} {_D}(?:st|nd|rd|th)?,? {_Y}{_CLOCK}"),
)


def read_periods(
    cells: Sequence[JsonValue],
    unit: CalendarUnit | None = None,
    weeks: WrittenWeeks | None = None,
    *,
    name: str = "",
) -> list[Period | None] | None:
    """Return each cell's period (None for null), or None unless one format fits all cells.

    03/04/2025 fits two formats: such cells are parsed only if another cell (13/04/2025) decides. `unit` is
    the unit that dates stand for, if known; otherwise it is inferred from the dates, and from the column's
    `name` if it ends in a unit. With `weeks`, the cells are a year and the number of a week ("2026-36").
    """
    texts = list(dict.fromkeys(str(cell).strip() for cell in cells if cell is not None))
    if not texts or weeks == "unknown" or any(len(text) > _LONGEST_TEXT for text in texts[:100]):
        return None
    if weeks is not None:
        numbered = {text: _numbered(text, weeks) for text in texts}
        if None in numbered.values():
            return None
        return [None if cell is None else numbered[str(cell).strip()] for cell in cells]
    if unit in (None, "hour") and (hours := _iso_hours(texts)) is not None:
        return [None if cell is None else hours[str(cell).strip()] for cell in cells]
    iso = _iso_days(texts)
    fitting = [iso] if iso else [read for form in _FORMS if (read := _all_read(form, texts)) is not None]
    if not fitting or any(other != fitting[0] for other in fitting[1:]):
        return None
    starts, read_unit = fitting[0]
    if unit is not None and UNITS.index(unit) < UNITS.index(read_unit):
        return None  # 2025-07 may be a week
    final = (unit or _named_unit(name, starts) or _unit_of(starts)) if read_unit == "day" else read_unit
    if final == "week" and read_unit == "day" and any(each.weekday() for each in starts):
        return None  # weeks that do not begin on Monday
    periods = {text: period_of(start, final) for text, start in zip(texts, starts, strict=True)}
    return [None if cell is None else periods[str(cell).strip()] for cell in cells]


def _numbered(text: str, weeks: WeekNumbering) -> Period | None:
    """The week of a year and a week's number; None for other text, or if the year has no such week."""
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return None
    year, week = int(match["year"]), int(match["week"])
    try:
        if weeks == "iso":
            return Period(date.fromisocalendar(year, week, 1), "week")
    except ValueError:
        return None
    first = date(year, 1, 1)
    begins = first + timedelta(days=-_weekday(first, weeks) % 7)
    found = Period(max(first, begins + timedelta(days=7 * (week - 1))), "week", weeks)
    return found if found.numbered_week == (year, week) else None


def _iso_days(texts: Sequence[str]) -> tuple[list[date], CalendarUnit] | None:
    """A fast path for ISO dates: thousands take a few milliseconds. None when any text has another format."""
    try:
        if all(
            len(text) == _ISO_DATE or (len(text) > _ISO_DATE and text[_ISO_DATE] in " T") for text in texts
        ):
            return [date.fromisoformat(text[:_ISO_DATE]) for text in texts], "day"
    except ValueError:
        pass  # some other form
    return None


def _iso_hours(texts: Sequence[str]) -> dict[str, Period] | None:
    """The hours of ISO times that are all full hours, not all midnight; None of others. Zones are dropped."""
    try:
        moments = {text: datetime.fromisoformat(text).replace(tzinfo=None) for text in texts}
    except ValueError:
        return None
    if any(len(text) <= _ISO_DATE or each.minute or each.second for text, each in moments.items()):
        return None
    if not any(each.hour for each in moments.values()):
        return None
    return {text: Period(each, "hour") for text, each in moments.items()}


def _all_read(form: _Form, texts: Sequence[str]) -> tuple[list[date], CalendarUnit] | None:
    starts: list[date] = []
    for text in texts:
        match = form.shape.fullmatch(text)
        start = _start(match.groupdict()) if match else None
        if start is None:
            return None
        starts.append(start)
    return starts, form.unit


def _start(parts: dict[str, str]) -> date | None:
    try:
        year = int(parts["year"])
        if "week" in parts:
            return date.fromisocalendar(year, int(parts["week"]), 1)
        if "quarter" in parts:
            return date(year, int(parts["quarter"]) * 3 - 2, 1)
        month = _MONTHS[parts["name"].lower()] if "name" in parts else int(parts.get("month", 1))
        return date(year, month, int(parts.get("day", 1)))
    except ValueError:
        return None


def _unit_of(days: Sequence[date]) -> CalendarUnit:
    """Infer the unit that dates stand for: years, months or weeks if all are first days of these, months also
    if all are last days, else days.

    If most periods of that unit have no date, the dates are days.
    """
    distinct = sorted(set(days))
    if len(distinct) < 2:
        return "day"
    candidates: list[CalendarUnit] = []
    if len(distinct) > 2 and all(day.month == day.day == 1 for day in distinct):
        candidates.append("year")
    are_last = all(day.day == monthrange(day.year, day.month)[1] for day in distinct)
    if are_last or all(day.day == 1 for day in distinct):
        candidates.append("month")
    if len(distinct) > 2 and all(day.weekday() == 0 for day in distinct):
        candidates.append("week")
    return next((unit for unit in candidates if _is_dense(distinct, unit)), "day")


def _named_unit(name: str, days: Sequence[date]) -> CalendarUnit | None:
    """The unit by which a column is called, if all dates are first days of it."""
    found = next((unit for unit in UNITS[2:] if name.endswith(unit)), None)
    are_first = found is not None and all(period_of(day, found).start == day for day in days)
    return found if are_first else None


def _is_dense(days: Sequence[date], unit: CalendarUnit) -> bool:
    steps = period_of(days[0], unit).steps_to(period_of(days[-1], unit))
    return len(days) >= _DENSE * (steps + 1)


def month_number(cell: JsonValue) -> int | None:
    """The month (1 to 12) that a cell names by number or by name; None for anything else."""
    text = str(cell).strip().lower()
    if text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= 12:
        return int(text)
    return _MONTHS.get(text)
