"""Planning of a question: as a ranking, a number, a number per group, or a list."""

from collections.abc import Sequence
from dataclasses import replace

from app.modules.sql_generation.builtin.periods import PERIOD_UNITS, one_of
from app.modules.sql_generation.builtin.plan import (
    Among,
    Beyond,
    Dimension,
    Entity,
    Grain,
    Having,
    Measure,
    PlanColumn,
    QueryPlan,
    Within,
    Without,
)
from app.modules.sql_generation.builtin.planning.measures import is_quantity
from app.modules.sql_generation.builtin.planning.ranking import RankingPlanner
from app.modules.sql_generation.builtin.question.items import Calendar, Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.reading import POSSESSIVE
from app.modules.sql_generation.builtin.question.roles import Measured, is_number, is_table
from app.modules.sql_generation.builtin.statement.conditions import table_of

_EACH = ("each", "every")


class Planner(RankingPlanner):
    """Decides the kind of query that a question asks for, and resolves its parts."""

    def plan(self) -> QueryPlan:
        """Returns the plan of the question. Raises `Beyond` or `Unclear`."""
        if self.roles.share:
            return self._share(self._queried())
        if self.roles.compares:
            self._compare_periods()
            return self._compare_values(self._queried())
        query = self._queried()
        self._refuse_none_of_groups(query)
        return query

    def _refuse_none_of_groups(self, query: QueryPlan) -> None:
        """Raises `Beyond` for values that many rows share, of rows that have none of others: a country with
        one channel that plays no cartoon may have others that do.
        """
        fields = [one for one in query.shown if isinstance(one, PlanColumn)]
        known = {*self.network.key(query.base), *self.network.name_fields(query.base)}
        lacks = any(
            isinstance(one, Without)
            or (isinstance(one, Among) and one.negated and one.field.table != query.base)
            for one in query.conditions
        )
        if lacks and fields and not known.intersection(fields):
            raise Beyond(
                f"I cannot tell whether all rows of {query.base} with the same "
                f"{' and '.join(each.column for each in fields)} have to be so, or one of them."
            )

    def _queried(self) -> QueryPlan:
        roles = self.roles
        if roles.several:
            raise Beyond("I can list one kind of thing at a time.")
        if roles.rank:
            roles.rank = self._by_birth(roles.rank)
            roles.measured = [
                (function, of)
                for function, of in roles.measured
                if not (isinstance(of, Revenue) and of.hint and of.hint == roles.rank.hint)
            ]
        self._group_compared()
        if roles.rank and (ranked := self._ranking(roles.rank)):
            return ranked
        tables = [mention for mention in roles.free if is_table(mention)]
        if roles.compares and len(tables) == len(roles.free) == 1 and not (roles.measured or roles.grouped):
            roles.counts = True
        if roles.counts or roles.measured or (roles.rank and roles.ranked_by):
            return self._aggregation(self._measures())
        if roles.grouped and not self._lists_each():
            return self._counts_by_group()
        return self._list()

    def _share(self, query: QueryPlan) -> QueryPlan:
        """Returns the numbers of a plan in percent of the whole.

        The whole is that of the same period, unless the period is the only condition.
        """
        if len(query.measures) != 1 or query.measures[0].function not in ("count", "sum"):
            raise Beyond("I can tell the share of a sum or of a number of rows only.")
        if query.having or self.roles.distinct:
            raise Beyond("I cannot tell shares of these rows.")
        periods = tuple(one for one in query.conditions if isinstance(one, Within))
        parts = len(query.conditions) - len(periods) + len(query.with_tables)
        if not query.dimensions and not parts and len(periods) == 1:
            parts, periods = 1, ()
        if parts != (0 if query.dimensions else 1):
            raise Beyond("I do not see which part of which whole is meant.")
        whole = replace(query, conditions=periods, with_tables=(), dimensions=(), order=None, limit=None)
        counted = query.measures[0].name.removeprefix("number of ")
        measure = replace(query.measures[0], name=f"share of {counted} (%)")
        return replace(query, measures=(measure,), whole=replace(whole, through=self.anchors))

    def _compare_periods(self) -> None:
        """Groups by the unit of the periods that are compared, unless by shorter ones."""
        roles = self.roles
        parts = [part for period, _ in roles.times for part in period.parts or (period,)]
        if len(parts) < 2:
            return
        units = {part.unit for part in parts}
        unit = units.pop() if len(units) == 1 else None
        by = [each.unit for each in roles.grouped if isinstance(each, Calendar) and each.unit in PERIOD_UNITS]
        if unit is None or any(PERIOD_UNITS.index(each) >= PERIOD_UNITS.index(unit) for each in by):
            raise Beyond("I can compare whole periods of one length only, such as two years.")
        mention = next((mention for _, mention in roles.times if mention), None)
        try:
            roles.times = [(one_of(parts), mention)]
        except ValueError:
            raise Beyond("The periods to compare overlap.") from None
        if not by:  # shorter periods tell the compared ones apart
            roles.grouped = [*roles.grouped, Calendar(unit)]

    def _compare_values(self, query: QueryPlan) -> QueryPlan:
        """Groups a number by the column whose values are compared."""
        if not query.measures:
            raise Beyond("I do not see which number should be compared.")
        if query.dimensions:
            return query
        fields = [
            one.field
            for one in query.conditions
            if isinstance(one, Among) and not one.negated and len(one.values) > 1
        ]
        if len(fields) != 1:
            raise Beyond("I do not see what should be compared.")
        return replace(query, dimensions=(fields[0],))

    def _group_compared(self) -> None:
        """Groups by what is compared: "departments with an average salary over 3000", "cities with 4 or
        more customers".
        """
        roles = self.roles
        tables = [mention for mention in roles.free if is_table(mention)]
        columns = [mention for mention in roles.free if not is_table(mention)]
        if roles.having and not roles.grouped and not roles.counts:
            compared = tables or columns
            if len(compared) != 1:
                raise Beyond("I do not see which groups should be compared.")
            roles.grouped = [compared[0]]
            roles.free = [mention for mention in roles.free if mention is not compared[0]]
            return
        if tables or not columns or roles.rank or roles.counts or roles.measured or roles.grouped:
            return
        own = [each for each in roles.compared if self._is_count_of_own(columns, each[1])]
        if len(own) == 1:
            ((comparison, by, _),) = own
            roles.compared.remove(own[0])
            roles.counts = True
            roles.counted = by if isinstance(by, SchemaMention) else None
            roles.grouped = [*columns]
            roles.free = []
            roles.having = [(None, None, comparison)]

    def _is_count_of_own(self, columns: Sequence[SchemaMention], by: Measured | None) -> bool:
        """True if rows of `by` are counted for values of its own columns."""
        if not isinstance(by, SchemaMention) or not is_table(by) or is_number(by):
            return False
        table = self.table(by)
        fields = [self.field(column, lambda link: link.is_column, table) for column in columns]
        return all(
            field.table == table
            and not self.network.is_key(field)
            and field not in self.network.name_fields(table)
            for field in fields
        )

    def _is_row_of(self, base: str, dimension: Dimension) -> bool:
        if isinstance(dimension, PlanColumn):
            return self.network.key(base) == (dimension,)
        return isinstance(dimension, Entity) and dimension.table == base

    def _having(self, query: QueryPlan) -> tuple[Having, ...]:
        found = []
        for function, of, comparison in self.roles.having:
            measure = self.measure(function, of) if of is not None else query.measures[0]
            if measure not in query.measures or (of is None and len(query.measures) > 1):
                raise Beyond("I do not see which number of each group should be compared.")
            numbers = comparison.numbers
            if comparison.unit:
                numbers = self._in_unit_of(measure.fields[:1], comparison)[1]
            found.append(Having(measure, comparison.operator, numbers))
        return tuple(found)

    def _lists_each(self) -> bool:
        """True if the only mention is a table after "every" ("list every customer"); it is then listed."""
        self._list_own_columns()
        if not self.roles.grouped:
            return True
        (only, *more) = self.roles.grouped
        if self.roles.free or more or not isinstance(only, SchemaMention) or not is_table(only):
            return False
        self.roles.grouped = []
        self.roles.free = [only]
        return True

    def _list_own_columns(self) -> None:
        """Lists the columns of "the name of each teacher": each row has one of them."""
        roles = self.roles
        entity = roles.grouped[0]
        tables = [mention for mention in roles.free if is_table(mention)]
        if len(roles.grouped) > 1 or tables or not roles.free or not isinstance(entity, SchemaMention):
            return
        if entity.lead in _EACH and is_table(entity):
            table = self.table(entity)
            own = [self._pick(column, lambda link: link.is_column, table) for column in roles.free]
            if all(link.table == table for link in own):
                roles.free = [*roles.free, entity]
                roles.grouped = []

    def _aggregation(self, measured: tuple[Measure, ...]) -> QueryPlan:
        base = measured[0].table
        if any(measure.table != base for measure in measured):
            raise Beyond("The numbers asked for lie in different tables; ask for one at a time.")
        query = QueryPlan(base=base, measures=measured, dimensions=self._dimensions(base))
        if any(self._is_row_of(base, one) for one in query.dimensions):
            raise Beyond(f"Each row of {base} has one of these numbers; ask for it without a group.")
        if self.roles.limit and not query.dimensions:
            raise Beyond(f"I do not see what there should be {self.roles.limit} of.")
        if self.roles.having and not query.dimensions:
            raise Beyond("I do not see which groups should be compared.")
        query = self._add_conditions(self._add_shown(replace(query, having=self._having(query))))
        self._refuse_parts(query)
        query = replace(query, with_tables=self._required_tables(query), limit=self.roles.limit)
        return self._from_zero(self._ordered(query))

    def _refuse_parts(self, query: QueryPlan) -> None:
        """Raises `Beyond` if a sum for each row of a table would take only parts of these rows."""
        rows = {measure.each.table for measure in query.measures if measure.each}
        used = {
            *map(table_of, query.conditions),
            *(one.field.table if isinstance(one, Grain) else one.table for one in query.dimensions),
            *query.with_tables,
        }
        if any(not self.network.belongs(one, other) for one in rows for other in used if one != other):
            raise Beyond(f"The question is about parts of {' and '.join(rows)}, so an average is not clear.")

    def _counts_by_group(self) -> QueryPlan:
        tables = [mention for mention in self.roles.free if is_table(mention)]
        numbers = [mention for mention in self.roles.free if is_number(mention) and not is_table(mention)]
        if len(numbers) == 1 and len(self.roles.free) == len(tables) + 1:
            field = self.field(numbers[0], lambda link: link.is_number)
            if not is_quantity(field):
                raise self._unclear_number(numbers[0], field)
            self.roles.free.remove(numbers[0])
            return self._aggregation((Measure("sum", field.table, f"total {numbers[0].text}", (field,)),))
        if len(tables) != 1 or len(self.roles.free) != 1 or tables[0].lead in POSSESSIVE:
            raise Beyond("I do not see what should be counted or summed for each group.")
        self.roles.free.remove(tables[0])
        self.roles.counted = tables[0]
        return self._aggregation((self._count(tables[0]),))
