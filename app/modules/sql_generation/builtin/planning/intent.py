"""Planning of a question: as a ranking, a number, a number per group, or a list."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.modules.sql_generation.builtin.periods import one_of
from app.modules.sql_generation.builtin.plan import (
    NOT_UNDERSTOOD,
    Among,
    Beyond,
    Compared,
    Dimension,
    Entity,
    Function,
    Grain,
    Having,
    Measure,
    PlanColumn,
    QueryPlan,
    Related,
    SortOrder,
    Unclear,
    Within,
    Without,
)
from app.modules.sql_generation.builtin.planning import measures
from app.modules.sql_generation.builtin.planning.filtering import Filters, is_birth
from app.modules.sql_generation.builtin.planning.measures import is_quantity
from app.modules.sql_generation.builtin.question.lexicon import EXACT
from app.modules.sql_generation.builtin.question.reading import (
    AGE,
    BIRTH,
    DATE,
    INCLUDING,
    POSSESSIVE,
    Calendar,
    Rank,
    Revenue,
    SchemaMention,
)
from app.modules.sql_generation.builtin.question.readings import (
    FUNCTIONS,
    offer_functions,
    offer_order,
    plural,
    spoken,
)
from app.modules.sql_generation.builtin.question.roles import Measured, is_event, is_number, is_table, is_verb
from app.modules.sql_generation.builtin.question.words import ORDERING, words_of
from app.modules.sql_generation.builtin.statement.conditions import table_of

_SEVERAL = 10
_EACH = ("each", "every")


class Planner(Filters):
    """Decides the kind of query that a question asks for, and resolves its parts."""

    def plan(self) -> QueryPlan:
        """Returns the plan of the question. Raises `Beyond` or `Unclear`."""
        if self.roles.share:
            return self._share(self._queried())
        if self.roles.compares:
            self._compare_periods()
            return self._compare_values(self._queried())
        return self._queried()

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
        """Groups by the unit of the periods that are compared."""
        roles = self.roles
        parts = [part for period, _ in roles.times for part in period.parts or (period,)]
        if len(parts) < 2:
            return
        units = {part.unit for part in parts}
        unit = units.pop() if len(units) == 1 else None
        if unit is None or roles.grouped:
            raise Beyond("I can compare whole periods of one length only, such as two years.")
        mention = next((mention for _, mention in roles.times if mention), None)
        try:
            roles.times = [(one_of(parts), mention)]
        except ValueError:
            raise Beyond("The periods to compare overlap.") from None
        roles.grouped = [Calendar(unit)]

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

    def _by_birth(self, rank: Rank) -> Rank:
        """Ranks by birth date if no age is stored: the oldest were born first."""
        if rank.hint != AGE:
            return rank
        table = self._subject()
        if any(words_of(field.column)[-1] == "age" for field in self.network.fields(table)):
            return rank
        born = any(is_birth(field) for field in self.network.fields(table))
        if not born and self.network.is_of_people(table):
            return rank
        return replace(rank, descending=not rank.descending, hint=BIRTH if born else DATE)

    # Queries

    def _ranking(self, rank: Rank) -> QueryPlan | None:
        """Returns rows or groups in the order of a superlative; None if it only asks for an extreme value."""
        roles = self.roles
        if roles.ranked_unit:
            return self._ranked_periods(rank, roles.ranked_unit)
        entity = self._ranked_entity()
        if (roles.counts or roles.measured) and (roles.ranked_by or rank.hint):
            raise Beyond("I cannot count or sum what belongs to the highest or lowest of something else.")
        if entity is None and not rank.hint:
            return None
        key = self._ranking_key(rank, entity)
        if isinstance(key, PlanColumn):
            return self._ranked_rows(rank, key)
        return self._ranked_groups(rank, self._entity_dimension(entity), key)

    def _ranked_periods(self, rank: Rank, calendar: Calendar) -> QueryPlan:
        """Returns the periods in the order of a number: "busiest month", "the day with the most orders"."""
        roles = self.roles
        if rank.hint or roles.grouped:
            raise Beyond("I can rank periods by how many rows they have, or by a sum, not in this way.")
        counted = next(
            (mention for mention in roles.free if is_table(mention) and not is_verb(mention)), None
        )
        if roles.ranked_by or roles.counts or roles.measured:
            measure = self._ranking_key(rank, None)
        elif counted:
            roles.free.remove(counted)
            measure = self._count(counted)
        else:
            measure = self._happening(rank, calendar)
        if not isinstance(measure, Measure):
            raise Beyond("I do not see what the periods should be ranked by.")
        return self._ranked_groups(rank, self._grain(calendar, measure.table), measure)

    def _happening(self, rank: Rank, calendar: Calendar) -> Measure:
        """Returns the number of the only rows that can make a period busy. Raises `Unclear` if others can."""
        dated = [
            table.name
            for table in self.network.schema.tables
            if any(field.type in ("date", "datetime") for field in self.network.fields(table.name))
            and not self.network.is_of_people(table.name)
        ]
        readings = [offer_order(f"number of {plural(table)}", table) for table in dated]
        if len(dated) == 1 and rank.about == "rows":
            return self._row_count(dated[0], plural(dated[0]))
        if dated and rank.about == "value":
            readings = [*(offer_order("revenue", each.table) for each in self._earned(())), *readings]
        raise Unclear(f"By what should each {calendar.unit} be ranked?", readings)

    def _ranked_entity(self) -> SchemaMention | None:
        """Returns the mention that is ranked: the first one, but the shop for "name of the shop"."""
        free = self.roles.free
        tables = [mention for mention in free if is_table(mention)]
        named = bool(free and tables) and words_of(free[0].text) in (("name",), ("id",))
        return tables[0] if named else next(iter(free), None)

    def _ranking_key(self, rank: Rank, entity: SchemaMention | None) -> PlanColumn | Measure:
        roles = self.roles
        if rank.hint:
            if isinstance(roles.ranked_by, SchemaMention):
                return self.field(roles.ranked_by, lambda link: link.is_date, self._subject())
            happened = self._happened(self._subject()) if rank.hint == DATE else None
            return happened or self.hinted(rank.hint, self._subject())
        if roles.counts or roles.measured:
            (measure,) = self._measures() if len(roles.measured) + roles.counts == 1 else (None,)
            if measure:
                return measure
            raise Beyond("I can rank by one number only.")
        by = roles.ranked_by or self._ranked_by_count(rank, entity)
        if isinstance(by, Measure):
            return by
        if isinstance(by, Revenue):
            return (
                self.hinted(by.hint, self._subject())
                if by.hint
                else self._revenue(by, self._tables_of(entity))
            )
        if by is None:
            raise self._unclear_order(entity)
        if is_table(by) and is_verb(by):
            raise Beyond("This could be ranked by how often or by how much; ask for one of them.")
        if is_table(by):
            return self._count(by)
        return self._ranking_field(by, entity)

    def _ranked_by_count(self, rank: Rank, entity: SchemaMention | None) -> SchemaMention | Measure | None:
        """Returns what is counted for "most common city of customers" and "busiest stores by rentals"."""
        roles = self.roles
        if entity is None:
            return None
        by = roles.grouped[0] if len(roles.grouped) == 1 else None
        if isinstance(by, SchemaMention) and by.lead == "by" and self._has_many(entity, by):
            roles.grouped = []
            return by
        if rank.about != "rows" or is_table(entity):
            return None
        counted = [mention for mention in roles.free if is_table(mention) and not is_verb(mention)]
        if len(counted) > 1:
            return None
        table = self.table(counted[0]) if counted else self._tables_of(entity)[0]
        roles.free = [mention for mention in roles.free if mention not in counted]
        return self._row_count(table)

    def _has_many(self, one: SchemaMention, other: SchemaMention) -> bool:
        """True if a row of the first table can have many of the second."""
        if not (is_table(one) and is_table(other)):
            return False
        return self.network.fans_out(self.table(one), self.table(other), self.anchors)

    def _ranking_field(self, by: SchemaMention, entity: SchemaMention | None) -> PlanColumn | Measure:
        tables = self._tables_of(entity)
        field = self.field(by, lambda link: link.is_number, *tables)
        if field.table in tables:
            return field
        if is_quantity(field):
            return Measure("sum", field.table, f"total {by.text}", (field,))
        raise self._unclear_number(by, field, ("average", "total"))

    def _unclear_order(self, entity: SchemaMention | None) -> Unclear | Beyond:
        ranked = self.roles.ranked
        if entity is None:
            return Beyond("I do not see what should be ranked.")
        if ranked is not None and ranked is not entity and not is_table(ranked):
            return Beyond(f"I can rank by numbers and dates only, not by {ranked.text}.")
        table = self._tables_of(entity)[0]
        numbers = measures.numbers_of(self.network, table)
        readings = [
            *(offer_order("revenue", measure.table) for measure in self._earned([table])),
            *(offer_order(spoken(field.column), field) for field in numbers),
            *(offer_order(f"number of {plural(other)}", other) for other in self.network.referring(table)),
        ]
        names = " or ".join(reading.label for reading in readings)
        return Unclear(f"By what should {entity.text} be ranked{f': {names}' if names else ''}?", readings)

    def _earned(self, tables: Iterable[str]) -> list[Measure]:
        try:
            return [self._revenue(Revenue("revenue"), tables)]
        except (Beyond, Unclear):
            return []

    def _ranked_rows(self, rank: Rank, key: PlanColumn) -> QueryPlan:
        query = self._list()
        return self._limited(replace(query, order=SortOrder(key, rank.descending)))

    def _ranked_groups(self, rank: Rank, dimension: Dimension, measure: Measure) -> QueryPlan:
        if self.roles.grouped:
            raise Beyond("I cannot rank within each group.")
        ranked = self._ranked_entity()
        rest = [mention for mention in self.roles.free if not is_table(mention) and mention is not ranked]
        query = self._add_conditions(
            QueryPlan(base=measure.table, measures=(measure,), dimensions=(dimension,))
        )
        query = replace(query, with_tables=self._required_tables(query))
        if rest:
            query = replace(query, dimensions=(self._shown_with(dimension, rest),))
        query = self._limited(replace(query, order=SortOrder(measure, rank.descending)))
        return self._from_zero(query)

    def _from_zero(self, query: QueryPlan) -> QueryPlan:
        """Starts from the groups' own table if the lowest counts come first: a count may be zero."""
        ascending = query.order is not None and not query.order.descending
        if query.order is None or not ascending or query.having or query.order.by not in query.measures:
            return query
        match query.dimensions, query.measures:
            case (Entity(table, _, shown),), (Measure(function="count") as measure,):
                beneath = any(
                    isinstance(one, Without)
                    or (isinstance(one, Compared) and isinstance(one.subject, Related))
                    for one in query.conditions
                )
                if (
                    table == query.base
                    or beneath
                    or not self.network.fans_out(table, query.base, self.anchors)
                ):
                    return query
                number = Related(measure)
                return replace(
                    query,
                    base=table,
                    measures=(),
                    dimensions=(),
                    shown=(*shown, number),
                    order=SortOrder(number, descending=False),
                )
        return query

    def _limited(self, query: QueryPlan) -> QueryPlan:
        """Sets the limit that the question names; otherwise one row, or a default for a plural."""
        if self.roles.limit:
            return replace(query, limit=self.roles.limit)
        entity = self.roles.ranked_unit or self.roles.ranked or self._ranked_entity()
        several = entity is not None and entity.plural
        return replace(query, limit=_SEVERAL if several else 1, chosen=several)

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

    def _unclear_number(
        self, mention: SchemaMention, field: PlanColumn, functions: Sequence[str] = FUNCTIONS
    ) -> Unclear:
        named = f"{', '.join(functions[:-1])} or {functions[-1]}"
        text = f"Do you mean the {named} {spoken(field.column)}?"
        return Unclear(text, offer_functions(mention.text, field, functions))

    def _list(self) -> QueryPlan:
        base = self._subject()
        if self.roles.grouped:
            raise Beyond("I do not see what should be counted or summed for each group.")
        shown = self._shown(base) or self._counted_beside(base)
        base = self._finest(base, shown)
        query = QueryPlan(
            base=base,
            shown=shown,
            distinct=bool(shown) and (self.roles.distinct or self._is_of_values(shown)),
        )
        query = self._add_conditions(query)
        return self._ordered(replace(query, with_tables=self._required_tables(query), limit=self.roles.limit))

    def _counted_beside(self, base: str) -> tuple[PlanColumn | Related, ...]:
        """Returns the name columns of a row and the numbers it is compared by."""
        related = [
            self.related(by, base)
            for _, by, _ in self.roles.compared
            if by is not None and self._is_related(by, base)
        ]
        if not any(isinstance(one, Related) for one in related):
            return ()
        return (*(self.network.name_fields(base) or self.network.key(base)), *related)

    def _is_of_values(self, shown: Sequence[PlanColumn | Related]) -> bool:
        """True if a list is of a column's values ("list the job titles"), not of the rows of a table."""
        if any(is_table(mention) for mention in self.roles.free) or len(shown) > 1 or self.roles.sort:
            return False
        (one,) = shown
        qualified = any(link.score > EXACT for mention in self.roles.free for link in mention.links)
        return (
            isinstance(one, PlanColumn) and not qualified and one not in self.network.name_fields(one.table)
        )

    def _finest(self, base: str, shown: Iterable[PlanColumn | Related]) -> str:
        """Returns the table of which each row gives one row of the list: its rows determine all others.

        Raises `Beyond` if there is none, because the list would repeat rows.
        """
        tables = dict.fromkeys([base, *(one.table for one in shown if isinstance(one, PlanColumn))])
        for table in tables:
            if not any(self.network.fans_out(table, other, self.anchors) for other in tables):
                return table
        raise Beyond(
            f"A list of {' and '.join(tables)} would repeat rows: they belong to each other many times."
        )

    # Parts of a query

    def _measures(self) -> tuple[Measure, ...]:
        roles = self.roles
        found: list[Measure] = []
        if roles.counts:
            found.append(self._counted())
        for function, measured in roles.measured:
            found.append(self.measure(function, measured))
        if roles.rank and roles.ranked_by and not found:
            found.append(self.measure("max" if roles.rank.descending else "min", roles.ranked_by))
        return tuple(found)

    def _counted(self) -> Measure:
        mention = self.roles.counted or next(iter(self.roles.free), None)
        if mention is None and self.roles.reports:
            return self._row_count(self._reporting_table())
        if mention is None:
            raise Beyond("I do not see what should be counted.")
        self.roles.free = [other for other in self.roles.free if other is not mention]
        if is_table(mention):
            return self._count(mention)
        field = self.field(mention, lambda link: link.is_column)
        if field.type in ("integer", "number") and not self.network.is_key(field):
            raise Beyond(f"I cannot tell whether {field} should be summed or its values counted.")
        return Measure("count distinct", field.table, f"number of {mention.text}", (field,))

    def measure(self, function: Function | None, measured: Measured) -> Measure:
        if isinstance(measured, Revenue):
            return self._money(function, measured)
        number = self.field(
            measured,
            lambda link: link.is_number,
            orelse=(lambda link: link.is_date) if function in ("min", "max") else None,
        )
        if function is None:
            raise Beyond(f"I do not know what to compute of {number}.")
        if self.network.is_key(number):
            raise Beyond(f"{number} is a key, not a number to compute with.")
        if function == "sum" and measures.is_rate(self.network, number):
            raise Beyond(f"{number} holds parts of something, which have no sum; ask for the average.")
        name = measures.FUNCTION_WORDS.get(function, function)
        return Measure(function, number.table, f"{name} {measured.text}", (number,))

    def _money(self, function: Function | None, measured: Revenue) -> Measure:
        if measured.definition is not None:
            return measures.defined(self.network, measured.definition, function, text=measured.text)
        if measured.hint:
            return self._quality(function, measured)
        if measured.of is not None:
            return self._worth(function or "sum", measured, measured.of)
        found = self._revenue(measured, ())
        function = function or "sum"
        if function != "sum" and (len(found.fields) > 1 or self.roles.grouped):
            raise Beyond(f"I cannot tell over what the {measured.text} should be averaged or compared.")
        return replace(found, function=function)

    def _quality(self, function: Function | None, measured: Revenue) -> Measure:
        """Returns the measure of "how long on average"."""
        if function is None:
            raise Beyond("Each row has its own: ask for the average, the highest or the lowest.")
        field = self.hinted(measured.hint, self.table(measured.of) if measured.of else self._subject())
        name = f"{measures.FUNCTION_WORDS.get(function, function)} {spoken(field.column)}"
        return Measure(function, field.table, name, (field,))

    def _worth(self, function: Function, measured: Revenue, of: SchemaMention) -> Measure:
        """Returns the measure of the money of rows: their own amount, or that of the lines of an order."""
        table = self.table(of)
        name = f"{measures.FUNCTION_WORDS.get(function, function)} {measured.text}"
        own = measures.amounts_of(self.network, table)
        if len(own) == 1:
            return Measure(function, table, name, (own[0],))
        if own or function not in ("sum", "avg") or not ORDERING.intersection(words_of(of.text)):
            raise Beyond(f"I cannot tell which amount of {table} is meant.")
        found = self._revenue(Revenue(measured.text), (table,))
        key = self.network.key(table)
        if found.table == table or len(key) != 1 or not self.network.belongs(found.table, table):
            raise Beyond(f"I cannot tell which amount of {table} is meant.")
        return replace(found, function=function, name=name, each=key[0] if function == "avg" else None)

    def _revenue(self, measured: Revenue, tables: Iterable[str]) -> Measure:
        if measured.definition is not None:
            return measures.defined(self.network, measured.definition, None, text=measured.text)
        return measures.revenue(self.network, tuple(dict.fromkeys((*self.anchors, *tables))), measured.text)

    def _count(self, mention: Measured) -> Measure:
        if isinstance(mention, Revenue):
            raise Beyond(f"I cannot count {mention.text}.")
        return self._row_count(self.table(mention), mention.text if mention.plural else None)

    def _row_count(self, table: str, text: str | None = None) -> Measure:
        return Measure("count", table, f"number of {text or table}")

    def _dimensions(self, base: str) -> tuple[Dimension, ...]:
        return tuple(self.dimension(mention, base) for mention in self.roles.grouped)

    def _entity_dimension(self, entity: SchemaMention | None) -> Dimension:
        if entity is None:
            raise Beyond("I do not see what should be ranked.")
        near = self._count_base() if is_table(self.roles.ranked_by) else next(iter(self.anchors), None)
        return self.dimension(entity, near) if near else self.dimension(entity, self._tables_of(entity)[0])

    def _count_base(self) -> str:
        by = self.roles.ranked_by
        if not isinstance(by, SchemaMention):
            raise Beyond("I do not see what should be ranked.")
        return self.table(by) if is_table(by) else self.field(by, lambda link: link.is_number).table

    def _shown_with(self, dimension: Dimension, mentions: list[SchemaMention]) -> Dimension:
        if not isinstance(dimension, Entity):
            raise Beyond(NOT_UNDERSTOOD)
        fields = [field for mention in mentions for field in self.named(mention, dimension.table)]
        if any(field.table != dimension.table for field in fields):
            raise Beyond(NOT_UNDERSTOOD)
        return replace(dimension, shown=tuple(dict.fromkeys(fields)))

    def _add_shown(self, query: QueryPlan) -> QueryPlan:
        """Adds the columns named beside a number. Raises `Beyond` if they do not belong to its groups."""
        columns = [mention for mention in self.roles.free if not is_table(mention)]
        known = [dimension for dimension in query.dimensions if isinstance(dimension, PlanColumn)]
        columns = [mention for mention in columns if not any(link.field in known for link in mention.links)]
        if not columns:
            return query
        entities = [dimension for dimension in query.dimensions if isinstance(dimension, Entity)]
        if len(entities) != 1:
            raise Beyond(NOT_UNDERSTOOD)
        rest = [dimension for dimension in query.dimensions if dimension is not entities[0]]
        return replace(query, dimensions=(self._shown_with(entities[0], columns), *rest))

    def _shown(self, base: str) -> tuple[PlanColumn | Related, ...]:
        """Returns the columns asked for, each of the table named next: "titles of songs, names of singers".

        For "cities and their population" the name of the city is included, but not for "city population".
        """
        free = [*self.roles.free, *([self.roles.counted] if self.roles.counted else [])]
        shown: list[PlanColumn] = []
        for at, mention in enumerate(free):
            if is_table(mention) and mention.lead in (*POSSESSIVE, INCLUDING):
                shown += self._shown_beside(mention, base)
            elif not is_table(mention) and not _is_name_of_column(mention, free[at + 1 : at + 2]):
                owner = next((self.table(other) for other in free[at:] if is_table(other)), base)
                shown += self.named(mention, owner)
        several = [mention for mention in free if is_table(mention)]
        if shown and several == free[:1] and not (free[1:] and _is_apposed(free[0], free[1])):
            shown = [*(self.network.name_fields(base) or self.network.key(base)), *shown]
        return tuple(dict.fromkeys(shown))

    def _shown_beside(self, mention: SchemaMention, base: str) -> tuple[PlanColumn, ...]:
        """Returns the name columns of the related row in another table: "albums with their artist"."""
        table = self.table(mention, base)
        if table == base or self.network.fans_out(base, table, self.anchors):
            raise Beyond(f"One row of {base} can have many of {table}: ask for {table} instead.")
        beside = self.network.name_fields(table) or self.network.key(table)
        return (*(self.network.name_fields(base) or self.network.key(base)), *beside)

    def _required_tables(self, query: QueryPlan) -> tuple[str, ...]:
        """Returns the other mentioned tables in which a row may have no match."""
        used = {query.base} | {
            dimension.table if isinstance(dimension, Entity) else dimension.field.table
            for dimension in query.dimensions
            if isinstance(dimension, Entity | Grain)
        }
        tables = [self.table(mention, query.base) for mention in self.roles.free if is_table(mention)]
        return tuple(dict.fromkeys(table for table in tables if table not in used))

    def _ordered(self, query: QueryPlan) -> QueryPlan:
        roles = self.roles
        if roles.sort is None and roles.first and not query.measures:
            return self._in_time(query)
        if roles.sort is None:
            return query
        if len(roles.sorted_by) > 1:
            raise Beyond("I can sort by one thing only.")
        target = self.sort_target(query)
        born = roles.sort.by_age and isinstance(target, PlanColumn) and target.type in ("date", "datetime")
        return replace(query, order=SortOrder(target, bool(roles.sort.descending) != born))

    def _happened(self, base: str) -> PlanColumn | None:
        """Returns the date of the one event that is mentioned for rows of `base` ("hired last"), or None."""
        said = [mention for mention in self.roles.present if is_event(mention)]
        return self.field(said[0], lambda link: link.is_date, base) if len(said) == 1 else None

    def _in_time(self, query: QueryPlan) -> QueryPlan:
        """Sorts by date for "the first": the first events are the earliest. Not for people without event."""
        date = self._happened(query.base)
        if date is None and not self.network.is_of_people(query.base):
            date = self._dates_of(query.base)
        return replace(query, order=SortOrder(date, descending=False)) if date else query

    def sort_target(self, query: QueryPlan) -> PlanColumn | Measure:
        by = self.roles.sorted_by[0] if self.roles.sorted_by else None
        if isinstance(by, SchemaMention) and not is_table(by):
            fields = self.named(by, query.base)
            measured = [measure for measure in query.measures if fields[0] in measure.fields]
            return measured[0] if measured else self._sortable(fields[0], query)
        if query.measures and (by is None or isinstance(by, Revenue)):
            return query.measures[0]
        fields = tuple(shown for shown in query.shown if isinstance(shown, PlanColumn))
        names = fields or self.network.name_fields(query.base)
        if names and by is None:
            return names[0]
        raise Beyond("I do not see what to sort by.")

    def _sortable(self, field: PlanColumn, query: QueryPlan) -> PlanColumn:
        grouped = [
            shown
            for dimension in query.dimensions
            for shown in (dimension.shown if isinstance(dimension, Entity) else (dimension,))
        ]
        if query.measures and field not in grouped:
            raise Beyond(f"{field} has no single value to sort by here.")
        return field


def _is_apposed(table: SchemaMention, column: SchemaMention) -> bool:
    """True if a table in the singular is right before its column: "car models"."""
    return not table.plural and column.lead == table.text.split()[-1].lower()


def _is_name_of_column(mention: SchemaMention, following: Sequence[SchemaMention]) -> bool:
    """True for "name" in "the name of the makers", where a column is called maker."""
    if words_of(mention.text) != ("name",) or not following or is_table(following[0]):
        return False
    (after,) = following
    return after.lead == "of" or (after.lead == "the" and after.plural and not mention.plural)
