"""Facts of a result of one row."""

from collections.abc import Sequence
from decimal import Decimal

from app.core.values.numbers import as_decimal
from app.modules.analysis.facts.compared import differences
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import note, partial_notes
from app.modules.analysis.facts.ranking import end_template
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Names, Slot
from app.modules.analysis.figures import Direction, NumericColumn
from app.modules.analysis.figures.ends import clear_direction_of
from app.modules.analysis.words import title

_NAMED_COLUMNS = 8


def single_facts(table: FactTable) -> list[Fact]:
    """The values of the row; with LIMIT 1 the extreme that the statement's order proves comes first."""
    found = table.found
    columns = [at for at in range(len(table.rows["columns"])) if at not in found.roles.constants]
    columns = columns or list(range(len(table.rows["columns"])))
    end = _kept_end(table)
    if found.main is not None and found.label is not None and found.limit == 1 and end is not None:
        by = list(found.roles.dimensions) or [found.label]
        if found.main.values[0] is not None and not table.is_unnamed(0, by):
            return [*_first_of_all(table, found.main, end, by=by), *partial_notes(table)]
    facts = [*differences(table), row_values(table, columns)]
    if all(cell is None for cell in table.rows["rows"][0]):
        names = [column["name"] for column in table.rows["columns"]]
        facts.append(note(table, "no_value", ["no", "value"], columns=names))
    return [*facts, *partial_notes(table)]


def _kept_end(table: FactTable) -> Direction | None:
    """The end of the scale that the statement sorts first; None if the question asks for the other end."""
    found = table.found
    if found.sorted_descending is None or found.statement.selective:
        return None
    kept: Direction = "highest" if found.sorted_descending else "lowest"
    measure = title(found.main.name) if found.main is not None else ""
    return kept if clear_direction_of(table.question, measure) in (None, kept) else None


def _first_of_all(table: FactTable, main: NumericColumn, end: Direction, *, by: list[int]) -> list[Fact]:
    found = table.found
    value = as_decimal(main.cells[0]) or Decimal(0)
    picked = (
        table.wording.say("scope.picked", count=found.statement.within)
        if found.statement.within is not None
        else None
    )
    slots: dict[str, Slot] = {
        "scope": picked,
        "leaders": Names([table.named(0, by)], bold=True),
        "measure": table.measure(main),
        "value": table.amount(value, main),
    }
    names = [table.rows["columns"][at]["name"] for at in by]
    facts = [
        table.fact(
            end,
            end_template(table, main, end, value=value, proof="sorted" if picked is None else "none"),
            slots,
            key=[main.name],
            how=table.how("first", table.measure(main), 1),
            value=value,
            cells=[(0, main.name)],
            columns=[main.name, *names],
            labels=[table.raw(0, by)],
        )
    ]
    skipped = {*by, main.column, *found.roles.constants}
    others = [at for at in range(len(table.rows["columns"])) if at not in skipped]
    if others:
        facts.append(row_values(table, others, bold=False))
    if isinstance(main.cells[0], int) or main.kind == "plain":
        facts.append(note(table, "one_row", ["one", "row"], columns=[main.name]))
    return facts


def row_values(table: FactTable, columns: Sequence[int], *, bold: bool = True) -> Fact:
    """The values of the row as pairs of name and value."""
    shown = columns[:_NAMED_COLUMNS]
    pairs = [
        table.wording.say("named", measure=table.title(at), value=table.cell_text(0, at)) for at in shown
    ]
    said = ", ".join(pairs)
    more = len(columns) - len(shown)
    slots: dict[str, Slot] = {
        "pairs": f"**{said}**" if bold else said,
        "more": more if more > 0 else None,
    }
    names = [table.rows["columns"][at]["name"] for at in columns]
    value = as_decimal(table.rows["rows"][0][columns[0]]) if len(columns) == 1 else None
    return table.fact(
        "value",
        "values",
        slots,
        key=names[:3],
        how=table.how("value", ", ".join(table.title(at) for at in shown), 1),
        value=value,
        cells=[(0, name) for name in names],
        columns=names,
    )
