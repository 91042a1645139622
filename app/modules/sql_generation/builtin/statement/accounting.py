"""Check that every item of a question has an effect on its statement. Otherwise the question is declined."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from app.modules.sql_generation.builtin.plan import (
    Beyond,
    Earliest,
    Missing,
    OnWeekdays,
    QueryCondition,
    QueryPlan,
    Superior,
    Within,
    Without,
)
from app.modules.sql_generation.builtin.question import items as said
from app.modules.sql_generation.builtin.question.lexicon import LexiconEntry
from app.modules.sql_generation.builtin.question.roles import is_event, is_table, is_value
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_FUNCTIONS: dict[str, type[exp.Expr]] = {
    "avg": exp.Avg,
    "median": exp.RowNumber,
    "sum": exp.Sum,
    "min": exp.Min,
    "max": exp.Max,
}
_NEGATIONS = (exp.Not, exp.NEQ, exp.Is, exp.EQ)


def account(
    items: Sequence[said.QuestionItem], query: QueryPlan, select: exp.Select, *, network: SchemaNetwork
) -> None:
    """Raises `Beyond` when an item has no effect on the statement.

    Words that are in no item were skipped as meaningless.
    """
    statement = _Statement(query, select, network)
    for at, item in enumerate(items):
        if not (statement.holds(item) or _names_maker(item, items[at + 1 : at + 3])):
            raise Beyond("I cannot express a part of this question, and leaving it out would answer another.")


def _names_maker(item: said.QuestionItem, after: Sequence[said.QuestionItem]) -> bool:
    """True if "by" names a maker, not a group: "albums by Pearl Jam", "orders by customers from Berlin".

    The words after it are checked by themselves.
    """
    if not isinstance(item, said.Group) or item.each:
        return False
    mentions = [one for one in after if isinstance(one, said.SchemaMention)]
    kinds = [is_value(one) or is_event(one) for one in mentions]
    return kinds[:1] == [True] or (kinds == [False, True] and is_table(mentions[0]))


class _Statement:
    """The tables, columns and literals of a plan and its statement."""

    def __init__(self, query: QueryPlan, select: exp.Select, network: SchemaNetwork) -> None:
        self._query = query
        self._select = select
        self._tables = {table.name for table in select.find_all(exp.Table)}
        missing = {one.field for one in query.conditions if isinstance(one, Missing)}
        missing |= {one.key for one in query.conditions if isinstance(one, Earliest)}
        self._tables |= {table for field in missing for table in network.referred(field)}
        self._columns = {column.name for column in self._asked_columns()}
        self._literals = {literal.name for literal in select.find_all(exp.Literal)}

    def holds(self, item: said.QuestionItem) -> bool:
        match item:
            case said.SchemaMention():
                return any(self._means(link) for link in item.links)
            case said.Count():
                return self._has(exp.Count) or any("count" in name for name in self._columns)
            case said.Aggregate(function) if function in _FUNCTIONS:
                by_rows = any(measure.each is not None for measure in self._query.measures)
                return (
                    self._has(_FUNCTIONS[function]) or by_rows or (function == "sum" and self._has(exp.Count))
                )
            case said.Aggregate():
                return self._has(exp.AggFunc)
            case said.Revenue():
                return self._has(exp.AggFunc) or bool(self._query.order)
            case said.PartOfWhole():
                return self._query.whole is not None or bool(self._query.part)
            case said.PartBegins():
                return bool(self._query.part or self._query.dimensions)
            case said.Rate(state):
                return bool(self._query.part) and any(self._means(link) for link in state.links)
            case said.Growth():
                return self._query.change is not None
            case said.NewRows(first):
                earliest = any(isinstance(one, Earliest) for one in self._query.conditions)
                return earliest or (not first and (self._has(exp.Group) or bool(self._periods)))
            case said.SideBySide():
                return bool(self._query.dimensions or self._query.change)
            case said.Distinct():
                return self._has(exp.Distinct) or not self._query.shown
            case said.Group() | said.Calendar():
                return self._has(exp.Group) or self._has(exp.Order) or not self._query.measures
            case said.Rank(descending):
                return self._ranks(descending)
            case said.Sort():
                return self._has(exp.Order)
            case said.Limit(count):
                return self._query.limit == count
            case said.NumberComparison(_, numbers, unit=unit):
                return bool(unit) or all(number.lstrip("-") in self._literals for number in numbers)
            case said.Lacking():
                return self._has(*_NEGATIONS)
            case said.Relation():
                return any(isinstance(one, Superior) for one in self._query.conditions)
            case said.Unrelated():
                return any(isinstance(one, Missing) for one in self._query.conditions)
            case said.PeriodMention(period):
                parts = {*(period.parts or (period,))}
                return self._query.change is not None or any(
                    one.period == period or parts <= {*one.period.parts} for one in self._periods
                )
            case said.WeekdayMention(days):
                return any(isinstance(one, OnWeekdays) and one.days == days for one in self._conditions)
            case said.Holding() | said.Conjunction():
                return True  # they only connect the items beside them

    @property
    def _conditions(self) -> Sequence[QueryCondition | str]:
        return (*self._query.conditions, *self._query.part)

    @property
    def _periods(self) -> list[Within]:
        held = [one.within if isinstance(one, Without) else one for one in self._conditions]
        return [one for one in held if isinstance(one, Within)]

    def _has(self, *kinds: type[exp.Expr]) -> bool:
        return self._select.find(*kinds) is not None

    def _ranks(self, descending: bool) -> bool:
        if self._query.order and self._query.limit:
            return True
        return self._has(exp.Max if descending else exp.Min)

    def _means(self, link: LexiconEntry) -> bool:
        if link.value is not None:
            return link.value in self._literals
        if link.field is not None:
            return link.field.column in self._columns
        return link.table in self._tables

    def _asked_columns(self) -> Iterator[exp.Column]:
        """Yields the columns of the statement; for a list of whole rows only those of filters and sorts."""
        for column in self._select.find_all(exp.Column):
            if self._query.shown or self._query.measures or column.find_ancestor(exp.Alias) is None:
                yield column
