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
from app.modules.sql.engine_data import engine_data
from app.modules.sql.parsing import parsed_one
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.secret_outputs import secret_outputs
from app.modules.sql.table_names import TableName, TableNames, written_name

_WORD = re.compile(r"\w+")


def with_secrets_of_views(tables: Sequence[Table], connection: Connection, dialect: str) -> list[Table]:
    """Returns the tables, the views among them with their definitions and the columns that they make of
    secrets.

    A view keeps to the names of its columns if its definition cannot be read.
    """
    definitions = _definitions(tables, connection, dialect)
    known = {table.name: replace(table, definition=definitions.get(table.name, "")) for table in tables}
    names = TableNames(dialect, {table.name: table.in_database for table in tables})
    own_schema = connection.dialect.default_schema_name or "main"
    trees: dict[str, exp.Expr] = {}
    for view, sql in _suspects(tables, definitions):
        if (tree := _query(sql, dialect)) is not None:
            _place(tree, names, (known[view].in_database.schema, own_schema))
            trees[view] = tree
    reads = {
        view: {each for node in tree.find_all(exp.Table) for each in names.meanings(node)}
        for view, tree in trees.items()
    }
    while trees:
        ready = [view for view in trees if reads[view].isdisjoint(trees.keys() - {view})]
        for view in ready or list(trees):  # all if they read each other
            read = [known[name] for name in sorted(reads[view])]
            found = _secrets_of(known[view], trees.pop(view), read, dialect=dialect)
            known[view] = replace(known[view], secrets=found)
    return list(known.values())


def _definitions(tables: Sequence[Table], connection: Connection, dialect: str) -> Mapping[str, str]:
    """Returns the definitions of views that the account may read, by the views' names."""
    try:
        rows = connection.execute(text(engine_data(dialect).view_definitions)).all()
    except DBAPIError:
        return {}
    views = {
        (table.in_database.schema, table.in_database.name): table.name
        for table in tables
        if table.kind == "view"
    }
    return {
        views[str(schema), str(name)]: str(sql)
        for schema, name, sql in rows
        if sql and len(sql) <= STATEMENT_CHARACTERS and (str(schema), str(name)) in views
    }


def _place(tree: exp.Expr, names: TableNames, schemas: Sequence[str]) -> None:
    """Write the schema before the tables of a view's definition that have none and are in several: the first
    of `schemas` that has such a table, as the database would.
    """
    for node in tree.find_all(exp.Table):
        several = names.meanings(node)
        if len(several) > 1:
            for schema in schemas:
                if meant := next((names[each] for each in several if names[each].schema == schema), None):
                    meant.qualify(node)
                    break


def _suspects(tables: Sequence[Table], definitions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the definitions that name a secret, a table with secrets, or another such view."""
    texts = {view: sql.casefold() for view, sql in definitions.items()}
    plain = {table.name: table.in_database.name.casefold() for table in tables}
    names = {
        plain[table.name] for table in tables if any(table.is_secret(each.name) for each in table.columns)
    }
    found = {
        view for view, sql in texts.items() if any(map(names_secret, _WORD.findall(sql.replace("-", "_"))))
    }
    more = found
    while more:
        names |= {plain[view] for view in more}
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


def _secrets_of(view: Table, query: exp.Expr, read: Sequence[Table], *, dialect: str) -> list[str]:
    """Returns the columns of a view that it makes of secrets, under other names. `read`: what it reads."""
    columns = {table.name: [column.name for column in table.columns] for table in read}
    names_one = any(names_secret(column.name) for column in query.find_all(exp.Column))
    if not names_one and not any(table.is_secret(name) for table in read for name in columns[table.name]):
        return []
    known = {table.name: table.in_database for table in read}
    for name, named in _unknown_tables(query, TableNames(dialect, known), columns).items():
        known[name.text] = name
        columns[name.text] = named
    declared = DeclaredNames(TableNames(dialect, known), columns)
    found = secret_outputs(query, declared, secrets={table.name: table.secrets for table in read})
    if found is None:
        return []
    names = [column.name for column in view.columns]
    secret = zip(names, found.among(names), strict=True)
    return [name for name, is_secret in secret if is_secret and not names_secret(name)]


def _unknown_tables(
    query: exp.Expr, names: TableNames, known: Mapping[str, Collection[str]]
) -> dict[TableName, list[str]]:
    """Returns the tables that a query reads and the scan does not, with the columns that it names of them."""
    common = {each.alias.casefold() for each in query.find_all(exp.CTE)}
    sources = {each.alias_or_name for each in query.find_all(exp.Table, exp.Subquery)}
    others = sources | {name for columns in known.values() for name in columns}
    found: dict[TableName, list[str]] = {}
    for table in query.find_all(exp.Table):
        if names.meanings(table) or (not table.db and table.name.casefold() in common):
            continue
        found[written_name(table)] = [
            column.name
            for column in query.find_all(exp.Column)
            if column.table == table.alias_or_name or (not column.table and column.name not in others)
        ]
    return found
