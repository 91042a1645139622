"""Planning of a question: as a ranking, a number, a number per group, or a list."""

from collections.abc import Sequence
from dataclasses import replace

from app.modules.sql_generation.builtin.periods import PERIOD_UNITS, one_of
from app.modules.sql_generation.builtin.plan import (
    Among,
    Beyond,
    Measure,
    PlanColumn,
    QueryPlan,
    Without,
)
from app.modules.sql_generation.builtin.planning.aggregating import AggregationPlanner
from app.modules.sql_generation.builtin.planning.measures import is_quantity
from app.modules.sql_generation.builtin.question.items import Calendar, Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.reading import POSSESSIVE
from app.modules.sql_generation.builtin.question.roles import Measured, is_number, is_table

_EACH = ("each", "every")


class Planner(AggregationPlanner):
    """Decides the kind of query that a question asks for, and resolves its parts."""

    def plan(self) -> QueryPlan:
        """Returns the plan of the question. Raises `Beyond` or `Unclear`."""
        if self.roles.share and not self.roles.rate:
            return self._share(self._queried())
        if self.roles.compares and not self.roles.growth:
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
        if roles.rate:
            return self._rate(roles.rate)
        if roles.growth:
            return self._growth(roles.growth)
        if roles.new and (query := self._newcomers(roles.new)):
            return query
        if roles.rank:
            roles.rank = self.rank_by_birth(roles.rank)
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
