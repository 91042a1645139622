"""Reads the whole schema of a database, with profiles of its values."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.urls import database_name
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.asking import Questions
from app.modules.database_connection.scan.catalog import tables_of
from app.modules.database_connection.scan.order import ReadingOrder
from app.modules.database_connection.scan.profile import profiled
from app.modules.database_connection.scan.schemas import read_schemas
from app.modules.database_connection.scan.views import with_secrets_of_views
from app.modules.database_connection.schema import Schema, Table, TableProfile
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

Tell: TypeAlias = Callable[[Sequence[TableProfile]], None]
"""Callback. The first call gets all tables, without profiles; each later call gets some finished profiles."""

_REPORT_SECONDS = 0.5


def scan(
    database: Database,
    limits: ConnectionLimits,
    stop: Stop,
    *,
    schemas: Sequence[str] = (),
    order: ReadingOrder | None = None,
    tell: Tell = lambda _: None,
) -> Schema:
    """Returns the schema. `schemas` are patterns of the schemas to read; without one all are read.

    Blocks the calling thread. Raises `DatabaseUnavailable`, also for a pattern that fits none.

    The scan fails if the catalog takes longer than `scan_seconds`. The profiles get `profile_seconds` and
    may stay incomplete.
    """
    try:
        with database.engine(stop, limits.connect_seconds) as engine, engine.connect() as connection:
            stop.after(limits.scan_seconds)
            if missing := database.missing_right(connection):
                raise DatabaseUnavailable(missing)
            listing = database.list_tables(connection, read_schemas(database, connection, schemas))
            listed = tables_of(listing, database.dialect)
            tables = with_secrets_of_views(listed.tables, connection, database.dialect)
            plain = [TableProfile(table, {}) for table in tables]
            tell(plain)
            own_name = database_name(database.dialect, database.masked_url)
            if not limits.profile_seconds:
                tell(plain)
                return Schema(database.dialect, tables, own_name)
            end = time.monotonic() + limits.profile_seconds
            questions = Questions(connection, stop, limits.profile_statement_seconds, end)
            in_order = (order or ReadingOrder()).tables(tables, listed.most_used)
            return Schema(database.dialect, _profiles(in_order, questions, tell), own_name)
    except DBAPIError:
        if stop.due and not stop.abandoned:
            raise DatabaseUnavailable(
                f"The catalog of the database took longer than {limits.scan_seconds:g} s to read. Read fewer "
                "schemas: name them by the connection's patterns, such as sales_*."
            ) from None
        raise DatabaseUnavailable("The schema of the database could not be read.") from None


def _profiles(tables: Iterable[Table], questions: Questions, tell: Tell) -> list[Table]:
    done: list[Table] = []
    unreported: list[TableProfile] = []
    reported_at = time.monotonic()
    for table in tables:
        profile = profiled(table, questions)
        done.append(profile.table)
        unreported.append(profile)
        if time.monotonic() - reported_at > _REPORT_SECONDS:
            tell(unreported)
            unreported = []
            reported_at = time.monotonic()
    tell(unreported)
    return sorted(done, key=lambda table: table.name)
