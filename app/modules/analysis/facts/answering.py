"""Facts that a model calls for, made from all rows at hand under the rules of the sheet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from statistics import median

from app.modules.analysis.facts.calls import FactCall, FactCallRefused, parse_call
from app.modules.analysis.facts.changing import change_fact
from app.modules.analysis.facts.fact import Fact, FactKind
from app.modules.analysis.facts.outlook import forecast_fact, outliers_fact
from app.modules.analysis.facts.over_time import over_rows
from app.modules.analysis.facts.scoping import said_conditions, scoped_fact
from app.modules.analysis.facts.selecting import (
    Selection,
    condition_of,
    select,
)
from app.modules.analysis.facts.single import row_values
from app.modules.analysis.facts.table import FactTable, names
from app.modules.analysis.facts.time import rises
from app.modules.analysis.facts.wording import Counted, Percent, Points, Slot
from app.modules.analysis.words import title


class CallAnswers:
    """Answers calls for facts of one result."""

    def __init__(self, table: FactTable) -> None:
        self._table = table
        self._kinds: Mapping[str, Callable[[FactCall], Fact]] = {
            "value": self._value,
            "total": self._statistic,
            "average": self._statistic,
            "median": self._statistic,
            "highest": self._end,
            "lowest": self._end,
            "share": self._share,
            "gap": self._gap,
            "change": partial(change_fact, table),
            "rises": self._rises,
            "forecast": self._outlook,
            "outliers": self._outlook,
            "count": self._count,
        }

    def answer(self, text: str) -> Fact:
        """Raises `FactCallRefused` with the reason."""
        call = parse_call(text)
        make = self._kinds.get(call.kind)
        if make is None:
            raise FactCallRefused("no statement of this kind can be called for")
        if not self._table.found.whole and call.kind != "value":
            raise FactCallRefused("the result holds only a part of all rows")
        return make(call)

    def _value(self, call: FactCall) -> Fact:
        found = select(self._table, call)
        if len(found.rows) > 1:
            raise FactCallRefused(f"{len(found.rows)} rows meet its conditions")
        (row,) = found.rows
        if len(self._table.rows["rows"]) == 1 and not self._table.dimensions:
            return row_values(self._table, [found.measure.column])
        by = self._table.dimensions or [each.column for each in found.conditions]
        label = self._table.raw(row, by)
        same = [other for other in range(len(found.measure.values)) if self._table.raw(other, by) == label]
        if not by or len(same) > 1 or self._table.is_unnamed(row, by):
            raise FactCallRefused("no label names its row alone")
        return self._label_fact(found, self._table.named(row, by), label)

    def _share(self, call: FactCall) -> Fact:
        found = select(self._table, call)
        total = found.sum(found.every)
        is_part = found.conditions and len(found.rows) < len(found.every)
        if not is_part or total <= 0 or found.measure.minimum < 0:
            raise FactCallRefused("a share of it has no meaning")
        label = " / ".join(each.name for each in found.conditions)
        written = " / ".join(each.written for each in found.conditions)
        return self._label_fact(found, label, written, total=total)

    def _label_fact(
        self, found: Selection, label: str, written: str, *, total: Decimal | None = None
    ) -> Fact:
        """The value of a label, with its share of a total."""
        table, measure = self._table, found.measure
        value = found.sum(found.rows)
        slots: dict[str, Slot] = {
            "label": label,
            "value": table.amount(value, measure),
        }
        rows = [*found.rows]
        if total is not None:
            slots |= {"share": Percent(value / total), "total": table.amount(total, measure)}
            rows += found.every
        how = "value" if len(rows) == 1 else "sum" if total is None else "share"
        return table.measure_fact(
            "value" if total is None else "share",
            "value.of",
            measure,
            slots=slots,
            rows=rows,
            how=how,
            counted=len(set(rows)),
            value=value,
            key=[measure.name, written],
            labels=[written],
        )

    def _statistic(self, call: FactCall) -> Fact:
        """Total, average or median of the rows."""
        found = select(self._table, call)
        table, measure = self._table, found.measure
        values = [found.value(row) for row in found.rows]
        if len(values) == 1:
            raise FactCallRefused("only one row has a value")
        if call.kind != "total" and not measure.averaged:
            raise FactCallRefused(f"{title(measure.name)} has no average over rows")
        kind: FactKind
        match call.kind:
            case "total":
                kind, value = "total", found.sum(found.rows)
            case "average":
                kind, value = "average", sum(values, Decimal(0)) / len(values)
            case _:
                kind, value = "median", median(sorted(values))
        slots: dict[str, Slot] = {
            "value": table.amount(value, measure),
            "rows": Counted(len(values), "row"),
        }
        return scoped_fact(found, kind, slots, template=kind, rows=found.rows, value=value)

    def _end(self, call: FactCall) -> Fact:
        """The highest or lowest label of the rows."""
        found = select(self._table, call)
        table, measure = self._table, found.measure
        by = self._compared(found)
        partial = self._partial(by)
        gathered: dict[str, list[int]] = {}
        for row in found.rows:
            if row not in partial and not table.is_unnamed(row, by):
                gathered.setdefault(table.raw(row, by), []).append(row)
        sums = {label: found.sum(rows) for label, rows in gathered.items()}
        if len(set(sums.values())) < 2:
            raise FactCallRefused("there are no two values to compare")
        kind: FactKind = "highest" if call.kind == "highest" else "lowest"
        value = max(sums.values()) if kind == "highest" else min(sums.values())
        leaders = [label for label, each in sums.items() if each == value]
        slots: dict[str, Slot] = {
            "leaders": names([table.named(gathered[each][0], by) for each in leaders], bold=True),
            "value": table.amount(value, measure),
        }
        if partial:
            whole = Counted(len(sums), table.found.unit or "row")
            which = table.wording.say("which.full")
            slots["scope"] = table.wording.say("scope.periods", periods=whole, which=which)
        rows = [row for each in leaders for row in gathered[each]]
        return scoped_fact(found, kind, slots, template=kind, rows=rows, value=value, labels=leaders)

    def _compared(self, found: Selection) -> list[int]:
        """The columns that name what is compared: those that no condition fixes to one label."""
        table = self._table
        fixed = {
            each.column
            for each in found.conditions
            if len({table.raw(row, [each.column]) for row in each.rows}) == 1
        }
        by = [at for at in table.dimensions if at not in fixed]
        if not by:
            raise FactCallRefused("there are no two labels to compare")
        if len(by) == 1 or not found.measure.additive:
            return by
        is_over_time = table.found.time is not None
        return by[:1] if not is_over_time or found.measure.adds_over_time else by

    def _partial(self, by: Sequence[int]) -> set[int]:
        """The rows of periods that are not whole, where periods are compared."""
        found = self._table.found
        partial = {each.period for each in found.partial}
        if by != [found.time]:
            return set()
        return {row for row, period in enumerate(found.periods) if period in partial}

    def _rises(self, call: FactCall) -> Fact:
        """In how many whole periods a measure rose on the period before."""
        found = select(self._table, call)
        periods = self._table.found.periods
        known = [row for row in found.rows if periods and periods[row] is not None]
        is_one_each = len({periods[row] for row in known}) == len(known) or found.measure.additive
        can_rise = bool(known) and is_one_each and not found.conditions
        facts = rises(over_rows(self._table, found.measure, known)) if can_rise else []
        if not facts:
            raise FactCallRefused("there are too few whole periods to compare")
        return facts[0]

    def _outlook(self, call: FactCall) -> Fact:
        """A forecast or outliers of the main measure."""
        found = select(self._table, call)
        make = forecast_fact if call.kind == "forecast" else outliers_fact
        is_main = found.measure is self._table.found.main and not found.conditions
        fact = make(self._table) if is_main else None
        if fact is None:
            raise FactCallRefused("there are too few whole periods for it")
        return fact

    def _gap(self, call: FactCall) -> Fact:
        """The distance of two labels of one column, or that they have the same value."""
        labels = [condition_of(self._table, each) for each in call.arguments if each.name]
        if len(labels) != 2 or labels[0].column != labels[1].column:
            raise FactCallRefused("it needs two labels of one column")
        measure_only = replace(call, arguments=[each for each in call.arguments if not each.name])
        found = select(self._table, measure_only)
        table, measure = self._table, found.measure
        high, low = sorted(labels, key=lambda each: found.sum(found.rows_of(each)), reverse=True)
        value = found.sum(found.rows_of(high))
        difference = value - found.sum(found.rows_of(low))
        total = measure.total
        kind: FactKind = "gap" if difference else "same"
        slots: dict[str, Slot]
        if kind == "same":
            leaders = names([each.name for each in labels])
            slots = {"leaders": leaders, "value": table.amount(value, measure)}
        else:
            has_share = total is not None and total > 0 and measure.minimum >= 0
            slots = {
                "label": high.name,
                "other": low.name,
                "difference": table.difference(difference, measure),
                "points": Points(difference / total * 100) if has_share and total else None,
            }
        rows = [*found.rows_of(high), *found.rows_of(low)]
        written = [high.written, low.written]
        return scoped_fact(
            found, kind, slots, template=kind, rows=rows, value=difference or value, labels=written
        )

    def _count(self, call: FactCall) -> Fact:
        """The number of rows that meet conditions."""
        table = self._table
        conditions = [condition_of(table, each) for each in call.arguments if each.name]
        if not conditions:
            raise FactCallRefused("it needs a condition")
        rows = sorted(frozenset[int].intersection(*(each.rows for each in conditions)))
        every = len(table.rows["rows"])
        slots: dict[str, Slot] = {
            "count": len(rows),
            "rows": Counted(every, "row"),
            "conditions": ", ".join(said_conditions(table, conditions)),
        }
        columns = [table.rows["columns"][each.column]["name"] for each in conditions]
        return table.fact(
            "count",
            "count.where",
            slots,
            key=[each.written for each in conditions],
            how=table.how("count", "", every),
            value=Decimal(len(rows)),
            cells=[(row, name) for row in rows for name in columns],
            columns=columns,
            labels=[each.written for each in conditions],
        )
