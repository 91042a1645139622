"""Planning of a ranking: the first rows or groups by a number or a date."""

from collections.abc import Iterable
from dataclasses import replace

from app.modules.sql_generation.builtin.plan import (
    Beyond,
    Compared,
    Dimension,
    Entity,
    Grain,
    Measure,
    PlanColumn,
    QueryPlan,
    Related,
    SortOrder,
    Unclear,
    Without,
)
from app.modules.sql_generation.builtin.planning import measures
from app.modules.sql_generation.builtin.planning.filtering import is_birth
from app.modules.sql_generation.builtin.planning.listing import ListPlanner
from app.modules.sql_generation.builtin.planning.measures import is_quantity
from app.modules.sql_generation.builtin.question.items import Calendar, Rank, Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.readings import offer_order, plural, spoken
from app.modules.sql_generation.builtin.question.roles import is_table, is_verb
from app.modules.sql_generation.builtin.question.rules import AGE, BIRTH, DATE
from app.modules.sql_generation.builtin.question.words import ORDERING, words_of

_SEVERAL = 10


def dimension_table(dimension: Dimension) -> str:
    return dimension.field.table if isinstance(dimension, Grain) else dimension.table


def _group_columns(group: Dimension) -> tuple[PlanColumn, ...]:
    """Returns the columns that show a group; the date that a period is one of."""
    match group:
        case Entity(shown=shown):
            return shown
        case Grain(field):
            return (field,)
        case PlanColumn():
            return (group,)


class RankingPlanner(ListPlanner):
    """Plans a ranking."""

    def rank_by_birth(self, rank: Rank, base: str = "") -> Rank:
        """Ranks rows of `base`, by default of the question's table, by birth date if no age is stored: the
        oldest were born first.
        """
        if rank.hint != AGE:
            return rank
        table = base or self._subject()
        if any(words_of(field.column)[-1] == "age" for field in self.network.fields(table)):
            return rank
        born = any(is_birth(field) for field in self.network.fields(table))
        if not born and self.network.is_of_people(table):
            return rank
        return replace(rank, descending=not rank.descending, hint=BIRTH if born else DATE)

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
        if entity and entity.lead == "and" and roles.measured:
            raise Beyond("I can rank by one number only.")  # revenue and orders per country, top 3
        key = self._ranking_key(rank, entity)
        if isinstance(key, PlanColumn):
            return self._ranked_rows(rank, key)
        money = [of for of in (roles.ranked_by, *(of for _, of in roles.measured)) if isinstance(of, Revenue)]
        if entity and money and not is_table(entity):
            return self._ranked_groups(rank, self.dimension(entity, key.table), key)  # as in "sales by city"
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
        if dated and rank.about in ("value", "sales"):
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
                else self._revenue(by, self._tables_of(entity) if is_table(entity) else ())
            )
        if by is None and rank.about == "value" and entity and is_table(entity):
            worth = self._worth_of_orders(self.table(entity))
            if worth:
                return worth
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
        about = self.roles.rank.about if self.roles.rank else "value"
        numbers = [] if about == "sales" else measures.numbers_of(self.network, table)
        earned = self._earned([table])
        counted = [measure.table for measure in earned] if about != "value" else []
        counted += [] if about == "sales" and earned else self.network.referring(table)
        readings = [
            *(offer_order("revenue", measure.table) for measure in earned),
            *(offer_order(spoken(field.column), field) for field in numbers),
            *(offer_order(f"number of {plural(other)}", other) for other in dict.fromkeys(counted)),
        ]
        names = " or ".join(reading.label for reading in readings)
        return Unclear(f"By what should {entity.text} be ranked{f': {names}' if names else ''}?", readings)

    def _worth_of_orders(self, table: str) -> PlanColumn | Measure | None:
        """Returns the money that makes an order or invoice large; None for other tables or without one."""
        earned = self._earned([table]) if ORDERING.intersection(words_of(table)) else []
        for measure in earned:
            return measure.fields[0] if measure.table == table and len(measure.fields) == 1 else measure
        return None

    def _earned(self, tables: Iterable[str]) -> list[Measure]:
        try:
            return [measures.revenue(self.network, tuple(tables))]
        except (Beyond, Unclear):
            return []

    def _ranked_rows(self, rank: Rank, key: PlanColumn) -> QueryPlan:
        within = self._take_group(self._subject())
        query = self._list()
        if within:
            shown = _group_columns(within)
            own = self.network.name_fields(query.base) or self.network.key(query.base)
            query = replace(
                query, shown=tuple(dict.fromkeys((*shown, *own, *query.shown, key))), within=within
            )
        return self._limited(replace(query, order=SortOrder(key, rank.descending)))

    def _take_group(self, base: str) -> Dimension | None:
        """Takes the group in which rows or groups are ranked: "longest track of each album"."""
        groups, self.roles.grouped = self.roles.grouped, []
        if len(groups) > 1:
            raise Beyond("I can rank within one kind of group at a time.")
        found = self.dimension(groups[0], base) if groups else None
        if found and self.network.fans_out(base, dimension_table(found), self.anchors):
            raise Beyond(f"A row of {base} belongs to many of {dimension_table(found)}.")
        return found

    def _ranked_groups(self, rank: Rank, dimension: Dimension, measure: Measure) -> QueryPlan:
        within = self._take_group(measure.table)
        ranked = self._ranked_entity()
        rest = [mention for mention in self.roles.free if not is_table(mention) and mention is not ranked]
        query = self._add_conditions(
            QueryPlan(base=measure.table, measures=(measure,), dimensions=(dimension,), within=within)
        )
        query = replace(query, with_tables=self.required_tables(query))
        if rest:
            query = replace(query, dimensions=(self._shown_with(dimension, rest),))
        query = self._limited(replace(query, order=SortOrder(measure, rank.descending)))
        if within:
            return replace(query, dimensions=(within, *query.dimensions))
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
