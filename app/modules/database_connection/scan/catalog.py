"""Reads the catalog of a database: tables, views, columns, keys and comments, but no values."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Inspector, Select, TableClause, column, func, inspect, select, table, types
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects.postgresql.base import PGInspector
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.scan.schemas import own_schema
from app.modules.database_connection.schema import ColumnType, ForeignKey, Table, TableColumn
from app.modules.sql.table_names import TableName, shown_names

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
_DIALECTS = {"postgresql": "postgres", "kaiduckdb": "duckdb"}
"""sqlglot's names of dialects that SQLAlchemy names otherwise."""


def read_catalog(connection: Connection, schemas: Sequence[str] = ()) -> list[Table]:
    """Returns the tables and views of the schemas, by name. Those that the database cannot read are left out.

    A partitioned table is one table. `row_count` is set only for large PostgreSQL tables, to the server's own
    estimate.
    """
    inspector = inspect(connection)
    own = own_schema(connection)
    # As its driver knows it, the own schema has no name.
    of_schemas = {schema: None if schema == own else schema for schema in schemas or [own]}
    parts = _Partitions.of(connection)
    sizes = _estimated_sizes(connection)
    catalog = str(connection.scalar(select(func.current_database()))) if _has_catalog(connection) else ""
    found: dict[TableName, _Reflected] = {}
    for schema, known_as in of_schemas.items():
        left_out = parts.names_in_schema(schema)
        for name, reflected in _read_schema(inspector, known_as, leave_out=left_out).items():
            found[TableName(catalog, schema, name)] = reflected
    dialect = _DIALECTS.get(connection.dialect.name, connection.dialect.name)
    shown = {name: each.text for name, each in shown_names(found, dialect).items()}
    return sorted(
        (
            Table(
                name=shown[name],
                full_name=name if name.schema else None,
                kind=reflected.kind,
                columns=reflected.columns,
                foreign_keys=list(_foreign_keys(name, reflected, shown, own=own)),
                row_count=sizes.get((name.schema, name.name)),
                description=reflected.description,
            )
            for name, reflected in found.items()
        ),
        key=lambda table: table.name,
    )


def has_tables(connection: Connection, schemas: Sequence[str] = ()) -> bool:
    """True if the schemas have tables or views that the account sees."""
    inspector = inspect(connection)
    own = own_schema(connection)
    names = (None if schema == own else schema for schema in schemas or [own])
    return any(inspector.get_table_names(name) or inspector.get_view_names(name) for name in names)


@dataclass(frozen=True)
class _Reflected:
    """What the catalog says of one table."""

    kind: Literal["table", "view"]
    columns: Sequence[TableColumn]
    foreign_keys: Sequence[ReflectedForeignKeyConstraint]
    description: str


def _read_schema(
    inspector: Inspector, schema: str | None, *, leave_out: Collection[str]
) -> Mapping[str, _Reflected]:
    columns = {name: each for name, each in _columns(inspector, schema).items() if name not in leave_out}
    if not columns:
        return {}
    tables = set(inspector.get_table_names(schema))
    if isinstance(inspector, PGInspector):
        tables.update(inspector.get_foreign_table_names(schema))
    wanted = list(columns)
    keys = inspector.get_multi_pk_constraint(schema, kind=ObjectKind.ANY, filter_names=wanted)
    references = inspector.get_multi_foreign_keys(
        schema,
        kind=ObjectKind.ANY,
        filter_names=wanted,
        postgresql_ignore_search_path=True,  # other drivers ignore it
    )
    comments = _comments(inspector, schema, wanted)
    return {
        name: _Reflected(
            kind="table" if name in tables else "view",
            columns=[_column(each, set(keys[schema, name]["constrained_columns"])) for each in reflected],
            foreign_keys=references[schema, name],
            description=comments.get(name, ""),
        )
        for name, reflected in columns.items()
    }


def _columns(inspector: Inspector, schema: str | None) -> Mapping[str, list[ReflectedColumn]]:
    try:
        found = inspector.get_multi_columns(schema, kind=ObjectKind.ANY)
    except DBAPIError:  # one broken view or missing SQLite extension fails all of them
        names = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
        return {name: each for name in names if (each := _columns_of(inspector, schema, name))}
    return {name: each for (_, name), each in found.items() if each}


def _columns_of(inspector: Inspector, schema: str | None, name: str) -> list[ReflectedColumn]:
    try:
        return inspector.get_columns(name, schema)
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


def _foreign_keys(
    name: TableName, reflected: _Reflected, shown: Mapping[TableName, str], *, own: str
) -> Iterator[ForeignKey]:
    """Yields the keys to tables of the scan, and those to tables of the own schema that it has not found."""
    for each in reflected.foreign_keys:
        if len(each["constrained_columns"]) != len(each["referred_columns"]):
            continue
        schema = each["referred_schema"] or (own if name.schema else "")
        referred = shown.get(TableName(name.catalog, schema, each["referred_table"]))
        if referred is None and schema == name.schema and each["referred_table"] not in shown.values():
            referred = each["referred_table"]
        if referred is not None:
            yield ForeignKey(each["constrained_columns"], referred, each["referred_columns"])


def _comments(inspector: Inspector, schema: str | None, names: Sequence[str]) -> Mapping[str, str]:
    if not inspector.dialect.supports_comments:
        return {}
    found = inspector.get_multi_table_comment(schema, kind=ObjectKind.ANY, filter_names=names)
    return {name: comment["text"] or "" for (_, name), comment in found.items()}


def _has_catalog(connection: Connection) -> bool:
    """True for DuckDB: a schema and its database may have the same name there."""
    return connection.dialect.name == "kaiduckdb"


def _relations() -> tuple[TableClause, TableClause, Select[tuple[object, ...]]]:
    """Returns PostgreSQL's relations and schemas, and a query of both without columns."""
    relations = table(
        "pg_class",
        column("relname"),
        column("reltuples"),
        column("relispartition"),
        column("relnamespace"),
        schema="pg_catalog",
    )
    schemas = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
    return (
        relations,
        schemas,
        select().join_from(relations, schemas, schemas.c.oid == relations.c.relnamespace),
    )


@dataclass(frozen=True)
class _Partitions:
    """Names of the partitions of PostgreSQL's partitioned tables, by schema."""

    names: Mapping[str, Collection[str]]

    @classmethod
    def of(cls, connection: Connection) -> "_Partitions":
        found: defaultdict[str, set[str]] = defaultdict(set)
        if connection.dialect.name == "postgresql":
            relations, schemas, of_both = _relations()
            rows = connection.execute(
                of_both.add_columns(schemas.c.nspname, relations.c.relname).where(relations.c.relispartition)
            )
            for schema, name in rows:
                found[str(schema)].add(str(name))
        return cls(found)

    def names_in_schema(self, schema: str) -> Collection[str]:
        return self.names.get(schema, ())


def _estimated_sizes(connection: Connection) -> Mapping[tuple[str, str], int]:
    """Returns PostgreSQL's estimated row counts of large tables, by schema and name."""
    if connection.dialect.name != "postgresql":
        return {}
    relations, schemas, of_both = _relations()
    rows = connection.execute(
        of_both.add_columns(schemas.c.nspname, relations.c.relname, relations.c.reltuples).where(
            relations.c.reltuples >= _ESTIMATED_FROM_ROWS
        )
    )
    return {(str(schema), str(name)): int(estimate) for schema, name, estimate in rows}
