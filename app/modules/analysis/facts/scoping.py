"""Facts of some of the rows: the statement begins with their conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.selecting import RowCondition, Selection
from app.modules.analysis.facts.table import FactTable
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
    """Make a fact of rows. Its statement and its headline begin with the conditions."""
    table = found.table
    how = {"total": "sum", "gap": "difference", "same": "values"}.get(kind, kind)
    count = len(found.rows if kind in ("highest", "lowest") else rows)
    labels = [*(each.written for each in found.conditions), *labels]
    fact = table.measure_fact(
        kind,
        template,
        found.measure,
        slots=slots,
        rows=rows,
        how=how,
        counted=count,
        value=value,
        key=[found.measure.name, *labels],
        labels=labels,
    )
    if not found.conditions:
        return fact
    scope = ", ".join(said_conditions(table, found.conditions))
    return replace(
        fact,
        statement=table.wording.say("scoped", scope=scope, statement=fact.statement),
        headline=table.wording.headline("scoped", scope=scope, statement=fact.headline)
        if fact.headline
        else "",
        how=table.wording.say("how.where", how=fact.how, conditions=scope),
    )


def said_conditions(table: FactTable, conditions: Sequence[RowCondition]) -> list[str]:
    """Conditions in words: a label with its column's name before it, a period alone."""
    said = list[str]()
    for each in conditions:
        is_period = any(table.periods(each.column))
        has_name = is_period or isinstance(each.name, TitledName)
        name = each.name if has_name else f"{table.title(each.column)} {each.name}"
        said.append(name)
    return said
