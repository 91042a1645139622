"""Facts of running totals and of stocks of several groups: what each has come to."""

from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.time import up_to
from app.modules.analysis.facts.wording import Names, Slot
from app.modules.analysis.figures.calendar import Period

_ALL = 6
_NAMED = 5


def group_totals(table: FactTable) -> list[Fact]:
    """The latest running total or stock of each group, the highest first; none of another measure."""
    main, at = table.found.main, table.found.label
    if main is None or at is None or not (main.kind == "running" or main.is_level):
        return []
    latest: dict[str, tuple[Period, int]] = {}
    for row, period in enumerate(table.found.periods):
        if period is not None and main.values[row] is not None and not table.is_unnamed(row, [at]):
            name = table.raw(row, [at])
            latest[name] = max(latest.get(name, (period, row)), (period, row))
    if not latest:
        return []
    last = max(period for period, _ in latest.values())
    if main.is_level:
        latest = {name: each for name, each in latest.items() if each[0] == last}
    ordered = sorted(latest.values(), key=lambda each: (-(main.values[each[1]] or 0), each[1]))
    shown = ordered if len(ordered) <= _ALL else ordered[:_NAMED]
    slots: dict[str, Slot] = {
        "label": last if main.is_level else up_to(table, last),
        "value": Names([table.pair(row, at, main) for _, row in shown], len(ordered) - len(shown)),
    }
    return [
        table.measure_fact(
            "order",
            "value.of" if main.is_level else "running",
            main,
            slots=slots,
            rows=sorted(row for _, row in ordered),
            how="values",
            key=[main.name, "to", str(last)],
            columns=[table.rows["columns"][at]["name"]],
            labels=[table.raw(row, [at]) for _, row in shown],
        )
    ]
