"""The catalog of MySQL and MariaDB: three queries for all schemas, which are databases there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from sys import intern

from sqlalchemy import Connection

from app.modules.database_connection.engines.catalogs import (
    ListedTable,
    Listing,
    keys_of,
    listed_column,
    rows_in,
)
from app.modules.database_connection.schema import ColumnType, TableColumn
from app.modules.sql.table_names import TableName

_TABLES = """
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT
FROM information_schema.TABLES WHERE TABLE_SCHEMA IN :schemas
"""
_COLUMNS = """
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_COMMENT
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN :schemas
ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = """
SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA,
    REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA IN :schemas AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL)
ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
"""
_ONE = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA IN :schemas LIMIT 1"
_VIEWS = ("VIEW", "SYSTEM VIEW")
_COMMENT_OF_VIEWS = "VIEW"
"""What the server says where a view has no comment."""
_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), "integer"),
    **dict.fromkeys(("decimal", "float", "double"), "number"),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary"), "binary"),
    **dict.fromkeys(
        ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
        "binary",
    ),
    **dict.fromkeys(("geometrycollection", "geomcollection", "vector"), "binary"),
    **dict.fromkeys(("datetime", "timestamp"), "datetime"),
    "date": "date",
    "time": "time",
    "json": "json",
}


def has_tables(connection: Connection, schemas: Sequence[str]) -> bool:
    return bool(rows_in(connection, _ONE, schemas))


def list_tables(connection: Connection, schemas: Sequence[str]) -> Listing:
    keys = [tuple(map(str, row)) for row in rows_in(connection, _KEYS, schemas)]
    primary: defaultdict[TableName, set[str]] = defaultdict(set)
    for schema, name, key, column, *_ in keys:
        if key == "PRIMARY":
            primary[TableName("", schema, name)].add(column)
    foreign = keys_of(
        (TableName("", schema, name), key, column, TableName("", referred, table), there)
        for schema, name, key, column, referred, table, there in keys
        if key != "PRIMARY"
    )
    columns: defaultdict[TableName, list[TableColumn]] = defaultdict(list)
    for row in rows_in(connection, _COLUMNS, schemas):
        schema, name, column, kind, declared, nullable, comment = map(str, row)
        table = TableName("", intern(schema), intern(name))
        columns[table].append(
            listed_column(
                column,
                _TYPES.get(kind.lower(), "text"),
                declared,
                nullable=nullable == "YES",
                primary_key=column in primary.get(table, ()),
                description=comment,
            )
        )
    found: dict[TableName, ListedTable] = {}
    for row in rows_in(connection, _TABLES, schemas):
        schema, name, kind, comment = (str(each or "") for each in row)
        table = TableName("", intern(schema), intern(name))
        is_view = kind in _VIEWS
        if table in columns:
            found[table] = ListedTable(
                kind="view" if is_view else "table",
                columns=columns[table],
                keys=foreign.get(table, ()),
                description="" if is_view and comment == _COMMENT_OF_VIEWS else comment,
            )
    return found
