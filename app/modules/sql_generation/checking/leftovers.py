"""Joins that a correction leaves unused.

A model that reads a column from the wrong table has usually joined that table only for this column. Once the
column is read from its own table, the join still repeats rows of a plain list, so it is removed there. It
stays where its rows are counted, where it only filters (DISTINCT), and where rows are numbered or cut.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.scope import Scope, traverse_scope

from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import qualified, statement_of
from app.modules.sql_generation.checking.findings import Correction, Edit, quoted
from app.modules.sql_generation.checking.names import SchemaNames

_MOST_DROPPED = 8
"""Each takes another look at the whole statement."""


def drop_joins(sql: str, sources: Collection[str], schema: SchemaNames) -> Correction | None:
    """Returns the correction that removes the unused sources, and the joins needed only to reach them.

    `sources` are folded aliases. Returns None if all are used, or if sqlglot cannot decide that.
    """
    try:
        with sqlglot_errors_only():
            statement = statement_of(sql, schema.dialect).tree.copy()
            dropped = _drop(statement, set(sources), schema)
    except (SqlglotError, RecursionError):
        return None
    if not dropped:
        return None
    names = " and ".join(quoted(each) for each in dropped)
    verb = "joins" if len(dropped) > 1 else "join"
    said = f"Left out the {verb} of {names}, from which no column is read."
    text = statement.sql(schema.dialect, comments=False)
    return Correction("unused join", said, (Edit(0, len(sql), text),))


def _drop(statement: exp.Expr, sources: set[str], schema: SchemaNames) -> list[str]:
    """Remove unused joins from the statement itself. Returns the names of their tables, in order."""
    dropped: list[str] = []
    while len(dropped) < _MOST_DROPPED and (found := _unused(statement, sources, schema)) is not None:
        dropped.append(_take_out(found.select, found.join))
        sources |= found.led_by
    return dropped


def _take_out(select: exp.Select, join: exp.Join | None) -> str:
    """Remove a join; None removes the first table, which the table of the first join replaces.

    Returns the name of the table that was removed.
    """
    if join is not None:
        join.pop()
        return str(join.this.name)
    first = select.args["from_"].this
    next_join: exp.Join = select.args["joins"][0]
    next_join.pop()
    select.args["from_"].set("this", next_join.this)
    return str(first.name)


@dataclass(frozen=True)
class _Unused:
    """An unused join; `join` is None for the first table. `led_by` are the other sources in its condition."""

    select: exp.Select
    join: exp.Join | None
    led_by: set[str]


def _unused(statement: exp.Expr, sources: Collection[str], schema: SchemaNames) -> _Unused | None:
    """Returns one of the sources that is read only in the condition of its own join, or None."""
    resolved = qualified(
        normalize_identifiers(statement.copy(), schema.dialect), schema.dialect, schema.mapping
    )
    if resolved is None:
        return None
    written = list(statement.find_all(exp.Select))
    selects = list(resolved.find_all(exp.Select))
    if len(written) != len(selects):
        return None
    scopes = {id(scope.expression): scope for scope in traverse_scope(resolved)}
    for original, select in zip(written, selects, strict=True):
        joins: Sequence[exp.Join] = select.args.get("joins") or []
        if not _is_plain_list(select) or id(select) not in scopes:
            continue
        for position, join in enumerate(joins):
            others = _others(join.this, join, scopes[id(select)], sources=sources)
            if others is not None:
                return _Unused(original, original.args["joins"][position], others)
        if joins and _is_inner(joins[0]):
            first = select.args["from_"].this
            others = _others(first, joins[0], scopes[id(select)], sources=sources)
            if others == {joins[0].alias_or_name}:
                return _Unused(original, None, others)
    return None


def _is_plain_list(select: exp.Select) -> bool:
    """True if a query lists one row for each row of its joins, and is no part of another query."""
    parts = ("distinct", "group", "having", "limit", "offset", "qualify")
    if select.is_star or select.parent is not None or any(select.args.get(part) for part in parts):
        return False
    return select.find(exp.AggFunc, exp.Window) is None


def _others(source: exp.Expr, join: exp.Join, scope: Scope, *, sources: Collection[str]) -> set[str] | None:
    """Returns the other sources in a join's condition.

    Returns None if `source` is not a table among `sources`, or is read outside of this condition.
    """
    alias = source.alias_or_name
    condition = join.args.get("on")
    # A subquery or common table expression may filter rows, so its join stays.
    is_table = isinstance(scope.sources.get(alias), exp.Table)
    if not is_table or alias not in sources or not isinstance(condition, exp.Expr):
        return None
    within = {id(each) for each in condition.find_all(exp.Column)}
    columns = [each for each in scope.columns if id(each) not in within]
    if not all(each.table and each.table != alias for each in columns):
        return None
    return {each.table for each in condition.find_all(exp.Column)} - {alias}


def _is_inner(join: exp.Join) -> bool:
    return (
        isinstance(join.this, exp.Table) and not join.side and not join.method and join.kind in {"", "INNER"}
    )
