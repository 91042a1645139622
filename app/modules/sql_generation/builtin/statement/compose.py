"""Builds the statement of a plan from sqlglot expressions, never by formatting names or values into SQL."""

from collections.abc import Sequence

from sqlglot import exp

from app.modules.sql_generation.builtin.plan import (
    Dimension,
    Entity,
    Grain,
    Measure,
    PlanColumn,
    QueryPlan,
    Related,
    SortOrder,
)
from app.modules.sql_generation.builtin.statement.calendar import calendar_order, calendar_text
from app.modules.sql_generation.builtin.statement.conditions import compared, filters
from app.modules.sql_generation.builtin.statement.draft import (
    SelectDraft,
    divided,
    measured,
    table_expression,
)
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork


def compose(query: QueryPlan, network: SchemaNetwork) -> exp.Select:
    """Returns the statement of a plan. `network` has the preferences of the plan.

    Raises `Beyond` when a join would count a measured row more than once.
    """
    draft = draft_of(query, network)
    if not query.measures:
        return _listed(draft, query)
    groups = [keys for dimension in query.dimensions for keys in _group_keys(draft, dimension)]
    labels = [shown for dimension in query.dimensions for shown in _labelled(draft, dimension)]
    for field in [field for measure in query.measures for field in measure.fields]:
        draft.reach(field.table)
    where = filters(draft, query.conditions, query.with_tables)
    numbers = [
        exp.alias_(_in_percent(measured(draft, measure), query, network), measure.name, quoted=True)
        for measure in query.measures
    ]
    select = draft.select.select(*labels, *numbers).where(*where).group_by(*groups)
    for one in query.having:
        select = select.having(compared(measured(draft, one.measure), one.operator, one.numbers))
    for ordered in _orders(draft, query):
        select = select.order_by(ordered)
    return select.limit(query.limit) if query.limit else select


def _in_percent(number: exp.Expr, query: QueryPlan, network: SchemaNetwork) -> exp.Expr:
    """Returns a measure, in percent of that of the whole if the plan has one."""
    if query.whole is None:
        return number
    whole = compose(query.whole, network).subquery()
    return divided(exp.Mul(this=number, expression=exp.Literal.number("100.0")), whole)


def draft_of(query: QueryPlan, network: SchemaNetwork) -> SelectDraft:
    """Returns a draft of nothing but the base of a plan."""
    source = exp.Select().from_(table_expression(query.base))
    names = {query.base: query.base}
    return SelectDraft(network=network, base=query.base, select=source, names=names, through=query.through)


def _listed(draft: SelectDraft, query: QueryPlan) -> exp.Select:
    shown = query.shown or tuple(draft.network.listed(query.base))
    fields = [one for one in shown if isinstance(one, PlanColumn)]
    columns = [draft.column(field) for field in fields]
    order = query.order.by if query.order else None
    ordered = [draft.column(order)] if isinstance(order, PlanColumn) else []
    key = [draft.column(field) for field in draft.network.key(query.base)]
    ranked = order if isinstance(order, Related) else None
    where = filters(draft, query.conditions, query.with_tables, ranked=ranked)
    counts = {one: _count_beside(draft, query, one) for one in shown if isinstance(one, Related)}
    labels = [
        exp.alias_(counts[one] if isinstance(one, Related) else draft.column(one), _label(one), quoted=True)
        for one in shown
    ]
    select = draft.select.select(*labels).where(*where)
    if query.distinct or (draft.fans_out and not key):
        select = select.distinct()
    elif draft.fans_out:
        select = select.group_by(*dict.fromkeys((*key, *columns, *ordered)))
    if isinstance(order, Related):
        ordered = [_count_beside(draft, query, order)]
    if query.order:
        select = select.order_by(exp.Ordered(this=ordered[0], desc=query.order.descending, nulls_first=False))
    return select.limit(query.limit) if query.limit else select


def _count_beside(draft: SelectDraft, query: QueryPlan, related: Related) -> exp.Expr:
    """Returns the number that a row is compared by, as a subquery with the same filters."""
    return filters(draft, query.conditions, (), wanted=related)[0]


def _label(one: PlanColumn | Related) -> str:
    return one.measure.name if isinstance(one, Related) else _readable(one)


def _labelled(draft: SelectDraft, dimension: Dimension) -> list[exp.Expr]:
    """Returns the columns that show a group, with readable names."""
    match dimension:
        case Entity(table, _, shown):
            return [exp.alias_(draft.column(one), _readable(one, table), quoted=True) for one in shown]
        case Grain(field, unit):
            text = calendar_text(draft.column(field), unit, draft.network.schema.dialect)
            return [exp.alias_(text, unit, quoted=True)]
        case PlanColumn():
            return [exp.alias_(draft.column(dimension), _readable(dimension), quoted=True)]


def _group_keys(draft: SelectDraft, dimension: Dimension) -> list[exp.Expr]:
    match dimension:
        case Entity(_, key, shown):
            return [draft.column(one) for one in dict.fromkeys((*key, *shown))]
        case Grain(field, unit):
            date, dialect = draft.column(field), draft.network.schema.dialect
            keys = (calendar_order(date, unit, dialect), calendar_text(date, unit, dialect))
            return list(dict.fromkeys(keys))
        case PlanColumn():
            return [draft.column(dimension)]


def _orders(draft: SelectDraft, query: QueryPlan) -> Sequence[exp.Expr]:
    if query.order:
        return [_ordered(draft, query.order)]
    if any(isinstance(dimension, Grain) for dimension in query.dimensions):
        return [key for dimension in query.dimensions for key in _group_keys(draft, dimension)]
    if query.dimensions:
        return [_ordered(draft, SortOrder(query.measures[0], descending=True))]
    return []


def _ordered(draft: SelectDraft, order: SortOrder) -> exp.Expr:
    if isinstance(order.by, Measure):
        target = measured(draft, order.by)
    elif isinstance(order.by, PlanColumn):
        target = draft.column(order.by)
    elif isinstance(order.by, Grain):
        target = _group_keys(draft, order.by)[0]
    else:
        target = measured(draft, order.by.measure)
    return exp.Ordered(this=target, desc=order.descending, nulls_first=False)


def _readable(field: PlanColumn, table: str | None = None) -> str:
    """Returns a column label for users. "name" and "title" of an entity are labelled with its table."""
    return table if table and field.column.lower() in ("name", "title") else field.column
