"""The course of each group of a series: its ends, which grew and which fell most, and how often each rose."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.over_time import (
    FEWEST_COMPARED,
    OverTime,
    compared_ends,
    over_rows,
    span_of,
    steps,
)
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Counted, Names, PeriodSpan, Slot
from app.modules.analysis.figures.trend import PeriodValue

_ALL_GROUPS = 4
_LARGEST = 3


def group_facts(table: FactTable, together: OverTime | None) -> list[Fact]:
    """`together` is the course of all groups; None if their values may not be added up."""
    groups = _groups(table)
    growth = _growth(table, groups, together) if together is not None else []
    return [*growth, *_rises(table, groups)]


def _groups(table: FactTable) -> dict[str, OverTime]:
    """The course of each group by its name; none of rows with a second label."""
    found = table.found
    main, at = found.main, found.label
    if found.shape != "grouped series" or main is None or at is None or found.group is not None:
        return {}
    gathered: dict[str, list[int]] = {}
    for row, value in enumerate(main.values):
        if value is not None and found.periods[row] is not None and not table.is_unnamed(row, [at]):
            gathered.setdefault(table.named(row, [at]), []).append(row)
    return {name: over_rows(table, main, rows) for name, rows in gathered.items()}


def group_courses(table: FactTable) -> list[Fact]:
    """The values of each of a few groups in the first and the last full period, if each has both."""
    groups = _groups(table)
    if not 1 < len(groups) <= _ALL_GROUPS or any(len(each.course.full) < 2 for each in groups.values()):
        return []
    main = next(iter(groups.values())).measure
    ends = {name: (each.course.full[0], each.course.full[-1]) for name, each in groups.items()}
    periods = {(first.period, last.period) for first, last in ends.values()}
    if len(periods) > 1 or any(len(each.rows_of(ends[name])) > 2 for name, each in groups.items()):
        return []
    ((first_period, last_period),) = periods
    pairs = [
        table.wording.say(
            "courses.pair",
            label=name,
            old=table.amount(first.value, main),
            new=table.amount(last.value, main),
        )
        for name, (first, last) in ends.items()
    ]
    slots: dict[str, Slot] = {
        "leaders": Names(pairs),
        "span": PeriodSpan(first_period, last_period),
        "groups": len(groups),
    }
    rows = sorted(row for name, each in groups.items() for row in each.rows_of(ends[name]))
    key = [main.name, "courses"]
    return [table.measure_fact("rises", "courses", main, slots=slots, rows=rows, how="values", key=key)]


def _growth(table: FactTable, groups: Mapping[str, OverTime], together: OverTime) -> list[Fact]:
    """The group that grew most between the ends of the course, and the one that fell most.

    There is none if a group has no value at one of these periods, or if two share the lead.
    """
    ends = compared_ends(together)
    if (
        ends is None
        or len(groups) < 2
        or any(_sum(each, end) is None for each in groups.values() for end in ends)
    ):
        return []
    new, old = ({name: _sum(each, end) or Decimal(0) for name, each in groups.items()} for end in ends)
    ranked = sorted(groups, key=lambda name: old[name] - new[name])
    most, least = ranked[0], ranked[-1]
    changes = [new[name] - old[name] for name in ranked]
    if changes[0] <= 0 or changes[0] == changes[1]:
        return []
    falls = changes[-1] < 0 and changes[-1] != changes[-2]
    main = together.measure
    slots: dict[str, Slot] = {
        "label": most,
        "old": table.amount(old[most], main),
        "new": table.amount(new[most], main),
        "before": span_of(ends[1]),
        "span": span_of(ends[0]),
        "other": least if falls else None,
        "first": table.amount(old[least], main),
        "last": table.amount(new[least], main),
    }
    rows = [row for end in ends for row in together.rows_of(end)]
    key = [main.name, "most", most]
    value = changes[0]
    return [
        table.measure_fact("leader", "grew", main, slots=slots, rows=rows, how="change", value=value, key=key)
    ]


def _sum(over: OverTime, points: Sequence[PeriodValue]) -> Decimal | None:
    values = {point.period: point.value for point in over.course.points}
    if any(point.period not in values for point in points):
        return None
    return sum((values[point.period] for point in points), Decimal(0))


def _rises(table: FactTable, groups: Mapping[str, OverTime]) -> list[Fact]:
    """In how many full periods each group is above the period before; of many groups, the largest three."""
    if not groups:
        return []
    main = next(iter(groups.values())).measure
    chosen = list(groups)
    if len(groups) > _ALL_GROUPS:
        if not main.adds_over_time:
            return []
        chosen = sorted(groups, key=lambda name: -sum(point.value for point in groups[name].course.points))
        chosen = chosen[:_LARGEST]
    said = [text for name in chosen if (text := _rise(table, name, groups[name]))]
    if not said:
        return []
    rows = sorted(row for name in chosen for row in groups[name].rows or ())
    slots = {"leaders": Names(said)}
    key = [main.name, "groups"]
    return [table.measure_fact("rises", "rises.groups", main, slots=slots, rows=rows, how="values", key=key)]


def _rise(table: FactTable, name: str, over: OverTime) -> str | None:
    pairs = steps(over, 1)
    if len(pairs) < FEWEST_COMPARED or over.follows_weekdays:
        return None
    count = sum(value > before for value, before in pairs)
    periods = Counted(len(pairs), over.course.unit)
    return table.wording.say("rises.group", label=name, count=count, periods=periods)
