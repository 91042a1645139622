"""The statement that runs: its tables by their full names, and without hidden columns.

Each table with hidden columns is replaced by a query of its other columns. So the database itself knows no
hidden column where the statement could name it, whichever way it does: `SELECT *`, a row as a whole, USING.
Where the connection has policies, the query has the rows and columns that the person may see.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.rewriting import rewritten
from app.modules.database_connection.schema import Schema, Table
from graph.errors import StatementRefused

_OF_THE_NAME = ("this", "db", "catalog", "alias")


@dataclass(frozen=True)
class CheckedStatement:
    """A statement as the database is to read it. `row_policies` limit its rows, `policies` change it."""

    sql: str
    row_policies: Sequence[str] = ()
    policies: Sequence[str] = ()


def statement_to_run(statement: exp.Expr, sql: str, schema: Schema) -> CheckedStatement:
    """Returns a checked statement, of which `sql` is the text, as the database is to read it.

    Raises `StatementRefused` for a form of a table that a query cannot replace.
    """
    if schema.limiter is not None:
        limited = schema.limiter.limit(statement.copy())
        return CheckedStatement(limited.sql, limited.row_policies, limited.policies)
    return CheckedStatement(_write_full_names(statement, sql, schema))


def _write_full_names(statement: exp.Expr, sql: str, schema: Schema) -> str:
    if not any(table.full_name or table.hides for _, table in _tables(statement, schema)):
        return sql
    tree = statement.copy()
    for node, table in _tables(tree, schema):
        table.in_database.qualify(node)
        if table.hides:
            node.replace(_query(node, table))
    return rewritten(tree, schema.dialect)


def _tables(tree: exp.Expr, schema: Schema) -> list[tuple[exp.Table, Table]]:
    common = CommonTables(schema.dialect)
    found: list[tuple[exp.Table, Table]] = []
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier) or (not node.db and common.are_named_by(node)):
            continue
        if (shown := schema.names.find(node)) is not None:
            found.append((node, schema.by_name[shown]))
    return found


def _query(node: exp.Table, table: Table) -> exp.Subquery:
    beside = {name: value for name, value in node.args.items() if value and name not in _OF_THE_NAME}
    if not table.columns or beside.keys() - {"joins"}:
        raise StatementRefused(f"Read the table {table.name} in a plain FROM or JOIN.", "construct")
    source = exp.Table(this=node.this.copy(), db=node.args.get("db"), catalog=node.args.get("catalog"))
    columns = [exp.column(exp.to_identifier(each.name, quoted=True)) for each in table.columns]
    alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
    return exp.Subquery(this=exp.select(*columns).from_(source), alias=alias, **beside)
