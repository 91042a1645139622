"""The days that the data of a time axis covers, and sentences on the periods that it covers in part."""

from collections.abc import Sequence
from datetime import date, timedelta

from pydantic import BaseModel, ConfigDict

from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, Period, period_of
from app.modules.analysis.figures.trend import Partial


class Covered(BaseModel):
    """`unit` is that of the periods of the axis, `first` and `last` are the first and last day of its data.

    `running` says that the last period is not over. The days are `dated` if they are known to have data.
    """

    model_config = ConfigDict(frozen=True)

    unit: CalendarUnit
    first: date
    last: date
    running: bool = False
    dated: bool = True

    @classmethod
    def by(cls, periods: Sequence[Period], partial: Sequence[Partial] = ()) -> "Covered":
        """The days of all periods, but for those that the data covers in part. There is at least one."""
        first, last = min(periods), max(periods)
        begins = (each.edge for each in partial if each.is_first)
        at_end = [each for each in partial if not each.is_first and each.period == last]
        ends = (each.edge for each in at_end if each.reason != "ahead")
        return cls(
            unit=first.unit,
            first=next(begins, first.within("day").start if first.unit == "hour" else first.start),
            last=next(ends, _last_day(last)),
            running=any(each.reason == "running" for each in at_end),
            dated=all(each.said is not None for each in partial if each.is_first or each in at_end),
        )

    def ends(self, unit: CalendarUnit) -> tuple[Period, Period]:
        """The first and the last period of the data, in the unit of the axis or a coarser one."""
        unit = max(unit, self.unit, key=UNITS.index)
        return period_of(self.first, self.unit).within(unit), period_of(self.last, self.unit).within(unit)


def _last_day(period: Period) -> date:
    if period.unit == "hour":
        return period.within("day").start
    try:
        return period.end - timedelta(days=1)
    except (OverflowError, ValueError):  # the last period of the calendar
        return date.max
