"""Builds the statement of a plan from sqlglot expressions, never by formatting names or values into SQL."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from app.modules.sql_generation.builtin import plan
from app.modules.sql_generation.builtin.plan import Beyond, PlanColumn, QueryPlan
from app.modules.sql_generation.builtin.statement.calendar import calendar_order, calendar_text
from app.modules.sql_generation.builtin.statement.conditions import compared, filters, restrict_to_period
from app.modules.sql_generation.builtin.statement.draft import (
    SelectDraft,
    divided,
    measured,
    measured_value,
    table_expression,
)
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork


def compose(query: QueryPlan, network: SchemaNetwork) -> exp.Select:
    """Returns the statement of a plan. `network` has the preferences of the plan.

    Raises `Beyond` when a join would count a measured row more than once.
    """
    if query.within is not None:
        return _rank_in_groups(query, query.within, network)
    draft = draft_of(query, network)
    if not query.measures:
        return _listed(draft, query)
    groups = [keys for dimension in query.dimensions for keys in _group_keys(draft, dimension)]
    labels = [shown for dimension in query.dimensions for shown in _labelled(draft, dimension)]
    for field in [field for measure in query.measures for field in measure.fields]:
        draft.reach(field.table)
    where = filters(draft, query.conditions, query.with_tables)
    if any(measure.function == "median" for measure in query.measures):
        return _medians(draft, query, labels, groups=groups, where=where)
    numbers = _numbers(draft, query, network)
    shown = [exp.alias_(number, name, quoted=True) for name, number in numbers.items()]
    select = draft.select.select(*labels, *shown).where(*where).group_by(*groups)
    for one in query.having:
        select = select.having(compared(measured(draft, one.measure), one.operator, one.numbers))
    for ordered in _orders(draft, query, [*numbers.values()]):
        select = select.order_by(ordered)
    return select.limit(query.limit) if query.limit else select


def _numbers(draft: SelectDraft, query: QueryPlan, network: SchemaNetwork) -> dict[str, exp.Expr]:
    """Returns the numbers of a plan by name: measures, parts in percent, or a measure and its change."""
    measure = query.measures[0]
    if query.whole is not None:
        whole = compose(query.whole, network).subquery()
        return {measure.name: _divide_in_percent(measured(draft, measure), whole)}
    if query.part:
        draft.optional = True
        only = exp.and_(*filters(draft, query.part))
        return {measure.name: _divide_in_percent(measured(draft, measure, only), measured(draft, measure))}
    if query.change is None:
        return {measure.name: measured(draft, measure) for measure in query.measures}
    before, after = _measure_periods(draft, measure, query.change)
    change = exp.Sub(this=after, expression=before)
    return {
        f"{measure.name} {query.change.before}": before,
        f"{measure.name} {query.change.after}": after,
        "change": change,
        "change (%)": _divide_in_percent(exp.paren(change), before),
    }


def _measure_periods(draft: SelectDraft, measure: plan.Measure, change: plan.Change) -> list[exp.Expr]:
    """Returns the measure of the earlier and of the later period."""
    column = draft.column(change.field)
    return [
        measured(draft, measure, restrict_to_period(column.copy(), change.field, period))
        for period in (change.before, change.after)
    ]


def _divide_in_percent(part: exp.Expr, whole: exp.Expr) -> exp.Expr:
    """Returns a part in percent of the whole; NULL if that is zero."""
    return divided(exp.Mul(this=part, expression=exp.Literal.number("100.0")), whole)


def _medians(
    draft: SelectDraft,
    query: QueryPlan,
    labels: Sequence[exp.Expr],
    *,
    groups: Sequence[exp.Expr],
    where: Sequence[exp.Expr],
) -> exp.Select:
    """Returns the mean of the middle one or two numbers of each group, counted by window functions: there is
    no function for a median that all dialects have.
    """
    (measure, *more) = query.measures
    value = measured_value(draft, measure)
    if more or value is None or (query.order and query.order.by != measure):
        raise Beyond("I can compute one median at a time.")
    if draft.fans_out:
        raise Beyond(f"The joins this needs would count rows of {measure.table} more than once.")
    present = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    _tell_apart(labels)
    value_name, place_name, count_name, *key_names = _unused(
        ["value", "place", "places", *(f"group {at}" for at in range(1, len(groups) + 1))], labels
    )
    keys = [exp.alias_(key.copy(), name, quoted=True) for name, key in zip(key_names, groups, strict=True)]
    each = [draft.column(measure.each)] if measure.each else []
    rows = draft.select.where(*where, present)
    if each:
        value = exp.Sum(this=value)
        rows = rows.group_by(*groups, *each)
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[key.copy() for key in groups],
        order=exp.Order(expressions=[exp.Ordered(this=value.copy())]),
    )
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[key.copy() for key in groups])
    added = {value_name: value, place_name: place, count_name: count}
    rows = rows.select(*labels, *keys, *(exp.alias_(one, name, quoted=True) for name, one in added.items()))
    middle = exp.Between(
        this=exp.Mul(this=_named(place_name), expression=exp.Literal.number(2)),
        low=_named(count_name),
        high=exp.Add(this=_named(count_name), expression=exp.Literal.number(2)),
    )
    shown = [_named(one.alias) for one in labels]
    ordered: list[exp.Expr] = [_named(key.alias) for key in keys]
    median = exp.Avg(this=_named(value_name))
    select = exp.select(*shown, exp.alias_(median, measure.name, quoted=True)).from_(
        rows.subquery("numbered")
    )
    select = select.where(middle).group_by(*ordered, *(one.copy() for one in shown))
    for one in query.having:
        select = select.having(compared(median.copy(), one.operator, one.numbers))
    if query.order or not any(isinstance(one, plan.Grain) for one in query.dimensions):
        descending = query.order is None or query.order.descending
        ordered = [exp.Ordered(this=median.copy(), desc=descending, nulls_first=False)] if groups else []
    select = select.order_by(*ordered) if ordered else select
    return select.limit(query.limit) if query.limit else select


def _rank_in_groups(query: QueryPlan, within: plan.Dimension, network: SchemaNetwork) -> exp.Select:
    """Returns the first rows or groups in each group of `within`, ties included."""
    every = compose(replace(query, within=None, limit=None), network)
    draft = draft_of(query, network)
    (ordered,) = every.args["order"].expressions
    place = exp.Window(
        this=exp.Anonymous(this="RANK"),
        partition_by=_group_keys(draft, within),
        order=exp.Order(expressions=[ordered.copy()]),
    )
    every.set("order", None)
    _tell_apart(every.selects)
    names = [one.alias_or_name for one in every.selects]
    (place_name,) = _unused(["place"], every.selects)
    ranked = every.select(exp.alias_(place, place_name, quoted=True)).subquery("ranked")
    first = exp.LTE(this=_named(place_name), expression=exp.Literal.number(query.limit or 1))
    own = map(_named, names[: len(_labelled(draft, within))])
    return exp.select(*map(_named, names)).from_(ranked).where(first).order_by(*own, _named(place_name))


def _tell_apart(selects: Sequence[exp.Expr]) -> None:
    """Puts the table before the names of columns that are called alike."""
    names = [one.alias_or_name for one in selects]
    for one in selects:
        if names.count(one.alias) > 1 and isinstance(one.this, exp.Column):
            one.set("alias", exp.to_identifier(f"{one.this.table} {one.this.name}", quoted=True))


def _unused(names: Sequence[str], selects: Sequence[exp.Expr]) -> list[str]:
    """Returns names that no selected column has: underscores are added where one has it."""
    used = {one.alias_or_name.lower() for one in selects}
    most = max((len(name) - len(name.rstrip("_")) for name in used), default=0)
    return [name + "_" * (most + 1) if name in used else name for name in names]


def _named(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


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
    ranked = order if isinstance(order, plan.Related) else None
    where = filters(draft, query.conditions, query.with_tables, ranked=ranked)
    counts = {one: _count_beside(draft, query, one) for one in shown if isinstance(one, plan.Related)}
    labels = [
        exp.alias_(
            counts[one] if isinstance(one, plan.Related) else draft.column(one), _label(one), quoted=True
        )
        for one in shown
    ]
    select = draft.select.select(*labels).where(*where)
    if query.distinct or (draft.fans_out and not key):
        select = select.distinct()
    elif draft.fans_out:
        select = select.group_by(*dict.fromkeys((*key, *columns, *ordered)))
    if isinstance(order, plan.Related):
        ordered = [_count_beside(draft, query, order)]
    if query.order:
        select = select.order_by(exp.Ordered(this=ordered[0], desc=query.order.descending, nulls_first=False))
    return select.limit(query.limit) if query.limit else select


def _count_beside(draft: SelectDraft, query: QueryPlan, related: plan.Related) -> exp.Expr:
    """Returns the number that a row is compared by, as a subquery with the same filters."""
    return filters(draft, query.conditions, (), wanted=related)[0]


def _label(one: PlanColumn | plan.Related) -> str:
    return one.measure.name if isinstance(one, plan.Related) else _readable(one)


def _labelled(draft: SelectDraft, dimension: plan.Dimension) -> list[exp.Expr]:
    """Returns the columns that show a group, with readable names."""
    match dimension:
        case plan.Entity(table, _, shown):
            return [exp.alias_(draft.column(one), _readable(one, table), quoted=True) for one in shown]
        case plan.Grain(field, unit):
            text = calendar_text(draft.column(field), unit, draft.network.schema.dialect)
            return [exp.alias_(text, unit, quoted=True)]
        case PlanColumn():
            return [exp.alias_(draft.column(dimension), _readable(dimension), quoted=True)]


def _group_keys(draft: SelectDraft, dimension: plan.Dimension) -> list[exp.Expr]:
    match dimension:
        case plan.Entity(_, key, shown):
            return [draft.column(one) for one in dict.fromkeys((*key, *shown))]
        case plan.Grain(field, unit):
            date, dialect = draft.column(field), draft.network.schema.dialect
            keys = (calendar_order(date, unit, dialect), calendar_text(date, unit, dialect))
            return list(dict.fromkeys(keys))
        case PlanColumn():
            return [draft.column(dimension)]


def _orders(draft: SelectDraft, query: QueryPlan, numbers: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    if query.order is None and any(isinstance(dimension, plan.Grain) for dimension in query.dimensions):
        return [key for dimension in query.dimensions for key in _group_keys(draft, dimension)]
    if not query.dimensions:
        return []
    order = query.order or plan.SortOrder(query.measures[0], descending=True)
    if isinstance(order.by, plan.Measure) and (query.part or query.change):
        is_in_percent = query.change is None or query.change.relative
        shown = numbers[-1 if is_in_percent else -2]
        return [exp.Ordered(this=shown.copy(), desc=order.descending, nulls_first=False)]
    return [_ordered(draft, order)]


def _ordered(draft: SelectDraft, order: plan.SortOrder) -> exp.Expr:
    if isinstance(order.by, plan.Measure):
        target = measured(draft, order.by)
    elif isinstance(order.by, PlanColumn):
        target = draft.column(order.by)
    elif isinstance(order.by, plan.Grain):
        target = _group_keys(draft, order.by)[0]
    else:
        target = measured(draft, order.by.measure)
    return exp.Ordered(this=target, desc=order.descending, nulls_first=False)


def _readable(field: PlanColumn, table: str | None = None) -> str:
    """Returns a column label for users. "name" and "title" of an entity are labelled with its table."""
    return table if table and field.column.lower() in ("name", "title") else field.column
