"""Notes that concern other facts: periods not whole, rows without a value or a name, and missing rows."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from app.modules.analysis.facts.entries import RankedEntries
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.table import FactTable, names
from app.modules.analysis.facts.wording import Counted, Percent, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.trend import Course

_FEW = 3


def notice_of(table: FactTable) -> str:
    """The sentence that opens an analysis of a partial result; empty when all rows are at hand."""
    rows, found = table.rows, table.found
    at_hand, count = len(rows["rows"]), rows["row_count"]
    if at_hand < count:
        return table.wording.say(
            "notice.cut_and_first" if found.cut else "notice.first", shown=at_hand, count=count
        )
    if not rows["rows"] and found.cut:
        return table.wording.say("notice.first_row")
    if rows["truncated"] and not found.cut:
        return table.wording.say("notice.values")
    return table.wording.say("notice.cut", count=count) if found.cut else ""


def note(table: FactTable, template: str, key: list[str], *, columns: list[str], **slots: Slot) -> Fact:
    """A note has no headline, and is about columns or periods rather than values."""
    return table.fact(
        "note", template, slots, key=key, how=table.wording.say("how.note"), cells=[], columns=columns
    )


def partial_notes(table: FactTable, course: Course | None = None) -> list[Fact]:
    """A note for each period that the data covers only in part, with its value if it has one."""
    found = table.found
    main = found.main
    partial = course.partial if course is not None else found.partial
    values = {point.period: point.value for point in course.points} if course is not None else {}
    facts = list[Fact]()
    ahead = [each.period for each in partial if each.reason == "ahead"]
    if ahead:
        columns = [main.name] if main is not None else []
        facts.append(note(table, "partial.ahead", ["ahead"], columns=columns, leaders=names(ahead)))
    for each in partial:
        if each.reason == "ahead":
            continue
        value = values.get(each.period)
        amount = table.amount(value, main) if value is not None and main is not None else None
        facts.append(
            note(
                table,
                f"partial.{each.reason}",
                ["partial", str(each.period)],
                columns=[main.name] if main is not None else [],
                period=each.period,
                value=amount,
                day=each.day if each.dated else None,
            )
        )
    return facts


def missing_values(table: FactTable, measure: NumericColumn) -> list[Fact]:
    """The rows without a value, if there are any: by their names if they are few, else their number."""
    rows = [row for row, value in enumerate(measure.values) if value is None]
    if not rows:
        return []
    named = _names_of(table, rows)
    slots: dict[str, Slot] = {"rows": Counted(len(rows), "row")}
    if named:
        slots["leaders"] = names(named)
    return [
        table.fact(
            "missing",
            "missing.named" if named else "missing",
            {"measure": table.measure(measure), **slots},
            key=[measure.name],
            how=table.how("missing", table.measure(measure), len(table.rows["rows"])),
            value=Decimal(len(rows)),
            cells=[(row, measure.name) for row in rows],
            columns=[measure.name],
        )
    ]


def _names_of(table: FactTable, rows: Sequence[int]) -> list[str]:
    """The names of rows; none if they are many, share a name, or one of them has none."""
    found = table.found
    by = (
        list(found.ranking.by)
        if found.ranking is not None
        else [found.time]
        if found.time is not None
        else []
    )
    if not by or len(rows) > _FEW or any(table.is_unnamed(row, by) for row in rows):
        return []
    named = [table.named(row, by) for row in rows]
    return named if len(set(named)) == len(named) else []


def unnamed_rows(table: FactTable, entries: RankedEntries) -> list[Fact]:
    """What the rows hold that no label names, with its share; their number if it may not be added up."""
    if not entries.unnamed:
        return []
    measure, found = entries.measure, table.found
    by = entries.unnamed_by(table)
    columns = [table.rows["columns"][at]["name"] for at in by]
    rows = Counted(len(entries.unnamed), "row")
    value = sum((entries.measure.values[row] or Decimal(0) for row in entries.unnamed), Decimal(0))
    total = measure.total
    is_share = total is not None and total > 0 and measure.minimum >= 0 and found.whole
    adds = bool(entries.nameless) and (len(entries.unnamed) == 1 or total is not None)
    slots: dict[str, Slot] = {
        "rows": rows,
        "measure": table.measure(measure) if adds else names([table.title(at) for at in by]),
        "label": names([table.title(at) for at in by]),
        "value": table.amount(value, measure),
        "share": Percent(value / total) if is_share and total is not None else None,
        "total": table.amount(total, measure) if is_share and total is not None else None,
    }
    cells = [(row, name) for row in entries.unnamed for name in columns]
    template = "unnamed.flag" if all(map(table.is_flag, by)) else "unnamed"
    return [
        table.fact(
            "missing",
            template if adds else "missing",
            slots,
            key=columns,
            how=table.how("missing", ", ".join(columns), len(table.rows["rows"])),
            value=value if adds else Decimal(len(entries.unnamed)),
            cells=[*cells, *table.cells(entries.unnamed, measure)] if adds else cells,
            columns=[measure.name, *columns],
        )
    ]


def gap_note(table: FactTable, course: Course) -> list[Fact]:
    """The periods without a row. Missing days count only if the statement groups rows."""
    there = set(table.found.periods)
    gaps = [each for each in course.gaps if each not in there]
    if not gaps or not has_gaps(table, course):
        return []
    main = table.found.main
    missing = note(
        table,
        "gaps",
        ["gaps"],
        columns=[main.name] if main is not None else [],
        periods=Counted(len(gaps), course.unit),
        leaders=names(gaps),
    )
    return [replace(missing, value=Decimal(len(gaps)))]


def has_gaps(table: FactTable, course: Course) -> bool:
    """Return True if periods have no value, and days not only because nothing is listed on them."""
    return bool(course.gaps) and (table.found.statement.grouped or course.unit != "day")
