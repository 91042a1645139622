"""The conditions of a question: stored values, periods, comparisons, and what is missing."""

from dataclasses import replace

from app.modules.sql_generation.builtin import measures
from app.modules.sql_generation.builtin.periods import Period
from app.modules.sql_generation.builtin.plan import (
    Among,
    Beyond,
    Compared,
    Condition,
    Field,
    Missing,
    Query,
    Unclear,
    Within,
    Without,
)
from app.modules.sql_generation.builtin.reading import Comparison, Mention, Revenue
from app.modules.sql_generation.builtin.readings import of_compared, spoken
from app.modules.sql_generation.builtin.resolving import Resolver
from app.modules.sql_generation.builtin.roles import Measured, is_number, is_table
from app.modules.sql_generation.builtin.words import words_of

_DATES = ("date", "datetime")


class Filters(Resolver):
    """Resolves what rows have to fulfil."""

    def _with_conditions(self, query: Query) -> Query:
        return replace(query, conditions=(*query.conditions, *self.conditions(query.base)))

    def conditions(self, base: str) -> tuple[Condition, ...]:
        """The filters of the question, for rows of `base`."""
        found: list[Condition] = [*self._among(base)]
        found += [self._within(period, mention, base) for period, mention in self.roles.times]
        for comparison, by, owner in self.roles.compared:
            found.append(self._compared(comparison, by, self.table(owner, base) if owner else base))
        found += [self._lacking(mention, base) for mention in self.roles.lacking]
        return tuple(found)

    def _among(self, base: str) -> list[Among]:
        values: dict[Field, tuple[str, ...]] = {}
        meant: dict[str, Field] = {}
        for mention in self.roles.values:
            if not mention.links:
                raise Beyond(f"I do not know where “{mention.text}” is stored.")
            link = self._pick(mention, lambda link: link.value is not None, base)
            if link.field is None or link.value is None:
                raise Beyond(f"I do not know where “{mention.text}” is stored.")
            values[link.field] = (*values.get(link.field, ()), link.value)
            meant[mention.text] = link.field
        for first, second, either in self.roles.joined:
            apart = meant[first] != meant[second]
            if (either and apart) or (
                not either and not apart and self.network.fans_out(base, meant[first].table)
            ):
                raise Beyond(f"I cannot combine “{first}” and “{second}” in this way.")
        return [Among(field, stored) for field, stored in values.items()]

    def _within(self, period: Period, mention: Mention | None, base: str) -> Within:
        field = self._date(mention, base)
        if field.type not in _DATES and not period.whole_years:
            raise Beyond(f"{field} only knows years.")
        return Within(field, period)

    def _is_having(self, by: Measured | None, base: str) -> bool:
        if not isinstance(by, Mention):
            return isinstance(by, Revenue)
        return is_table(by) and self.table(by) != base

    def _compared(self, comparison: Comparison, by: Measured | None, base: str) -> Compared:
        if isinstance(by, Revenue) or (is_table(by) and not is_number(by)):
            raise Beyond("I cannot compare a count or sum inside another one.")
        number = comparison.numbers[0]
        field = (
            self._hinted(comparison.hint, base) if comparison.hint else self._compared_field(by, base, number)
        )
        return Compared(field, comparison.operator, comparison.numbers)

    def _compared_field(self, by: Mention | None, base: str, number: str) -> Field:
        if by is not None:
            return self.field(by, lambda link: link.is_number, base)
        amounts = measures.amounts_of(self.network, base)
        numbers = measures.numbers_of(self.network, base)
        if len(amounts) == 1 or len(numbers) == 1:
            return (amounts or numbers)[0]
        if not numbers:
            raise Beyond(f"{base} has no number to compare.")
        names = " or ".join(spoken(field.column) for field in numbers)
        readings = [of_compared(number, field) for field in numbers]
        raise Unclear(f"Which number of {base} should be compared: {names}?", readings)

    def _hinted(self, hint: tuple[str, ...], base: str) -> Field:
        if hint == ("date",) and (date := self._dates_of(base)):
            return date
        fields = measures.numbers_of(self.network, base)
        found = [field for word in hint for field in fields if words_of(field.column)[-1] == word]
        if not found:
            raise Beyond(f"I find no {hint[0]} of {base}.")
        return found[0]

    def _lacking(self, mention: Mention, base: str) -> Condition:
        link = self._pick(mention, lambda link: link.value is None, base)
        if link.field is not None:
            return Missing(link.field)
        hops = [hop for hop in self.network.path(base, link.table) if hop.fans_out]
        if len(hops) != 1 or len(hops[0].left_columns) != 1 or len(self.network.path(base, link.table)) != 1:
            raise Beyond(f"I see no column of {link.table} that refers to {base}.")
        left, right = (
            self._column(base, hops[0].left_columns[0]),
            self._column(link.table, hops[0].right_columns[0]),
        )
        return Without(left, right)
