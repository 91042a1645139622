"""SQLAlchemy dialect of DuckDB for scans: the catalog, and plain SELECTs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import duckdb
from pydantic import JsonValue
from sqlalchemy import Connection, Engine, Select, StaticPool, create_engine, false, func, or_, select, types
from sqlalchemy.dialects import registry
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import (
    ReflectedColumn,
    ReflectedForeignKeyConstraint,
    ReflectedPrimaryKeyConstraint,
    ReflectedTableComment,
)

from app.modules.database_connection.engines.duckdb.process import ChildEnded, DuckdbProcess, DuckdbRefused

Constraint: TypeAlias = tuple[str, list[str], str, list[str]]
"""Kind and columns of a constraint, and for a foreign key the referenced table and columns."""

_ALL = 1_000_000
_TYPES: Mapping[str, type[types.TypeEngine[Any]]] = {
    "BIGINT": types.BIGINT,
    "BLOB": types.BLOB,
    "BOOLEAN": types.BOOLEAN,
    "DATE": types.DATE,
    "DECIMAL": types.DECIMAL,
    "DOUBLE": types.DOUBLE,
    "FLOAT": types.FLOAT,
    "HUGEINT": types.BIGINT,
    "INTEGER": types.INTEGER,
    "JSON": types.JSON,
    "MAP": types.JSON,
    "SMALLINT": types.SMALLINT,
    "STRUCT": types.JSON,
    "TIME": types.TIME,
    "TIMESTAMP": types.TIMESTAMP,
    "TIMESTAMP_MS": types.TIMESTAMP,
    "TIMESTAMP_NS": types.TIMESTAMP,
    "TIMESTAMP_S": types.TIMESTAMP,
    "TINYINT": types.SMALLINT,
    "UBIGINT": types.BIGINT,
    "UHUGEINT": types.BIGINT,
    "UINTEGER": types.BIGINT,
    "UNION": types.JSON,
    "USMALLINT": types.INTEGER,
    "UTINYINT": types.SMALLINT,
}


def engine_over(process: DuckdbProcess) -> Engine:
    """Returns an engine with this connection only. The caller closes the connection."""
    return create_engine("kaiduckdb://", creator=lambda: _Dbapi(process), poolclass=StaticPool)


@dataclass(frozen=True)
class _Dbapi:
    """A DB-API connection and its only cursor, in one object."""

    process: DuckdbProcess

    def cursor(self) -> "_Dbapi":
        return self

    def execute(self, sql: str, parameters: Sequence[JsonValue] = ()) -> None:
        with _as_dbapi_says():
            self.process.execute(sql, parameters)

    @property
    def description(self) -> Sequence[tuple[object, ...]]:
        return [(name, kind, None, None, None, None, None) for name, kind in self.process.columns]

    @property
    def rowcount(self) -> int:
        return -1

    def fetchall(self) -> list[tuple[object, ...]]:
        return self.fetchmany(_ALL)

    def fetchone(self) -> tuple[object, ...] | None:
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int = 1) -> list[tuple[object, ...]]:
        with _as_dbapi_says():
            return self.process.fetch(size)

    def close(self) -> None:
        """The code that opened the connection closes it."""

    def rollback(self) -> None:
        """Every statement is a transaction of its own."""

    commit = rollback


@contextmanager
def _as_dbapi_says() -> Iterator[None]:
    try:
        yield
    except (ChildEnded, DuckdbRefused) as error:
        raise duckdb.OperationalError(str(error)) from None


class DuckdbDialect(DefaultDialect):
    """Reads the tables and views of the opened file."""

    name = "kaiduckdb"
    driver = "duckdb"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_comments = True
    max_identifier_length = 10_000

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return duckdb

    def _get_default_schema_name(self, connection: Connection) -> str:
        return str(connection.scalar(select(func.current_schema())))

    def get_schema_names(self, connection: Connection, **_: object) -> list[str]:
        listed = func.duckdb_schemas().table_valued("schema_name", "database_name", "internal")
        of_the_file = listed.c.database_name == func.current_database()
        is_own = listed.c.schema_name == func.current_schema()
        found = (
            select(listed.c.schema_name).where(of_the_file).where(or_(listed.c.internal == false(), is_own))
        )
        return [str(name) for name in connection.scalars(found)]

    def get_table_names(self, connection: Connection, schema: str | None = None, **_: object) -> list[str]:
        return [str(name) for name in connection.scalars(_visible("duckdb_tables", schema, "table_name"))]

    def get_view_names(self, connection: Connection, schema: str | None = None, **_: object) -> list[str]:
        return [str(name) for name in connection.scalars(_visible("duckdb_views", schema, "view_name"))]

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> list[ReflectedColumn]:
        asked = ("column_name", "data_type", "is_nullable", "comment")
        rows = connection.execute(_of_table("duckdb_columns", schema, table_name, *asked))
        return [
            {"name": row[0], "type": _type(row[1]), "nullable": row[2], "default": None, "comment": row[3]}
            for row in rows
        ]

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> ReflectedPrimaryKeyConstraint:
        keys = [
            columns
            for kind, columns, *_ in _constraints(connection, schema, table_name)
            if kind == "PRIMARY KEY"
        ]
        return {"name": None, "constrained_columns": keys[0] if keys else []}

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> list[ReflectedForeignKeyConstraint]:
        return [
            {
                "name": None,
                "constrained_columns": columns,
                "referred_schema": schema,
                "referred_table": referred,
                "referred_columns": referred_columns,
                "options": {},
            }
            for kind, columns, referred, referred_columns in _constraints(connection, schema, table_name)
            if kind == "FOREIGN KEY"
        ]

    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> ReflectedTableComment:
        comment = connection.scalar(_of_table("duckdb_tables", schema, table_name, "comment"))
        return {"text": None if comment is None else str(comment)}


registry.register("kaiduckdb", __name__, DuckdbDialect.__name__)


def _visible(catalog: str, schema: str | None, *asked: str) -> Select[Any]:
    """Returns a SELECT of these columns of a catalog function, for a schema: None is the current one."""
    names = dict.fromkeys((*asked, "table_name", "schema_name", "internal", "database_name"))
    listed = getattr(func, catalog)().table_valued(*names)
    return (
        select(*(listed.c[name] for name in asked))
        .where(listed.c.schema_name == (schema or func.current_schema()))
        .where(listed.c.database_name == func.current_database())
        .where(listed.c.internal == false())
    )


def _of_table(catalog: str, schema: str | None, table_name: str, *asked: str) -> Select[Any]:
    visible = _visible(catalog, schema, *asked)
    (listed,) = visible.get_final_froms()
    return visible.where(listed.c.table_name == table_name)


def _constraints(connection: Connection, schema: str | None, table_name: str) -> Sequence[Constraint]:
    asked = ("constraint_type", "constraint_column_names", "referenced_table", "referenced_column_names")
    listed = func.duckdb_constraints().table_valued(*asked, "table_name", "schema_name")
    rows = connection.execute(
        select(*(listed.c[name] for name in asked))
        .where(listed.c.schema_name == (schema or func.current_schema()))
        .where(listed.c.table_name == table_name)
    )
    return [(kind, columns, referred, referred_columns) for kind, columns, referred, referred_columns in rows]


def _type(declared: str) -> types.TypeEngine[Any]:
    """Returns the type by its first word, as in `DECIMAL(10,2)`. Lists are JSON, unknown types are text."""
    if declared.endswith("]"):
        return types.JSON()
    word = declared.split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0]
    return _TYPES.get(word, types.VARCHAR)()
