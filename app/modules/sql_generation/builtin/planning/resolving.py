"""Resolution of mentions: each gets the meaning closest in words, then in joins to other mentions."""

from collections.abc import Callable, Collection, Iterable, Sequence

from app.modules.sql_generation.builtin.periods import unit_of
from app.modules.sql_generation.builtin.plan import (
    NOT_UNDERSTOOD,
    Beyond,
    Dimension,
    Grain,
    PlanColumn,
    Unclear,
)
from app.modules.sql_generation.builtin.question.items import Calendar, QuestionItem, SchemaMention
from app.modules.sql_generation.builtin.question.lexicon import EXACT, LexiconEntry, reporting_keys
from app.modules.sql_generation.builtin.question.readings import (
    offer_date,
    offer_meaning,
    offer_units,
    spoken,
)
from app.modules.sql_generation.builtin.question.roles import QuestionRoles, is_event, is_table, is_verb
from app.modules.sql_generation.builtin.question.words import words_of
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_DATES = ("date", "datetime")
_HAPPENING = frozenset(
    ["was", "were", "been", "did", "do", "who", "that", "which", "has", "have", "had", "got", "we"]
)
_PLAIN_DATES = (("date",), ("created", "at"), ("created",), ("timestamp",), ("time",), ("day",))


def recognise_periods(items: Sequence[QuestionItem], network: SchemaNetwork) -> list[QuestionItem]:
    """Returns the items with a calendar's unit for "month" if the columns of this name belong to tables that
    nothing else of the question is related to.
    """
    return [_period_or_item(item, items, network) for item in items]


def _period_or_item(
    item: QuestionItem, items: Sequence[QuestionItem], network: SchemaNetwork
) -> QuestionItem:
    unit = unit_of(item.text.lower()) if isinstance(item, SchemaMention) else None
    if unit is None or not isinstance(item, SchemaMention):
        return item
    rest = [each for each in items if isinstance(each, SchemaMention) and each != item]
    others = {link.table for mention in rest for link in mention.links}
    own = {link.table for link in item.links}
    if not others or any(network.distance(one, other) is not None for one in others for other in own):
        return item
    return Calendar(unit, item.plural)


class Resolver:
    """Resolves the mentions of one question; `around` are tables that it implies without naming them."""

    def __init__(self, network: SchemaNetwork, roles: QuestionRoles, around: Iterable[str] = ()) -> None:
        self.network = network
        self.roles = roles
        self.anchors = tuple(dict.fromkeys((*around, *self._certain_tables())))

    def dimension(self, mention: SchemaMention | Calendar, base: str) -> Dimension:
        if isinstance(mention, Calendar):
            return self._grain(mention, base)
        link = self._pick(mention, lambda link: link.value is None, base)
        if link.field is None:
            return self.network.entity(link.table)
        if link.field.type in _DATES and link.score < EXACT:
            text = f"Should {link.field} be grouped by day, month or year?"
            raise Unclear(text, offer_units(mention.text, link.field))
        return link.field

    def _grain(self, calendar: Calendar, base: str) -> Dimension:
        named = [field for field in self.network.fields(base) if words_of(field.column) == (calendar.unit,)]
        if named:
            return named[0]
        date = self._date(self._event(), base)
        if date.type in _DATES:
            return Grain(date, calendar.unit)
        if calendar.unit == "year":
            return date
        raise Beyond(f"{date} only knows years.")

    def _event(self) -> SchemaMention | None:
        """Returns the event that a period is about: "hired each year", but not "shipped orders by year"."""
        named = {mention.text.split()[-1].lower() for mention in self.roles.mentions() if mention.text}
        said = [
            mention
            for mention in self.roles.present
            if is_event(mention) and mention.lead in (_HAPPENING | named)
        ]
        return said[0] if len(said) == 1 else None

    def named(self, mention: SchemaMention, table: str) -> tuple[PlanColumn, ...]:
        """Returns the columns that a mention names; "name" stands for the name columns of the table."""
        own = [link for link in mention.links if link.table == table and link.score >= EXACT]
        if words_of(mention.text) == ("name",) and not own and (names := self.network.name_fields(table)):
            return names
        return (self.field(mention, lambda link: link.is_column, table),)

    def _date(self, mention: SchemaMention | None, base: str) -> PlanColumn:
        """Returns the date that a period is about: of the mention before it, of the base, or near the base.

        Raises `Beyond` if there is none.
        """
        dated = [link.field for link in mention.links if link.field and link.is_date] if mention else []
        if mention and dated:
            return self.field(mention, lambda link: link.is_date, base)
        near = (*self._events(base), base, *self._dated_neighbours(base))
        preferred = self.network.preferences.fields
        for table in near:
            for field in self.network.fields(table):
                if field in preferred and LexiconEntry(table=table, score=EXACT, field=field).is_date:
                    return field
        for table in near:
            if dates := self._dates_of(table):
                return dates
        raise Beyond(f"I find no date near {base}.")

    def _events(self, base: str) -> list[str]:
        """Returns mentioned tables of which a row has many: "customers who bought in 2025" means orders."""
        mentions = [*self.roles.free, *self.roles.lacking, *(by for _, by, _ in self.roles.compared)]
        tables = [
            self.table(mention, base)
            for mention in mentions
            if isinstance(mention, SchemaMention) and is_table(mention)
        ]
        return [
            table for table in tables if table != base and self.network.fans_out(base, table, self.anchors)
        ]

    def _dates_of(self, table: str) -> PlanColumn | None:
        fields = self.network.fields(table)
        dates = [field for field in fields if field.type in _DATES]
        years = [field for field in fields if words_of(field.column)[-1:] == ("year",)]
        candidates = dates or years
        own = words_of(table)[-1]
        happened = [(event, end) for event in (own, f"{own}d", f"{own}ed") for end in ("date", "at", "on")]
        plain = [field for field in candidates if words_of(field.column) in (*_PLAIN_DATES, *happened)]
        if len(candidates) > 1 and len(plain) != 1:
            names = " or ".join(spoken(field.column) for field in candidates)
            raise Unclear(f"Which date of {table} do you mean: {names}?", map(offer_date, candidates))
        return next(iter(plain or candidates), None)

    def _dated_neighbours(self, base: str) -> list[str]:
        reach = [
            (self.network.distance(base, table.name), table.name) for table in self.network.schema.tables
        ]
        return [name for distance, name in sorted((d, n) for d, n in reach if d) if distance <= 4]

    def field(
        self,
        mention: SchemaMention,
        wanted: Callable[[LexiconEntry], bool],
        *near: str,
        orelse: Callable[[LexiconEntry], bool] | None = None,
    ) -> PlanColumn:
        if not any(wanted(link) for link in mention.links) and orelse:
            wanted = orelse
        link = self._pick(mention, lambda link: link.field is not None and wanted(link), *near)
        if link.field is None:
            raise Beyond(NOT_UNDERSTOOD)
        return link.field

    def _pick(
        self, mention: SchemaMention, wanted: Callable[[LexiconEntry], bool], *near: str
    ) -> LexiconEntry:
        """Returns the best of the wanted links: the closest in words, then in joins."""
        anchors = near or self.anchors
        ranked = [
            (rank, link) for link in mention.links if wanted(link) if (rank := self._rank(link, anchors))
        ]
        if not ranked:
            raise Beyond(self._why_unrelated(mention, wanted, anchors))
        best = min(rank for rank, _ in ranked)
        links = [link for rank, link in ranked if rank == best]
        if len(links) > 1:
            readings = [offer_meaning(mention.text, link) for link in links]
            names = dict.fromkeys(reading.label for reading in readings)
            raise Unclear(f"Which “{mention.text}” do you mean: {' or '.join(names)}?", readings)
        return links[0]

    def _why_unrelated(
        self, mention: SchemaMention, wanted: Callable[[LexiconEntry], bool], near: Collection[str]
    ) -> str:
        found = dict.fromkeys(link.table for link in mention.links if wanted(link))
        apart = [table for table in near if table not in found]
        if not found or not apart:
            return "I do not know how the parts of this question are related."
        return f"I see no key that relates {' or '.join(found)} to {' and '.join(apart)}."

    def _rank(self, link: LexiconEntry, near: Sequence[str]) -> tuple[int, int, int, int] | None:
        distances = [self.network.distance(table, link.table) for table in near]
        known = [distance for distance in distances if distance is not None]
        if len(known) < len(distances):
            return None
        own = link.is_column and link.table in near
        score = EXACT if own and link.score < EXACT else link.score
        return -score, int(link.table not in self.anchors), sum(known), -link.score

    def _subject(self) -> str:
        """Returns the table whose rows a list shows."""
        tables = [mention for mention in self.roles.free if is_table(mention)]
        if tables and all(map(is_verb, tables)):
            raise Beyond(NOT_UNDERSTOOD)
        if tables:
            return self.table(next(mention for mention in tables if not is_verb(mention)))
        if self.roles.reports:
            return self._reporting_table()
        values = [valued.mention for valued in self.roles.values]
        columns = self.roles.free or self.roles.present or [flag for flag, _ in self.roles.flags] or values
        if not columns:
            raise Beyond("I do not see which data the question is about.")
        together = self._together(self.roles.free) or self._described(columns[0], values)
        return together or self._pick(columns[0], lambda link: True).table

    def _together(self, columns: Sequence[SchemaMention]) -> str | None:
        """Returns the one table that has all of several columns, or None."""
        holding = [{link.table for link in mention.links if link.is_column} for mention in columns]
        found = set.intersection(*holding) if len(holding) > 1 else set()
        return found.pop() if len(found) == 1 else None

    def _described(self, column: SchemaMention, values: Iterable[SchemaMention]) -> str | None:
        """Returns the table for "population of Brazil": it has the column, and the value names its row."""
        named = {
            link.table
            for mention in values
            for link in mention.links
            if link.field in self.network.name_fields(link.table)
        }
        found = {link.table for link in column.links if link.is_column and link.table in named}
        return found.pop() if len(found) == 1 else None

    def _reporting_table(self) -> str:
        """Returns the only table whose rows report to each other. Raises `Beyond` if there is none."""
        found = [table.name for table in self.network.schema.tables if reporting_keys(table)]
        if len(found) != 1:
            raise Beyond("I see no single column that says who reports to whom.")
        return found[0]

    def table(self, mention: SchemaMention, *near: str) -> str:
        return self._pick(mention, lambda link: link.is_table, *near).table

    def _tables_of(self, entity: SchemaMention | None) -> tuple[str, ...]:
        if entity is None:
            return ()
        return (self._pick(entity, lambda link: link.value is None).table,)

    def _column(self, table: str, name: str) -> PlanColumn:
        return next(field for field in self.network.fields(table) if field.column == name)

    def _certain_tables(self) -> Iterable[str]:
        """Yields the tables that are the only meaning of a mention."""
        for mention in self.roles.mentions():
            best = max((link.score for link in mention.links), default=0)
            tables = {link.table for link in mention.links if link.score == best}
            if len(tables) == 1:
                yield tables.pop()
