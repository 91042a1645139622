"""Follow-up questions, answered by changing parts of the plan before.

Words such as "those" mean the rows of that plan's statement. Each form of follow-up declares the parts of the
question that it uses, and declines the question if it has other parts.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date

from sqlglot import exp

from app.modules.sql_generation.builtin.periods import read_period
from app.modules.sql_generation.builtin.plan import (
    Beyond,
    Compared,
    Dimension,
    Entity,
    Fulfils,
    Function,
    Grain,
    Measure,
    OnWeekdays,
    PersonNamed,
    PlanColumn,
    QueryCondition,
    QueryPlan,
    Related,
    SortOrder,
    Superior,
    Within,
    Without,
)
from app.modules.sql_generation.builtin.planning.intent import Planner
from app.modules.sql_generation.builtin.planning.measures import FUNCTION_WORDS, is_rate
from app.modules.sql_generation.builtin.question.items import Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.readings import spoken
from app.modules.sql_generation.builtin.question.roles import QuestionRoles, is_table
from app.modules.sql_generation.builtin.question.words import Token, tokenise, words_of
from app.modules.sql_generation.builtin.statement.compose import compose, draft_of
from app.modules.sql_generation.builtin.statement.conditions import branch_of, table_of
from app.modules.sql_generation.builtin.statement.explain import (
    explain_unlisted,
    filtering,
    grouping,
    measuring,
)
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_FILTERS = frozenset(
    (
        "values",
        "joined",
        "times",
        "absent",
        "weekdays",
        "compared",
        "lacking",
        "present",
        "flags",
        "reports",
        "several",
    )
)
_DOWN = "strongest|highest|largest|biggest|greatest|best|top|most|maximum"
_UP = "weakest|poorest|lowest|smallest|worst|bottom|fewest|least|minimum"
_EXTREME = re.compile(
    rf"(?:which|who|what)(?: (?:1|one))?(?: (?:of|among))?(?: (?:\w+))??"
    rf"(?: (?:has|have|had|is|are|was|were|with))*(?: the)?"
    rf" (?:(?P<down>{_DOWN})|(?P<up>{_UP}))(?: (?P<what>.+))?"
)
_FUNCTIONS: dict[str, Function] = {
    "median": "median",
    "average": "avg",
    "mean": "avg",
    "total": "sum",
    "sum": "sum",
    "maximum": "max",
    "minimum": "min",
}
_UNITS = "day|week|month|quarter|year"
_SHIFTED = re.compile(
    r"(?:(?:in|for|of|during) )?"
    rf"(?:(?:the )?(?:(?P<earlier>previous|prior|preceding)|following|next) (?P<unit>{_UNITS})"
    rf"|(?:the|1|a|an) (?P<single>{_UNITS}) (?:(?P<before>before|earlier)|after|later))"
)
_WHOLE = "ask the whole question."
_MORE = "I can add a filter, a group, an order or a limit to the previous answer, not more."


@dataclass(frozen=True)
class Extreme:
    """A question such as "which has the lowest revenue". `what` are the words for the number, if any."""

    what: tuple[str, ...]
    descending: bool

    def column(self, names: Sequence[str]) -> int | None:
        """Returns the position of the one column name that is meant; None if there is none or several."""
        exact = [at for at, name in enumerate(names) if words_of(name) == self.what]
        parts = [at for at, name in enumerate(names) if set(self.what) <= set(words_of(name))]
        found = exact or parts
        return found[0] if self.what and len(found) == 1 else None


@dataclass(frozen=True)
class PlannedStatement:
    """A statement and its explanation. `plan` is None for one around the statement of the plan before, which
    no further follow-up changes.
    """

    select: exp.Select
    explanation: str
    plan: QueryPlan | None


def extreme(tokens: Sequence[Token]) -> Extreme | None:
    """Returns the extreme that a question asks for, or None.

    `tokens` are the question without the words that point to the previous answer.
    """
    text = " ".join(token.raw for token in tokens if token.raw != ",")
    if (match := _EXTREME.fullmatch(text)) is None:
        return None
    return Extreme(words_of(match["what"] or ""), match["down"] is not None)


def extreme_of_shown(plan: QueryPlan, asked: Extreme, network: SchemaNetwork) -> PlannedStatement | None:
    """Returns the statement for the row with the extreme value of a shown column of numbers.

    None if that column is not shown.
    """
    if plan.whole is not None or plan.part:
        return None
    select = compose(plan, network)
    names = [shown.alias_or_name for shown in select.selects]
    parts = _parts(plan, network)
    at = asked.column(names)
    if at is None and not asked.what and len(plan.measures) == 1:
        at = parts.index(plan.measures[0])
    if at is None or not _is_number(parts[at], network) or len(parts) < 2:
        return None
    said = _explained(f"the one with the {_first(asked.descending)} {names[at]}")
    if not plan.limit:
        return _changed(replace(plan, order=SortOrder(parts[at], asked.descending), limit=1), said, network)
    key = exp.Ordered(this=exp.column(names[at], quoted=True), desc=asked.descending, nulls_first=False)
    return PlannedStatement(
        exp.select("*").from_(select.subquery("previous")).order_by(key).limit(1), said, None
    )


def restate(tokens: list[Token], plan: QueryPlan, today: date) -> list[Token]:
    """Returns the days that "the month before" means after a period of the plan, and "first 10" for a bare
    number after a limited plan, unless it is a year. Raises `Beyond` for another unit than the period's.
    """
    raws = [token.raw for token in tokens if token.raw != ","]
    if plan.limit and len(raws) == 1 and tokens[0].kind == "number" and not read_period(raws, today):
        return tokenise(f"first {raws[0]}")
    periods = [one.period for one in plan.conditions if isinstance(one, Within)]
    if len(periods) != 1 or (said := _SHIFTED.fullmatch(" ".join(raws))) is None:
        return tokens
    if periods[0].unit != (said["unit"] or said["single"]):
        raise Beyond(f"I cannot tell which period is meant, counted from the one before; {_WHOLE}")
    moved = periods[0].neighbour(earlier=bool(said["earlier"] or said["before"]))
    return tokenise(f"from {moved.start} to {moved.last}")


def recompute(plan: QueryPlan, tokens: Sequence[Token], network: SchemaNetwork) -> PlannedStatement | None:
    """Returns the statement for "and the median?" after an answer with one other aggregate; else None."""
    words = [token.raw for token in tokens if token.raw not in (",", "the")]
    function = _FUNCTIONS.get(words[0]) if len(words) == 1 else None
    if function is None or len(plan.measures) != 1 or plan.whole or plan.part or plan.change:
        return None
    (old,) = plan.measures
    said = FUNCTION_WORDS.get(old.function, old.function)
    if old.function not in _FUNCTIONS.values() or not old.name.startswith(f"{said} ") or old.each:
        return None  # an average of revenue may be one of orders, of lines or of months
    if len(old.fields) != 1 or (function == "sum" and is_rate(network, old.fields[0])):
        return None
    if plan.having:
        raise Beyond(f"The groups of the previous answer are chosen by their {old.name}; {_WHOLE}")
    name = FUNCTION_WORDS.get(function, function)
    new = replace(old, function=function, name=f"{name} {spoken(old.fields[0].column)}")
    order = plan.order and (replace(plan.order, by=new) if plan.order.by == old else plan.order)
    changed = replace(plan, measures=(new,), order=order)
    return _changed(changed, f"The previous question, now {measuring(new)}.", network)


def is_narrowed(plan: QueryPlan) -> bool:
    """True if a plan leaves rows out."""
    counts = any(isinstance(one, Related) for one in plan.shown)
    return bool(plan.conditions or plan.with_tables or plan.limit or counts)


def names_rows(roles: QuestionRoles) -> bool:
    """True if the question names a table or money earned, not only columns."""
    measured = [*(of for _, of in roles.measured), roles.ranked_by]
    return any(map(is_table, roles.mentions())) or any(isinstance(of, Revenue) for of in measured)


def ranks_again(roles: QuestionRoles, base: str) -> bool:
    """True if the question ranks all rows of the table `base`, and restricts them by nothing."""
    tables = [one for one in roles.free if is_table(one)]
    own = bool(tables) and all(any(link.table == base for link in one.links) for one in tables)
    restricted = roles.values or roles.times or roles.compared or roles.flags or roles.lacking
    return own and roles.rank is not None and not (restricted or roles.grouped)


def change(
    plan: QueryPlan, roles: QuestionRoles, network: SchemaNetwork, *, points: bool, adds: bool
) -> PlannedStatement:
    """Returns the changed statement. Raises `Beyond` or `Unclear`.

    `points`: the question is about the rows of the previous answer; otherwise it varies the previous
    question. `adds`: the columns asked for are added to those shown.
    """
    before = _FollowUp(plan, roles, network)
    if adds and any(getattr(roles, name) for name in _FILTERS):
        raise Beyond(f"I can add columns to the previous answer, not rows; {_WHOLE}")
    before.drop_own_table()
    if plan.whole is not None or plan.part:
        return before.change_share()
    if not points and roles.is_fragment:
        return before.varied()
    if roles.is_fragment and roles.grouped and plan.measures:
        return before.varied_itself()
    before.list_counted()
    if roles.counts:
        return before.counted()
    if not points:
        raise Beyond(_MORE)
    if roles.rank and (roles.rank.hint or roles.ranked_by):
        return before.ranked()
    if roles.measured:
        return before.aggregated()
    if roles.sorted_by:
        return before.sorted()
    if roles.free:
        return before.shown(beside=adds)
    return before.narrowed() if before.plan.is_list else before.varied_itself()


class _FollowUp:
    """The plan before, and its changes by the question."""

    def __init__(self, plan: QueryPlan, roles: QuestionRoles, network: SchemaNetwork) -> None:
        select = compose(plan, network)
        source = [select.args["from_"], *select.args.get("joins", ())]
        tables = tuple(dict.fromkeys(each.this.name for each in source))
        self.plan = replace(plan, through=tuple(dict.fromkeys((*plan.through, *tables))))
        self._roles = roles
        self._network = network
        self._planner = Planner(network, roles, tables)
        self._was_counted = False
        ranked_by_count = plan.order is not None and isinstance(plan.order.by, Related)
        # LIMIT, DISTINCT and GROUP BY change the rows that the conditions select.
        self._is_cut = ranked_by_count or any(select.args.get(one) for one in ("limit", "distinct", "group"))

    # Forms about the rows of the previous answer

    def counted(self) -> PlannedStatement:
        """Counts the rows of the previous list, with further conditions if there are any."""
        self._uses("counts", *_FILTERS)
        plan = self.plan
        if not plan.is_list:
            raise Beyond("The previous answer is no list whose rows I could count.")
        values = [one for one in plan.shown if one not in self._network.name_fields(plan.base)]
        if len(plan.shown) == 1 and values and not plan.distinct:
            raise Beyond(f"I cannot tell whether rows or different values should be counted; {_WHOLE}")
        conditions = self._conditions()
        name = f"number of {plan.base}"
        if self._is_cut:
            if conditions:
                raise Beyond(f"The previous answer shows a part of the rows only; {_WHOLE}")
            inner = compose(plan if plan.limit else replace(plan, order=None), self._network)
            number = exp.alias_(exp.Count(this=exp.Star()), name, quoted=True)
            counted = exp.select(number).from_(inner.subquery("previous"))
            return PlannedStatement(counted, _explained("the number of rows"), None)
        count = Measure("count", plan.base, name)
        counting = replace(self._add_conditions(conditions), measures=(count,), shown=(), order=None)
        return self._changed(counting, "the number of rows", *_said(conditions))

    def ranked(self) -> PlannedStatement:
        """Selects the first rows of the previous list, ordered by a number or date."""
        self._uses("rank", "ranked_by", "limit")
        self._require_whole_list()
        rank, by = self._roles.rank, self._roles.ranked_by
        rank = rank and self._planner.rank_by_birth(rank, self.plan.base)
        if rank is not None and rank.hint:
            field = self._planner.hinted(rank.hint, self.plan.base)
        elif rank is not None and isinstance(by, SchemaMention) and not is_table(by):
            field = self._planner.field(by, lambda link: link.is_number, self.plan.base)
        else:
            raise Beyond("I can put rows of the previous answer in order by their own columns only.")
        limit = self._roles.limit or 1
        ranked = replace(self.plan, order=SortOrder(self._own(field), rank.descending), limit=limit)
        return self._changed(ranked, f"the {_first(rank.descending)} {field}", f"only the first {limit}")

    def aggregated(self) -> PlannedStatement:
        """Computes aggregates over the rows of the previous list."""
        self._uses("measured", *_FILTERS)
        self._require_whole_list()
        measures = tuple(
            self._planner.measure(function, of, self.plan.base) for function, of in self._roles.measured
        )
        if any(measure.table != self.plan.base for measure in measures):
            raise Beyond(f"That is no number of {self.plan.base} itself; {_WHOLE}")
        conditions = self._conditions()
        computed = replace(self._add_conditions(conditions), measures=measures, shown=(), order=None)
        return self._changed(computed, *map(measuring, measures), *_said(conditions))

    def sorted(self) -> PlannedStatement:
        """Sorts the rows of the previous answer differently."""
        self._uses("sort", "sorted_by")
        sort, by = self._roles.sort, self._roles.sorted_by
        if sort is None or len(by) != 1:
            raise Beyond("I do not see what to sort by.")
        if self.plan.limit:
            raise Beyond("The previous answer shows the first rows of its own order only.")
        descending = bool(sort.descending)
        names = [shown.alias_or_name for shown in compose(self.plan, self._network).selects]
        at = Extreme(words_of(by[0].text), descending).column(names)
        if at is not None:
            target, said = _parts(self.plan, self._network)[at], names[at]
        elif self.plan.is_list and isinstance(by[0], SchemaMention):
            target = self._own(self._planner.field(by[0], lambda link: link.is_column, self.plan.base))
            said = str(target)
        else:
            raise Beyond("I do not see what to sort by.")
        order = SortOrder(target, descending)
        return self._changed(replace(self.plan, order=order), f"{said}, {_first(descending)} first")

    def shown(self, *, beside: bool) -> PlannedStatement:
        """Shows other columns of the previous list, in addition to the old ones or in their place."""
        self._uses("free")
        base = self.plan.base
        if not self.plan.is_list or self.plan.distinct:
            raise Beyond(f"I can show other columns of a plain list only; {_WHOLE}")
        named = [field for mention in self._roles.free for field in self._planner.named(mention, base)]
        old = (self.plan.shown or self._network.listed(base)) if beside else ()
        shown = tuple(dict.fromkeys((*old, *map(self._own, named))))
        said = f"{', '.join(map(str, named))}{' beside the columns shown' if beside else ''}"
        return self._changed(replace(self.plan, shown=shown), said)

    def narrowed(self) -> PlannedStatement:
        """Filters the previous list by further conditions."""
        self._uses("limit", *_FILTERS)
        conditions = self._conditions()
        if not conditions and not self._was_counted:
            raise Beyond("I do not see what should change in the previous answer.")
        self._require_whole_list()
        plan = replace(self._add_conditions(conditions), limit=self._roles.limit)
        return self._changed(plan, *(_said(conditions) or ["the rows themselves"]))

    # Variations of the previous question

    def varied_itself(self) -> PlannedStatement:
        """Groups or filters the previous numbers: "that by month", "that for Germany"."""
        if self.plan.dimensions:
            self._uses("grouped", "rank", "sort", "limit", "first")
        else:
            self._uses("grouped", *_FILTERS)
        return self.varied()

    def change_share(self) -> PlannedStatement:
        """Changes the period of a share, also that of its whole, or the part that it is of."""
        if not self._roles.is_fragment:
            raise Beyond(f"I can change the period or the part of a share, not more; {_WHOLE}")
        self._uses(*_FILTERS)
        plan, whole = self.plan, self.plan.whole
        conditions = self._conditions()
        for one in conditions:
            if any(not isinstance(old, str) and _columns(old) == _columns(one) for old in plan.part):
                plan = replace(plan, part=(one,))
            elif isinstance(one, Within):
                plan = replace(plan, conditions=_replace_condition(plan.conditions, one))
                whole = whole and replace(whole, conditions=_replace_condition(whole.conditions, one))
            else:
                raise Beyond(f"I cannot tell of which whole the share is meant; {_WHOLE}")
        if not conditions:
            raise Beyond("I do not see what should change in the previous answer.")
        said = f"The previous question, now {'; '.join(_said(conditions))}."
        return _changed(replace(plan, whole=whole), said, self._network)

    def varied(self) -> PlannedStatement:
        """Changes the filter, group, order or limit of the previous question."""
        if self._roles.sorted_by:
            raise Beyond(_MORE)
        self._uses("grouped", "rank", "sort", "limit", "first", *_FILTERS)
        said = [*self._filter(), *self._regroup(), *self._rank()]
        if not said:
            raise Beyond("I do not see what should change in the previous answer.")
        return _changed(self.plan, f"The previous question, now {'; '.join(said)}.", self._network)

    def _filter(self) -> list[str]:
        conditions = self._conditions()
        for one in conditions:
            if self.plan.measures and (isinstance(one, Superior) or self._is_of_many(table_of(one))):
                raise Beyond(
                    f"A row of {self.plan.base} has many of what the condition {filtering(one)} is about."
                )
        new = [*map(_columns, conditions)]
        kept = [one for one in self.plan.conditions if _columns(one) not in new]
        self.plan = replace(self.plan, conditions=(*kept, *conditions))
        return _said(conditions)

    def _regroup(self) -> list[str]:
        if not self._roles.grouped:
            return []
        plan = self.plan
        if plan.is_list:
            raise Beyond("The previous answer has no number to group.")
        new = tuple(self._planner.dimension(mention, plan.base) for mention in self._roles.grouped)
        groups = dict.fromkeys((*new, *self._kept_groups(new)))
        self.plan = replace(plan, dimensions=tuple(groups), order=None, limit=None, chosen=False)
        return [f"per {' and '.join(map(grouping, new))}"]

    def _kept_groups(self, new: Sequence[Dimension]) -> list[Dimension]:
        """Returns the groups that stay. A new calendar unit replaces only the old one.

        Raises `Beyond` when it is unclear which of several groups to replace.
        """
        old = self.plan.dimensions
        rest: list[Dimension] = [one for one in old if not isinstance(one, Grain)]
        if len(old) < 2 or len(new) > 1 or len(rest) == len(old):
            return []
        if not isinstance(new[0], Grain):
            raise Beyond("The previous answer has several groups; say all that it should be grouped by.")
        return rest

    def _rank(self) -> list[str]:
        roles = self._roles
        said = list[str]()
        descending = roles.rank.descending if roles.rank else roles.sort.descending if roles.sort else None
        if descending is not None:
            known = [self.plan.order.by] if self.plan.order else []
            if not (by := (*self.plan.measures, *known)):
                raise Beyond("I do not see what the rows should be ordered by.")
            self.plan = replace(self.plan, order=SortOrder(by[0], descending))
            said.append(f"{_first(descending)} first")
        if roles.limit or roles.rank:
            self.plan = replace(self.plan, limit=roles.limit or 1, chosen=False)
            said.append(f"only the first {self.plan.limit}")
        return said

    # Parts

    def drop_own_table(self) -> None:
        """Removes mentions of the previous answer's own table from the question.

        Raises `Beyond` when the question names other rows.
        """
        roles = self._roles
        base = self.plan.base
        described = [valued.owner for valued in roles.values if valued.owner in roles.free]
        roles.free = [mention for mention in roles.free if mention not in described]  # the Rock genre
        for mention in [*roles.free, *([roles.counted] if roles.counted else [])]:
            if is_table(mention) and not any(link.is_table and link.table == base for link in mention.links):
                raise Beyond(
                    f"The previous answer is about {base}; I cannot tell which other rows are meant."
                )
        roles.free = [mention for mention in roles.free if not is_table(mention)]
        if is_table(roles.counted):
            roles.counted = None
        if is_table(roles.ranked):
            roles.ranked = None

    def list_counted(self) -> None:
        """Replaces a previous plan that only counts rows by the list of these rows."""
        counts = [measure for measure in self.plan.measures if measure.function == "count"]
        if len(counts) == len(self.plan.measures) == 1 and not self._is_cut:
            self.plan = replace(self.plan, measures=())
            self._was_counted = True

    def _uses(self, *names: str) -> None:
        """Raises `Beyond` when the question has other parts than these fields of `QuestionRoles`."""
        rest = [each.name for each in fields(self._roles) if getattr(self._roles, each.name)]
        if set(rest) - set(names):
            raise Beyond(f"I can change one thing about the previous answer at a time; {_WHOLE}")

    def _conditions(self) -> tuple[QueryCondition, ...]:
        absent = any(isinstance(one, Without) and one.within for one in self.plan.conditions)
        if absent and (self._roles.times or self._roles.absent):
            raise Beyond(f"The previous question compares two periods; {_WHOLE}")
        return self._planner.conditions(self.plan.base)

    def _add_conditions(self, conditions: Sequence[QueryCondition]) -> QueryPlan:
        """Returns the plan with further conditions. Raises `Beyond` if it has one on the same."""
        old = [*map(_columns, self.plan.conditions)]
        if any(_columns(one) in old for one in conditions):
            raise Beyond(f"The previous answer already has a condition on that; {_WHOLE}")
        return replace(self.plan, conditions=(*self.plan.conditions, *conditions))

    def _require_whole_list(self) -> None:
        if not self.plan.is_list:
            raise Beyond(f"The previous answer is no plain list; {_WHOLE}")
        if self._is_cut:
            raise Beyond(f"The previous answer shows a part of the rows only; {_WHOLE}")

    def _own(self, field: PlanColumn) -> PlanColumn:
        """Returns the field. Raises `Beyond` if a row of the list can have many of it."""
        if self._is_of_many(field.table):
            raise Beyond(f"A row of {self.plan.base} has many of {field.table}.")
        return field

    def _is_of_many(self, table: str) -> bool:
        return bool(branch_of(draft_of(self.plan, self._network), table))

    def _changed(self, plan: QueryPlan, *said: str) -> PlannedStatement:
        return _changed(plan, _explained(*said), self._network)


def _replace_condition(
    conditions: Sequence[QueryCondition], new: QueryCondition
) -> tuple[QueryCondition, ...]:
    """Returns the conditions with a new one in the place of those on the same."""
    return (*(one for one in conditions if _columns(one) != _columns(new)), new)


def _changed(plan: QueryPlan, explanation: str, network: SchemaNetwork) -> PlannedStatement:
    return PlannedStatement(compose(plan, network), explanation + explain_unlisted(plan, network), plan)


def _parts(plan: QueryPlan, network: SchemaNetwork) -> list[PlanColumn | Grain | Measure | Related]:
    """Returns what each column of the statement shows, in their order."""
    if plan.is_list:
        return [*(plan.shown or network.listed(plan.base))]
    groups = (one.shown if isinstance(one, Entity) else (one,) for one in plan.dimensions)
    return [*(part for group in groups for part in group), *plan.measures]


def _is_number(part: PlanColumn | Grain | Measure | Related, network: SchemaNetwork) -> bool:
    if isinstance(part, PlanColumn):
        return part.type in ("integer", "number") and not network.is_key(part)
    return not isinstance(part, Grain)


def _columns(one: QueryCondition) -> frozenset[str]:
    """Returns what a condition is about: one on the same takes the place of another."""
    match one:
        case Without(table):
            return frozenset([table])
        case Fulfils(_, definition):
            found = definition.fields
        case OnWeekdays(field):
            return frozenset([str(field), "weekday"])
        case PersonNamed((first, _), (last, _)):
            found = (first, last)
        case Superior(field, key):
            found = (field, key)
        case Compared(subject):
            if isinstance(subject, Related):
                return frozenset([measuring(subject.measure)])
            found = (subject,)
        case _:
            found = (one.field,)
    return frozenset(field.column.lower() for field in found)


def _first(descending: bool) -> str:
    return "highest" if descending else "lowest"


def _said(conditions: Collection[QueryCondition]) -> list[str]:
    return [f"where {filtering(one)}" for one in conditions]


def _explained(*said: str) -> str:
    return f"Of the previous answer: {'; '.join(said)}."
