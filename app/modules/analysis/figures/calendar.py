"""Parse cells as calendar periods: days, weeks, months, quarters and years in the usual formats."""

import re
from calendar import month_abbr, month_name
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

from pydantic import JsonValue

CalendarUnit = Literal["day", "week", "month", "quarter", "year"]
UNITS: Sequence[CalendarUnit] = ("day", "week", "month", "quarter", "year")
"""From the finest to the coarsest."""

_MONTHS = {name.lower(): at for names in (month_name, month_abbr) for at, name in enumerate(names) if name}
_MONTHS["sept"] = 9
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_LONGEST_TEXT = 40
_DENSE = 0.5
_ISO_DATE = len("2025-03-04")


class Period(NamedTuple):
    """A calendar period: the days from `start` to before `end`. Periods of one unit sort by time."""

    start: date
    unit: CalendarUnit

    @property
    def end(self) -> date:
        """The day after the last one."""
        return self.after(1).start

    def after(self, steps: int) -> "Period":
        """The period `steps` later. Raises OverflowError or ValueError outside the years 1 to 9999."""
        if self.unit in ("day", "week"):
            return Period(self.start + steps * timedelta(days=7 if self.unit == "week" else 1), self.unit)
        months = self.start.year * 12 + self.start.month - 1 + steps * _MONTHS_IN[self.unit]
        return Period(date(months // 12, months % 12 + 1, 1), self.unit)

    def steps_to(self, later: "Period") -> int:
        """The number of periods from this one to `later`, which has the same unit."""
        if self.unit in ("day", "week"):
            return (later.start - self.start).days // (7 if self.unit == "week" else 1)
        months = (later.start.year - self.start.year) * 12 + later.start.month - self.start.month
        return months // _MONTHS_IN[self.unit]

    def within(self, unit: CalendarUnit) -> "Period":
        """The period of a coarser unit that holds the start of this one."""
        return period_of(self.start, unit)

    def __str__(self) -> str:
        match self.unit:
            case "day":
                return self.start.isoformat()
            case "week":
                year, week, _ = self.start.isocalendar()
                return f"{year}-W{week:02}"
            case "month":
                return f"{self.start.year}-{self.start.month:02}"
            case "quarter":
                return f"{self.start.year}-Q{(self.start.month + 2) // 3}"
            case "year":
                return str(self.start.year)


def period_of(day: date, unit: CalendarUnit) -> Period:
    """The period that holds a day; weeks begin on Monday."""
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
_FORMS: Sequence[_Form] = (
    _form("day", rf"{_Y}-{_MM}-{_DD}{_CLOCK}"),
    _form("month", rf"{_Y}-{_MM}"),
    _form("year", _Y),
    _form("quarter", rf"{_Y}[- ]?Q(?P<quarter>[1-4])"),
    _form("quarter", rf"Q(?P<quarter>[1-4])[- /']*{_Y}"),
    _form("week", rf"{_Y}-?W(?P<week>0?[1-9]|[1-4]\d|5[0-3])"),
    _form("day", rf"{_Y}{_MM}{_DD}"),
    _form("month", rf"{_Y}{_MM}"),
    _form("day", rf"{_Y}[/.]{_M}[/.]{_D}{_CLOCK}"),
    _form("month", rf"{_Y}[/.]{_M}"),
    _form("month", rf"{_MM}[/.]{_Y}"),
    _form("day", rf"{_D}\.{_M}\.{_Y}{_CLOCK}"),
    _form("day", rf"{_D}[/-]{_M}[/-]{_Y}{_CLOCK}"),
    _form("day", rf"{_M}[/-]{_D}[/-]{_Y}{_CLOCK}"),
    _form("month", rf"{_N}[ \-/]+{_Y}"),
    _form("month", rf"{_Y}[ \-/]+{_N}"),
    _form("day", rf"{_D}(?:st|nd|rd|th)?[ \-]+{_N},?[ \-]+{_Y}{_CLOCK}"),
    _form("day", rf"{_N} {_D}(?:st|nd|rd|th)?,? {_Y}{_CLOCK}"),
)


def read_periods(cells: Sequence[JsonValue], unit: CalendarUnit | None = None) -> list[Period | None] | None:
    """Return each cell's period (None for null), or None unless one format fits all cells.

    03/04/2025 fits two formats: such cells are parsed only if another cell (13/04/2025) decides. `unit` is
    the unit that dates stand for, if known; otherwise it is inferred from the dates.
    """
    texts = list(dict.fromkeys(str(cell).strip() for cell in cells if cell is not None))
    if not texts or any(len(text) > _LONGEST_TEXT for text in texts[:100]):
        return None
    iso = _iso_days(texts)
    fitting = [iso] if iso else [read for form in _FORMS if (read := _all_read(form, texts)) is not None]
    if not fitting or any(other != fitting[0] for other in fitting[1:]):
        return None
    starts, read_unit = fitting[0]
    if unit is not None and UNITS.index(unit) < UNITS.index(read_unit):
        return None  # 2025-07 may be a week
    final = (unit or _unit_of(starts)) if read_unit == "day" else read_unit
    periods = {text: period_of(start, final) for text, start in zip(texts, starts, strict=True)}
    return [None if cell is None else periods[str(cell).strip()] for cell in cells]


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
    """Infer the unit that dates stand for: years, months or weeks if all are first days of these, else days.

    If most periods of that unit have no date, the dates are days.
    """
    distinct = sorted(set(days))
    if len(distinct) < 2:
        return "day"
    candidates: list[CalendarUnit] = []
    if len(distinct) > 2 and all(day.month == day.day == 1 for day in distinct):
        candidates.append("year")
    if all(day.day == 1 for day in distinct):
        candidates.append("month")
    if len(distinct) > 2 and all(day.weekday() == 0 for day in distinct):
        candidates.append("week")
    return next((unit for unit in candidates if _is_dense(distinct, unit)), "day")


def _is_dense(days: Sequence[date], unit: CalendarUnit) -> bool:
    steps = period_of(days[0], unit).steps_to(period_of(days[-1], unit))
    return len(days) >= _DENSE * (steps + 1)


def month_number(cell: JsonValue) -> int | None:
    """The month (1 to 12) that a cell names by number or by English name; None for anything else."""
    text = str(cell).strip().lower()
    if text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= 12:
        return int(text)
    return _MONTHS.get(text)
