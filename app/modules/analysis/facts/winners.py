"""Facts of rows that lead their group each, such as the best product of each category."""

from collections.abc import Sequence

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.listing import frequent
from app.modules.analysis.facts.notes import missing_values, partial_notes
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Names, Slot
from app.modules.analysis.figures import NumericColumn

_MOST = 12
_NAMED = 8


def winners_facts(table: FactTable) -> list[Fact]:
    """Who leads each group, with the value, and who leads most of them."""
    main, label = table.found.main, table.found.label
    if main is None or label is None:
        return []
    rows = main.rows
    if not rows:
        return missing_values(table, main)
    facts = [_winners(table, main, rows), *(frequent(table, label) if table.found.group is not None else [])]
    if len(rows) > _MOST:
        facts.reverse()
    return [*facts, *partial_notes(table), *missing_values(table, main)]


def _winners(table: FactTable, main: NumericColumn, rows: Sequence[int]) -> Fact:
    label, group = table.found.label or 0, table.found.group
    shown = rows if len(rows) <= _MOST else rows[:_NAMED]
    columns = list(dict.fromkeys([label if group is None else group, label]))
    names = [table.rows["columns"][at]["name"] for at in columns]
    end = table.found.direction or "highest"
    sign = 1 if end == "highest" else -1
    first = max(rows, key=lambda row: sign * (main.values[row] or 0))
    slots: dict[str, Slot] = {
        "label": table.title(columns[0]),
        "top": _winner(table, main, first),
        "leaders": Names([_winner(table, main, row) for row in shown], len(rows) - len(shown)),
    }
    return table.measure_fact(
        "order",
        f"winners.{end}",
        main,
        slots=slots,
        rows=rows,
        how="values",
        key=[end, main.name, "by", names[0]],
        columns=names,
        labels=[table.raw(row, [label]) for row in shown],
    )


def _winner(table: FactTable, main: NumericColumn, row: int) -> str:
    label, group = table.found.label or 0, table.found.group
    name = table.pair(row, label, main)
    return name if group is None else f"{table.cell_name(row, group)} – {name}"
