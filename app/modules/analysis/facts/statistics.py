"""Facts of all values of a measure: total, average, median, and how many lie below zero."""

import re
from decimal import Decimal
from statistics import median

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Counted, Names, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.words import title

_FEWEST = 3


def statistics(table: FactTable, measure: NumericColumn, *, named: Names | None = None) -> list[Fact]:
    """Total, average and median of the rows, where they have a meaning; over time only the total.

    `named` are the names of the rows below zero.
    """
    found = table.found
    adds = measure.adds_over_time if found.time is not None else measure.additive
    facts = list[Fact]()
    if adds and measure.count > 1:
        facts.append(_statistic(table, measure, "total", value=measure.sum))
    averaged = measure.averaged and table.unit(measure) not in ("percent", "ratio")
    averaged = averaged and not found.statement.added_up and not _adds_rows_up(table) and found.time is None
    if averaged and measure.count >= _FEWEST and measure.minimum < measure.maximum:
        facts.append(_statistic(table, measure, "average", value=measure.mean))
        facts.append(_statistic(table, measure, "median", value=median(sorted(measure.known))))
    below = [row for row, value in enumerate(measure.values) if value is not None and value < 0]
    if below and not _is_condition(table, measure, len(below)):
        facts.append(_below_zero(table, measure, below, named=named))
    return facts


def _is_condition(table: FactTable, measure: NumericColumn, count: int) -> bool:
    """Return True if all values are below zero by a condition of the statement."""
    below = re.compile(rf"(?:.+ )?{re.escape(title(measure.name))} (?:<|≤) (?:0|-.+)")
    return count == measure.count and any(map(below.fullmatch, table.found.statement.conditions))


def _adds_rows_up(table: FactTable) -> bool:
    """Return True if the rows are only parts of what the facts speak of."""
    return table.found.ranking is not None and table.found.ranking.summed


def _statistic(table: FactTable, measure: NumericColumn, kind: FactKind, *, value: Decimal) -> Fact:
    course = table.found.course
    over = Counted(measure.count, "row")
    if course is not None and table.found.shape == "series":
        over = Counted(measure.count, course.unit)
    slots: dict[str, Slot] = {
        "value": table.amount(value, measure),
        "rows": over,
        "over": over if over.noun != "row" and table.found.whole else None,
        "shown": None if table.found.whole else over,
    }
    how = "sum" if kind == "total" else kind
    return table.measure_fact(kind, kind, measure, slots=slots, rows=measure.rows, how=how, value=value)


def _below_zero(table: FactTable, measure: NumericColumn, below: list[int], *, named: Names | None) -> Fact:
    unit = table.found.unit if table.found.shape == "series" else None
    slots: dict[str, Slot] = {
        "count": len(below),
        "rows": Counted(measure.count, unit or "row"),
        "named": named,
    }
    return table.measure_fact(
        "below_zero",
        "below_zero",
        measure,
        slots=slots,
        rows=below,
        how="values",
        counted=measure.count,
        value=Decimal(len(below)),
    )
