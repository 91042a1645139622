"""Hidden columns: a statement reads their tables as if they had no such columns.

Each table with hidden columns is replaced by a query of its other columns. So the database itself knows no
hidden column where the statement could name it, whichever way it does: `SELECT *`, a row as a whole, USING.
"""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.rewriting import rewritten
from app.modules.database_connection.schema import Schema, Table
from graph.errors import StatementRefused

_OF_THE_NAME = ("this", "db", "catalog", "alias")


def without_hidden_columns(statement: exp.Expr, sql: str, schema: Schema) -> str:
    """Returns a checked statement, of which `sql` is the text, in which tables have no hidden columns.

    Raises `StatementRefused` for a form of a table that a query cannot replace.
    """
    hiding = {_folded(table.name, schema.dialect): table for table in schema.tables if table.hides}
    if not hiding or not _tables(statement, hiding, schema.dialect):
        return sql
    tree = statement.copy()
    for node, table in _tables(tree, hiding, schema.dialect):
        node.replace(_query(node, table))
    return rewritten(tree, schema.dialect)


def _tables(tree: exp.Expr, hiding: Mapping[str, Table], dialect: str) -> list[tuple[exp.Table, Table]]:
    common = CommonTables(dialect)
    found: list[tuple[exp.Table, Table]] = []
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier) or (not node.db and common.are_named_by(node)):
            continue
        folded = Dialect.get_or_raise(dialect).normalize_identifier(node.this.copy()).name
        if (table := hiding.get(folded)) is not None:
            found.append((node, table))
    return found


def _query(node: exp.Table, table: Table) -> exp.Subquery:
    beside = {name: value for name, value in node.args.items() if value and name not in _OF_THE_NAME}
    if not table.columns or beside.keys() - {"joins"}:
        raise StatementRefused(f"Read the table {table.name} in a plain FROM or JOIN.", "construct")
    source = exp.Table(this=node.this.copy(), db=node.args.get("db"), catalog=node.args.get("catalog"))
    columns = [exp.column(exp.to_identifier(each.name, quoted=True)) for each in table.columns]
    alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
    return exp.Subquery(this=exp.select(*columns).from_(source), alias=alias, **beside)


def _folded(name: str, dialect: str) -> str:
    quoted = exp.to_identifier(name, quoted=True)
    return Dialect.get_or_raise(dialect).normalize_identifier(quoted).name
