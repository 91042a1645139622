"""The number that a question asks for, and what it is counted or summed per."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.modules.sql_generation.builtin.plan import Beyond, Dimension, Function, Measure, PlanColumn, Unclear
from app.modules.sql_generation.builtin.planning import measures
from app.modules.sql_generation.builtin.planning.filtering import DAYS_OF_ROWS, Filters
from app.modules.sql_generation.builtin.question.items import Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.readings import FUNCTIONS, offer_functions, spoken
from app.modules.sql_generation.builtin.question.roles import Measured, is_event, is_table
from app.modules.sql_generation.builtin.question.words import ORDERING, words_of


class NumberResolver(Filters):
    """Resolves the measures and groups of a question."""

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
        if field.type in measures.NUMERIC and not self.network.is_key(field):
            raise Beyond(f"I cannot tell whether {field} should be summed or its values counted.")
        return Measure("count distinct", field.table, f"number of {mention.text}", (field,))

    def measure(self, function: Function | None, measured: Measured, base: str = "") -> Measure:
        """Returns the measure; `base` is the table whose rows it is of, by default that of the question."""
        if isinstance(measured, Revenue):
            return self._money(function, measured, base)
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

    def _money(self, function: Function | None, measured: Revenue, base: str) -> Measure:
        if measured.definition is not None:
            return measures.defined(self.network, measured.definition, function, text=measured.text)
        if measured.between:
            return self._days(function, measured.between)
        if measured.hint:
            return self._quality(function, measured, base)
        if measured.of is not None:
            return self._worth(function or "sum", measured, measured.of)
        found = self._revenue(measured, ())
        function = function or "sum"
        if function != "sum" and (len(found.fields) > 1 or self.roles.grouped):
            raise Beyond(f"I cannot tell over what the {measured.text} should be averaged or compared.")
        return replace(found, function=function)

    def _days(self, function: Function | None, between: tuple[SchemaMention, SchemaMention]) -> Measure:
        """Returns the measure of the days between two dates, of rows that have one of each."""
        if function is None:
            raise Beyond(DAYS_OF_ROWS)
        first, last = map(self._date_named, between)
        bases = [
            one.table
            for one, other in ((last, first), (first, last))
            if not self.network.fans_out(one.table, other.table, self.anchors)
        ]
        if first == last or not bases or {first.type, last.type} - {"date", "datetime"}:
            raise Beyond(f"I cannot tell which days lie between {first} and {last}.")
        name = f"{measures.FUNCTION_WORDS.get(function, function)} days between {between[0].text} and "
        return Measure(function, bases[0], name + between[1].text, (last, first), days=True)

    def _date_named(self, mention: SchemaMention) -> PlanColumn:
        """Returns the date that a word names: that of its table, or its column."""
        if is_table(mention) and (date := self._dates_of(self.table(mention))):
            return date
        return self.field(mention, lambda link: link.is_date)

    def _quality(self, function: Function | None, measured: Revenue, base: str) -> Measure:
        """Returns the measure of "how long on average"."""
        if function is None:
            raise Beyond("Each row has its own: ask for the average, the highest or the lowest.")
        field = self.hinted(
            measured.hint, self.table(measured.of) if measured.of else base or self._subject()
        )
        name = f"{measures.FUNCTION_WORDS.get(function, function)} {spoken(field.column)}"
        return Measure(function, field.table, name, (field,))

    def _worth(self, function: Function, measured: Revenue, of: SchemaMention) -> Measure:
        """Returns the measure of the money of rows: their own amount, or that of the lines of an order."""
        table = self.table(of)
        name = f"{measures.FUNCTION_WORDS.get(function, function)} {measured.text}"
        own = measures.amounts_of(self.network, table)
        if len(own) == 1:
            return Measure(function, table, name, (own[0],))
        if own or function not in ("sum", "avg", "median") or not ORDERING.intersection(words_of(of.text)):
            raise Beyond(f"I cannot tell which amount of {table} is meant.")
        found = self._revenue(Revenue(measured.text), (table,))
        key = self.network.key(table)
        if found.table == table or len(key) != 1 or not self.network.belongs(found.table, table):
            raise Beyond(f"I cannot tell which amount of {table} is meant.")
        return replace(found, function=function, name=name, each=key[0] if function != "sum" else None)

    def _revenue(self, measured: Revenue, tables: Iterable[str]) -> Measure:
        if measured.definition is not None:
            return measures.defined(self.network, measured.definition, None, text=measured.text)
        if measured.between:
            raise Beyond(DAYS_OF_ROWS)
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

    def _unclear_number(
        self, mention: SchemaMention, field: PlanColumn, functions: Sequence[str] = FUNCTIONS
    ) -> Unclear:
        named = f"{', '.join(functions[:-1])} or {functions[-1]}"
        text = f"Do you mean the {named} {spoken(field.column)}?"
        return Unclear(text, offer_functions(mention.text, field, functions))

    def _happened(self, base: str) -> PlanColumn | None:
        """Returns the date of the one event that is mentioned for rows of `base` ("hired last"), or None."""
        said = [mention for mention in self.roles.present if is_event(mention)]
        return self.field(said[0], lambda link: link.is_date, base) if len(said) == 1 else None
