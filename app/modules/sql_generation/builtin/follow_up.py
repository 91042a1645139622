"""Editing the previous statement, whoever wrote it: another filter, group, order or limit."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.database_connection.parsing import parsed_one
from app.modules.sql_generation.builtin.compose import Draft, condition, group_keys, labelled
from app.modules.sql_generation.builtin.explain import filtering, grouping
from app.modules.sql_generation.builtin.intent import Planner
from app.modules.sql_generation.builtin.network import Network
from app.modules.sql_generation.builtin.plan import Beyond, Condition, Grain
from app.modules.sql_generation.builtin.roles import Roles

_ENTANGLED = (exp.Subquery, exp.SetOperation, exp.Window, exp.With, exp.Exists)


def edit(sql: str, roles: Roles, network: Network) -> tuple[exp.Select, str]:
    """The edited statement and its explanation. Raises `Beyond` or `Unclear`."""
    draft = _draft(sql, network)
    planner = Planner(network, roles, draft.names)
    if not roles.is_fragment or roles.sorted_by:
        raise Beyond("I can add a filter, a group, an order or a limit to the previous answer, not more.")
    said = [
        *_filter(draft, planner.conditions(draft.base)),
        *_regroup(draft, roles, planner),
        *_rank(draft, roles),
    ]
    if not said:
        raise Beyond("I do not see what should change in the previous answer.")
    return draft.select, f"The previous question, now {'; '.join(said)}."


def _draft(sql: str, network: Network) -> Draft:
    select = _parsed(sql, network.schema.dialect)
    known = {table.name.lower(): table.name for table in network.schema.tables}
    tables = [(known.get(table.name.lower()), table.alias_or_name) for table in select.find_all(exp.Table)]
    names = {table: alias for table, alias in tables if table}
    source = select.args["from_"].this if select.args.get("from_") else None
    if len(names) < len(tables) or not isinstance(source, exp.Table):
        raise Beyond("The previous statement is too complex for me to change.")
    return Draft(network, known[source.name.lower()], select, names, tuple(names))


def _parsed(sql: str, dialect: str) -> exp.Select:
    try:
        select = parsed_one(sql, dialect)
    except (SqlglotError, RecursionError):
        select = None
    if not isinstance(select, exp.Select) or select.find(*_ENTANGLED):
        raise Beyond("The previous statement is too complex for me to change.")
    return select


def _filter(draft: Draft, conditions: Sequence[Condition]) -> list[str]:
    aggregated = draft.select.find(exp.AggFunc) is not None
    for one in conditions:
        added = condition(draft, one)
        kept = [old for old in _conjuncts(draft) if not _replaces(added, old)]
        draft.select = draft.select.where(*kept, added, append=False)
    if draft.fans_out and aggregated:
        raise Beyond("The joins this needs would count rows more than once.")
    return [f"where {filtering(one)}" for one in conditions]


def _conjuncts(draft: Draft) -> list[exp.Expr]:
    where = draft.select.args.get("where")
    return (
        list(where.this.unnest().flatten())
        if where and isinstance(where.this.unnest(), exp.And)
        else ([where.this] if where else [])
    )


def _replaces(added: exp.Expr, old: exp.Expr) -> bool:
    """A new condition on a column takes the place of the old one on it."""
    new_columns = {column.name.lower() for column in added.find_all(exp.Column)}
    old_columns = {column.name.lower() for column in old.find_all(exp.Column)}
    if new_columns & old_columns and isinstance(old.unnest(), exp.Or):
        raise Beyond("The previous statement's condition is too complex for me to change.")
    return bool(new_columns) and new_columns == old_columns


def _regroup(draft: Draft, roles: Roles, planner: Planner) -> list[str]:
    if not roles.grouped:
        return []
    numbers = [shown for shown in draft.select.selects if shown.find(exp.AggFunc)]
    if not numbers:
        raise Beyond("The previous answer has no number to group.")
    dimensions = [planner.dimension(mention, draft.base) for mention in roles.grouped]
    labels = [label for dimension in dimensions for label in labelled(draft, dimension)]
    keys = [key for dimension in dimensions for key in group_keys(draft, dimension)]
    if draft.fans_out:
        raise Beyond("The joins this needs would count rows more than once.")
    select = draft.select.select(*labels, *numbers, append=False).group_by(*keys, append=False)
    by_time = any(isinstance(dimension, Grain) for dimension in dimensions)
    ordered = keys if by_time else [exp.Ordered(this=numbers[0].unalias(), desc=True, nulls_first=False)]
    draft.select = select.order_by(*ordered, append=False)
    draft.select.set("limit", None)
    return [f"per {' and '.join(map(grouping, dimensions))}"]


def _rank(draft: Draft, roles: Roles) -> list[str]:
    said = []
    descending = roles.rank.descending if roles.rank else roles.sort.descending if roles.sort else None
    if descending is not None:
        draft.select = draft.select.order_by(_reordered(draft, descending), append=False)
        said.append("highest first" if descending else "lowest first")
    if roles.limit or roles.rank:
        limit = roles.limit or 1
        draft.select = draft.select.limit(limit)
        said.append(f"only the first {limit}")
    return said


def _reordered(draft: Draft, descending: bool) -> exp.Expr:
    """The first number, or what the rows are ordered by already, in the direction asked for."""
    numbers = [shown.unalias() for shown in draft.select.selects if shown.find(exp.AggFunc)]
    order = draft.select.args.get("order")
    known = [one.this for one in order.expressions] if order else []
    if not numbers and not known:
        raise Beyond("I do not see what the rows should be ordered by.")
    return exp.Ordered(this=(numbers or known)[0].copy(), desc=descending, nulls_first=False)
