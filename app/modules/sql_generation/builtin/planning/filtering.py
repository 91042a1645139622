"""The conditions of a question: stored values, periods, comparisons and missing values."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

from app.modules.sql_generation.builtin import plan
from app.modules.sql_generation.builtin.periods import DateRange
from app.modules.sql_generation.builtin.plan import Beyond, PlanColumn
from app.modules.sql_generation.builtin.planning import measures
from app.modules.sql_generation.builtin.planning.measures import is_quantity
from app.modules.sql_generation.builtin.planning.values import ValueResolver
from app.modules.sql_generation.builtin.question.items import NumberComparison, Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.lexicon import EXACT, reporting_keys
from app.modules.sql_generation.builtin.question.reading import HAVING
from app.modules.sql_generation.builtin.question.readings import offer_comparison, spoken
from app.modules.sql_generation.builtin.question.roles import Measured, ReportingLine, is_number, is_table
from app.modules.sql_generation.builtin.question.rules import BIRTH, DATE
from app.modules.sql_generation.builtin.question.units import converted, quantity_of
from app.modules.sql_generation.builtin.question.words import words_of
from app.modules.sql_generation.builtin.statement.conditions import table_of

_DATES = ("date", "datetime")
DAYS_OF_ROWS = "Each row has its own number of days: ask for the average, the highest or the lowest."


def is_birth(field: PlanColumn) -> bool:
    words = words_of(field.column)
    return field.type in _DATES and ("birth" in words or words[-1] in ("birthday", "birthdate", "dob"))


class Filters(ValueResolver):
    """Resolves the conditions of a question."""

    def _add_conditions(self, query: plan.QueryPlan) -> plan.QueryPlan:
        return replace(query, conditions=(*query.conditions, *self.conditions(query.base)))

    def conditions(self, base: str) -> tuple[plan.QueryCondition, ...]:
        """Returns the conditions of the question on rows of `base`. Raises `Beyond` or `Unclear`."""
        found: list[plan.QueryCondition] = [*self._values(base)]
        found += [self._read_period(period, mention, base) for period, mention in self.roles.times]
        if self.roles.weekdays:
            found.append(self._read_weekdays(*self.roles.weekdays, base))
        found += [self._absent(period, base) for period in self.roles.absent]
        for comparison, by, owner in self.roles.compared:
            found.append(
                self._compared(comparison, by, self.table(owner, base) if owner else base, base=base)
            )
        found += [self._lacking(mention, base) for mention in self.roles.lacking]
        found += [self._present(mention, base) for mention in self.roles.present]
        found += self._held(base)
        found += [self._flagged(mention, base, holds) for mention, holds in self.roles.flags]
        if self.roles.reports:
            found.append(self._reporting(self.roles.reports))
        _refuse_contradiction(found)
        if self.roles.absent:
            self._refuse_parts_of_events(found, base)
        return tuple(dict.fromkeys(found))

    def _events(self, base: str) -> list[str]:
        """Adds the tables of the money that rows are compared by: "customers who spent 500 in 2025"."""
        earned = [self.related(by, base) for _, by, _ in self.roles.compared if isinstance(by, Revenue)]
        tables = [one.measure.table for one in earned if isinstance(one, plan.Related)]
        dated = [near for table in tables for near in (table, *self._dated_neighbours(table)) if near != base]
        return [*super()._events(base), *dated]

    def _read_period(self, period: DateRange, mention: SchemaMention | None, base: str) -> plan.Within:
        field = self._date(mention, base)
        if field.type not in _DATES and not period.whole_years:
            raise Beyond(f"{field} only knows years.")
        return plan.Within(field, period)

    def _read_weekdays(
        self, days: tuple[str, ...], mention: SchemaMention | None, base: str
    ) -> plan.OnWeekdays:
        field = self._date(mention or next((other for _, other in self.roles.times), None), base)
        if field.type not in _DATES:
            raise Beyond(f"{field} only knows years.")
        return plan.OnWeekdays(field, days)

    def _absent(self, period: DateRange, base: str) -> plan.Without:
        """Returns the condition that nothing of the kind that happened in another period did in this one."""
        within = self._read_period(period, self.roles.times[-1][1], base)
        if not self.network.fans_out(base, within.field.table, self.anchors):
            raise Beyond(f"A row of {base} has one {within.field}, so it lies in one of the periods only.")
        if period.joined:
            raise Beyond("I cannot tell whether one of the two periods without is enough, or both.")
        return plan.Without(within.field.table, within)

    def _refuse_parts_of_events(self, found: Sequence[plan.QueryCondition], base: str) -> None:
        """Raises `Beyond` if only some events are asked for: "who bought Tents in 2024 but not in 2025"
        does not say whether buying something else in 2025 counts.
        """
        periods = (plan.Within, plan.Without)
        rest = [table_of(one) for one in found if not isinstance(one, periods)]
        if any(table != base and self.network.fans_out(base, table, self.anchors) for table in rest):
            raise Beyond(
                "I cannot tell whether nothing at all may have happened in the period without, or nothing "
                "of this kind."
            )

    def _is_related(self, by: Measured | None, base: str) -> bool:
        """True if a comparison is about related rows or money, not about a number of the row itself."""
        if isinstance(by, Revenue):
            return True
        return is_table(by) and isinstance(by, SchemaMention) and self.table(by, base) != base

    def _compared(
        self, comparison: NumberComparison, by: Measured | None, owner: str, *, base: str
    ) -> plan.Compared:
        if by is not None and self._is_related(by, base):
            if comparison.unit or (isinstance(by, Revenue) and by.hint):
                raise Beyond("I cannot compare a number of rows or money with a number in such a unit.")
            return plan.Compared(self.related(by, base), comparison.operator, comparison.numbers)
        if isinstance(by, Revenue) or (is_table(by) and not is_number(by)):
            raise Beyond("I cannot compare a count of the rows asked for with a number.")
        near = base if owner != base and isinstance(by, SchemaMention) and self._is_own(by, base) else owner
        if comparison.unit:
            return self._compared_in_unit(comparison, by, near)
        number = comparison.numbers[0]
        field = (
            self.hinted(comparison.hint, near) if comparison.hint else self._compared_field(by, near, number)
        )
        if (
            (is_quantity(field) or words_of(field.column)[0] in ("total", "sum"))
            and field.table != base
            and self.network.fans_out(base, field.table, self.anchors)
        ):
            raise Beyond(f"I cannot tell whether each {field} is meant, or the sum of them.")
        return plan.Compared(field, comparison.operator, comparison.numbers)

    def _compared_in_unit(
        self, comparison: NumberComparison, by: SchemaMention | None, table: str
    ) -> plan.Compared:
        """Compares the column of the table that is named after a unit: "longer than 10 minutes"."""
        fields = measures.numbers_of(self.network, table)
        if by is not None:
            fields = [self.field(by, lambda link: link.is_number, table)]
        hinted = (
            [field for field in fields if quantity_of(field.column) == word] for word in comparison.hint
        )
        fields = next(filter(None, hinted), fields)
        field, numbers = self._in_unit_of(fields, comparison)
        return plan.Compared(field, comparison.operator, numbers)

    def _in_unit_of(
        self, fields: Sequence[PlanColumn], comparison: NumberComparison
    ) -> tuple[PlanColumn, tuple[str, ...]]:
        """Returns the only column that is named after a unit of this kind, and the numbers in its unit."""
        in_unit = [
            (field, [converted(number, comparison.unit, field.column) for number in comparison.numbers])
            for field in fields
        ]
        found = [(field, tuple(filter(None, numbers))) for field, numbers in in_unit if all(numbers)]
        if len(found) != 1:
            raise Beyond(f"I see no single number whose name says that it is in {comparison.unit}.")
        return found[0]

    def _is_own(self, by: SchemaMention, base: str) -> bool:
        return any(link.is_number and link.table == base and link.score >= EXACT for link in by.links)

    def related(self, by: Measured, base: str) -> PlanColumn | plan.Related:
        """Returns the number of related rows, or the money, of a row of `base`."""
        if isinstance(by, SchemaMention):
            return plan.Related(self._rows_of(by, base))
        if by.between:
            raise Beyond(DAYS_OF_ROWS)
        if by.definition is not None:
            return plan.Related(measures.defined(self.network, by.definition, None, text=by.text))
        found = measures.revenue(self.network, (base,))
        if found.table == base and len(found.fields) == 1:
            return found.fields[0]
        return plan.Related(found)

    def _rows_of(self, by: SchemaMention, base: str) -> plan.Measure:
        table = self.table(by, base)
        return plan.Measure("count", table, f"number of {by.text if by.plural else table}")

    def _compared_field(self, by: SchemaMention | None, base: str, number: str) -> PlanColumn:
        if by is not None:
            return self.field(by, lambda link: link.is_number, base)
        amounts = measures.amounts_of(self.network, base)
        numbers = measures.numbers_of(self.network, base)
        if len(amounts) == 1 or len(numbers) == 1:
            return (amounts or numbers)[0]
        if not numbers:
            raise Beyond(f"{base} has no number to compare.")
        names = " or ".join(spoken(field.column) for field in numbers)
        readings = [offer_comparison(number, field) for field in numbers]
        raise plan.Unclear(f"Which number of {base} should be compared: {names}?", readings)

    def hinted(self, hint: tuple[str, ...], base: str) -> PlanColumn:
        if hint == BIRTH:
            return next(field for field in self.network.fields(base) if is_birth(field))
        if hint == DATE and (date := self._dates_of(base)):
            return date
        fields = measures.numbers_of(self.network, base)
        found = [field for word in hint for field in fields if quantity_of(field.column) == word]
        if not found:
            raise Beyond(f"I find no {hint[0]} of {base}.")
        return found[0]

    def _lacking(self, mention: SchemaMention, base: str) -> plan.QueryCondition:
        if is_table(mention):
            table = self.table(mention, base)
            if table == base:
                raise Beyond(f"I cannot tell which {mention.text} are not meant.")
            return self._none_of(table, base)
        link = self._pick(mention, lambda link: link.value is None, base)
        if link.field is None:
            raise Beyond(plan.NOT_UNDERSTOOD)
        self._refuse_beyond_many(link.field, base)
        number = link.field.type in measures.NUMERIC and not self.network.is_key(link.field)
        return plan.Missing(link.field, or_zero=number)

    def _none_of(self, table: str, base: str) -> plan.QueryCondition:
        path = self.network.path(base, table, self.anchors)
        if any(hop.fans_out for hop in path):
            return plan.Without(table)
        if len(path) == 1 and len(path[0].left_columns) == 1:
            return plan.Missing(self._column(base, path[0].left_columns[0]))
        raise Beyond(f"I see no column of {table} that refers to {base}.")

    def _present(self, mention: SchemaMention, base: str) -> plan.QueryCondition:
        link = self._pick(mention, lambda link: link.value is None, base)
        stored = [other for other in mention.links if other.value is not None]
        if link.field is None:
            raise Beyond(plan.NOT_UNDERSTOOD)
        if stored:
            raise Beyond(
                f"This may mean that {stored[0].field} is {stored[0].value!r}, or that {link.field} is set; "
                "ask for one of them."
            )
        self._refuse_beyond_many(link.field, base)
        return plan.Missing(link.field, negated=True)

    def _held(self, base: str) -> list[plan.QueryCondition]:
        """Returns the condition that a column named after "with" holds a value: "projects with deadlines"."""
        columns = [mention for mention in self.roles.free if not is_table(mention)]
        if len(columns) != 1 or columns[0].lead not in HAVING:
            return []
        field = self.field(columns[0], lambda link: link.is_column, base)
        is_number = field.type in measures.NUMERIC
        held = field.table == base and not is_number and self.network.column(field).nullable
        return [plan.Missing(field, negated=True)] if held else []

    def _refuse_beyond_many(self, field: PlanColumn, base: str) -> None:
        if field.table != base and self.network.fans_out(base, field.table, self.anchors):
            raise Beyond(f"One row of {base} can have many of {field}, some with a value and some without.")

    def _flagged(self, mention: SchemaMention, base: str, holds: bool) -> plan.QueryCondition:
        link = self._pick(mention, lambda link: link.flag, base)
        if link.field is None:
            raise Beyond(plan.NOT_UNDERSTOOD)
        if link.definition is not None:
            return plan.Fulfils(link.field, link.definition, holds)
        stored = {value.casefold()[:1]: value for value in self.network.column(link.field).values}
        yes = stored.get("y") or stored.get("t")
        no = stored.get("n") or stored.get("f")
        return plan.Flagged(link.field, holds, yes, no)

    def _reporting(self, reports: ReportingLine) -> plan.QueryCondition:
        found = [(table.name, key) for table in self.network.schema.tables for key in reporting_keys(table)]
        if len(found) != 1:
            raise Beyond("I see no single column that says who reports to whom.")
        ((table, key),) = found
        field = self._column(table, key.columns[0])
        if not reports.people:
            return plan.Missing(field)
        of = tuple(self._person(mention, table) for mention in reports.people)
        return plan.Superior(field, self._column(table, key.referred_columns[0]), of, reports.above)

    def _person(self, mention: SchemaMention, table: str) -> plan.Filter:
        links = [link for link in mention.links if link.table == table and link.field]
        names = [link for link in links if link.field in self.network.name_fields(table)]
        for link in names or links:
            if len(names or links) == 1 and link.field and link.value is not None:
                if link.surname:
                    return plan.PersonNamed((link.field, link.value), link.surname)
                return plan.Among(link.field, (link.value,))
        raise Beyond(f"I find no single person of that name in {table}.")


def _refuse_contradiction(conditions: Sequence[plan.QueryCondition]) -> None:
    """Raises `Beyond` if nothing fulfils all comparisons or lies in all periods: "a singer above 40 and a
    singer below 30" means two singers.
    """
    compared = [each for each in conditions if isinstance(each, plan.Compared)]
    missing = [each.field for each in conditions if isinstance(each, plan.Missing)]
    if any(each.subject in missing for each in compared):
        raise Beyond(plan.NOT_UNDERSTOOD)
    periods = [each for each in conditions if isinstance(each, plan.Within)]
    for first, second in combinations(periods, 2):
        if first.field == second.field and not first.period.overlaps(second.period):
            raise Beyond("No single row lies in both of these periods, so I cannot tell what is meant.")
    for one, other in combinations(compared, 2):
        if one.subject == other.subject and not _overlap(_span(one), _span(other)):
            raise Beyond("No single row fulfils both of these conditions, so I cannot tell what is meant.")


_Span = tuple[Decimal, bool, Decimal, bool]
"""The lowest number and whether it counts, the highest and whether it counts."""


def _span(of: plan.Compared) -> _Span:
    low, high = Decimal(of.numbers[0]), Decimal(of.numbers[-1])
    least, most = Decimal("-Infinity"), Decimal("Infinity")
    if of.operator in (">", ">="):
        return low, of.operator == ">=", most, True
    if of.operator in ("<", "<="):
        return least, True, high, of.operator == "<="
    return low, True, high, True


def _overlap(one: _Span, other: _Span) -> bool:
    low, high = max(one[0], other[0]), min(one[2], other[2])
    is_held = all(span[1] for span in (one, other) if span[0] == low) and all(
        span[3] for span in (one, other) if span[2] == high
    )
    return low < high or (low == high and is_held)
