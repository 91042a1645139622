"""Facts of a measure over time.

A change compares full periods with the same periods of the year before. Where there are none, the level and
the range are said instead: a season would pass for growth.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import gap_note, has_gaps, missing_values, note, partial_notes
from app.modules.analysis.facts.over_time import (
    CYCLES,
    FEWEST_COMPARED,
    OverTime,
    against_a_year_before,
    is_comparable,
    name_cycle_before,
    over_rows,
    pair_with_year_before,
    span_of,
    steps,
)
from app.modules.analysis.facts.statistics import statistics
from app.modules.analysis.facts.table import FactTable, names
from app.modules.analysis.facts.wording import Counted, Percent, Points, Slot
from app.modules.analysis.figures import Direction, NumericColumn
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.figures.names import is_part
from app.modules.analysis.figures.requested_measures import names_difference
from app.modules.analysis.figures.trend import Course, PeriodValue, sharing
from app.modules.analysis.words import title, word_set

_MEASURES = 3
_NEAR = Decimal("0.005")
_TELLING = Decimal("0.75")
_RUNNING = word_set("""
    running cumulative cumulated cum kumuliert kumulativ acumulado cumul cumule
""")


def series_facts(table: FactTable) -> list[Fact]:
    """The change, or the extremes first if the question asks for one; then figures of all periods."""
    main, course = table.found.main, table.found.course
    if main is None or course is None:
        return []
    over = OverTime(table=table, measure=main, course=course, adds=False)
    if len(course.points) == 1:
        return [_value(over, course.points[0]), *partial_notes(table, course)]
    facts = _course(over, table.found.months)
    facts += [fact for other in table.found.measures[1:_MEASURES] for fact in _other(table, other)]
    missing = [] if main.is_change else missing_values(table, main)
    return [*facts, *gap_note(table, course), *missing, *statistics(table, main)]


def together(table: FactTable) -> OverTime | None:
    """The course of the groups of a series all together; None if there is none of two periods."""
    main, course = table.found.main, table.found.course
    if main is None or course is None or len(course.points) < 2:
        return None
    return OverTime(table=table, measure=main, course=course, adds=True, scope=table.wording.say("scope.all"))


def together_facts(over: OverTime) -> list[Fact]:
    return [*_course(over, None), *gap_note(over.table, over.course)]


def _course(over: OverTime, months: Course | None) -> list[Fact]:
    table = over.table
    folded = None
    if months is not None and len(months.full) > 1:
        folded = OverTime(table=table, measure=over.measure, course=months, adds=True, scope=over.scope)
    own = _computed(over)
    if own is not None:
        return own
    moved = trend(folded or over)
    ends = _extremes(over)
    longest = folded or over
    risen = _rises(longest)
    if _asked_end(table) is not None:
        facts = [*ends, *moved]
    elif moved[0].kind == "change":
        facts = [*moved, *ends]
    elif names_difference(over.measure.name):
        facts = [*statistics(table, over.measure)[::-1], *moved, *_latest(over), *ends]
    else:  # the level names the extremes already
        telling = [fact for fact, pairs in risen[:1] if _is_telling(fact, pairs)]
        facts = [*moved, *telling, *statistics(table, over.measure)[:1], *_latest(over), *ends]
    facts += partial_notes(table, over.course)
    facts += [*_extremes(folded), *_latest(folded)] if folded is not None else []
    facts += [_level(longest)] if len(longest.course.full) > 1 else []
    return [*facts, *_season(longest), *_latest(over), *(fact for fact, _ in risen)]


def _computed(over: OverTime) -> list[Fact] | None:
    """Facts of values computed from several periods: these are not compared again. None of other values."""
    kind = over.measure.kind
    if kind == "running" or _is_running_total(over):
        return [_running(over)]
    if kind == "moving":
        return [*_latest(over), *partial_notes(over.table, over.course)]
    if over.measure.is_change:
        return [*_extremes(over), *_latest(over), *partial_notes(over.table, over.course)]
    return None


def _is_running_total(over: OverTime) -> bool:
    """Return True for what is called a running total, unless it falls."""
    values = [point.value for point in over.course.points]
    named = _RUNNING & set(title(over.measure.name).split())
    return bool(named) and all(earlier <= later for earlier, later in pairwise(values))


def _running(over: OverTime) -> Fact:
    """What a running total has come to, also in a period that is not over."""
    last = over.course.points[-1]
    slots: dict[str, Slot] = {"label": up_to(over.table, last.period), "value": over.amount(last.value)}
    key = [over.measure.name, "to", str(last.period)]
    labels = [str(last.period)]
    return over.fact(
        "value", "running", [last], slots=slots, how="value", value=last.value, key=key, labels=labels
    )


def up_to(table: FactTable, period: Period) -> Period:
    """The last day of a period that has data, if the period is not whole, else the period."""
    partial = next((each for each in table.found.partial if each.period == period), None)
    if partial is None or partial.reason not in ("ends", "until", "running"):
        return period
    day = partial.said
    return period if day is None else Period(day, "day")


def _asked_end(table: FactTable) -> Direction | None:
    """The end that the question asks for; "latest" and its like ask for a time."""
    timed = re.search(r"\b(latest|newest|earliest|nearest|closest)\b", table.question, re.IGNORECASE)
    return None if timed else table.found.direction


def trend(over: OverTime) -> list[Fact]:
    """The change against the year before; else level and range, with a note on what they leave open."""
    compared = against_a_year_before(over)
    if compared is not None:
        change, level = _change(over, *compared), _level(over)
        if over.course.unit == "hour" and not over.measure.adds_over_time:
            return [level, change]  # a single hour says little
        return [change, level] if over.measure.is_level else [change]
    both = pair_with_year_before(over)
    if both is not None:
        periods = Counted(len(both[0]), over.course.unit)
        scope = over.table.wording.say("scope.both", periods=periods)
        scope = ", ".join(filter(None, [over.scope, scope]))
        return [_change(replace(over, scope=scope), *both), _level(over)]
    full = over.course.full
    unit = over.course.unit
    if over.measure.is_level and len(full) > 1:
        return [_change(over, full[-1:], full[:1]), _level(over)]
    if len(full) < 2:
        columns = [over.measure.name]
        none = note(over.table, "no_full", ["full"], columns=columns, one=Counted(1, unit))
        return [_value(over, full[0])] if full else [none]
    facts = [_level(over)]
    if unit in ("month", "quarter") and len(full) <= CYCLES[unit]:
        columns = [over.measure.name]
        year = Counted(CYCLES[unit] + 1, unit)
        facts.append(note(over.table, "season.unknown", ["season"], columns=columns, periods=year))
    return facts


def word_change(
    table: FactTable,
    measure: NumericColumn,
    before: Sequence[Decimal],
    *,
    latest: Sequence[Decimal],
) -> tuple[str, dict[str, Slot]]:
    """The template of a change between the sums of two sequences of values, and its slots for them.

    A change of rates, and one across zero, is a difference; the others are per cent.
    """
    new, old = sum(latest, Decimal(0)), sum(before, Decimal(0))
    difference = abs(new - old)
    change: Slot = table.difference(difference, measure)
    is_positive = old > 0 and min(*before, *latest) >= 0
    if is_positive and not isinstance(change, Points) and not is_part(measure.name):
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


def _change(over: OverTime, latest: Sequence[PeriodValue], before: Sequence[PeriodValue]) -> Fact:
    table = over.table
    new, old = [point.value for point in latest], [point.value for point in before]
    template, slots = word_change(table, over.measure, old, latest=new)
    slots |= {
        "span": span_of(latest),
        "before": span_of(before),
        "at": latest[-1].period if len(latest) == 1 else None,
        "base": name_cycle_before(table, before[0].period, latest[0].period) or before[0].period,
    }
    first, last = str(before[0].period), str(latest[-1].period)
    return over.fact(
        "change",
        template,
        [*latest, *before],
        slots=slots,
        how="change",
        value=sum(new, Decimal(0)) - sum(old, Decimal(0)),
        key=[over.measure.name, first, "to", last],
    )


def _level(over: OverTime) -> Fact:
    """The average of the full periods and their range."""
    full = over.course.full
    values = [point.value for point in full]
    averaged = over.measure.averaged
    mean = sum(values, Decimal(0)) / len(values)
    high, low = sharing(full, max(values)), sharing(full, min(values))
    slots: dict[str, Slot] = {
        "periods": Counted(len(full), over.course.unit),
        "which": _which(over),
        "average": over.amount(mean) if averaged else None,
        "value": over.amount(values[0]),
        "first": over.amount(values[0]) if is_comparable(over) and not over.measure.is_level else None,
        "last": over.amount(values[-1]),
        "low": over.amount(low[0].value),
        "high": over.amount(high[0].value),
        "low_at": names([each.period for each in low]),
        "high_at": names([each.period for each in high]),
    }
    alike = low[0].value == high[0].value
    how = "values" if alike or not averaged else "average_sum" if over.adds else "average"
    return over.fact(
        "same" if alike else "average" if averaged else "span",
        "level.same" if alike else "level",
        full,
        slots=slots,
        how=how,
        value=mean if averaged else None,
        key=["level", over.measure.name],
    )


def _extremes(over: OverTime) -> list[Fact]:
    """The highest and the lowest full period, the one that the question asks for first."""
    peaks, troughs = over.course.peaks, over.course.troughs
    if peaks[0].value == troughs[0].value:
        return []
    ends: list[tuple[Direction, Sequence[PeriodValue]]] = [("highest", peaks), ("lowest", troughs)]
    if _asked_end(over.table) == "lowest":
        ends.reverse()
    return [_extreme(over, end, points) for end, points in ends]


def _extreme(over: OverTime, end: Direction, points: Sequence[PeriodValue]) -> Fact:
    table = over.table
    compared = over.course.full or over.course.points
    unit = Counted(len(compared), over.course.unit)
    which = None if _holds_of_all(over, end, points) else _which(over)
    scope = table.wording.say("scope.periods", periods=unit, which=which) if which is not None else None
    slots: dict[str, Slot] = {
        "scope": ", ".join(filter(None, [over.scope, scope])) or None,
        "leaders": names([point.period for point in points], bold=True),
        "value": over.amount(points[0].value),
    }
    return over.fact(
        end,
        end,
        points,
        slots=slots,
        how=f"{end}_sum" if over.adds else end,
        of=compared,
        value=points[0].value,
        key=[over.measure.name, over.course.unit],
        labels=[str(point.period) for point in points],
    )


def _holds_of_all(over: OverTime, end: Direction, points: Sequence[PeriodValue]) -> bool:
    """Return True if no period that the data covers only in part is an extreme, too."""
    values = [point.value for point in over.course.points]
    extreme = max(values) if end == "highest" else min(values)
    is_same = list(points) == sharing(over.course.points, extreme)
    return is_same and not over.table.found.bounded and not has_gaps(over.table, over.course)


def _which(over: OverTime) -> str | None:
    """The clause that says which periods are meant; None if they are all from the first to the last."""
    table = over.table
    if table.found.bounded:
        return table.wording.say("which.shown")
    if has_gaps(table, over.course):
        return table.wording.say("which.with_values")
    if over.course.partial and over.course.full:
        return table.wording.say("which.full")
    return None


def _value(over: OverTime, point: PeriodValue) -> Fact:
    slots: dict[str, Slot] = {"label": point.period, "value": over.amount(point.value)}
    how = "sum" if len(over.rows_of([point])) > 1 else "value"
    key = [over.measure.name, str(point.period)]
    labels = [str(point.period)]
    return over.fact(
        "value", "value.of", [point], slots=slots, how=how, value=point.value, key=key, labels=labels
    )


def _latest(over: OverTime) -> list[Fact]:
    """The values of the last full period and of those that the question names."""
    asked = over.table.question.casefold()
    full = over.course.full
    named = [
        point
        for point in over.course.points
        if over.table.period(point.period).casefold() in asked
        or str(point.period).casefold() in asked.split()
    ]
    chosen = {point.period: point for point in [*named[:_MEASURES], *full[-1:]]}
    return [] if over.scope is not None else [_value(over, point) for point in chosen.values()]


def _season(over: OverTime) -> list[Fact]:
    """The period that is highest or lowest in its year, in both of the latest two years."""
    year = over.course.year
    if year is None:
        return []
    facts = list[Fact]()
    for end, period in (("highest", year.high), ("lowest", year.low)):
        if period is None:
            continue
        length = CYCLES[over.course.unit]
        before = period.after(-length)
        points = [point for point in over.course.full if point.period in (before, period)]
        slots: dict[str, Slot] = {
            "label": period,
            "before": before,
            "last": year.last,
            "periods": Counted(length, over.course.unit),
        }
        facts.append(
            over.fact(
                "order",
                f"season.{end}",
                points,
                slots=slots,
                how=end,
                of=over.course.full[-2 * length :],
                value=points[-1].value,
                key=["season", end, over.measure.name],
                labels=[str(period)],
            )
        )
    return facts


def _is_telling(rise: Fact, pairs: int) -> bool:
    """Return True if so many of the pairs of periods rose, or so few, that it is hardly by chance."""
    share = Decimal(str(rise.value)) / pairs
    return not 1 - _TELLING < share < _TELLING


def rises(over: OverTime) -> list[Fact]:
    """In how many full periods the measure is above that of the period before, and of the year before; of
    hours, above that of the same hour of the day before.
    """
    return [fact for fact, _ in _rises(over)]


def _rises(over: OverTime) -> list[tuple[Fact, int]]:
    """Those facts, each with the number of pairs of periods that it compares."""
    full = over.course.full
    is_hour = over.course.unit == "hour"
    cycle = CYCLES.get(over.course.unit, 0) if full and full[0].period.weeks == "iso" else 0
    found = list[tuple[Fact, int]]()
    step_before = 0 if over.follows_weekdays or is_hour else 1
    for name, step in (("before", step_before), ("day" if is_hour else "year", cycle)):
        pairs = steps(over, step) if step and (name, step) != ("year", 1) else []
        if len(pairs) < FEWEST_COMPARED:
            continue
        count = sum(value > earlier for value, earlier in pairs)
        slots: dict[str, Slot] = {"count": count, "periods": Counted(len(pairs), over.course.unit)}
        key = [over.measure.name, name]
        fact = over.fact(
            "rises", f"rises.{name}", full, slots=slots, how="values", value=Decimal(count), key=key
        )
        found.append((fact, len(pairs)))
    return found


def _other(table: FactTable, measure: NumericColumn) -> list[Fact]:
    """The course of another measure of a series."""
    found = table.found
    known = [row for row in measure.rows if found.periods[row]]
    if len(known) < 2:
        return []
    over = over_rows(table, measure, known)
    own = _computed(over)
    return [fact for fact in own or [*trend(over), *_extremes(over)] if fact.kind != "note"]
