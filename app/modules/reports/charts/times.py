"""Dates and times as text, read as written and without regard to zones."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from pydantic import JsonValue

from app.modules.analysis.figures.calendar import CalendarUnit, period_of

_CLOCK = r"[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?"
_TIME = re.compile(rf"(\d{{4}})-(\d\d)(?:-(\d\d)(?:{_CLOCK})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TWO_YEARS = timedelta(days=730)
_DAY = timedelta(days=1)


def time_of(cell: JsonValue) -> datetime | None:
    """None if the cell is no ISO date, month or time."""
    found = _TIME.fullmatch(cell) if isinstance(cell, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction = found.groups()
    try:
        return datetime(
            int(year),
            int(month),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "").ljust(6, "0")),
            tzinfo=UTC,
        )
    except ValueError:
        return None


def start_of(cell: JsonValue, unit: CalendarUnit) -> JsonValue:
    """The first day of the unit that a date is in; the cell itself if it is no date."""
    time = time_of(cell)
    return cell if time is None else period_of(time.date(), unit).start.isoformat()


def time_text(times: Sequence[datetime], time: datetime) -> str:
    """A time of the data, as precisely as the data is."""
    if all(_is_first(each) and each.month == 1 for each in times):
        return str(time.year)
    if all(_is_first(each) for each in times):
        return _month(time)
    if all(_is_midnight(each) for each in times):
        return f"{_DAYS[time.weekday()]} {_date(time)}"
    return f"{_date(time)} {time:%H:%M}"


def tick_text(ticks: Sequence[datetime], ends: tuple[datetime, datetime], tick: datetime) -> str:
    """A tick of a time axis. The year is there whenever it is not the same for all."""
    first, last = ends
    if all(_is_first(each) and each.month == 1 for each in ticks) and last - first > _TWO_YEARS:
        return str(tick.year)
    if all(_is_first(each) for each in ticks):
        return _month(tick)
    if all(_is_midnight(each) for each in ticks):
        return _date(tick) if first.year != last.year else _day(tick)
    return f"{_day(tick)} {tick:%H:%M}" if last - first > _DAY else f"{tick:%H:%M}"


def round_times(first: datetime, last: datetime, most: int) -> list[datetime]:
    """About `most` ticks at round times between the ends."""
    wanted = (last - first) / most
    if wanted <= timedelta(0):
        return [first]
    if wanted > timedelta(days=365):
        return _years(first, last, most)
    above = next((at for at, (length, _) in enumerate(_STEPS) if length > wanted), len(_STEPS) - 1)
    below = _STEPS[above - 1] if above else _STEPS[0]
    length, months = below if wanted / below[0] < _STEPS[above][0] / wanted else _STEPS[above]
    ticks: list[datetime] = []
    tick: datetime | None = _floor(first, length, months)
    while tick is not None and tick <= last:
        if tick >= first:
            ticks.append(tick)
        try:
            tick = _floor(tick + length * 1.2, length, months)  # also where steps are of unequal length
        except OverflowError:
            tick = None
    return ticks


_STEPS: Sequence[tuple[timedelta, int]] = (
    *((timedelta(seconds=count), 0) for count in (1, 5, 15, 30)),
    *((timedelta(minutes=count), 0) for count in (1, 5, 15, 30)),
    *((timedelta(hours=count), 0) for count in (1, 3, 6, 12)),
    *((timedelta(days=count), 0) for count in (1, 2, 7)),
    (timedelta(days=30), 1),
    (timedelta(days=90), 3),
    (timedelta(days=365), 12),
)
"""Lengths of the steps of a time axis, and of those that begin with a month its count of months."""


def _floor(time: datetime, length: timedelta, months: int) -> datetime:
    """The first time of the step that holds a time."""
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if months:
        return midnight.replace(month=(time.month - 1) // months * months + 1, day=1)
    if length == 2 * _DAY:
        return midnight - (time.day - 1) % 2 * _DAY
    if length == 7 * _DAY:
        return midnight - time.isoweekday() % 7 * _DAY
    return midnight + (time - midnight) // length * length


def _years(first: datetime, last: datetime, most: int) -> list[datetime]:
    rough = (last.year + 1 - first.year) / most
    step = next(each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000) if each >= rough)
    years = range(-(-first.year // step) * step, last.year + 1, step)
    ticks = [datetime(year, 1, 1, tzinfo=UTC) for year in years if year > 0]
    return [each for each in ticks if first <= each <= last]


def _month(time: date) -> str:
    return f"{_MONTHS[time.month - 1]} {time.year}"


def _day(time: date) -> str:
    return f"{time.day} {_MONTHS[time.month - 1]}"


def _date(time: date) -> str:
    return f"{_day(time)} {time.year}"


def _is_midnight(time: datetime) -> bool:
    return (time.hour, time.minute, time.second, time.microsecond) == (0, 0, 0, 0)


def _is_first(time: datetime) -> bool:
    return time.day == 1 and _is_midnight(time)
