"""The change of a measure from one period or range to another that a call names."""

from dataclasses import replace

from app.modules.analysis.facts.calls import FactCall, FactCallRefused
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.over_time import CYCLES, name_cycle_before
from app.modules.analysis.facts.scoping import scoped_fact
from app.modules.analysis.facts.selecting import Selection, read_span, select
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.time import word_change
from app.modules.analysis.facts.wording import PeriodSpan
from app.modules.analysis.figures.calendar import Period

_FEWEST_DAYS = 7


def change_fact(table: FactTable, call: FactCall) -> Fact:
    """The change from one period or range to another, both whole and without a season between them."""
    spans = [span for each in call.arguments[1:] if not each.name and (span := read_span(each))]
    if len(spans) != 2:
        raise FactCallRefused("it needs two periods, or two ranges of them")
    kept = [each for each in call.arguments if each.name or each is call.arguments[0]]
    found = select(table, replace(call, arguments=kept))
    measure = found.measure
    before, after = sorted(spans)
    _check_season(before, after)
    old_rows, new_rows = (_rows_of(found, each) for each in (before, after))
    old, new = found.sum(old_rows), found.sum(new_rows)
    template, slots = word_change(
        table,
        measure,
        [found.value(row) for row in old_rows],
        latest=[found.value(row) for row in new_rows],
    )
    slots |= {
        "scope": None,
        "span": after[0] if after[0] == after[1] else PeriodSpan(*after),
        "before": before[0] if before[0] == before[1] else PeriodSpan(*before),
        "at": after[1] if after[0] == after[1] else None,
    }
    slots["base"] = name_cycle_before(table, before[0], after[0]) or slots["before"]
    written = [f"{before[0]}..{before[1]}", f"{after[0]}..{after[1]}"]
    return scoped_fact(
        found,
        "change",
        slots,
        template=template,
        rows=[*old_rows, *new_rows],
        value=new - old,
        labels=written,
    )


def _rows_of(found: Selection, span: tuple[Period, Period]) -> list[int]:
    """The rows of a range. Raises `FactCallRefused` if a period of it has no row, or is not whole."""
    periods = found.table.found.periods
    rows = [
        row
        for row in found.rows
        if periods
        and (period := periods[row]) is not None
        and span[0] <= period.within(span[0].unit) <= span[1]
    ]
    partial = [each.period for each in found.table.found.partial]
    if any(span[0] <= each.within(span[0].unit) <= span[1] for each in partial):
        raise FactCallRefused("one of its periods is not whole")
    held = {period for row in rows if (period := periods[row]) is not None}
    if not held:
        raise FactCallRefused("one of its periods has no row")
    first = min(held)
    begins = Period(span[0].start, first.unit) if first.unit != "week" else first
    if first != begins or first.after(len(held)).start < span[1].end:
        raise FactCallRefused("one of its periods has no row")
    return rows


def _check_season(before: tuple[Period, Period], after: tuple[Period, Period]) -> None:
    """Raises `FactCallRefused` for ranges that differ in length, overlap, or compare different seasons.

    Ranges of the same season lie whole years apart; else one follows the other. Single days and weeks are
    chance.
    """
    unit = before[0].unit
    length = before[0].steps_to(before[1]) + 1
    if unit != after[0].unit or length != after[0].steps_to(after[1]) + 1:
        raise FactCallRefused("its periods differ in length")
    apart = before[0].steps_to(after[0])
    if apart < length:
        raise FactCallRefused("its periods overlap")
    if unit == "day" and length < _FEWEST_DAYS:
        raise FactCallRefused("single days are no trend")
    year = CYCLES.get(unit)
    if apart != length and (year is None or apart % year):
        raise FactCallRefused("a season may lie between its periods")
