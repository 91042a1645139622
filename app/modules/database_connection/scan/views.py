"""Columns of views that are made of columns named as secrets, as the definitions of the views tell."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.redaction.names import names_secret
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.database_connection.schema import Table
from app.modules.sql.parsing import parsed_one
from app.modules.sql.provenance.secret_outputs import secret_outputs

_DEFINITIONS: Mapping[str, str] = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'view'",
    "postgres": "SELECT c.relname, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c"
    " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind IN ('v', 'm') AND n.nspname = current_schema()",
    "mysql": "SELECT table_name, view_definition FROM information_schema.views"
    " WHERE table_schema = database()",
    "duckdb": "SELECT view_name, sql FROM duckdb_views() WHERE schema_name = current_schema()"
    " AND database_name = current_database() AND NOT internal",
}
_WORD = re.compile(r"\w+")


def with_secrets_of_views(tables: Sequence[Table], connection: Connection, dialect: str) -> list[Table]:
    """Returns the tables, the views among them with the columns that they make of secrets.

    A view keeps to the names of its columns if its definition cannot be read.
    """
    known = {table.name: table for table in tables}
    trees = {
        view: tree
        for view, sql in _suspects(tables, _definitions(connection, dialect))
        if (tree := _query(sql, dialect)) is not None
    }
    reads = {
        view: {each.name.casefold() for each in tree.find_all(exp.Table)} for view, tree in trees.items()
    }
    own_schema = connection.dialect.default_schema_name or "main"
    while trees:
        waiting = {view: view.casefold() for view in trees}
        ready = [view for view, own in waiting.items() if reads[view].isdisjoint({*waiting.values()} - {own})]
        for view in ready or list(trees):  # all if they read each other
            read = [table for name, table in known.items() if name.casefold() in reads[view]]
            found = _secrets_of(known[view], trees.pop(view), read, own_schema=own_schema, dialect=dialect)
            known[view] = replace(known[view], secrets=found)
    return list(known.values())


def _definitions(connection: Connection, dialect: str) -> Mapping[str, str]:
    """Returns the definitions of views that the account may read, by name."""
    try:
        rows = connection.execute(text(_DEFINITIONS[dialect])).all()
    except DBAPIError:
        return {}
    return {str(name): str(sql) for name, sql in rows if sql and len(sql) <= STATEMENT_CHARACTERS}


def _suspects(tables: Sequence[Table], definitions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the definitions that name a secret, a table with secrets, or another such view."""
    views = {table.name for table in tables if table.kind == "view"}
    texts = {view: sql.casefold() for view, sql in definitions.items() if view in views}
    names = {
        table.name.casefold() for table in tables if any(table.is_secret(each.name) for each in table.columns)
    }
    found = {
        view for view, sql in texts.items() if any(map(names_secret, _WORD.findall(sql.replace("-", "_"))))
    }
    more = found
    while more:
        names |= {view.casefold() for view in more}
        more = {view for view in texts.keys() - found if any(name in texts[view] for name in names)}
        found |= more
    return [(view, definitions[view]) for view in sorted(found)]


def _query(definition: str, dialect: str) -> exp.Expr | None:
    try:
        tree = parsed_one(definition, dialect)
    except (SqlglotError, RecursionError):
        return None
    query = tree.expression if isinstance(tree, exp.Create) else tree
    return query if isinstance(query, exp.Query) else None


def _secrets_of(
    view: Table, query: exp.Expr, read: Sequence[Table], *, own_schema: str, dialect: str
) -> list[str]:
    """Returns the columns of a view that it makes of secrets, under other names. `read`: what it reads."""
    columns = {table.name: [column.name for column in table.columns] for table in read}
    names_one = any(names_secret(column.name) for column in query.find_all(exp.Column))
    if not names_one and not any(table.is_secret(name) for table in read for name in columns[table.name]):
        return []
    columns |= _of_other_schemas(query, columns, own_schema)
    found = secret_outputs(query, dialect, columns, secrets={table.name: table.secrets for table in read})
    if found is None:
        return []
    names = [column.name for column in view.columns]
    secret = zip(names, found.among(names), strict=True)
    return [name for name, is_secret in secret if is_secret and not names_secret(name)]


def _of_other_schemas(
    query: exp.Expr, known: Mapping[str, Collection[str]], own_schema: str
) -> dict[str, list[str]]:
    """Returns the tables of other schemas that a query reads, with the columns that it names of them."""
    own = {name.casefold() for name in known} | {each.alias.casefold() for each in query.find_all(exp.CTE)}
    sources = {each.alias_or_name for each in query.find_all(exp.Table, exp.Subquery)}
    others = sources | {name for columns in known.values() for name in columns}
    found: dict[str, list[str]] = {}
    for table in query.find_all(exp.Table):
        if table.name.casefold() in own and table.db in ("", own_schema):
            continue
        name = f"{table.db}.{table.name}" if table.db else table.name
        found[name] = [
            column.name
            for column in query.find_all(exp.Column)
            if column.table == table.alias_or_name or (not column.table and column.name not in others)
        ]
    return found
