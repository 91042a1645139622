"""The change of a measure from one period or range to another that a call names."""

from dataclasses import replace

from app.modules.analysis.facts.calls import Call, CallRefused
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.scoping import scoped_fact
from app.modules.analysis.facts.selecting import Selection, read_span, select
from app.modules.analysis.facts.table import Table
from app.modules.analysis.facts.time import A_YEAR, word_change
from app.modules.analysis.facts.wording import Span
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.figures.names import is_ratio

_FEWEST_DAYS = 7


def change_fact(table: Table, call: Call) -> Fact:
    """The change from one period or range to another, both whole and without a season between them."""
    spans = [span for each in call.arguments[1:] if not each.name and (span := read_span(each))]
    if len(spans) != 2:
        raise CallRefused("it needs two periods, or two ranges of them")
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
        is_rate=is_ratio(measure.name),
    )
    slots |= {
        "scope": None,
        "span": after[0] if after[0] == after[1] else Span(*after),
        "before": before[0] if before[0] == before[1] else Span(*before),
        "at": after[1] if after[0] == after[1] else None,
    }
    written = [f"{before[0]}..{before[1]}", f"{after[0]}..{after[1]}"]
    made = scoped_fact(
        found,
        "change",
        slots,
        template=template,
        rows=[*old_rows, *new_rows],
        value=new - old,
        labels=written,
    )
    year = A_YEAR.get(before[0].unit)
    is_a_year = year is not None and before[0].steps_to(after[0]) == year
    return made if is_a_year else replace(made, headline=None)  # it speaks of the year before


def _rows_of(found: Selection, span: tuple[Period, Period]) -> list[int]:
    """The rows of a range. Raises `CallRefused` if a period of it has no row, or is not whole."""
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
        raise CallRefused("one of its periods is not whole")
    held = {period for row in rows if (period := periods[row]) is not None}
    if not held:
        raise CallRefused("one of its periods has no row")
    first = min(held)
    begins = Period(span[0].start, first.unit) if first.unit != "week" else first
    if first != begins or first.after(len(held)).start < span[1].end:
        raise CallRefused("one of its periods has no row")
    return rows


def _check_season(before: tuple[Period, Period], after: tuple[Period, Period]) -> None:
    """Raises `CallRefused` for ranges that differ in length, overlap, or compare different seasons.

    Ranges of the same season lie whole years apart; else one follows the other. Single days and weeks are
    chance.
    """
    unit = before[0].unit
    length = before[0].steps_to(before[1]) + 1
    if unit != after[0].unit or length != after[0].steps_to(after[1]) + 1:
        raise CallRefused("its periods differ in length")
    apart = before[0].steps_to(after[0])
    if apart < length:
        raise CallRefused("its periods overlap")
    if unit == "day" and length < _FEWEST_DAYS:
        raise CallRefused("single days are no trend")
    year = A_YEAR.get(unit)
    if apart != length and (year is None or apart % year):
        raise CallRefused("a season may lie between its periods")
