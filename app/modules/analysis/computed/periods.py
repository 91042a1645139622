"""The rows of a result as one value for each period, without holes."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from pydantic import JsonValue

from app.core.values.numbers import as_decimal
from app.modules.analysis.computed.option import NotComputable
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.aggregates import Aggregate, together
from app.modules.analysis.figures.calendar import CalendarUnit, Period, read_periods
from app.modules.analysis.figures.trend import DataSpan, PeriodValue, folded_span, partial_periods
from app.modules.analysis.words import title
from graph.state import Rows

MAX_PERIODS = 2_000
_MAX_SHARE_OF_GAPS = 0.5
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class PeriodValues:
    """Exact values of consecutive periods; None where the rows have no value.

    `partial` are the periods that the data covers only in part: they are drawn, and nothing is computed from
    them. `accumulates` is true if the value of a period that has begun can only grow, as counts do, and sums
    of values of which none is below zero. `said` are sentences on rows that are left out.
    """

    unit: CalendarUnit
    periods: Sequence[Period]
    values: Sequence[Decimal | None]
    partial: frozenset[Period]
    accumulates: bool
    said: Sequence[str] = ()

    @property
    def whole(self) -> list[float | None]:
        """The values as doubles, with None also for periods that the data covers only in part."""
        return [
            None if period in self.partial or value is None else float(value)
            for period, value in zip(self.periods, self.values, strict=True)
        ]


def period_values(
    rows: Rows,
    found: Figures,
    *,
    across: int,
    column: int,
    how: Aggregate | None = None,
    unit: CalendarUnit | None = None,
) -> PeriodValues:
    """Put the rows of each period together. A period without rows has no value, or zero if rows are counted.

    Raises `NotComputable`.
    """
    time = title(rows["columns"][across]["name"])
    cells = [row[across] for row in rows["rows"]]
    read = found.periods if across == found.time else read_periods(cells)
    dated = [
        (period, row) for period, row in zip(read or (), rows["rows"], strict=False) if period is not None
    ]
    if not dated:
        raise NotComputable(f"{time} is no time axis. Choose a column of days, weeks, months or years.")
    own = dated[0][0].unit
    unit = unit or own
    gathered: defaultdict[Period, list[JsonValue]] = defaultdict(list)
    for period, row in dated:
        gathered[period.within(unit)].append(row[column])
    if how in (None, "none") and any(len(each) > 1 for each in gathered.values()):
        raise NotComputable(
            f"Several rows have the same {unit}, as those of several series do. Draw one series, or choose "
            "how its rows are put together (`how`)."
        )
    ordered = sorted(gathered)
    count = ordered[0].steps_to(ordered[-1]) + 1
    if count > MAX_PERIODS:
        raise NotComputable(
            f"There are {count:,} {unit}s, and at most {MAX_PERIODS:,} can be computed. Choose a coarser "
            "unit of time."
        )
    measure = next((each for each in found.measures if each.column == column), None)
    counts = _counts(how, measure, found) and not rows["truncated"]
    if not counts and len(ordered) < _MAX_SHARE_OF_GAPS * count:
        raise NotComputable(
            f"Only {len(ordered):,} of {count:,} {unit}s have a row. Choose a coarser unit of time."
        )
    empty = Decimal(0) if counts else None
    periods = [ordered[0].after(step) for step in range(count)]
    values = [_together(gathered[each], how) if each in gathered else empty for each in periods]
    if not any(each is not None for each in values):
        name = title(rows["columns"][column]["name"])
        raise NotComputable(f"{name} has no numbers. Choose a column that has some.")
    known = {each.period.start for each in found.partial} if across == found.time else set[date]()
    return PeriodValues(
        unit=unit,
        periods=periods,
        values=values,
        partial=_partial(sorted({period for period, _ in dated}), ordered, known, today=found.today),
        accumulates=_adds(how, measure) and all(each is None or each >= 0 for each in values),
        said=[*_left_out(len(cells) - len(dated), time), *_gaps(periods, values)],
    )


def _counts(how: Aggregate | None, measure: NumericColumn | None, found: Figures) -> bool:
    """True if a period without rows counts zero: no row of it was left out after counting."""
    is_count = how == "count" or (
        how in (None, "sum") and measure is not None and measure.kind in ("count", "distinct")
    )
    return (
        is_count and not found.statement.selective and found.limit is None and found.statement.within is None
    )


def _adds(how: Aggregate | None, measure: NumericColumn | None) -> bool:
    if how is None:
        return measure is not None and (measure.adds_over_time or measure.kind in ("count", "distinct"))
    return how in ("sum", "count")


def _together(cells: Sequence[JsonValue], how: Aggregate | None) -> Decimal | None:
    if how == "count":
        return Decimal(sum(cell is not None for cell in cells))
    values = [value for cell in cells if (value := as_decimal(cell)) is not None]
    return together(values, how) if values else None


def _partial(
    own: Sequence[Period], ordered: Sequence[Period], known: set[date], *, today: date | None
) -> frozenset[Period]:
    """The periods that the data covers only in part. `own` are the periods of the rows, perhaps finer."""
    unit = ordered[0].unit
    short = {each for each in own if each.start in known}
    short |= {each.period for each in partial_periods(own, None, today)}
    if own[0].unit == unit:
        return frozenset(short)
    if own[0].unit == "day":
        span = folded_span([PeriodValue(day, Decimal(0)) for day in own])
    else:
        last = own[-1].end - timedelta(days=1)
        span = DataSpan(own[0].start, last, (last - own[0].start).days + 1)
    coarse = {each.period for each in partial_periods(ordered, span, today)}
    return frozenset(coarse | {each.within(unit) for each in short})


def _left_out(count: int, time: str) -> list[str]:
    if count == 0:
        return []
    were = "1 row" if count == 1 else f"{count:,} rows"
    return [f"{were} without a {time} {'is' if count == 1 else 'are'} left out."]


def _gaps(periods: Sequence[Period], values: Sequence[Decimal | None]) -> list[str]:
    gone = [period for period, value in zip(periods, values, strict=True) if value is None]
    if not gone:
        return []
    named = ", ".join(map(str, gone[:_NAMED]))
    more = f" and {len(gone) - _NAMED:,} more" if len(gone) > _NAMED else ""
    have = "has" if len(gone) == 1 else "have"
    return [f"{named}{more} {have} no value."]
