"""Facts of all values of a measure: total, average, median, and how many lie below zero."""

from decimal import Decimal
from statistics import median

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.table import Table
from app.modules.analysis.facts.wording import Counted, Names, Slot
from app.modules.analysis.figures import NumericColumn

_FEWEST = 3


def statistics(table: Table, measure: NumericColumn, *, named: Names | None = None) -> list[Fact]:
    """Total, average and median of the rows, where they have a meaning; over time only the total.

    `named` are the names of the rows below zero.
    """
    found = table.found
    adds = measure.adds_over_time if found.time is not None else measure.additive
    facts = list[Fact]()
    if adds and measure.count > 1:
        facts.append(_statistic(table, measure, "total", value=measure.sum))
    averaged = measure.averaged and table.unit(measure) not in ("percent", "ratio")
    averaged = averaged and not found.added_up and not _adds_rows_up(table) and found.time is None
    if averaged and measure.count >= _FEWEST and measure.minimum < measure.maximum:
        facts.append(_statistic(table, measure, "average", value=measure.mean))
        facts.append(_statistic(table, measure, "median", value=median(sorted(measure.known))))
    below = [row for row, value in enumerate(measure.values) if value is not None and value < 0]
    if below:
        facts.append(_below_zero(table, measure, below, named=named))
    return facts


def _adds_rows_up(table: Table) -> bool:
    """Return True if the rows are only parts of what the facts speak of."""
    return table.found.ranking is not None and table.found.ranking.summed


def _statistic(table: Table, measure: NumericColumn, kind: FactKind, *, value: Decimal) -> Fact:
    name = table.measure(measure)
    rows = [row for row, each in enumerate(measure.values) if each is not None]
    course = table.found.course
    over = Counted(len(rows), "row")
    if course is not None and table.found.shape == "series":
        over = Counted(len(rows), course.unit)
    slots: dict[str, Slot] = {
        "measure": name,
        "value": table.amount(value, measure),
        "rows": over,
        "over": over if over.noun != "row" and table.found.whole else None,
        "shown": None if table.found.whole else over,
    }
    things = table.numbered(measure)
    return table.fact(
        kind,
        kind if things is None else f"{kind}.things",
        {**slots, "things": things},
        key=[measure.name],
        how=table.how({"total": "sum"}.get(kind, kind), name, len(rows)),
        value=value,
        cells=table.cells(rows, measure),
        columns=[measure.name],
    )


def _below_zero(table: Table, measure: NumericColumn, below: list[int], *, named: Names | None) -> Fact:
    name = table.measure(measure)
    slots: dict[str, Slot] = {
        "measure": name,
        "count": len(below),
        "rows": Counted(measure.count, "row"),
        "leaders": named,
    }
    return table.fact(
        "below_zero",
        "below_zero",
        slots,
        key=[measure.name],
        how=table.how("values", name, measure.count),
        value=Decimal(len(below)),
        cells=table.cells(below, measure),
        columns=[measure.name],
    )
