"""The days that the data of a time axis covers, and sentences on the periods that it covers in part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import JsonValue

from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, Period, period_of
from app.modules.analysis.figures.course import Partial


@dataclass(frozen=True, kw_only=True)
class Covered:
    """`unit` is that of the periods of the axis, `first` and `last` are the first and last day of its data.

    `running` says that the last period is not over.
    """

    unit: CalendarUnit
    first: date
    last: date
    running: bool

    @classmethod
    def by(cls, periods: Sequence[Period], partial: Sequence[Partial] = ()) -> "Covered":
        """The days of all periods, but for those that the data covers in part. There is at least one."""
        begins = (each.day for each in partial if each.reason == "begins")
        ends = (each.day for each in partial if each.reason != "begins")
        return cls(
            unit=periods[0].unit,
            first=next(begins, min(periods).start),
            last=next(ends, _last_day(max(periods))),
            running=any(each.reason == "running" for each in partial),
        )

    def partial(self) -> list[Period]:
        """The first and the last period of the axis, if the data covers them only in part."""
        first, last = period_of(self.first, self.unit), period_of(self.last, self.unit)
        begins = [first] if self.first > first.start else []
        return [*begins, *([last] if self.running or self.last < _last_day(last) else [])]

    def sentences(self, unit: CalendarUnit) -> list[str]:
        """Name the first and the last period of a unit, of the axis or coarser, if these are not whole."""
        unit = max(unit, self.unit, key=UNITS.index)
        first, last = (period_of(day, self.unit).within(unit) for day in (self.first, self.last))
        said = []
        if self.first > first.start:
            said.append(f"The first {unit} has data from {self.first.isoformat()} on only.")
        if self.running:
            said.append(f"The last {unit} is not over: its data goes up to {self.last.isoformat()}.")
        elif self.last < _last_day(last):
            said.append(f"The last {unit} has data up to {self.last.isoformat()} only.")
        return said

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "unit": self.unit,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "running": self.running,
        }


def read_covered(raw: Mapping[str, JsonValue]) -> Covered | None:
    """Returns None unless each field is as `as_json` writes it."""
    unit = next((each for each in UNITS if each == raw.get("unit")), None)
    first, last, running = (raw.get(each) for each in ("first", "last", "running"))
    if unit is None or not isinstance(first, str) or not isinstance(last, str):
        return None
    try:
        return Covered(
            unit=unit,
            first=date.fromisoformat(first),
            last=date.fromisoformat(last),
            running=running is True,
        )
    except ValueError:
        return None


def _last_day(period: Period) -> date:
    try:
        return period.end - timedelta(days=1)
    except (OverflowError, ValueError):  # the last period of the calendar
        return date.max
