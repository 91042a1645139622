"""Planning of a number, also per group: sums and counts, shares, rates, growth and new rows."""

from contextlib import suppress
from dataclasses import replace
from datetime import date

from app.modules.sql_generation.builtin import plan
from app.modules.sql_generation.builtin.periods import compare_periods, one_of
from app.modules.sql_generation.builtin.plan import Beyond, PlanColumn
from app.modules.sql_generation.builtin.planning.filtering import is_birth
from app.modules.sql_generation.builtin.planning.measures import NUMERIC, RATES
from app.modules.sql_generation.builtin.planning.ranking import RankingPlanner, dimension_table
from app.modules.sql_generation.builtin.question.items import (
    Calendar,
    Growth,
    NewRows,
    Rate,
    Revenue,
    SchemaMention,
)
from app.modules.sql_generation.builtin.question.roles import is_number, is_table
from app.modules.sql_generation.builtin.question.words import ORDERING, words_of
from app.modules.sql_generation.builtin.statement.conditions import table_of
from app.modules.sql_generation.builtin.statement.network import PEOPLE

_OF = ("of", "in", "among")


class AggregationPlanner(RankingPlanner):
    """Plans numbers."""

    def _aggregation(self, measured: tuple[plan.Measure, ...]) -> plan.QueryPlan:
        base = measured[0].table
        if any(measure.table != base for measure in measured):
            raise Beyond("The numbers asked for lie in different tables; ask for one at a time.")
        query = plan.QueryPlan(base=base, measures=measured, dimensions=self._dimensions(base))
        if any(self._is_row_of(base, one) for one in query.dimensions):
            raise Beyond(f"Each row of {base} has one of these numbers; ask for it without a group.")
        if self.roles.limit and not query.dimensions:
            raise Beyond(f"I do not see what there should be {self.roles.limit} of.")
        if self.roles.having and not query.dimensions:
            raise Beyond("I do not see which groups should be compared.")
        query = self._add_conditions(self._add_shown(replace(query, having=self._having(query))))
        self._refuse_parts(query)
        query = replace(query, with_tables=self.required_tables(query), limit=self.roles.limit)
        return self._from_zero(self._ordered(query))

    def _refuse_parts(self, query: plan.QueryPlan) -> None:
        """Raises `Beyond` if a sum for each row of a table would take only parts of these rows."""
        rows = {measure.each.table for measure in query.measures if measure.each}
        used = {
            *map(table_of, query.conditions),
            *map(dimension_table, query.dimensions),
            *query.with_tables,
        }
        if any(not self.network.belongs(one, other) for one in rows for other in used if one != other):
            raise Beyond(f"The question is about parts of {' and '.join(rows)}, so an average is not clear.")

    def _is_row_of(self, base: str, dimension: plan.Dimension) -> bool:
        if isinstance(dimension, PlanColumn):
            return self.network.key(base) == (dimension,)
        return isinstance(dimension, plan.Entity) and dimension.table == base

    def _having(self, query: plan.QueryPlan) -> tuple[plan.Having, ...]:
        found = []
        for function, of, comparison in self.roles.having:
            measure = self.measure(function, of) if of is not None else query.measures[0]
            if measure not in query.measures or (of is None and len(query.measures) > 1):
                raise Beyond("I do not see which number of each group should be compared.")
            numbers = comparison.numbers
            if comparison.unit:
                numbers = self._in_unit_of(measure.fields[:1], comparison)[1]
            found.append(plan.Having(measure, comparison.operator, numbers))
        return tuple(found)

    def _share(self, query: plan.QueryPlan) -> plan.QueryPlan:
        """Returns the number of a part in percent of the whole, or those of all groups."""
        if len(query.measures) != 1 or query.measures[0].function not in ("count", "sum"):
            raise Beyond("I can tell the share of a sum or of a number of rows only.")
        if query.having or self.roles.distinct:
            raise Beyond("I cannot tell shares of these rows.")
        counted = query.measures[0].name.removeprefix("number of ")
        measure = replace(query.measures[0], name=f"share of {counted} (%)")
        if part := self._part(query):
            return replace(
                query,
                measures=(measure,),
                conditions=tuple(one for one in query.conditions if one not in part),
                with_tables=tuple(one for one in query.with_tables if one not in part),
                part=part,
            )
        if not query.dimensions:
            raise Beyond("I do not see which part of which whole is meant.")
        whole = replace(query, dimensions=(), order=None, limit=None, through=self.anchors)
        return replace(query, measures=(measure,), whole=whole)

    def _part(self, query: plan.QueryPlan) -> tuple[plan.QueryCondition | str, ...]:
        """Returns the conditions of the part: those after the verb, or else the only one. A period beside
        another condition, or beside groups, is that of the whole.
        """
        conditions: tuple[plan.QueryCondition | str, ...] = (*query.conditions, *query.with_tables)
        if (restricting := self.roles.restricting) is not None:
            before = type(self)(self.network, restricting, (query.base,))
            whole = (*before.conditions(query.base), *before.required_tables(plan.QueryPlan(base=query.base)))
            conditions = tuple(one for one in conditions if one not in whole)
        parts = tuple(one for one in conditions if not isinstance(one, plan.Within))
        if restricting is not None and len(parts) > 1 and not self.roles.joined:
            raise Beyond("I cannot tell which of these conditions is on the part and which on the whole.")
        if restricting is None and parts:
            (only, *more) = parts
            counts = query.measures[0].function == "count"
            own = counts and not isinstance(only, str) and table_of(only) == query.base
            if more or (query.dimensions and not own):
                raise Beyond("I do not see which part of which whole is meant.")
        return parts or (() if query.dimensions else conditions)

    def _rate(self, rate: Rate) -> plan.QueryPlan:
        """Returns the share of the rows that have a state, or an event of another table."""
        roles = self.roles
        base, part = self._state(rate.state)
        measure = replace(self._row_count(base), name=f"{rate.state.text} rate (%)")
        if roles.counts or roles.measured or roles.having or roles.ranked_by or roles.growth or roles.new:
            raise Beyond("I can tell a rate by itself only.")
        if roles.rank:
            query = self._ranked_groups(roles.rank, self._entity_dimension(self._ranked_entity()), measure)
        else:
            roles.free = [one for one in roles.free if not (is_table(one) and self.table(one, base) == base)]
            query = self._aggregation((measure,))
        events = {one if isinstance(one, str) else table_of(one) for one in part} - {base}
        used = {*map(table_of, query.conditions), *map(dimension_table, query.dimensions), *query.with_tables}
        if events & used:
            raise Beyond(f"Only {base} with {' and '.join(events)} have this, so it tells no rate of all.")
        return replace(query, part=part)

    def _state(self, state: SchemaMention) -> tuple[str, tuple[plan.QueryCondition | str, ...]]:
        """Returns the table whose rows have a state or an event, and the condition that a row has it."""
        events = [link.table for link in state.links if link.is_table and not link.verb]
        links = [link for link in state.links if link.field not in self.network.name_fields(link.table)]
        values = [link for link in links if link.value is not None or link.flag]
        columns = [link.field for link in links if link.field and not (link in values or link.key)]
        if not events and len(values) == 1 and (field := values[0].field):
            value = values[0].value
            held = self._flagged(state, field.table, True) if value is None else plan.Among(field, (value,))
            return field.table, (held,)
        if not events and len(columns) == 1 and not values:
            (column,) = columns
            events = [column.table] if self._tells_event(column) else []
            if events or (column.type not in NUMERIC and self.network.column(column).nullable):
                base = self._referred_table(events[0]) if events else column.table
                return base, (plan.Missing(column, negated=True),)
        if len(events) == 1:
            return self._referred_table(events[0]), (events[0],)
        raise Beyond(f"I cannot tell which rows a {state.text} rate is of.")

    def _tells_event(self, column: PlanColumn) -> bool:
        """True if rows of a column's table are events that it is named after: the amount of refunds, but
        neither a tax, whose rate is no share of rows, nor the date at which people signed up.
        """
        noun, *more = words_of(column.column)
        is_amount = column.type not in NUMERIC or (bool(more) and noun not in RATES)
        return is_amount and not (
            self.network.column(column).nullable or self.network.referring(column.table)
        )

    def _referred_table(self, event: str) -> str:
        """Returns the only table that an event's rows refer to."""
        referred = {key.referred_table for key in self.network.table(event).foreign_keys} - {event}
        if len(referred) != 1:
            raise Beyond(f"I cannot tell which rows can have {event}.")
        return referred.pop()

    def _growth(self, growth: Growth) -> plan.QueryPlan:
        """Returns a number of two periods and its change, the largest first if the question ranks."""
        roles = self.roles
        ranks = growth.ranks or roles.rank is not None
        if roles.new:
            raise Beyond("I can compare numbers of two periods, but not of what is new.")
        if roles.share or roles.absent:
            raise Beyond("I can compare sums and numbers of rows of two whole periods, and no parts of them.")
        if ranks and roles.grouped and any(map(is_table, roles.free)):
            raise Beyond("I can rank by growth, but not within each group.")
        if any(
            isinstance(one, SchemaMention) and is_number(one) and not is_table(one) for one in roles.grouped
        ):
            raise Beyond("I cannot tell whether a number is to grow or to tell groups apart.")
        entity = self._ranked_entity() if ranks and not roles.grouped else None
        more = [one for one in roles.free if is_table(one) and one is not entity and one.lead not in _OF]
        if len(more) == 1 and not roles.measured:  # "which channel lost the most orders"
            roles.counts, roles.counted = True, roles.counted or more[0]
        if roles.counts or roles.measured or roles.ranked_by:
            roles.measured = [(function or "sum", of) for function, of in roles.measured]
            if roles.ranked_by:
                roles.measured.append(("sum", roles.ranked_by))
            measures = self._measures()
        else:
            measures = (self._revenue(Revenue("revenue"), ()),)
        measure = measures[0]
        if any(isinstance(one, Calendar) for one in roles.grouped):
            raise Beyond("I can compare two periods, not each with the one before it.")
        if len(measures) > 1 or measure.function not in ("count", "count distinct", "sum") or roles.having:
            raise Beyond("I can compare one sum or number of rows at a time.")
        mention = next((mention for _, mention in roles.times if mention), None)
        is_dated = mention is not None and any(link.is_date for link in mention.links)
        if words_of(measure.table)[-1] in PEOPLE and not (is_dated or self._event()):
            raise Beyond(
                f"I can compare what happened in two periods, and not the {measure.table} that there were."
            )
        groups = (self.dimension(entity, measure.table),) if entity else self._dimensions(measure.table)
        field = self._date(mention, measure.table)
        if self.network.fans_out(measure.table, field.table, self.anchors):
            raise Beyond(f"I find no date of {measure.table}, and {field} is one of several.")
        change = self._choose_periods(field, growth)
        roles.times = []
        query = plan.QueryPlan(base=measure.table, measures=(measure,), dimensions=groups)
        query = self._add_conditions(query)
        both = plan.Within(field, one_of([change.before, change.after]))
        query = replace(query, conditions=(*query.conditions, both), with_tables=self.required_tables(query))
        query = replace(query, change=change)
        if not ranks:
            return query
        if not groups:
            raise Beyond("I do not see what should be ranked.")
        descending = growth.descending and (roles.rank is None or roles.rank.descending)
        return self._limited(replace(query, order=plan.SortOrder(measure, descending)))

    def _choose_periods(self, field: PlanColumn, growth: Growth) -> plan.Change:
        """Returns the periods to compare. Without any in the question they end with the latest known date."""
        if field.type not in ("date", "datetime"):
            raise Beyond(f"{field} only knows years.")
        said = [period for period, _ in self.roles.times]
        known = self.network.column(field)
        first, last = date.min, growth.today
        with suppress(ValueError):
            first = date.fromisoformat((known.minimum or "")[:10])
        with suppress(ValueError):
            last = min(last, date.fromisoformat((known.maximum or "")[:10]))
        try:
            before, after = compare_periods(said, growth.today if said else last)
        except ValueError:
            raise Beyond("I can compare two periods of one length: name them, or one of them.") from None
        begins = str(first) if first > (before.start or first) else ""
        if begins and not said:
            raise Beyond(
                f"The data begin on {begins}, within the earlier of the periods; name two to compare."
            )
        ends = str(last) if last < (after.last or last) else ""
        return plan.Change(field, before, after, growth.relative, begins, ends)

    def _newcomers(self, new: NewRows) -> plan.QueryPlan | None:
        """Returns the number of rows by their first event; None if they have a date of their own.

        Those without one are not listed, as `Beyond` says.
        """
        roles = self.roles
        ranked_by = roles.ranked_by if isinstance(roles.ranked_by, SchemaMention) else None
        counted = ranked_by if is_table(ranked_by) else roles.counted
        mention = counted or next((one for one in roles.free if is_table(one)), None)
        if mention is None:
            raise Beyond("I do not see what is new.")
        if roles.new_rows not in (None, mention):
            raise Beyond("I can count what is new, and nothing else of it.")
        table = self.table(mention)
        if not (roles.times or roles.ranked_unit or any(isinstance(one, Calendar) for one in roles.grouped)):
            raise Beyond(f"I cannot tell since when {mention.text} are new: name a period, or by month.")
        if new.won and not self.network.is_of_people(table):
            raise Beyond(f"I cannot tell what it means that {mention.text} were won or acquired.")
        known = None if new.first else self._dates_of(table)
        has_date = known is not None and not is_birth(known)
        if new.listed and not (roles.counts or roles.grouped or roles.rank):
            if has_date:
                return None
            raise Beyond(f"I can count new {mention.text} by their first event, and not list them.")
        if has_date and self._events(table):
            raise Beyond(
                f"I cannot tell whether the period is that of new {mention.text} or of what they did."
            )
        if has_date and mention is ranked_by:
            return None
        if roles.rank and mention is not ranked_by and not roles.grouped:
            raise Beyond(f"I can count new {mention.text}, and nothing else of them.")
        roles.counts, roles.counted = True, mention
        roles.free = [one for one in roles.free if one is not mention]
        if has_date:
            return None
        groups = roles.free
        is_ranked = mention is ranked_by and len(groups) == 1
        if roles.measured or (roles.rank and not is_ranked):
            raise Beyond(f"I can count new {mention.text}, and nothing else of them.")
        named = [self.table(one) for one in roles.free if is_table(one) and not is_ranked]
        roles.free = []
        events = [one for one in named or self.network.referring(table) if self._dates_of(one)]
        events = [one for one in events if ORDERING.intersection(words_of(one))] or events
        path = self.network.path(events[0], table) if len(events) == 1 else ()
        if len(path) != 1 or len(path[0].left_columns) != 1 or not (first := self._dates_of(events[0])):
            raise Beyond(f"I find no date that says since when {mention.text} are there.")
        key = self._column(events[0], path[0].left_columns[0])
        measure = plan.Measure("count distinct", events[0], f"number of new {mention.text}", (key,))
        if roles.rank:
            roles.free, roles.counts, roles.counted = groups, False, None
            query = self._ranked_groups(roles.rank, self.dimension(groups[0], table), measure)
        else:
            query = self._aggregation((measure,))
        return replace(query, conditions=(*query.conditions, plan.Earliest(first, key)))
