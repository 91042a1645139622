"""Planning of a list: its rows, its columns and their order."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.modules.sql_generation.builtin.plan import (
    NOT_UNDERSTOOD,
    Beyond,
    Dimension,
    Entity,
    Grain,
    Measure,
    PlanColumn,
    QueryPlan,
    Related,
    SortOrder,
)
from app.modules.sql_generation.builtin.planning.numbers import NumberResolver
from app.modules.sql_generation.builtin.question.items import Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.lexicon import EXACT
from app.modules.sql_generation.builtin.question.reading import INCLUDING, POSSESSIVE
from app.modules.sql_generation.builtin.question.roles import is_number, is_table
from app.modules.sql_generation.builtin.question.words import words_of


class ListPlanner(NumberResolver):
    """Plans a list."""

    def _list(self) -> QueryPlan:
        base = self._subject()
        if self.roles.grouped:
            raise Beyond("I do not see what should be counted or summed for each group.")
        totals = [one for one in self.roles.free if is_number(one) and one.text.lower().startswith("total ")]
        if totals and totals[0].lead == "the" and not totals[0].plural and len(self.roles.free) < 3:
            raise Beyond(f"I cannot tell whether each {totals[0].text} is meant, or the sum of them.")
        shown = self._shown(base) or self._counted_beside(base)
        base = self._finest(base, shown)
        query = QueryPlan(
            base=base,
            shown=shown,
            distinct=bool(shown) and (self.roles.distinct or self._is_of_values(shown)),
        )
        query = self._add_conditions(query)
        return self._ordered(replace(query, with_tables=self.required_tables(query), limit=self.roles.limit))

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

    def required_tables(self, query: QueryPlan) -> tuple[str, ...]:
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
            if roles.rank and roles.limit and query.dimensions and len(query.measures) == 1:
                (measure,) = query.measures
                return replace(query, order=SortOrder(measure, roles.rank.descending))  # "per city, top 5"
            return query
        if len(roles.sorted_by) > 1:
            raise Beyond("I can sort by one thing only.")
        target = self.sort_target(query)
        born = roles.sort.by_age and isinstance(target, PlanColumn) and target.type in ("date", "datetime")
        return replace(query, order=SortOrder(target, bool(roles.sort.descending) != born))

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
