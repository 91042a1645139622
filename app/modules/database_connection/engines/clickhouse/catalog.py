"""The catalog of ClickHouse: two queries for all schemas, which are databases there."""

from collections import defaultdict
from collections.abc import Sequence
from sys import intern

from sqlalchemy import Connection

from app.modules.database_connection.engines.catalogs import (
    ESTIMATED_FROM_ROWS,
    ListedTable,
    Listing,
    listed_column,
    rows_in,
)
from app.modules.database_connection.engines.clickhouse.types import column_type
from app.modules.database_connection.schema import TableColumn
from app.modules.sql.table_names import TableName

_TABLES = """
SELECT database, name, comment, total_rows,
    endsWith(engine, 'View') OR engine IN ('Alias', 'Buffer', 'Dictionary', 'Distributed', 'Merge') AS is_view
FROM system.tables
WHERE database IN :schemas AND NOT is_temporary AND NOT startsWith(name, '.inner')
"""
_COLUMNS = """
SELECT database, table, name, type, comment
FROM system.columns WHERE database IN :schemas
ORDER BY database, table, position
"""
_ONE = "SELECT 1 FROM system.tables WHERE database IN :schemas LIMIT 1"


def has_tables(connection: Connection, schemas: Sequence[str]) -> bool:
    return bool(rows_in(connection, _ONE, schemas))


def list_tables(connection: Connection, schemas: Sequence[str]) -> Listing:
    """Returns the tables without keys: a primary key of ClickHouse is an order, and several rows have it.
    Those that show the rows of other tables are views.
    """
    columns: defaultdict[TableName, list[TableColumn]] = defaultdict(list)
    for schema, name, column, declared, comment in rows_in(connection, _COLUMNS, schemas):
        columns[TableName("", intern(str(schema)), intern(str(name)))].append(
            listed_column(
                str(column),
                column_type(str(declared)),
                str(declared),
                nullable="Nullable(" in str(declared),
                primary_key=False,
                description=str(comment),
            )
        )
    found: dict[TableName, ListedTable] = {}
    for schema, name, comment, rows, is_view in rows_in(connection, _TABLES, schemas):
        table = TableName("", intern(str(schema)), intern(str(name)))
        if table in columns:
            found[table] = ListedTable(
                kind="view" if is_view else "table",
                columns=columns[table],
                description=str(comment),
                row_count=rows if isinstance(rows, int) and rows >= ESTIMATED_FROM_ROWS else None,
            )
    return found
