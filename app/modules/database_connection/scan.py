"""Reading a database's catalog: tables, views, columns, keys and comments, with a profile of each table."""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import Inspector, inspect, types
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.databases import Database
from app.modules.database_connection.limits import Limits
from app.modules.database_connection.profile import Profiler
from app.modules.database_connection.schema import Column, ColumnType, ForeignKey, Schema, Table
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

# The first that fits: a datetime is no date, and an integer is a number.
_TYPES: Sequence[tuple[type, ColumnType]] = (
    (types.Boolean, "boolean"),
    (types.Integer, "integer"),
    (types.Numeric, "number"),
    (types.DateTime, "datetime"),
    (types.Date, "date"),
    (types.Time, "time"),
    (types.LargeBinary, "binary"),
    (types.JSON, "json"),
)


def scan(database: Database, limits: Limits, stop: Stop) -> Schema:
    """The schema, in the calling thread, tables by name. Raises `DatabaseUnavailable`.

    Profiles are best effort: those that take too long stay empty.
    """
    stop.after(limits.scan_seconds)
    with database.engine(stop, limits.connect_seconds) as engine:
        try:
            inspector = inspect(engine)
            described = [
                *(_table(inspector, name, "table") for name in inspector.get_table_names()),
                *(_table(inspector, name, "view") for name in inspector.get_view_names()),
            ]
        except DBAPIError:
            raise DatabaseUnavailable("The database's catalog cannot be read.") from None
        with engine.connect() as connection:
            profiler = Profiler(connection, limits, stop)
            tables = [profiler.profiled(each) for each in described]
    return Schema(database.dialect, sorted(tables, key=lambda each: each.name))


def _table(inspector: Inspector, name: str, kind: Literal["table", "view"]) -> Table:
    keys = set(inspector.get_pk_constraint(name)["constrained_columns"])
    return Table(
        name=name,
        kind=kind,
        columns=[_column(each, keys) for each in inspector.get_columns(name)],
        foreign_keys=[_foreign_key(inspector, each) for each in inspector.get_foreign_keys(name)],
        description=_comment(inspector, name),
    )


def _comment(inspector: Inspector, name: str) -> str:
    if not inspector.dialect.supports_comments:
        return ""
    return inspector.get_table_comment(name)["text"] or ""


def _column(reflected: ReflectedColumn, keys: set[str]) -> Column:
    return Column(
        name=reflected["name"],
        type=_type(reflected["type"]),
        database_type=_database_type(reflected["type"]),
        nullable=reflected["nullable"],
        primary_key=reflected["name"] in keys,
        description=reflected.get("comment") or "",
    )


def _type(reflected: types.TypeEngine[object]) -> ColumnType:
    return next((kind for known, kind in _TYPES if isinstance(reflected, known)), "text")


def _database_type(reflected: types.TypeEngine[object]) -> str:
    """The database's word; a type SQLAlchemy does not know has none."""
    return "" if isinstance(reflected, types.NullType) else str(reflected)


def _foreign_key(inspector: Inspector, reflected: ReflectedForeignKeyConstraint) -> ForeignKey:
    """A key that names no columns refers to the primary key."""
    table = reflected["referred_table"]
    columns = reflected["referred_columns"] or inspector.get_pk_constraint(table)["constrained_columns"]
    return ForeignKey(tuple(reflected["constrained_columns"]), table, tuple(columns))
