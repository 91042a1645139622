"""Reads the catalog of a database: tables, views, columns, keys and comments, but no values."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Inspector, column, func, inspect, select, table, types
from sqlalchemy.dialects import mysql
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.schema import ColumnType, ForeignKey, Table, TableColumn

_TYPES: Sequence[tuple[type[object], ColumnType]] = (
    (types.Boolean, "boolean"),
    (types.Integer, "integer"),
    (types.Numeric, "number"),
    (types.Float, "number"),  # no Numeric since SQLAlchemy 2.1
    (types.DateTime, "datetime"),
    (types.Date, "date"),
    (types.Time, "time"),
    (types.LargeBinary, "binary"),
    (mysql.TINYBLOB, "binary"),  # no LargeBinary, as BLOB is
    (mysql.MEDIUMBLOB, "binary"),
    (mysql.LONGBLOB, "binary"),
    (types.JSON, "json"),
    (types.ARRAY, "json"),
)
_ESTIMATED_FROM_ROWS = 100_000


def read_catalog(connection: Connection) -> list[Table]:
    """Returns the tables and views of the default schema, by name. Those that the database cannot read are
    left out.

    `row_count` is set only for large PostgreSQL tables, to the server's own estimate.
    """
    inspector = inspect(connection)
    columns = _columns(inspector)
    tables = set(inspector.get_table_names())
    keys = inspector.get_multi_pk_constraint(kind=ObjectKind.ANY, filter_names=list(columns))
    references = inspector.get_multi_foreign_keys(kind=ObjectKind.ANY, filter_names=list(columns))
    comments = _comments(inspector, list(columns))
    sizes = _estimated_sizes(connection)
    return [
        Table(
            name=name,
            kind="table" if name in tables else "view",
            columns=[_column(each, set(keys[None, name]["constrained_columns"])) for each in columns[name]],
            foreign_keys=_foreign_keys(references[None, name]),
            row_count=sizes.get(name),
            description=comments.get(name, ""),
        )
        for name in sorted(columns)
    ]


def has_tables(connection: Connection) -> bool:
    """True if the default schema has tables or views that the account sees."""
    inspector = inspect(connection)
    return bool(inspector.get_table_names() or inspector.get_view_names())


def _columns(inspector: Inspector) -> Mapping[str, list[ReflectedColumn]]:
    try:
        found = inspector.get_multi_columns(kind=ObjectKind.ANY)
    except DBAPIError:  # one broken view or missing SQLite extension fails all of them
        names = [*inspector.get_table_names(), *inspector.get_view_names()]
        return {name: each for name in names if (each := _columns_of(inspector, name))}
    return {name: each for (_, name), each in found.items() if each}


def _columns_of(inspector: Inspector, name: str) -> list[ReflectedColumn]:
    try:
        return inspector.get_columns(name)
    except DBAPIError:
        return []


def _column(reflected: ReflectedColumn, keys: set[str]) -> TableColumn:
    declared = reflected["type"]
    untyped = isinstance(declared, types.NullType)
    return TableColumn(
        name=reflected["name"],
        type=next((kind for known, kind in _TYPES if isinstance(declared, known)), "text"),
        database_type="" if untyped else str(declared),
        nullable=reflected["nullable"],
        primary_key=reflected["name"] in keys,
        description=reflected.get("comment") or "",
    )


def _foreign_keys(reflected: Iterable[ReflectedForeignKeyConstraint]) -> list[ForeignKey]:
    return [
        ForeignKey(each["constrained_columns"], each["referred_table"], each["referred_columns"])
        for each in reflected
        if each["referred_schema"] is None
        and len(each["constrained_columns"]) == len(each["referred_columns"])
    ]


def _comments(inspector: Inspector, names: Sequence[str]) -> Mapping[str, str]:
    if not inspector.dialect.supports_comments:
        return {}
    found = inspector.get_multi_table_comment(kind=ObjectKind.ANY, filter_names=names)
    return {name: comment["text"] or "" for (_, name), comment in found.items()}


def _estimated_sizes(connection: Connection) -> Mapping[str, int]:
    """Returns PostgreSQL's estimated row counts of large tables, by name."""
    if connection.dialect.name != "postgresql":
        return {}
    relations = table(
        "pg_class", column("relname"), column("reltuples"), column("relnamespace"), schema="pg_catalog"
    )
    schemas = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
    rows = connection.execute(
        select(relations.c.relname, relations.c.reltuples)
        .join(schemas, schemas.c.oid == relations.c.relnamespace)
        .where(schemas.c.nspname == func.current_schema())
        .where(relations.c.reltuples >= _ESTIMATED_FROM_ROWS)
    )
    return {str(name): int(estimate) for name, estimate in rows}
