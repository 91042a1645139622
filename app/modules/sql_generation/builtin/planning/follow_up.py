"""Follow-up questions, answered by editing the previous statement of the built-in writer.

Words such as "those" mean the rows of that statement. Each form of follow-up declares the parts of the
question that it uses, and declines the question if it has other parts.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import get_args

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.sql.parsing import parsed_one
from app.modules.sql_generation.builtin.periods import CalendarUnit
from app.modules.sql_generation.builtin.plan import Beyond, Dimension, Grain, PlanColumn, QueryCondition
from app.modules.sql_generation.builtin.planning.intent import Planner
from app.modules.sql_generation.builtin.question.reading import Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.roles import QuestionRoles, is_table
from app.modules.sql_generation.builtin.question.words import Token, words_of
from app.modules.sql_generation.builtin.statement.compose import group_keys, labelled
from app.modules.sql_generation.builtin.statement.conditions import filters
from app.modules.sql_generation.builtin.statement.draft import SelectDraft, measured
from app.modules.sql_generation.builtin.statement.explain import filtering, grouping, measuring
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_ENTANGLED = (exp.SetOperation, exp.Window, exp.With)
_FILTERS = frozenset(
    ("values", "joined", "times", "compared", "lacking", "present", "flags", "reports", "several")
)
_DOWN = "highest|largest|biggest|greatest|best|top|most|maximum"
_UP = "lowest|smallest|worst|bottom|fewest|least|minimum"
_EXTREME = re.compile(
    rf"(?:which|who|what)(?: (?:1|one))?(?: (?:of|among))?(?: (?:\w+))??"
    rf"(?: (?:has|have|had|is|are|was|were|with))*(?: the)?"
    rf" (?:(?P<down>{_DOWN})|(?P<up>{_UP}))(?: (?P<what>.+))?"
)


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


def extreme(tokens: Sequence[Token]) -> Extreme | None:
    """Returns the extreme that a question asks for, or None.

    `tokens` are the question without the words that point to the previous answer.
    """
    text = " ".join(token.raw for token in tokens if token.raw != ",")
    if (match := _EXTREME.fullmatch(text)) is None:
        return None
    return Extreme(words_of(match["what"] or ""), match["down"] is not None)


def extreme_of_shown(sql: str, asked: Extreme, network: SchemaNetwork) -> tuple[exp.Select, str] | None:
    """Returns the statement for the row with the extreme value of a shown column, and its explanation.

    None if that column is not shown.
    """
    return _Answer(sql, QuestionRoles(), network).extreme_of_shown(asked)


def is_narrowed(sql: str, dialect: str) -> bool:
    """True if a statement of the built-in writer leaves rows out."""
    select = _parsed(sql, dialect)
    return bool(select.args.get("where") or select.args.get("limit") or select.find(exp.Subquery))


def names_rows(roles: QuestionRoles) -> bool:
    """True if the question names a table or money earned, not only columns."""
    measured = [*(of for _, of in roles.measured), roles.ranked_by]
    return any(map(is_table, roles.mentions())) or any(isinstance(of, Revenue) for of in measured)


def edit(
    sql: str, roles: QuestionRoles, network: SchemaNetwork, *, points: bool, adds: bool
) -> tuple[exp.Select, str]:
    """Returns the edited statement and its explanation. Raises `Beyond` or `Unclear`.

    `points`: the question is about the rows of the previous answer; otherwise it varies the previous
    question. `adds`: the columns asked for are added to those shown.
    """
    answer = _Answer(sql, roles, network)
    answer.drop_own_table()
    if not points and roles.is_fragment:
        return answer.varied()
    answer.list_counted()
    if roles.counts:
        return answer.counted()
    if not points:
        raise Beyond("I can add a filter, a group, an order or a limit to the previous answer, not more.")
    if roles.rank and (roles.rank.hint or roles.ranked_by):
        return answer.ranked()
    if roles.measured:
        return answer.aggregated()
    if roles.sorted_by:
        return answer.sorted()
    if roles.free:
        return answer.shown(beside=adds)
    return answer.narrowed() if answer.is_list else answer.varied_itself()


class _Answer:
    """The previous statement, and its edits by the question."""

    def __init__(self, sql: str, roles: QuestionRoles, network: SchemaNetwork) -> None:
        self._roles = roles
        self._draft = _draft(sql, network)
        self._planner = Planner(network, roles, self._draft.names)
        select = self._draft.select
        self._numbers = [shown for shown in select.selects if _is_aggregate(shown, select)]
        self.is_list = not self._numbers and not select.args.get("group")
        self._unlisted = ""

    # Forms about the rows of the previous answer

    def extreme_of_shown(self, asked: Extreme) -> tuple[exp.Select, str] | None:
        """Selects the row with the highest or lowest value in a shown column of numbers."""
        select = self._draft.select
        names = [shown.alias_or_name for shown in select.selects]
        at = asked.column(names)
        if at is None and not asked.what and len(self._numbers) == 1:
            at = select.selects.index(self._numbers[0])
        if at is None or not self._holds_numbers(select.selects[at]) or len(select.selects) < 2:
            return None
        if select.args.get("limit"):
            outer = exp.select("*").from_(select.subquery("previous"))
            key: exp.Expr = exp.column(names[at], quoted=True)
        else:
            outer = select.copy()
            key = select.selects[at].unalias().copy()
        ordered = exp.Ordered(this=key, desc=asked.descending, nulls_first=False)
        said = f"the one with the {'highest' if asked.descending else 'lowest'} {names[at]}"
        return outer.order_by(ordered, append=False).limit(1), _explained(said)

    def counted(self) -> tuple[exp.Select, str]:
        """Counts the rows of the previous list, with further conditions if there are any."""
        self._uses("counts", *_FILTERS)
        select = self._draft.select
        if not self.is_list:
            raise Beyond("The previous answer is no list whose rows I could count.")
        conditions = self._conditions()
        number = exp.alias_(exp.Count(this=exp.Star()), f"number of {self._draft.base}", quoted=True)
        if _is_cut(select):
            if conditions:
                raise Beyond("The previous answer shows a part of the rows only; ask the whole question.")
            inner = select.copy()
            if not inner.args.get("limit"):
                inner.set("order", None)
            return exp.select(number).from_(inner.subquery("previous")), _explained("the number of rows")
        self._add(conditions)
        select = self._draft.select.select(number, append=False)
        select.set("order", None)
        return select, _explained("the number of rows", *_said(conditions))

    def ranked(self) -> tuple[exp.Select, str]:
        """Selects the first rows of the previous list, ordered by a number or date."""
        self._uses("rank", "ranked_by", "limit")
        rank = self._roles.rank
        base = self._draft.base
        self._require_whole_list()
        by = self._roles.ranked_by
        if rank is None or not (rank.hint or isinstance(by, SchemaMention)) or is_table(by):
            raise Beyond("I can put rows of the previous answer in order by their own columns only.")
        if rank.hint:
            field = self._planner.hinted(rank.hint, base)
        else:
            field = self._planner.field(by, lambda link: link.is_number, base)  # type: ignore[arg-type]
        self._order_by(field, descending=rank.descending)
        limit = self._roles.limit or 1
        first = "highest" if rank.descending else "lowest"
        self._draft.select = self._draft.select.limit(limit)
        said = _explained(f"the {first} {field}", f"only the first {limit}")
        return self._draft.select, said + self._unlisted

    def aggregated(self) -> tuple[exp.Select, str]:
        """Computes aggregates over the rows of the previous list."""
        self._uses("measured", *_FILTERS)
        self._require_whole_list()
        measures = [self._planner.measure(function, of) for function, of in self._roles.measured]
        if any(measure.table != self._draft.base for measure in measures):
            raise Beyond(f"That is no number of {self._draft.base} itself; ask the whole question.")
        conditions = self._conditions()
        self._add(conditions)
        numbers = [
            exp.alias_(measured(self._draft, measure), measure.name, quoted=True) for measure in measures
        ]
        select = self._draft.select.select(*numbers, append=False)
        select.set("order", None)
        return select, _explained(*map(measuring, measures), *_said(conditions))

    def sorted(self) -> tuple[exp.Select, str]:
        """Sorts the rows of the previous answer differently."""
        self._uses("sort", "sorted_by")
        sort = self._roles.sort
        by = self._roles.sorted_by
        if sort is None or len(by) != 1:
            raise Beyond("I do not see what to sort by.")
        select = self._draft.select
        descending = bool(sort.descending)
        at = Extreme(words_of(by[0].text), descending).column([each.alias_or_name for each in select.selects])
        if select.args.get("limit"):
            raise Beyond("The previous answer shows the first rows of its own order only.")
        if at is not None:
            key = exp.Ordered(this=select.selects[at].unalias().copy(), desc=descending, nulls_first=False)
            said = select.selects[at].alias_or_name
            self._draft.select = select.order_by(key, append=False)
        elif self.is_list and isinstance(by[0], SchemaMention):
            field = self._planner.field(by[0], lambda link: link.is_column, self._draft.base)
            self._order_by(field, descending=descending)
            said = str(field)
        else:
            raise Beyond("I do not see what to sort by.")
        said = _explained(f"{said}, {'highest' if descending else 'lowest'} first")
        return self._draft.select, said + self._unlisted

    def shown(self, *, beside: bool) -> tuple[exp.Select, str]:
        """Shows other columns of the previous list, in addition to the old ones or in their place."""
        self._uses("free")
        select = self._draft.select
        if not self.is_list or select.args.get("distinct"):
            raise Beyond("I can show other columns of a plain list only; ask the whole question.")
        found = [
            field for mention in self._roles.free for field in self._planner.named(mention, self._draft.base)
        ]
        columns = [exp.alias_(self._column(field), field.column, quoted=True) for field in found]
        old = [shown.sql() for shown in select.selects] if beside else []
        new = [column for column in columns if column.sql() not in old]
        said = f"{', '.join(map(str, found))}{' beside the columns shown' if beside else ''}"
        return self._draft.select.select(*new, append=beside), _explained(said)

    def narrowed(self) -> tuple[exp.Select, str]:
        """Filters the previous list by further conditions."""
        self._uses("limit", *_FILTERS)
        conditions = self._conditions()
        if not conditions:
            raise Beyond("I do not see what should change in the previous answer.")
        self._require_whole_list()
        self._add(conditions)
        if self._roles.limit:
            self._draft.select = self._draft.select.limit(self._roles.limit)
        return self._draft.select, _explained(*_said(conditions)) + self._unlisted

    # Variations of the previous question

    def varied_itself(self) -> tuple[exp.Select, str]:
        """Groups or filters the previous numbers: "that by month", "that for Germany"."""
        if self._draft.select.args.get("group"):
            self._uses("grouped", "rank", "sort", "limit", "first")
        else:
            self._uses("grouped", *_FILTERS)
        return self.varied()

    def varied(self) -> tuple[exp.Select, str]:
        """Changes the filter, group, order or limit of the previous question."""
        if self._roles.sorted_by:
            raise Beyond("I can add a filter, a group, an order or a limit to the previous answer, not more.")
        self._uses("grouped", "rank", "sort", "limit", "first", *_FILTERS)
        said = [*self._filter(), *self._regroup(), *self._rank()]
        if not said:
            raise Beyond("I do not see what should change in the previous answer.")
        return self._draft.select, f"The previous question, now {'; '.join(said)}."

    def _filter(self) -> list[str]:
        draft = self._draft
        conditions = self._conditions()
        for one in conditions:
            (added,) = filters(draft, [one], ())
            if self._numbers and added.find(exp.Exists, exp.Subquery):
                raise Beyond(
                    f"A row of {draft.base} has many of what the condition {filtering(one)} is about."
                )
            kept = [old for old in _conjuncts(draft) if not _replaces(added, old)]
            draft.select = draft.select.where(*kept, added, append=False)
        if draft.fans_out:
            raise Beyond("The joins this needs would count rows more than once.")
        return _said(conditions)

    def _regroup(self) -> list[str]:
        roles = self._roles
        draft = self._draft
        if not roles.grouped:
            return []
        if not self._numbers:
            raise Beyond("The previous answer has no number to group.")
        dimensions = [self._planner.dimension(mention, draft.base) for mention in roles.grouped]
        labels = [label for dimension in dimensions for label in labelled(draft, dimension)]
        keys = [key for dimension in dimensions for key in group_keys(draft, dimension)]
        if draft.fans_out:
            raise Beyond("The joins this needs would count rows more than once.")
        kept, kept_keys = self._kept_groups(dimensions)
        labels = [*labels, *kept]
        keys = [*keys, *kept_keys]
        select = draft.select.select(*labels, *self._numbers, append=False).group_by(*keys, append=False)
        by_time = any(isinstance(dimension, Grain) for dimension in dimensions)
        first = exp.Ordered(this=self._numbers[0].unalias(), desc=True, nulls_first=False)
        draft.select = select.order_by(*(keys if by_time else [first]), append=False)
        draft.select.set("limit", None)
        return [f"per {' and '.join(map(grouping, dimensions))}"]

    def _kept_groups(self, dimensions: Sequence[Dimension]) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """Returns the labels and keys of the kept groups. A new calendar unit replaces only the old one.

        Raises `Beyond` when it is unclear which of several groups to replace.
        """
        select = self._draft.select
        labels = [shown for shown in select.selects if shown not in self._numbers]
        times = [shown for shown in labels if shown.alias_or_name in get_args(CalendarUnit)]
        rest = [shown for shown in labels if shown not in times]
        if len(labels) < 2 or len(dimensions) > 1 or not times:
            return [], []
        if not isinstance(dimensions[0], Grain):
            raise Beyond("The previous answer has several groups; say all that it should be grouped by.")
        keys = select.args["group"].expressions
        return rest, [key for key in keys if key not in [time.unalias() for time in times]]

    def _rank(self) -> list[str]:
        roles = self._roles
        said = list[str]()
        descending = roles.rank.descending if roles.rank else roles.sort.descending if roles.sort else None
        if descending is not None:
            self._draft.select = self._draft.select.order_by(self._reordered(descending), append=False)
            said.append("highest first" if descending else "lowest first")
        if roles.limit or roles.rank:
            limit = roles.limit or 1
            self._draft.select = self._draft.select.limit(limit)
            said.append(f"only the first {limit}")
        return said

    def _reordered(self, descending: bool) -> exp.Expr:
        """Returns the ORDER BY term: the first number, or else the present one, with a new direction."""
        order = self._draft.select.args.get("order")
        known = [one.this for one in order.expressions] if order else []
        numbers = [number.unalias() for number in self._numbers]
        if not numbers and not known:
            raise Beyond("I do not see what the rows should be ordered by.")
        return exp.Ordered(this=(numbers or known)[0].copy(), desc=descending, nulls_first=False)

    # Parts

    def drop_own_table(self) -> None:
        """Removes mentions of the previous answer's own table from the question.

        Raises `Beyond` when the question names other rows.
        """
        roles = self._roles
        base = self._draft.base
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
        """Replaces a previous statement that only counts rows by the list of these rows."""
        select = self._draft.select
        counts = [shown.unalias() for shown in select.selects]
        if (
            len(counts) > 1
            or not isinstance(counts[0], exp.Count)
            or not isinstance(counts[0].this, exp.Star)
        ):
            return
        if _is_cut(select):
            return
        base = self._draft.base
        shown = self._draft.network.listed(base)
        columns = [exp.alias_(self._column(each), each.column, quoted=True) for each in shown]
        self._draft.select = select.select(*columns, append=False)
        self._numbers = []
        self._unlisted = self._draft.network.unlisted(base)
        self.is_list = True

    def _uses(self, *names: str) -> None:
        """Raises `Beyond` when the question has other parts than these fields of `QuestionRoles`."""
        rest = [each.name for each in fields(self._roles) if getattr(self._roles, each.name)]
        if set(rest) - set(names):
            raise Beyond(
                "I can change one thing about the previous answer at a time; ask the whole question."
            )

    def _conditions(self) -> tuple[QueryCondition, ...]:
        return self._planner.conditions(self._draft.base)

    def _add(self, conditions: Collection[QueryCondition]) -> None:
        added = filters(self._draft, list(conditions), ())
        if any(_replaces(one, old) for one in added for old in _conjuncts(self._draft)):
            raise Beyond("The previous answer already has a condition on that; ask the whole question.")
        self._draft.select = self._draft.select.where(*added)
        if self._draft.fans_out:
            raise Beyond("The joins this needs would count rows more than once.")

    def _require_whole_list(self) -> None:
        if not self.is_list:
            raise Beyond("The previous answer is no plain list; ask the whole question.")
        if _is_cut(self._draft.select):
            raise Beyond("The previous answer shows a part of the rows only; ask the whole question.")

    def _order_by(self, field: PlanColumn, *, descending: bool) -> None:
        ordered = exp.Ordered(this=self._column(field), desc=descending, nulls_first=False)
        self._draft.select = self._draft.select.order_by(ordered, append=False)

    def _column(self, field: PlanColumn) -> exp.Expr:
        column = self._draft.column(field)
        if self._draft.fans_out:
            raise Beyond(f"A row of {self._draft.base} has many of {field.table}.")
        return column

    def _holds_numbers(self, shown: exp.Expr) -> bool:
        if shown in self._numbers:
            return True
        column = shown.unalias()
        tables = {name: table for table, name in self._draft.names.items()}
        if not isinstance(column, exp.Column) or column.table not in tables:
            return False
        network = self._draft.network
        known = {field.column: field for field in network.fields(tables[column.table])}
        field = known.get(column.name)
        return field is not None and field.type in ("integer", "number") and not network.is_key(field)


def _draft(sql: str, network: SchemaNetwork) -> SelectDraft:
    select = _parsed(sql, network.schema.dialect)
    known = {table.name.lower(): table.name for table in network.schema.tables}
    source = select.args["from_"].this if select.args.get("from_") else None
    joined = [join.this for join in select.args.get("joins") or []]
    tables = [each for each in (source, *joined) if isinstance(each, exp.Table)]
    names = {known[each.name.lower()]: each.alias_or_name for each in tables if each.name.lower() in known}
    if not isinstance(source, exp.Table) or len(names) < 1 + len(joined):
        raise Beyond("The previous statement is too complex for me to change.")
    return SelectDraft(
        network=network, base=known[source.name.lower()], select=select, names=names, through=tuple(names)
    )


def _parsed(sql: str, dialect: str) -> exp.Select:
    try:
        select = parsed_one(sql, dialect)
    except (SqlglotError, RecursionError):
        select = None
    if not isinstance(select, exp.Select) or select.find(*_ENTANGLED):
        raise Beyond("The previous statement is too complex for me to change.")
    return select


def _is_aggregate(shown: exp.Expr, select: exp.Select) -> bool:
    return any(each.parent_select is select for each in shown.find_all(exp.AggFunc))


def _is_cut(select: exp.Select) -> bool:
    """True if LIMIT, DISTINCT or GROUP BY change the rows that the conditions select."""
    return any(select.args.get(part) for part in ("limit", "distinct", "group"))


def _said(conditions: Collection[QueryCondition]) -> list[str]:
    return [f"where {filtering(one)}" for one in conditions]


def _explained(*said: str) -> str:
    return f"Of the previous answer: {'; '.join(said)}."


def _conjuncts(draft: SelectDraft) -> list[exp.Expr]:
    where = draft.select.args.get("where")
    return (
        list(where.this.unnest().flatten())
        if where and isinstance(where.this.unnest(), exp.And)
        else ([where.this] if where else [])
    )


def _replaces(added: exp.Expr, old: exp.Expr) -> bool:
    """True if a new condition replaces an old one: both are on the same column.

    Raises `Beyond` if the old condition is too complex.
    """
    new_columns = {column.name.lower() for column in added.find_all(exp.Column)}
    old_columns = {column.name.lower() for column in old.find_all(exp.Column)}
    if new_columns & old_columns and isinstance(old.unnest(), exp.Or):
        raise Beyond("The previous statement's condition is too complex for me to change.")
    return bool(new_columns) and new_columns == old_columns
