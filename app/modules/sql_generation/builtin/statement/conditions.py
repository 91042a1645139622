"""The filters of a plan as SQL.

Conditions beyond a one-to-many join become EXISTS or a subquery that counts, so that no filter repeats rows.
"""

from collections.abc import Sequence
from typing import assert_never

from sqlglot import exp

from app.modules.sql_generation.builtin import plan
from app.modules.sql_generation.builtin.periods import DateRange
from app.modules.sql_generation.builtin.plan import Beyond, PlanColumn
from app.modules.sql_generation.builtin.statement.calendar import is_on_weekdays
from app.modules.sql_generation.builtin.statement.draft import (
    SelectDraft,
    column_expression,
    measured,
    meeting,
    table_expression,
)
from app.modules.sql_generation.foreign_keys import Path

_NUMERIC = ("integer", "number")
_OTHER = "other"
_COMPARISONS: dict[str, type[exp.Binary]] = {
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
    "=": exp.EQ,
}


def filters(
    draft: SelectDraft,
    conditions: Sequence[plan.QueryCondition | str],
    required: Sequence[str] = (),
    *,
    wanted: plan.Related | None = None,
    ranked: plan.Related | None = None,
) -> list[exp.Expr]:
    """Returns the conditions on the rows of a draft; with `wanted` only that number, as a subquery.

    `ranked` is the number that orders the rows: conditions on the rows it counts become part of it and
    exclude no row. Raises `Beyond` if conditions beyond a join could be combined in several ways.
    """
    found: list[exp.Expr] = []
    branches: dict[Path, list[plan.QueryCondition | str]] = {}
    for one in (*conditions, *required):
        table = one if isinstance(one, str) else table_of(one)
        if isinstance(one, plan.Without) and one.within:
            found.append(condition(draft, one))
            continue
        head = isinstance(one, plan.Without) or isinstance(_subject(one), plan.Related)
        branch = branch_of(draft, table)
        if head and not branch:
            raise Beyond(f"A row of {draft.base} has only one row of {table}.")
        if head or (branch and table not in draft.names):
            branches.setdefault(branch, []).append(one)
        else:
            draft.reach(table)
            found += [] if isinstance(one, str) else [condition(draft, one)]
    if wanted:
        path = branch_of(draft, wanted.measure.table)
        return [_counted(draft, path, wanted.measure, ones=_rest(branches.get(path, []), wanted))]
    if ranked:
        path = branch_of(draft, ranked.measure.table)
        if ranked not in map(_subject, branches.get(path, [])):
            branches.pop(path, None)
        if branches.keys() - {path}:
            raise Beyond(f"I cannot combine the conditions on what belongs to {draft.base} safely.")
    return [*found, *(_beyond(draft, path, ones) for path, ones in branches.items())]


def condition(draft: SelectDraft, one: plan.QueryCondition) -> exp.Expr:
    """Returns one condition on a table of the draft or one that it joins."""
    match one:
        case plan.Compared(subject, operator, numbers):
            if isinstance(subject, PlanColumn):
                return compared(draft.column(subject), operator, numbers)
            branch = branch_of(draft, subject.measure.table)
            return compared(_counted(draft, branch, subject.measure, ones=[]), operator, numbers)
        case plan.Without(table, within):
            held: list[plan.QueryCondition | str] = [table, within] if within else [table]
            return exp.Not(this=_exists(draft, branch_of(draft, table), held))
        case plan.Superior():
            return _superior(draft, one)
        case _:
            return _filter(draft, one)


def _filter(draft: SelectDraft, one: plan.Filter) -> exp.Expr:
    match one:
        case plan.Among(field, values, negated):
            return _among(draft.column(field), values, negated)
        case plan.PersonNamed((first, given), (last, surname), negated):
            pairs = ((draft.column(first), given), (draft.column(last), surname))
            both = exp.and_(
                *(exp.EQ(this=column, expression=exp.Literal.string(said)) for column, said in pairs)
            )
            return exp.Not(this=exp.paren(both)) if negated else both
        case plan.Flagged(field, holds, yes, no):
            said = yes if holds else no
            if said is not None:
                return exp.EQ(this=draft.column(field), expression=exp.Literal.string(said))
            value = exp.Boolean(this=holds) if field.type == "boolean" else exp.Literal.number(int(holds))
            return exp.EQ(this=draft.column(field), expression=value)
        case plan.Fulfils(_, definition, holds):
            stated = exp.paren(draft.stated(definition))
            return stated if holds else exp.Not(this=stated)
        case plan.Within(field, period):
            return restrict_to_period(draft.column(field), field, period)
        case plan.OnWeekdays(field, days):
            return is_on_weekdays(draft.column(field), days, draft.network.schema.dialect)
        case plan.Earliest(field, key):
            earliest = exp.Min(this=column_expression(_OTHER, field.column))
            same = exp.EQ(this=column_expression(_OTHER, key.column), expression=draft.column(key))
            rows = exp.select(earliest).from_(table_expression(field.table, _OTHER)).where(same)
            return exp.EQ(this=draft.column(field), expression=rows.subquery())
        case plan.Missing(field, _, negated=True) if field.type in _NUMERIC:
            return exp.NEQ(this=draft.column(field), expression=exp.Literal.number(0))
        case plan.Missing(field, or_zero, negated):
            missing = exp.Is(this=draft.column(field), expression=exp.Null())
            if negated:
                return exp.Not(this=missing)
            if not or_zero:
                return missing
            zero = exp.EQ(this=draft.column(field), expression=exp.Literal.number(0))
            return exp.paren(exp.or_(missing, zero))
        case _:
            assert_never(one)


def branch_of(draft: SelectDraft, table: str) -> Path:
    """Returns the path to `table` up to its first one-to-many join; empty if it has none."""
    path = draft.network.path(draft.base, table, (*draft.through, *draft.names))
    many = next((at for at, hop in enumerate(path) if hop.fans_out), None)
    return () if many is None else path[: many + 1]


def table_of(one: plan.QueryCondition) -> str:
    match one:
        case plan.Without(table):
            return table
        case plan.Compared(subject):
            return subject.table if isinstance(subject, PlanColumn) else subject.measure.table
        case plan.PersonNamed((first, _)):
            return first.table
        case _:
            return one.field.table


def _subject(one: plan.QueryCondition | str) -> PlanColumn | plan.Related | None:
    return one.subject if isinstance(one, plan.Compared) else None


def _rest(ones: Sequence[plan.QueryCondition | str], head: plan.Related) -> list[plan.QueryCondition | str]:
    return [one for one in ones if _subject(one) != head]


def _beyond(draft: SelectDraft, path: Path, ones: Sequence[plan.QueryCondition | str]) -> exp.Expr:
    """Returns a condition on the related rows of a row: that there are some, none, or a number of them."""
    lacking = [one for one in ones if isinstance(one, plan.Without)]
    counted = [
        (one, one.subject)
        for one in ones
        if isinstance(one, plan.Compared) and isinstance(one.subject, plan.Related)
    ]
    if len(lacking) + len(counted) > 1:
        raise Beyond(f"I cannot combine several conditions on {path[-1].right} safely.")
    if counted:
        ((head, related),) = counted
        _refuse_aside(draft, path, related, rest=_rest(ones, related))
        number = _counted(draft, path, related.measure, ones=_rest(ones, related))
        return compared(number, head.operator, head.numbers)
    if lacking:
        rest = [one for one in ones if one not in lacking]
        return exp.Not(this=_exists(draft, path, [lacking[0].table, *rest]))
    for one in ones:
        if isinstance(one, plan.Within) and one.period.joined:
            raise Beyond("I cannot tell whether either of the two periods is enough, or both are needed.")
        if isinstance(one, plan.Among | plan.PersonNamed | plan.Flagged | plan.Fulfils) and _is_negative(one):
            raise Beyond(
                f"One row of {draft.base} can have many of {path[-1].right}; I cannot tell whether none of "
                "them may be so, or whether one that is not is enough."
            )
    return _exists(draft, path, ones)


def _refuse_aside(
    draft: SelectDraft, path: Path, related: plan.Related, *, rest: Sequence[plan.QueryCondition | str]
) -> None:
    """Raises `Beyond` if it is unclear whether a condition is on the counted rows.

    An example: "with at least 3 albums and no Rock tracks".
    """
    table = related.measure.table
    first = path[-1].right
    between = {table, *(hop.right for hop in draft.network.path(table, first, (*draft.through, first)))}
    for one in rest:
        aside = one if isinstance(one, str) else table_of(one)
        own = isinstance(one, str) or (
            isinstance(one, plan.Among | plan.PersonNamed | plan.Flagged | plan.Fulfils) and _is_negative(one)
        )
        if own and aside not in between and draft.network.fans_out(table, aside, tuple(between)):
            raise Beyond(f"I cannot combine a number of {table} with a condition on {aside} safely.")


def _is_negative(one: plan.Among | plan.PersonNamed | plan.Flagged | plan.Fulfils) -> bool:
    return not one.holds if isinstance(one, plan.Flagged | plan.Fulfils) else one.negated


def _inner(
    draft: SelectDraft,
    path: Path,
    ones: Sequence[plan.QueryCondition | str],
    *,
    select: exp.Select,
    base: str,
) -> SelectDraft:
    """Returns a draft of the rows of `base` that a path relates to a row and that fulfil the conditions."""
    for hop in path[:-1]:
        draft.join(hop)
    last = path[-1]
    source = select.from_(table_expression(base))
    inner = SelectDraft(
        network=draft.network,
        base=base,
        select=source,
        names={base: base},
        through=(*draft.through, last.right),
    )
    inner.reach(last.right)
    where = [meeting(last, draft.names[last.left])]
    for one in ones:
        inner.reach(one if isinstance(one, str) else table_of(one))
        where += [] if isinstance(one, str) else [condition(inner, one)]
    inner.select = inner.select.where(*where)
    return inner


def _exists(draft: SelectDraft, path: Path, ones: Sequence[plan.QueryCondition | str]) -> exp.Expr:
    select = exp.Select().select(exp.Literal.number(1))
    return exp.Exists(this=_inner(draft, path, ones, select=select, base=path[-1].right).select)


def _counted(
    draft: SelectDraft, path: Path, measure: plan.Measure, *, ones: Sequence[plan.QueryCondition | str]
) -> exp.Expr:
    inner = _inner(draft, path, ones, select=exp.Select(), base=measure.table)
    return inner.select.select(measured(inner, measure)).subquery()


def _superior(draft: SelectDraft, one: plan.Superior) -> exp.Expr:
    """Returns the condition that a row refers to a matching row; with `above`, that one refers to it."""
    table = one.field.table
    source = exp.Select().from_(table_expression(table, _OTHER))
    other = SelectDraft(network=draft.network, base=table, select=source, names={table: _OTHER})
    theirs, mine = (one.field, one.key) if one.above else (one.key, one.field)
    where = [_filter(other, each) for each in one.of]
    rows = other.select.select(column_expression(_OTHER, theirs.column)).where(*where)
    return exp.In(this=draft.column(mine), query=rows.subquery())


def _among(column: exp.Expr, values: tuple[str, ...], negated: bool) -> exp.Expr:
    wanted = [exp.Literal.string(value) for value in dict.fromkeys(values)]
    if len(wanted) == 1:
        return (exp.NEQ if negated else exp.EQ)(this=column, expression=wanted[0])
    among = exp.In(this=column, expressions=wanted)
    return exp.Not(this=among) if negated else among


def restrict_to_period(column: exp.Expr, field: PlanColumn, period: DateRange) -> exp.Expr:
    def bound(day: object) -> exp.Expr:
        if field.type in ("date", "datetime"):
            return exp.Literal.string(str(day))
        year = str(day)[:4]
        return exp.Literal.number(year) if field.type in _NUMERIC else exp.Literal.string(year)

    if period.has_gaps:
        parts = [restrict_to_period(column.copy(), field, part) for part in period.parts]
        return exp.paren(exp.or_(*parts))
    bounds: list[exp.Expr] = []
    if period.start:
        bounds.append(exp.GTE(this=column, expression=bound(period.start)))
    if period.end:
        bounds.append(exp.LT(this=column.copy(), expression=bound(period.end)))
    return exp.and_(*bounds)


def compared(value: exp.Expr, operator: str, numbers: tuple[str, ...]) -> exp.Expr:
    """Returns the comparison of a value with one number, or with the two of `between`."""
    literals = [exp.Literal.number(number) for number in numbers]
    if operator == "between":
        return exp.Between(this=value, low=literals[0], high=literals[1])
    return _COMPARISONS[operator](this=value, expression=literals[0])
