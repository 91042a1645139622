"""Notes that concern other facts: periods not whole, rows without a value or a name, and missing rows."""

from dataclasses import replace
from decimal import Decimal

from app.modules.analysis.facts.entries import Entries
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.table import Table, names
from app.modules.analysis.facts.wording import Counted, Slot
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.figures.course import Course


def notice_of(table: Table) -> str:
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


def note(table: Table, template: str, key: list[str], *, columns: list[str], **slots: Slot) -> Fact:
    """A note has no headline, and is about columns or periods rather than values."""
    return table.fact(
        "note", template, slots, key=key, how=table.wording.say("how.note"), cells=[], columns=columns
    )


def partial_notes(table: Table, course: Course | None = None) -> list[Fact]:
    """A note for each period that the data covers only in part, with its value if it has one."""
    found = table.found
    main = found.main
    partial = course.partial if course is not None else found.partial
    values = {point.period: point.value for point in course.points} if course is not None else {}
    facts = list[Fact]()
    for each in partial:
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
                day=each.day,
            )
        )
    return facts


def missing_values(table: Table, measure: NumericColumn) -> list[Fact]:
    """The number of rows without a value, if there are any."""
    rows = [row for row, value in enumerate(measure.values) if value is None]
    if not rows:
        return []
    name = table.measure(measure)
    slots: dict[str, Slot] = {"rows": Counted(len(rows), "row"), "measure": name}
    return [
        table.fact(
            "missing",
            "missing",
            slots,
            key=[measure.name],
            how=table.how("missing", name, len(table.rows["rows"])),
            value=Decimal(len(rows)),
            cells=[(row, measure.name) for row in rows],
            columns=[measure.name],
        )
    ]


def unnamed_rows(table: Table, entries: Entries) -> list[Fact]:
    """The number of rows that no label names: they belong to no category."""
    if not entries.unnamed:
        return []
    by = [at for at in entries.by if any(table.is_unnamed(row, [at]) for row in entries.unnamed)]
    columns = [table.rows["columns"][at]["name"] for at in by]
    slots: dict[str, Slot] = {
        "rows": Counted(len(entries.unnamed), "row"),
        "measure": names([table.title(at) for at in by]),
    }
    return [
        table.fact(
            "missing",
            "missing",
            slots,
            key=columns,
            how=table.how("missing", ", ".join(columns), len(table.rows["rows"])),
            value=Decimal(len(entries.unnamed)),
            cells=[(row, name) for row in entries.unnamed for name in columns],
            columns=[entries.measure.name, *columns],
        )
    ]


def gap_note(table: Table, course: Course) -> list[Fact]:
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


def has_gaps(table: Table, course: Course) -> bool:
    """Return True if periods have no value, and days not only because nothing is listed on them."""
    return bool(course.gaps) and (table.found.grouped or course.unit != "day")
