"""Statements as the warnings read them: parsed, and every column qualified with its table's alias."""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import Table
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.schema_index import SchemaIndex


def scopes_of(sql: str, names: SchemaNames) -> Sequence[Scope]:
    """Returns the scopes of the qualified statement, the root last; none if sqlglot cannot qualify it.

    Raises `SqlglotError` or `RecursionError` if it cannot be parsed.
    """
    return statement_of(sql, names.dialect).scopes(names)


def scanned_tables(scope: Scope, index: SchemaIndex) -> Mapping[str, Table]:
    """Returns the scanned tables that a scope reads, by alias."""
    found: dict[str, Table] = {}
    for alias, source in scope.sources.items():
        if isinstance(source, exp.Table) and source.name in index.names.tables:
            found[alias] = index.tables[index.names.tables[source.name]]
    return found


def conditions_of(select: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the parts of WHERE and ON that AND connects."""
    where = select.args.get("where")
    places = [where.this if isinstance(where, exp.Where) else None]
    places += [join.args.get("on") for join in select.args.get("joins") or ()]
    for place in places:
        if isinstance(place, exp.Expr):
            whole = place.unnest()
            parts = whole.flatten() if isinstance(whole, exp.And) else [whole]
            yield from (part.unnest() for part in parts)


def aliases_in(expression: exp.Expr) -> set[str]:
    return {column.table for column in expression.find_all(exp.Column)}
