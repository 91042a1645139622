"""Names of tables without schemas, for what reads statements."""

from collections.abc import Collection, Mapping

from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.table_names import TableName, TableNames


def declared(dialect: str, tables: Mapping[str, Collection[str]]) -> DeclaredNames:
    """Returns the names of tables, by the names of their columns."""
    return DeclaredNames(TableNames(dialect, {name: TableName("", "", name) for name in tables}), tables)
