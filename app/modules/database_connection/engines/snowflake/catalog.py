"""The catalog of a Snowflake database: four queries for all schemas. Rights are those of the role."""

from collections import defaultdict
from collections.abc import Sequence
from sys import intern

from sqlalchemy import Connection, RowMapping, text

from app.modules.database_connection.engines.catalogs import (
    ESTIMATED_FROM_ROWS,
    ListedTable,
    Listing,
    keys_of,
    listed_column,
    rows_in,
)
from app.modules.database_connection.engines.snowflake.types import column_type
from app.modules.database_connection.schema import TableColumn
from app.modules.sql.table_names import TableName

_TABLES = """
SELECT table_schema, table_name, table_type, comment, row_count
FROM information_schema.tables WHERE table_schema IN :schemas
"""
_COLUMNS = """
SELECT table_schema, table_name, column_name, data_type, numeric_scale, is_nullable, comment
FROM information_schema.columns WHERE table_schema IN :schemas
ORDER BY table_schema, table_name, ordinal_position
"""
_SCHEMAS = "SELECT schema_name FROM information_schema.schemata"
_ONE = "SELECT 1 FROM information_schema.tables WHERE table_schema IN :schemas LIMIT 1"


def schema_names(connection: Connection) -> list[str]:
    found = map(str, connection.scalars(text(_SCHEMAS)))
    return sorted(name for name in found if name != "INFORMATION_SCHEMA")


def has_tables(connection: Connection, schemas: Sequence[str]) -> bool:
    return bool(rows_in(connection, _ONE, schemas))


def list_tables(connection: Connection, schemas: Sequence[str]) -> Listing:
    primary = {
        (_name(row, ""), str(row["column_name"]))
        for row in _show(connection, "SHOW PRIMARY KEYS IN DATABASE")
    }
    imported = sorted(
        _show(connection, "SHOW IMPORTED KEYS IN DATABASE"), key=lambda row: int(str(row["key_sequence"]))
    )
    keys = keys_of(
        (
            _name(row, "fk_"),
            str(row["fk_name"]),
            str(row["fk_column_name"]),
            _name(row, "pk_"),
            str(row["pk_column_name"]),
        )
        for row in imported
    )
    columns: defaultdict[TableName, list[TableColumn]] = defaultdict(list)
    for schema, name, column, declared, scale, nullable, comment in rows_in(connection, _COLUMNS, schemas):
        table = TableName("", intern(str(schema)), intern(str(name)))
        columns[table].append(
            listed_column(
                str(column),
                column_type(str(declared), scale),
                str(declared),
                nullable=nullable == "YES",
                primary_key=(table, str(column)) in primary,
                description=str(comment or ""),
            )
        )
    found: dict[TableName, ListedTable] = {}
    for schema, name, kind, comment, rows in rows_in(connection, _TABLES, schemas):
        table = TableName("", intern(str(schema)), intern(str(name)))
        if table in columns:
            found[table] = ListedTable(
                kind="view" if "VIEW" in str(kind) else "table",
                columns=columns[table],
                keys=keys.get(table, ()),
                description=str(comment or ""),
                row_count=rows if isinstance(rows, int) and rows >= ESTIMATED_FROM_ROWS else None,
            )
    return found


def granted_rights(connection: Connection, role: str) -> set[tuple[str, str]]:
    """Returns the rights of a role itself, each with the kind of what it is granted on."""
    quoted = role.replace('"', '""')
    found = _show(connection, f'SHOW GRANTS TO ROLE "{quoted}"')
    return {(str(row["privilege"]), str(row["granted_on"])) for row in found}


def _show(connection: Connection, sql: str) -> Sequence[RowMapping]:
    return connection.execute(text(sql)).mappings().all()


def _name(row: RowMapping, prefix: str) -> TableName:
    return TableName("", intern(str(row[f"{prefix}schema_name"])), intern(str(row[f"{prefix}table_name"])))
