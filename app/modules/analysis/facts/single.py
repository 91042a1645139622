"""Facts of a result of one row."""

from decimal import Decimal

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.notes import note, partial_notes
from app.modules.analysis.facts.table import Table, capital
from app.modules.analysis.facts.wording import Names, Slot
from app.modules.analysis.figures import Direction, NumericColumn
from app.modules.analysis.figures.ends import clear_direction_of
from app.modules.analysis.figures.numbers import exact
from app.modules.analysis.words import title

_NAMED_COLUMNS = 8


def single_facts(table: Table) -> list[Fact]:
    """The values of the row; with LIMIT 1 the extreme that the statement's order proves comes first."""
    found = table.found
    columns = [at for at in range(len(table.rows["columns"])) if at not in found.constants]
    columns = columns or list(range(len(table.rows["columns"])))
    end = _kept_end(table)
    if found.main is not None and found.label is not None and found.limit == 1 and end is not None:
        by = list(found.dimensions) or [found.label]
        if found.main.values[0] is not None and not table.is_unnamed(0, by):
            return [*_first_of_all(table, found.main, end, by=by), *partial_notes(table)]
    facts = [_values(table, columns)]
    if all(cell is None for cell in table.rows["rows"][0]):
        names = [column["name"] for column in table.rows["columns"]]
        facts.append(note(table, "no_value", ["no", "value"], columns=names))
    return [*facts, *partial_notes(table)]


def _kept_end(table: Table) -> Direction | None:
    """The end of the scale that the statement sorts first; None if the question asks for the other end."""
    found = table.found
    if found.sorted_descending is None or found.selective:
        return None
    kept: Direction = "highest" if found.sorted_descending else "lowest"
    measure = title(found.main.name) if found.main is not None else ""
    return kept if clear_direction_of(table.question, measure) in (None, kept) else None


def _first_of_all(table: Table, main: NumericColumn, end: Direction, *, by: list[int]) -> list[Fact]:
    found = table.found
    value = exact(main.cells[0]) or Decimal(0)
    things = table.things(main)
    picked = table.wording.say("scope.picked", count=found.within) if found.within is not None else None
    slots: dict[str, Slot] = {
        "scope": picked,
        "leaders": Names([table.named(0, by)], bold=True),
        "measure": table.measure(main),
        "things": things,
        "value": table.amount(value, main),
    }
    names = [table.rows["columns"][at]["name"] for at in by]
    facts = [
        table.fact(
            end,
            end if things is None else {"highest": "most", "lowest": "fewest"}[end],
            slots,
            key=[main.name],
            how=table.how("first", table.measure(main), 1),
            value=value,
            cells=[(0, main.name)],
            columns=[main.name, *names],
            labels=[table.raw(0, by)],
        )
    ]
    skipped = {*by, main.column, *found.constants}
    others = [at for at in range(len(table.rows["columns"])) if at not in skipped]
    if others:
        facts.append(_values(table, others, bold=False))
    if isinstance(main.cells[0], int) or main.kind == "plain":
        facts.append(note(table, "one_row", ["one", "row"], columns=[main.name]))
    return facts


def _values(table: Table, columns: list[int], *, bold: bool = True) -> Fact:
    """The values of the row as pairs of name and value."""
    shown = columns[:_NAMED_COLUMNS]
    pairs = [
        table.wording.say("named", measure=_title(table, at), value=table.cell_text(0, at)) for at in shown
    ]
    more = len(columns) - len(shown)
    slots: dict[str, Slot] = {
        "pairs": capital(", ".join(pairs)),
        "more": more if more > 0 else None,
    }
    names = [table.rows["columns"][at]["name"] for at in columns]
    value = exact(table.rows["rows"][0][columns[0]]) if len(columns) == 1 else None
    return table.fact(
        "value",
        "values.bold" if bold else "values",
        slots,
        key=names[:3],
        how=table.how("value", ", ".join(_title(table, at) for at in shown), 1),
        value=value,
        cells=[(0, name) for name in names],
        columns=names,
    )


def _title(table: Table, at: int) -> str:
    measure = next((each for each in table.found.measures if each.column == at), None)
    return table.title(at) if measure is None else table.measure(measure)
