"""Facts of rows without a label to compare: lists, and numbers alone."""

from collections import Counter
from datetime import date
from decimal import Decimal

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import missing_values
from app.modules.analysis.facts.statistics import statistics
from app.modules.analysis.facts.table import FactTable, names
from app.modules.analysis.facts.wording import Counted, PeriodSpan, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.figures.names import is_calendar_or_key, is_numeric

_NAMED_COLUMNS = 8
_SPREADS = 3
_PARTICLES = (" at", " on")
_LISTED_SPREADS = 2


def listing_facts(table: FactTable) -> list[Fact]:
    """How many rows of what; the first and the last by a date; ranges; the most frequent texts."""
    known = [measure for measure in table.found.measures if is_numeric(measure.name)]
    own = [*date_facts(table), *(_spread(table, each) for each in known[:_LISTED_SPREADS])]
    # The number of rows is the statement's own limit, which says nothing of the data.
    facts = [*own, counted(table)] if table.found.limit is not None else [counted(table), *own]
    facts += [fact for each in known[:_LISTED_SPREADS] for fact in missing_values(table, each)]
    if not table.found.bounded:
        facts += [fact for at in range(len(table.rows["columns"])) for fact in frequent(table, at)]
        facts += [fact for each in known[:_LISTED_SPREADS] for fact in statistics(table, each)]
    return facts


def measures_facts(table: FactTable) -> list[Fact]:
    """Ranges of numbers that no label names."""
    measures = table.found.measures[:_SPREADS]
    facts = [counted(table), *(_spread(table, each) for each in measures)]
    facts += [fact for each in measures for fact in missing_values(table, each)]
    if not table.found.bounded:
        facts += [fact for each in measures for fact in statistics(table, each)]
    return facts


def counted(table: FactTable) -> Fact:
    """The number of rows and the names of their columns."""
    count = table.rows["row_count"]
    titles = [table.title(at) for at in range(len(table.rows["columns"]))]
    more = len(titles) - _NAMED_COLUMNS
    slots: dict[str, Slot] = {
        "rows": Counted(count, table.listed_things or "row"),
        "columns": ", ".join(titles[:_NAMED_COLUMNS]),
        "more": more if more > 0 else None,
    }
    return table.fact(
        "count",
        "count",
        slots,
        key=["rows"],
        how=table.how("count", "", count),
        value=Decimal(count),
        cells=[],
        columns=[column["name"] for column in table.rows["columns"]],
    )


def _spread(table: FactTable, measure: NumericColumn) -> Fact:
    bounded = table.found.bounded
    low, high = measure.minimum, measure.maximum
    alike = low == high
    slots: dict[str, Slot] = {
        "scope": table.wording.say("scope.shown", count=len(table.rows["rows"])) if bounded else None,
        "rows": Counted(measure.count, "row"),
        "value": table.amount(low, measure),
        "low": table.amount(low, measure),
        "high": table.amount(high, measure),
        "average": table.amount(measure.mean, measure) if measure.averaged and not bounded else None,
    }
    return table.measure_fact(
        "same" if alike else "span",
        "spread.same" if alike else "spread",
        measure,
        slots=slots,
        rows=measure.rows,
        how="values",
        value=low if alike else None,
    )


def date_facts(table: FactTable) -> list[Fact]:
    """The first and the last row of a list that is sorted by a date."""
    found, rows = table.found, table.rows
    by, name = found.sorted_by, found.label
    if by is None or name is None or by == name or rows["columns"][by]["type"] not in ("date", "datetime"):
        return []
    last = len(rows["rows"]) - 1
    start, end = rows["rows"][0][by], rows["rows"][last][by]
    if (
        start is None
        or end is None
        or start == end
        or table.is_unnamed(0, [name])
        or found.statement.selective
    ):
        return []
    repeated = sum(table.raw(row, [name]) == table.raw(0, [name]) for row in range(last + 1)) > 1
    if repeated or table.title(by).endswith(_PARTICLES):
        return _dates(table, by)
    first = [row for row in range(last) if rows["rows"][row][by] == start]
    if any(table.is_unnamed(row, [name]) for row in first):
        return []
    slots: dict[str, Slot] = {
        "scope": None if found.statement.within is None else table.wording.say("scope.shown", count=last + 1),
        "leaders": names([table.cell_name(row, name) for row in first], bold=True),
        "measure": table.title(by),
        "value": table.cell_text(0, by),
        "other": table.cell_name(last, name) if not table.is_unnamed(last, [name]) else None,
        "count": rows["row_count"] if found.complete else last + 1,
        "last": table.cell_text(last, by),
    }
    column = rows["columns"][by]["name"]
    return [
        table.fact(
            "order",
            "latest" if found.statement.descending else "earliest",
            slots,
            key=[column],
            how=table.how("order", table.title(by), last + 1),
            value=str(start),
            cells=[(0, column), (last, column)],
            columns=[column, rows["columns"][name]["name"]],
            labels=[table.raw(0, [name]), table.raw(last, [name])],
        )
    ]


def _dates(table: FactTable, by: int) -> list[Fact]:
    """The first and the last day of rows that no name tells apart, or of a column such as "created at"."""
    rows, column = table.rows["rows"], table.rows["columns"][by]["name"]
    ends = [(0, column), (len(rows) - 1, column)]
    try:
        first, last = sorted(date.fromisoformat(str(rows[row][by])[:10]) for row, _ in ends)
    except ValueError:
        return []
    if first == last:
        return []
    is_part = table.found.statement.within is not None or table.found.bounded
    slots: dict[str, Slot] = {
        "measure": table.title(by),
        "rows": Counted(len(rows), "row"),
        "which": table.wording.say("which.shown") if is_part else None,
        "span": PeriodSpan(Period(first, "day"), Period(last, "day")),
    }
    how = table.how("values", table.title(by), len(rows))
    return [
        table.fact("span", "dates", slots, key=[column], how=how, value=None, cells=ends, columns=[column])
    ]


def _is_grouped_by(table: FactTable, at: int) -> bool:
    """Return True if the rows are one for each pair of this column and another whose values repeat as well:
    how often a value stands there is of the grouping.
    """
    count = len(table.rows["rows"])
    for other in range(len(table.rows["columns"])):
        cells = [repr(row[other]) for row in table.rows["rows"]]
        pairs = {(repr(row[at]), cell) for row, cell in zip(table.rows["rows"], cells, strict=True)}
        if other != at and len(pairs) == count and 2 * len(set(cells)) <= count:
            return True
    return False


def frequent(table: FactTable, at: int) -> list[Fact]:
    """The most frequent value of a column of texts, if most values repeat."""
    column = table.rows["columns"][at]
    if column["type"] not in ("text", "boolean") or is_calendar_or_key(column["name"]):
        return []
    if at in table.found.roles.constants:
        return []
    named = [row for row in range(len(table.rows["rows"])) if not table.is_unnamed(row, [at])]
    counts = Counter(table.raw(row, [at]) for row in named)
    most = counts.most_common(1)
    if not most or len(counts) < 2 or 2 * len(counts) > len(named):
        return []
    leaders = [each for each, count in counts.items() if count == most[0][1]]
    if len(leaders) == len(counts) or _is_grouped_by(table, at):
        return []
    first = {table.raw(row, [at]): row for row in reversed(named)}
    slots: dict[str, Slot] = {
        "leaders": names([table.cell_name(first[each], at) for each in leaders], bold=True),
        "measure": table.title(at),
        "count": most[0][1],
        "rows": Counted(len(table.rows["rows"]), "row"),
    }
    cells = [(row, column["name"]) for row in named if table.raw(row, [at]) in leaders]
    return [
        table.fact(
            "frequent",
            "frequent",
            slots,
            key=[column["name"]],
            how=table.how("count", table.title(at), len(table.rows["rows"])),
            value=Decimal(most[0][1]),
            cells=cells,
            columns=[column["name"]],
            labels=leaders,
        )
    ]
