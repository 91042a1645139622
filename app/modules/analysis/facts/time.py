"""Facts of a measure over time.

A change compares full periods with the same periods of the year before. Where there are none, the level and
the range are said instead: a season would pass for growth.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import gap_note, has_gaps, missing_values, note, partial_notes
from app.modules.analysis.facts.statistics import statistics
from app.modules.analysis.facts.table import Table, names
from app.modules.analysis.facts.wording import Counted, Names, Percent, Points, Slot, Span
from app.modules.analysis.figures import Direction, NumericColumn
from app.modules.analysis.figures.calendar import CalendarUnit, Period
from app.modules.analysis.figures.course import Course, PeriodValue
from app.modules.analysis.words import title

A_YEAR: Mapping[CalendarUnit, int] = {"week": 52, "month": 12, "quarter": 4, "year": 1}
_MEASURES = 3
_ALL_GROUPS = 4
_FEWEST_COMPARED = 3
_NEAR = Decimal("0.005")
_RUNNING = frozenset(
    {"running", "cumulative", "cumulated", "cum", "kumuliert", "kumulativ", "acumulado", "cumul", "cumule"}
)
_RATES = frozenset({"share", "percent", "percentage", "pct", "ratio", "rate"})


@dataclass(frozen=True, kw_only=True)
class OverTime:
    """A measure over time: the rows of one period are added up if `adds`. `scope` is the phrase that says of
    what, such as "All together"; None if it is clear."""

    table: Table
    measure: NumericColumn
    course: Course
    adds: bool
    scope: str | None = None
    rows: Sequence[int] | None = None
    key: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self.table.measure(self.measure)

    def rows_of(self, points: Sequence[PeriodValue]) -> list[int]:
        """Rows with a value in these periods; the course may fold several rows into one."""
        unit = self.course.unit
        wanted = {point.period for point in points}
        periods = self.table.found.periods
        rows = range(len(periods)) if self.rows is None else self.rows
        return [
            row
            for row in rows
            if (period := periods[row]) is not None
            and self.measure.values[row] is not None
            and period.within(unit) in wanted
        ]


def series_facts(table: Table) -> list[Fact]:
    """The change, or the extremes first if the question asks for one; then figures of all periods."""
    main, course = table.found.main, table.found.course
    if main is None or course is None:
        return []
    over = OverTime(table=table, measure=main, course=course, adds=False)
    if len(course.points) == 1:
        return [_value(over, course.points[0]), *partial_notes(table, course)]
    facts = _course(over, table.found.months)
    facts += [fact for other in table.found.measures[1:_MEASURES] for fact in _other(table, other)]
    return [*facts, *gap_note(table, course), *missing_values(table, main), *statistics(table, main)]


def together_facts(table: Table) -> list[Fact]:
    """Facts of the groups of a series all together, and of the groups that the question names."""
    main, course = table.found.main, table.found.course
    groups = group_rises(table)
    if main is None or course is None or len(course.points) < 2:
        return groups
    scope = table.wording.say("scope.all")
    over = OverTime(table=table, measure=main, course=course, adds=True, scope=scope)
    facts = [*_course(over, None), *gap_note(table, course)]
    at = 1 if facts[0].kind == "change" else 0
    return [*facts[:at], *groups, *facts[at:]]


def _course(over: OverTime, months: Course | None) -> list[Fact]:
    table = over.table
    folded = None
    if months is not None and len(months.full) > 1:
        folded = OverTime(table=table, measure=over.measure, course=months, adds=True, scope=over.scope)
    moved = trend(folded or over)
    if _is_running_total(over):
        facts = [fact for fact in moved if fact.key != "note_season"]
        return [*facts, *_latest(over), *partial_notes(table, over.course)]
    ends = _extremes(over)
    longest = folded or over
    if _asked_end(table) is not None:
        facts = [*ends, *moved]
    elif moved[0].kind == "change":
        facts = [*moved, *ends]
    else:  # the level names the extremes already
        facts = [*moved, *rises(longest)[:1], *_latest(over), *statistics(table, over.measure)[:1], *ends]
    facts += partial_notes(table, over.course)
    facts += [*_extremes(folded), *_latest(folded)] if folded is not None else []
    facts += [_level(longest)] if len(longest.course.full) > 1 else []
    return [*facts, *_season(longest), *_latest(over), *rises(longest)]


def _is_running_total(over: OverTime) -> bool:
    """Return True for sums that go on from period to period: all that they do is rise."""
    values = [point.value for point in over.course.points]
    named = over.measure.kind == "window" or _RUNNING & set(title(over.measure.name).split())
    return bool(named) and all(earlier <= later for earlier, later in pairwise(values))


def _asked_end(table: Table) -> Direction | None:
    """The end that the question asks for; "latest" and its like ask for a time."""
    timed = re.search(r"\b(latest|newest|earliest|nearest|closest)\b", table.question, re.IGNORECASE)
    return None if timed else table.found.direction


def trend(over: OverTime) -> list[Fact]:
    """The change against the year before; else level and range, with a note on what they leave open."""
    compared = _against_a_year_before(over)
    if compared is not None:
        return [_change(over, *compared)]
    both = _in_both_years(over)
    if both is not None:
        periods = Counted(len(both[0]), over.course.unit)
        scope = over.table.wording.say("scope.both", periods=periods)
        scope = ", ".join(filter(None, [over.scope, scope]))
        return [_change(replace(over, scope=scope), *both), _level(over)]
    full = over.course.full
    unit = over.course.unit
    if len(full) < 2:
        columns = [over.measure.name]
        none = note(over.table, "no_full", ["full"], columns=columns, one=Counted(1, unit))
        return [_value(over, full[0])] if full else [none]
    facts = [_level(over)]
    if unit in ("month", "quarter") and len(full) <= A_YEAR[unit]:
        columns = [over.measure.name]
        year = Counted(A_YEAR[unit] + 1, unit)
        facts.append(note(over.table, "season.unknown", ["season"], columns=columns, periods=year))
    return facts


_Points = Sequence[PeriodValue]


def _against_a_year_before(over: OverTime) -> tuple[_Points, _Points] | None:
    """The latest full periods, at most a year of them, and the same periods of the year before.

    They follow each other without a gap. Values that do not add up over time are compared one by one: only
    the latest is.
    """
    year = A_YEAR.get(over.course.unit)
    tail = _without_gaps(over.course.full)
    if year is None or len(tail) <= year:
        return None
    count = min(year, len(tail) - year) if over.measure.adds_over_time else 1
    start = len(tail) - count
    return tail[start:], tail[start - year : start - year + count]


def _in_both_years(over: OverTime) -> tuple[_Points, _Points] | None:
    """Of a measure with gaps, the periods of the latest year that have a value in the year before, too."""
    full = over.course.full
    if not full or over.course.unit not in ("month", "quarter") or not over.measure.adds_over_time:
        return None
    year = A_YEAR[over.course.unit]
    points = {point.period: point for point in full}
    latest = [
        point
        for point in full
        if point.period.steps_to(full[-1].period) < year and point.period.after(-year) in points
    ]
    if len(latest) < _FEWEST_COMPARED:
        return None
    return latest, [points[point.period.after(-year)] for point in latest]


def _without_gaps(full: _Points) -> _Points:
    """The latest full periods that follow each other."""
    start = len(full) - 1
    while start > 0 and full[start - 1].period.steps_to(full[start].period) == 1:
        start -= 1
    return full[max(start, 0) :]


def word_change(
    table: Table,
    measure: NumericColumn,
    before: Sequence[Decimal],
    *,
    latest: Sequence[Decimal],
    is_rate: bool,
) -> tuple[str, dict[str, Slot]]:
    """The template of a change between the sums of two sequences of values, and its slots for them.

    A change of rates, and one across zero, is a difference; the others are per cent.
    """
    new, old = sum(latest, Decimal(0)), sum(before, Decimal(0))
    difference = abs(new - old)
    change: Slot = table.difference(difference, measure)
    is_positive = old > 0 and min(*before, *latest) >= 0
    if is_positive and not isinstance(change, Points) and not is_rate:
        change = Percent(difference / old)
    is_near = old > 0 and difference <= _NEAR * old
    template = "equal" if new == old else "near" if is_near else "rose" if new > old else "fell"
    slots: dict[str, Slot] = {
        "measure": table.measure(measure),
        "change": change,
        "old": table.amount(old, measure),
        "new": table.amount(new, measure),
    }
    return f"change.{template}", slots


def _change(over: OverTime, latest: _Points, before: _Points) -> Fact:
    table = over.table
    new, old = [point.value for point in latest], [point.value for point in before]
    is_rate = bool(_RATES & set(title(over.measure.name).split()))
    template, slots = word_change(table, over.measure, old, latest=new, is_rate=is_rate)
    slots |= {
        "scope": over.scope,
        "span": _span(latest),
        "before": _span(before),
        "at": latest[-1].period if len(latest) == 1 else None,
    }
    rows = over.rows_of([*latest, *before])
    first, last = str(before[0].period), str(latest[-1].period)
    return table.fact(
        "change",
        template,
        slots,
        key=[over.measure.name, *over.key, first, "to", last],
        how=table.how("change", over.name, len(rows)),
        value=sum(new, Decimal(0)) - sum(old, Decimal(0)),
        cells=table.cells(rows, over.measure),
        columns=_columns(over),
        labels=list(over.key),
    )


def _span(points: _Points) -> Span | Period:
    first, last = points[0].period, points[-1].period
    year = first.within("year")
    is_year = first.unit in ("month", "quarter") and first.start == year.start and last.end == year.end
    return year if is_year else Span(first, last)


def _level(over: OverTime) -> Fact:
    """The average of the full periods and their range."""
    table = over.table
    full = over.course.full
    values = [point.value for point in full]
    averaged = over.measure.averaged
    mean = sum(values, Decimal(0)) / len(values)
    high, low = _sharing(full, max(values)), _sharing(full, min(values))
    rows = over.rows_of(full)
    slots: dict[str, Slot] = {
        "scope": over.scope,
        "measure": over.name,
        "periods": Counted(len(full), over.course.unit),
        "which": _which(over),
        "average": table.amount(mean, over.measure) if averaged else None,
        "value": table.amount(values[0], over.measure),
        "first": _amount(over, full[0]) if _is_comparable(over) else None,
        "last": _amount(over, full[-1]),
        "low": _amount(over, low[0]),
        "high": _amount(over, high[0]),
        "low_at": names([each.period for each in low]),
        "high_at": names([each.period for each in high]),
    }
    alike = low[0].value == high[0].value
    how = "values" if alike or not averaged else "average_sum" if over.adds else "average"
    return table.fact(
        "same" if alike else "average" if averaged else "span",
        "level.same" if alike else "level",
        slots,
        key=["level", over.measure.name, *over.key],
        how=table.how(how, over.name, len(rows)),
        value=mean if averaged else None,
        cells=table.cells(rows, over.measure),
        columns=_columns(over),
    )


def _is_comparable(over: OverTime) -> bool:
    """Return True if first and last may stand side by side, for want of a year before.

    Sums of single days differ by their weekday.
    """
    if len(over.course.full) < _FEWEST_COMPARED or (
        over.course.unit == "day" and over.measure.adds_over_time
    ):
        return False
    return _against_a_year_before(over) is None and _in_both_years(over) is None


def _extremes(over: OverTime) -> list[Fact]:
    """The highest and the lowest full period, the one that the question asks for first."""
    peaks, troughs = over.course.peaks, over.course.troughs
    if peaks[0].value == troughs[0].value:
        return []
    ends: list[tuple[Direction, _Points]] = [("highest", peaks), ("lowest", troughs)]
    if _asked_end(over.table) == "lowest":
        ends.reverse()
    return [_extreme(over, end, points) for end, points in ends]


def _extreme(over: OverTime, end: Direction, points: _Points) -> Fact:
    table = over.table
    compared = over.course.full or over.course.points
    things = table.things(over.measure)
    template = end if things is None else {"highest": "most", "lowest": "fewest"}[end]
    unit = Counted(len(compared), over.course.unit)
    which = None if _holds_of_all(over, end, points) else _which(over)
    scope = table.wording.say("scope.periods", periods=unit, which=which) if which is not None else None
    rows = over.rows_of(points)
    slots: dict[str, Slot] = {
        "scope": ", ".join(filter(None, [over.scope, scope])) or None,
        "leaders": names([point.period for point in points], bold=True),
        "measure": over.name,
        "things": things,
        "value": _amount(over, points[0]),
    }
    return table.fact(
        end,
        template,
        slots,
        key=[over.measure.name, over.course.unit, *over.key],
        how=table.how(f"{end}_sum" if over.adds else end, over.name, len(over.rows_of(compared))),
        value=points[0].value,
        cells=table.cells(rows, over.measure),
        columns=_columns(over),
        labels=[str(point.period) for point in points],
    )


def _holds_of_all(over: OverTime, end: Direction, points: _Points) -> bool:
    """Return True if no period that the data covers only in part is an extreme, too."""
    values = [point.value for point in over.course.points]
    extreme = max(values) if end == "highest" else min(values)
    whole = over.table.found.limit is None and over.table.found.complete
    is_same = list(points) == _sharing(over.course.points, extreme)
    return is_same and whole and not has_gaps(over.table, over.course)


def _which(over: OverTime) -> str | None:
    """The clause that says which periods are meant; None if they are all from the first to the last."""
    table = over.table
    if table.found.limit is not None or not table.found.complete:
        return table.wording.say("which.shown")
    if has_gaps(table, over.course):
        return table.wording.say("which.with_values")
    if over.course.partial and over.course.full:
        return table.wording.say("which.full")
    return None


def _value(over: OverTime, point: PeriodValue) -> Fact:
    table = over.table
    rows = over.rows_of([point])
    slots: dict[str, Slot] = {
        "label": point.period,
        "measure": over.name,
        "value": _amount(over, point),
    }
    return table.fact(
        "value",
        "value.of",
        slots,
        key=[over.measure.name, str(point.period)],
        how=table.how("sum" if len(rows) > 1 else "value", over.name, len(rows)),
        value=point.value,
        cells=table.cells(rows, over.measure),
        columns=_columns(over),
        labels=[str(point.period)],
    )


def _latest(over: OverTime) -> list[Fact]:
    """The values of the last full period and of those that the question names."""
    asked = over.table.question.casefold()
    full = over.course.full
    named = [
        point
        for point in over.course.points
        if over.table.period(point.period).casefold() in asked or _is_written(str(point.period), asked)
    ]
    chosen = {point.period: point for point in [*named[:_MEASURES], *full[-1:]]}
    return [] if over.scope is not None else [_value(over, point) for point in chosen.values()]


def _is_written(period: str, asked: str) -> bool:
    return period.casefold() in asked.replace("-", "-").split()


def _season(over: OverTime) -> list[Fact]:
    """The period that is highest or lowest in its year, in both of the latest two years."""
    year = over.course.year
    if year is None:
        return []
    facts = list[Fact]()
    for end, period in (("highest", year.high), ("lowest", year.low)):
        if period is None:
            continue
        length = A_YEAR[over.course.unit]
        before = period.after(-length)
        points = [point for point in over.course.full if point.period in (before, period)]
        slots: dict[str, Slot] = {
            "scope": over.scope,
            "measure": over.name,
            "label": period,
            "before": before,
            "last": year.last,
            "periods": Counted(length, over.course.unit),
        }
        rows = over.rows_of(points)
        facts.append(
            over.table.fact(
                "order",
                f"season.{end}",
                slots,
                key=["season", end, over.measure.name],
                how=over.table.how(end, over.name, len(over.rows_of(over.course.full[-2 * length :]))),
                value=points[-1].value,
                cells=over.table.cells(rows, over.measure),
                columns=_columns(over),
                labels=[str(period)],
            )
        )
    return facts


def rises(over: OverTime) -> list[Fact]:
    """In how many full periods the measure is above that of the period before, and of the year before."""
    full = over.course.full
    year = A_YEAR.get(over.course.unit, 0) if full and full[0].period.weeks == "iso" else 0
    steps = {"before": 1, "year": year}
    facts = list[Fact]()
    values = {point.period: point.value for point in full}
    for name, step in steps.items():
        if step == 0 or (name == "year" and step == 1):
            continue
        pairs = [
            (point, values[earlier]) for point in full if (earlier := point.period.after(-step)) in values
        ]
        if len(pairs) < _FEWEST_COMPARED:
            continue
        count = sum(point.value > earlier for point, earlier in pairs)
        rows = over.rows_of(full)
        slots: dict[str, Slot] = {
            "scope": over.scope,
            "measure": over.name,
            "count": count,
            "periods": Counted(len(pairs), over.course.unit),
        }
        facts.append(
            over.table.fact(
                "rises",
                f"rises.{name}",
                slots,
                key=[over.measure.name, name],
                how=over.table.how("values", over.name, len(rows)),
                value=Decimal(count),
                cells=over.table.cells(rows, over.measure),
                columns=_columns(over),
            )
        )
    return facts


def group_rises(table: Table) -> list[Fact]:
    """In how many full periods each group is above the period before; of many groups, the largest three."""
    found = table.found
    main, at = found.main, found.label
    if found.shape != "grouped series" or main is None or at is None or found.group is not None:
        return []
    groups: dict[str, list[int]] = {}
    for row, value in enumerate(main.values):
        if value is not None and found.periods[row] is not None and not table.is_unnamed(row, [at]):
            groups.setdefault(table.named(row, [at]), []).append(row)
    if len(groups) > _ALL_GROUPS:
        if not main.adds_over_time:
            return []
        largest = sorted(groups, key=lambda name: -sum(main.values[row] or 0 for row in groups[name]))
        groups = {name: groups[name] for name in largest[:_MEASURES]}
    said = [text for name, rows in groups.items() if (text := _group_rise(table, main, name=name, rows=rows))]
    if not said:
        return []
    rows = sorted(row for each in groups.values() for row in each)
    name = table.measure(main)
    return [
        table.fact(
            "rises",
            "rises.groups",
            {"measure": name, "leaders": Names(said)},
            key=[main.name, "groups"],
            how=table.how("values", name, len(rows)),
            cells=table.cells(rows, main),
            columns=[main.name, table.rows["columns"][at]["name"]],
        )
    ]


def _group_rise(table: Table, measure: NumericColumn, *, name: str, rows: Sequence[int]) -> str | None:
    partial = {each.period for each in table.found.partial}
    values = {
        period: value
        for row in rows
        if (period := table.found.periods[row]) is not None
        and (value := measure.values[row]) is not None
        and period not in partial
    }
    pairs = [
        (value, values[before]) for each, value in values.items() if (before := each.after(-1)) in values
    ]
    if len(pairs) < _FEWEST_COMPARED:
        return None
    count = sum(value > before for value, before in pairs)
    periods = Counted(len(pairs), next(iter(values)).unit)
    return table.wording.say("rises.group", label=name, count=count, periods=periods)


def _other(table: Table, measure: NumericColumn) -> list[Fact]:
    """The course of another measure of a series."""
    found = table.found
    known = [
        PeriodValue(period, value)
        for period, value in zip(found.periods, measure.values, strict=True)
        if period is not None and value is not None
    ]
    over = over_time(table, measure, known)
    if over is None or len(over.course.points) < 2:
        return []
    return [fact for fact in [*trend(over), *_extremes(over)] if fact.kind != "note"]


def over_time(table: Table, measure: NumericColumn, points: Sequence[PeriodValue]) -> OverTime | None:
    """A course of points; those periods are partial that are so for the main measure."""
    if not points:
        return None
    ordered = sorted(points, key=lambda point: point.period)
    partial = [each for each in table.found.partial if each.period in {point.period for point in ordered}]
    left_out = {each.period for each in partial}
    full = [point for point in ordered if point.period not in left_out]
    compared = full or ordered
    values = [point.value for point in compared]
    main = table.found.course
    course = Course(
        unit=ordered[0].period.unit,
        points=ordered,
        full=full,
        partial=partial,
        peaks=_sharing(compared, max(values)),
        troughs=_sharing(compared, min(values)),
        gaps=main.gaps if main is not None else [],
        year=None,
    )
    return OverTime(table=table, measure=measure, course=course, adds=False)


def _sharing(points: _Points, value: Decimal) -> list[PeriodValue]:
    return [point for point in points if point.value == value]


def _amount(over: OverTime, point: PeriodValue) -> Slot:
    return over.table.amount(point.value, over.measure)


def _columns(over: OverTime) -> list[str]:
    at = over.table.found.time
    return [over.measure.name, *([over.table.rows["columns"][at]["name"]] if at is not None else [])]
