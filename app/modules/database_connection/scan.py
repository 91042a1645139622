"""Reading a database's catalog: tables, views, columns, keys and comments, with a profile of each table."""

from collections.abc import Mapping, Sequence
from typing import Literal

from sqlalchemy import Connection, Dialect, Inspector, inspect, types
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint, TableKey
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DBAPIError, UnsupportedCompilationError

from app.modules.database_connection.databases import Database, stopped
from app.modules.database_connection.limits import Limits
from app.modules.database_connection.profile import Profiler
from app.modules.database_connection.schema import Column, ColumnType, ForeignKey, Schema, Table
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

_TYPES: Sequence[tuple[type[types.TypeEngine[object]], ColumnType]] = ()


def scan(database: Database, limits: Limits, stop: Stop) -> Schema:
    """The schema, in the calling thread, tables by name. Raises `DatabaseUnavailable`.

    Profiles are best effort: those that take too long stay empty.
    """
