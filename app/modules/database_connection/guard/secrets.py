"""Columns of a result that are made of columns that are named as secrets are: no model reads their values."""

from sqlglot import exp

from app.modules.database_connection.guard.check import written
from app.modules.database_connection.schema import Schema
from app.modules.sql.provenance.secret_outputs import SecretOutputs, secret_outputs


def find_secret_outputs(sql: str, schema: Schema) -> SecretOutputs | None:
    """Reads a statement that was just checked, from the guard's own tree, so that it is not parsed again.

    Returns None if no column of its result is secret.
    """
    secret = schema.tables_with_secrets
    if not secret:
        return None
    found = written(sql, schema.dialect)
    read = {table.name.casefold() for table in found.tree.find_all(exp.Table)}
    if found.prefix or not read & secret.keys():
        return None
    tables = {
        table.name: [column.name for column in table.columns]
        for table in schema.tables
        if table.name.rpartition(".")[2].casefold() in read
    }
    return secret_outputs(found.tree, schema.dialect, tables)
