"""The rows of a result as one value for each period, without holes."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

from pydantic import JsonValue

from app.modules.analysis.computed.option import ChartOption, NotComputable, Together
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, Period, read_periods
from app.modules.analysis.figures.course import PeriodValue, Span, folded_span, partial_periods
from app.modules.analysis.figures.numbers import exact
from app.modules.analysis.figures.roles import MeasureRole, roles_of
from app.modules.analysis.figures.statement import StatementReading
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
    of values of which none is below zero. `names` are the periods as the rows write them. `said` are
    sentences on rows that are left out.
    """

    unit: CalendarUnit
    periods: Sequence[Period]
    values: Sequence[Decimal | None]
    partial: frozenset[Period]
    accumulates: bool
    names: Mapping[Period, str] = field(default_factory=dict, repr=False)
    said: Sequence[str] = ()

    @property
    def whole(self) -> list[float | None]:
        """The values as doubles, with None also for periods that the data covers only in part."""
        return [
            None if period in self.partial or value is None else float(value)
            for period, value in zip(self.periods, self.values, strict=True)
        ]

    def name(self, period: Period) -> str:
        """The place of a period on the axis, as the rows write it; their first days if these are dates."""
        if (own := self.names.get(period)) is not None:
            return own
        return period.start.isoformat() if self.has_dates else str(period)

    @property
    def has_dates(self) -> bool:
        """True if the axis has days, as dates."""
        return all(name.startswith(period.start.isoformat()) for period, name in self.names.items())


def period_values(
    rows: Rows, option: ChartOption, statement: StatementReading, *, partial: Iterable[Period], today: date
) -> PeriodValues:
    """Put the rows of each period together. A period without rows has no value, or zero if rows are counted.

    `partial` are periods that the data is known to cover only in part. Raises `NotComputable`.
    """
    for column in (option.across, option.value):
        if column >= len(rows["columns"]):
            count = len(rows["columns"])
            raise NotComputable(f"There is no column {column}: the result has {count}, counted from 0.")
    time = title(rows["columns"][option.across]["name"])
    cells = [row[option.across] for row in rows["rows"]]
    found = read_periods(cells)
    if found is None:
        raise NotComputable(f"{time} is no time axis. Choose a column of days, weeks, months or years.")
    dated = [(period, row) for period, row in zip(found, rows["rows"], strict=True) if period is not None]
    own = dated[0][0].unit
    unit = option.unit or own
    if UNITS.index(unit) < UNITS.index(own):
        raise NotComputable(f"{time} has {own}s: they cannot be split into {unit}s.")
    gathered: defaultdict[Period, list[JsonValue]] = defaultdict(list)
    for period, row in dated:
        gathered[period.within(unit)].append(row[option.value])
    if option.how is None and any(len(each) > 1 for each in gathered.values()):
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
    role = next(
        (each for each in roles_of("", statement, rows).measures if each.column == option.value), None
    )
    counts = _counts(option.how, role, statement) and not rows["truncated"]
    if not counts and len(ordered) < _MAX_SHARE_OF_GAPS * count:
        raise NotComputable(
            f"Only {len(ordered):,} of {count:,} {unit}s have a row. Choose a coarser unit of time."
        )
    empty = Decimal(0) if counts else None
    periods = [ordered[0].after(step) for step in range(count)]
    values = [_together(gathered[each], option.how) if each in gathered else empty for each in periods]
    if not any(value is not None for value in values):
        name = title(rows["columns"][option.value]["name"])
        raise NotComputable(f"{name} has no numbers. Choose a column that has some.")
    days = sorted({period for period, _ in dated})
    return PeriodValues(
        unit=unit,
        periods=periods,
        values=values,
        partial=_partial(days, ordered, {each.start for each in partial}, today=today),
        accumulates=_adds(option.how, role) and all(value is None or value >= 0 for value in values),
        names=_names(rows, option, dated, unit=unit),
        said=[*_left_out(len(cells) - len(dated), time), *_gaps(periods, values)],
    )


def _counts(how: Together | None, role: MeasureRole | None, statement: StatementReading) -> bool:
    """True if a period without rows counts zero: no row of it was left out after counting."""
    is_count = how == "count" or (
        how in (None, "sum") and role is not None and role.kind in ("count", "distinct")
    )
    return is_count and not statement.selective and statement.limit is None and statement.within is None


def _adds(how: Together | None, role: MeasureRole | None) -> bool:
    if how is None:
        return role is not None and (role.adds_over_time or role.kind in ("count", "distinct"))
    return how in ("sum", "count")


def _together(cells: Sequence[JsonValue], how: Together | None) -> Decimal | None:
    if how == "count":
        return Decimal(sum(cell is not None for cell in cells))
    values = [value for cell in cells if (value := exact(cell)) is not None]
    if not values:
        return None
    match how:
        case "mean":
            return sum(values, Decimal(0)) / len(values)
        case "median":
            return statistics.median(values)
        case _:
            return sum(values, Decimal(0))


def _partial(
    own: Sequence[Period], ordered: Sequence[Period], known: set[date], *, today: date
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
        span = Span(own[0].start, last, (last - own[0].start).days + 1)
    coarse = {each.period for each in partial_periods(ordered, span, today)}
    return frozenset(coarse | {each.within(unit) for each in short})


def _names(
    rows: Rows,
    option: ChartOption,
    dated: Sequence[tuple[Period, Sequence[JsonValue]]],
    *,
    unit: CalendarUnit,
) -> dict[Period, str]:
    """How the rows write each period, if each is written in one way only; empty otherwise."""
    if dated[0][0].unit != unit:
        return {}
    names: dict[Period, str] = {}
    for period, row in dated:
        if names.setdefault(period, str(row[option.across])) != str(row[option.across]):
            return {}
    return names


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
