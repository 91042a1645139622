"""Axes of a picture: round numbers, calendar marks, and room for labels."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from pydantic import JsonValue

from app.core.language import Language
from app.core.values.dates import format_date
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.figures.calendar import CalendarUnit

WIDTH = 880
HEIGHT = 300
NARROW_HEIGHT = 260
LETTER = 7.0
"""Pixels of a letter of 12 or 13 pixels, on average and a little more."""
_STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))
_MOST_TICKS = 8
_MOST_MONTHS = 13
_FLAT = 0.25
_EARLY = 10
"""The last day of a month at which its name may stand for the month."""
_LABEL_HEIGHT = 17
_MILLISECONDS = 1000
_MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_HOUR_STEPS = (1, 2, 3, 6, 12)
_DAY_STEPS = (1, 2, 7, 14)
_Mark: TypeAlias = tuple[datetime, str, str]
"""A moment, its name, and the name of the year or day that it is in."""
_DayName: TypeAlias = Callable[[date], str]


@dataclass(frozen=True)
class Scale:
    """The round numbers of an axis, lowest first: its ends are the first and the last of them."""

    ticks: Sequence[float]

    @property
    def low(self) -> float:
        return self.ticks[0]

    @property
    def high(self) -> float:
        return self.ticks[-1]

    @property
    def has_zero(self) -> bool:
        return self.low <= 0 <= self.high

    def share(self, value: float) -> float:
        """The place of a value, from 0 at the lowest to 1 at the highest."""
        return (value - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        return self.low + share * (self.high - self.low)


def scale_of(values: Sequence[float], *, zero: bool = False, count: int = 4, flat: float = _FLAT) -> Scale:
    """A scale with about `count` steps. It has a zero if asked for, or if the values vary enough for one:
    by a share of `flat` of the largest.
    """
    low = min(values, default=0.0)
    high = max(values, default=1.0)
    if zero or low <= 0 <= high or abs(high - low) >= flat * max(abs(low), abs(high)) or low == high:
        low = min(low, 0.0)
        high = max(high, 0.0)
    if low == high:
        high = low + 1
    step = _round_step((Decimal(high) - Decimal(low)) / count)
    first = (Decimal(low) / step).to_integral_value(ROUND_FLOOR)
    last = (Decimal(high) / step).to_integral_value(ROUND_CEILING)
    return Scale([float((first + at) * step) for at in range(int(last - first) + 1)])


def _round_step(step: Decimal) -> Decimal:
    size = Decimal(1).scaleb(step.adjusted())
    return next(each * size for each in _STEPS if each * size >= step)


def number_axis(scale: Scale, numbers: Numbers, name: str) -> Spec:
    """An axis of numbers; the name of the measure stands beside the highest one."""
    labels = numbers.ticks(scale.ticks)
    labels[-1] = f"{labels[-1]}  {name}" if name else labels[-1]
    return {
        "values": [*scale.ticks],
        "tickCount": len(scale.ticks) + 1,
        "labelExpr": lookup(labels, [*scale.ticks]),
        "labelOverlap": False,
        "labelLimit": 400,
    }


def lookup(labels: Sequence[JsonValue], values: Sequence[JsonValue], of: str = "datum.value") -> str:
    """An expression with the label of a value or a name of an axis."""
    written = [json.dumps(each, ensure_ascii=False) for each in (labels, values)]
    return f"{written[0]}[indexof({written[1]}, {of})]"


def ends_of(scale: Scale) -> Spec:
    """The scale of an axis with these ends."""
    return {"domain": [scale.low, scale.high], "nice": False, "zero": False}


def across_domain(first: int, last: int, *, left: int, right: float) -> list[JsonValue]:
    """The ends of an axis with room beside its points, in pixels.

    Room is domain and not range, so that the lines of the other axis span the picture.
    """
    room = label_room(right)
    pixel = f"{last - first} / (width - {left} - {room})"
    return [{"expr": f"{first} - {left} * {pixel}"}, {"expr": f"{last} + {room} * {pixel}"}]


def label_room(pixels: float) -> str:
    """An expression of the room at the right end of a picture; narrow ones have at most 38% for it."""
    return f"min({round(pixels)}, 0.38 * width)"


def apart(places: Sequence[float], height: float = NARROW_HEIGHT) -> list[float]:
    """Push labels apart so that no two overlap. Places are shares of the height, as are the results."""
    least = _LABEL_HEIGHT / height
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = [places[at] for at in order]
    for at in range(1, len(moved)):
        moved[at] = max(moved[at], moved[at - 1] + least)
    over = moved[-1] - 1 if moved else 0.0
    if over > 0:
        moved[-1] = 1.0
        for at in range(len(moved) - 2, -1, -1):
            moved[at] = min(moved[at], moved[at + 1] - least)
    placed = [0.0] * len(places)
    for at, index in enumerate(order):
        placed[index] = moved[at]
    return placed


def milliseconds(moment: date | datetime) -> int:
    at = (
        moment
        if isinstance(moment, datetime)
        else datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    )
    return int(at.replace(tzinfo=UTC).timestamp()) * _MILLISECONDS


def time_axis(first: datetime, last: datetime, *, unit: CalendarUnit | None, language: Language) -> Spec:
    """An axis of time: short names, and the year or the day under the first name that is in it."""
    marks = _named_marks(first, last, unit=unit, language=language)
    values = [milliseconds(moment) for moment, _ in marks]
    return {
        "values": [*values],
        "tickCount": len(values) + 1,
        "labelExpr": lookup([label for _, label in marks], [*values], "time(datum.value)"),
        "labelOverlap": "parity",
        "domain": False,
        "format": "",
    }


def time_marks(
    first: datetime, last: datetime, *, unit: CalendarUnit | None, language: Language
) -> list[tuple[str, JsonValue]]:
    """The marks of an axis of time: the day, and its label."""
    named = _named_marks(first, last, unit=unit, language=language)
    return [(moment.date().isoformat(), label) for moment, label in named]


def _named_marks(
    first: datetime, last: datetime, *, unit: CalendarUnit | None, language: Language
) -> list[tuple[datetime, JsonValue]]:
    before = ""
    marks: list[tuple[datetime, JsonValue]] = []
    for moment, name, within in _calendar_marks(first, last, unit=unit, language=language):
        marks.append((moment, [name, within] if within != before else [name, ""]))
        before = within
    return marks


def _calendar_marks(
    first: datetime, last: datetime, *, unit: CalendarUnit | None, language: Language
) -> list[_Mark]:
    days = (last - first).days
    if days <= 100 and unit in (None, "day", "week"):

        def day(at: date) -> str:
            return format_date(at, "day of year", language)

        if unit is None and days < 4:
            return _hours(first, last, day)
        return _days(first, last, day, is_week=unit == "week")
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    least = {"quarter": 3, "year": 12}.get(unit or "", 1)
    most = _MOST_MONTHS if least == 1 else _MOST_TICKS
    step = next((each for each in _MONTH_STEPS if each >= least and months / each <= most), _MONTH_STEPS[-1])
    if least == 1 and step == 2:
        step = 3
    begins = [
        datetime(at // 12, at % 12 + 1, 1, tzinfo=UTC)
        for at in range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
        if at % step == 0
    ]
    begins = [each for each in begins if first <= each <= last]
    if step == 1 and 1 < first.day <= _EARLY:  # weeks begin in the midst of a month
        begins.insert(0, first)
    if step >= 12:
        return [(each, str(each.year), "") for each in begins]
    if unit == "quarter":
        return [(each, f"Q{(each.month + 2) // 3}", str(each.year)) for each in begins]
    return [(each, format_date(each.date(), "month letters", language), str(each.year)) for each in begins]


def _days(first: datetime, last: datetime, day: _DayName, *, is_week: bool) -> list[_Mark]:
    days = (last - first).days + 1
    least = 7 if is_week else 1
    step = next((each for each in _DAY_STEPS if each >= least and days / each <= _MOST_TICKS), _DAY_STEPS[-1])
    begins = [first + timedelta(days=at) for at in range(0, days, step)]
    return [(each, day(each.date()), str(each.year)) for each in begins]


def _hours(first: datetime, last: datetime, day: _DayName) -> list[_Mark]:
    hours = (last - first).total_seconds() / 3600
    step = next((each for each in _HOUR_STEPS if hours / each <= _MOST_TICKS), 24)
    start = first.replace(minute=0, second=0, microsecond=0)
    begins = [start + timedelta(hours=at) for at in range(int(hours) + 2)]
    return [
        (each, f"{each:%H:%M}", day(each.date()))
        for each in begins
        if each.hour % step == 0 and first <= each <= last
    ]
