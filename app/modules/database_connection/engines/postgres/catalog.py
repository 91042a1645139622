"""PostgreSQL's catalog: three queries for all schemas. A partitioned table is one table."""

from collections import defaultdict
from collections.abc import Sequence
from sys import intern

from sqlalchemy import Connection, func, select, table
from sqlalchemy.sql import column, exists

from app.modules.database_connection.engines.catalogs import (
    ESTIMATED_FROM_ROWS,
    ListedKey,
    ListedTable,
    Listing,
    listed_column,
    rows_in,
)
from app.modules.database_connection.engines.postgres.session import TYPES
from app.modules.database_connection.schema import ColumnType, TableColumn
from app.modules.sql.table_names import TableName

_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples, d.description,
    coalesce(s.seq_scan, 0) + coalesce(s.idx_scan, 0)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_description d
    ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid
WHERE n.nspname IN :schemas AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
"""
_COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
    coalesce(b.typname, t.typname), t.typcategory, a.attnotnull, d.description
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
LEFT JOIN pg_catalog.pg_description d
    ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = a.attnum
WHERE n.nspname IN :schemas AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
    AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT k.conrelid, k.contype, k.conkey, k.confrelid, k.confkey
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
WHERE n.nspname IN :schemas AND k.contype IN ('p', 'f') AND k.conparentid = 0
ORDER BY k.conrelid, k.conname
"""
_TABLES = ("r", "p", "f")
_ONE = """
SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN :schemas AND c.relkind IN ('r', 'p', 'f', 'v', 'm') LIMIT 1
"""


def schema_names(connection: Connection) -> list[str]:
    """Returns the schemas that the account, or a role that it may take, may use."""
    schemas = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
    roles = table("pg_roles", column("oid"), schema="pg_catalog")
    is_usable = exists(
        select(roles.c.oid)
        .where(func.pg_has_role(roles.c.oid, "MEMBER"))
        .where(func.has_schema_privilege(roles.c.oid, schemas.c.oid, "USAGE"))
    )
    found = (
        select(schemas.c.nspname)
        .where(~schemas.c.nspname.startswith("pg_", autoescape=True))
        .where(schemas.c.nspname != "information_schema")
        .where(is_usable)
    )
    return [str(name) for name in connection.scalars(found.order_by(schemas.c.nspname))]


def has_tables(connection: Connection, schemas: Sequence[str]) -> bool:
    return bool(rows_in(connection, _ONE, schemas))


def list_tables(connection: Connection, schemas: Sequence[str]) -> Listing:
    names: dict[object, TableName] = {}
    said: dict[object, tuple[str, float, str, int]] = {}
    for oid, schema, name, kind, estimate, description, uses in rows_in(connection, _RELATIONS, schemas):
        names[oid] = TableName("", intern(str(schema)), intern(str(name)))
        said[oid] = str(kind), float(str(estimate)), str(description or ""), int(str(uses))
    primary, foreign = _keys(connection, schemas)
    columns: defaultdict[object, dict[object, TableColumn]] = defaultdict(dict)
    for oid, number, name, declared, base, category, is_required, description in rows_in(
        connection, _COLUMNS, schemas
    ):
        columns[oid][number] = listed_column(
            str(name),
            _type(str(base), str(category)),
            str(declared),
            nullable=not is_required,
            primary_key=number in primary.get(oid, ()),
            description=str(description or ""),
        )
    return {
        names[oid]: ListedTable(
            kind="table" if kind in _TABLES else "view",
            columns=list(columns[oid].values()),
            keys=[
                ListedKey(
                    [columns[oid][each].name for each in here],
                    names[referred],
                    [columns[referred][each].name for each in there],
                )
                for here, referred, there in foreign.get(oid, ())
                if referred in names
            ],
            description=description,
            row_count=int(estimate) if estimate >= ESTIMATED_FROM_ROWS else None,
            uses=uses,
        )
        for oid, (kind, estimate, description, uses) in said.items()
        if oid in columns
    }


def _keys(
    connection: Connection, schemas: Sequence[str]
) -> tuple[dict[object, Sequence[int]], dict[object, list[tuple[Sequence[int], object, Sequence[int]]]]]:
    """Returns the numbers of the columns of primary keys, and of foreign keys with what they refer to."""
    primary: dict[object, Sequence[int]] = {}
    foreign: defaultdict[object, list[tuple[Sequence[int], object, Sequence[int]]]] = defaultdict(list)
    for oid, kind, here, referred, there in rows_in(connection, _KEYS, schemas):
        if not isinstance(here, list):
            continue
        if kind == "p":
            primary[oid] = here
        elif isinstance(there, list):
            foreign[oid].append((here, referred, there))
    return primary, foreign


def _type(base: str, category: str) -> ColumnType:
    """Returns the type by the name of the base type, and its category: A for arrays."""
    return "json" if category == "A" else TYPES.get(base, "text")
