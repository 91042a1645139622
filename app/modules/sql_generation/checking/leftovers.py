"""Joins that a correction leaves without use.

A model that takes a column from the wrong table has mostly joined that table for this column alone. Once the
column is read from its own table, the join still filters and repeats rows, so it goes.
"""

from collections.abc import Collection, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.scope import traverse_scope

from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import qualified, statement_of
from app.modules.sql_generation.checking.findings import Correction, Edit, quoted
from app.modules.sql_generation.checking.names import SchemaNames


def drop_joins(sql: str, sources: Collection[str], schema: SchemaNames) -> Correction | None:
    """The correction that leaves out each of these sources (folded aliases) if nothing uses it any more, and
    the joins that only led to it. None where all are used, or where that cannot be known."""
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
    """Take unused joins out of the statement itself; the names of their tables, in the order they went."""
    dropped: list[str] = []
    while (found := _unused(statement, sources, schema)) is not None:
        join, led_by = found
        dropped.append(join.this.name)
        sources |= led_by
        join.pop()
    return dropped


def _unused(
    statement: exp.Expr, sources: Collection[str], schema: SchemaNames
) -> tuple[exp.Join, set[str]] | None:
    """A join of one of the sources that no column outside of its own condition is read from, with the
    sources that its condition names."""
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
        for position, join in enumerate(joins):
            alias, condition = join.alias_or_name, join.args.get("on")
            is_table = isinstance(join.this, exp.Table)
            if not is_table or alias not in sources or condition is None or id(select) not in scopes:
                continue
            columns = [each for each in scopes[id(select)].columns if not _is_within(each, condition)]
            if not select.is_star and all(each.table and each.table != alias for each in columns):
                named = {each.table for each in condition.find_all(exp.Column)} - {alias}
                return original.args["joins"][position], named
    return None


def _is_within(column: exp.Column, condition: exp.Expr) -> bool:
    ancestor: exp.Expr | None = column
    while ancestor is not None and ancestor is not condition:
        ancestor = ancestor.parent
    return ancestor is condition
