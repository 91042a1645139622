"""Facts of some of the rows: the statement begins with their conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.selecting import Condition, Selection
from app.modules.analysis.facts.table import Table
from app.modules.analysis.facts.wording import Slot, TitledName


def scoped_fact(
    found: Selection,
    kind: FactKind,
    slots: Mapping[str, Slot],
    *,
    template: str,
    rows: Sequence[int],
    value: Decimal,
    labels: Sequence[str] = (),
) -> Fact:
    """Make a fact of rows. The statement begins with the conditions, and has no headline with them."""
    table = found.table
    how = {"total": "sum", "gap": "difference", "same": "values"}.get(kind, kind)
    count = len(found.rows if kind in ("highest", "lowest") else rows)
    fact = table.fact(
        kind,
        template,
        slots,
        key=[found.measure.name, *(each.written for each in found.conditions), *labels],
        how=table.how(how, table.measure(found.measure), count),
        value=value,
        cells=table.cells(rows, found.measure),
        columns=[found.measure.name],
        labels=[*(each.written for each in found.conditions), *labels],
    )
    if not found.conditions:
        return fact
    scope = ", ".join(said_conditions(table, found.conditions))
    return replace(
        fact,
        statement=table.wording.say("scoped", scope=scope, statement=fact.statement),
        headline=None,
        how=table.wording.say("how.where", how=fact.how, conditions=scope),
    )


def said_conditions(table: Table, conditions: Sequence[Condition]) -> list[str]:
    """Conditions in words: a label with its column's name before it, a period alone."""
    said = list[str]()
    for each in conditions:
        is_period = any(table.periods(each.column))
        has_name = is_period or isinstance(each.name, TitledName)
        name = each.name if has_name else f"{table.title(each.column)} {each.name}"
        said.append(name)
    return said
