"""Statements in read-only PostgreSQL sessions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.sql import SQL, Identifier
from psycopg.types.string import TextLoader

from app.modules.database_connection.engines.databases import SCAN_AGAIN, stopped
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.roles import DatabaseRoleMissing
from app.modules.database_connection.schema import ColumnType
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

PostgresRow: TypeAlias = tuple[object, ...]
PostgresConnection: TypeAlias = psycopg.Connection[PostgresRow]
Cursor: TypeAlias = psycopg.Cursor[PostgresRow]

_FETCH_ROWS = 100
_PLAN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)
_CANCEL_SECONDS = 2.0
_CONNECTION_STATES = {"08", "53", "57"}  # SQLSTATE classes: connection, resources, operator intervention
_CURES: Mapping[str, str] = {
    "42501": "A table's owner allows KAI's account to read it: GRANT SELECT ON the table TO the account, and "
    "where it may not use the schema GRANT USAGE ON SCHEMA its name TO the account",
    "42P01": f"{SCAN_AGAIN} Or KAI's account may not use its schema: GRANT USAGE ON SCHEMA its name TO the "
    "account",
}
"""What helps, by SQLSTATE: a missing right, and a table that the server does not find."""
TYPES: Mapping[str, ColumnType] = {
    "bool": "boolean",
    "bytea": "binary",
    "date": "date",
    "float4": "number",
    "float8": "number",
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "json": "json",
    "jsonb": "json",
    "numeric": "number",
    "time": "time",
    "timestamp": "datetime",
    "timestamptz": "datetime",
    "timetz": "time",
}


@dataclass(frozen=True)
class PostgresSession:
    """Session for one statement in a read-only transaction, which is never committed.

    The extended protocol accepts a single statement only. All but EXPLAIN run as the query of a server-side
    cursor, which accepts no data-modifying statement.
    """

    connection: PostgresConnection
    cursor: "psycopg.ServerCursor[PostgresRow]"
    stop: Stop
    role: str | None = None

    def execute(self, sql: str) -> RawRows:
        with _translate_errors(self.stop):
            self._limit_time()
            if self.role is not None:
                self._take_role(self.role)
            cursor = self._plan(sql) if _PLAN.match(sql) else self.cursor.execute(sql.encode())
            columns = cursor.description or ()
        types = [self._type(column.type_code) for column in columns]
        return RawRows([column.name for column in columns], types, self._fetch(cursor))

    def _plan(self, sql: str) -> Cursor:
        """Run EXPLAIN, which a server-side cursor refuses. `binary` selects the extended protocol."""
        return self.connection.cursor(binary=True).execute(sql.encode())

    def _limit_time(self) -> None:
        """Set the server's time limit a second after `stop`, in case this process dies."""
        milliseconds = str(int(self.stop.seconds * 1000) + 1000)
        self.connection.execute("SELECT set_config('statement_timeout', %s, true)", [milliseconds])

    def _take_role(self, role: str) -> None:
        """Set the role for this transaction. Raises `DatabaseRoleMissing`."""
        try:
            self.connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(role)))
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege):
            raise DatabaseRoleMissing(
                f"KAI's account in this database may not take the role {role}, or there is no such role. "
                "Ask the database's administrator for it: GRANT the role TO the account."
            ) from None

    def _type(self, oid: int) -> ColumnType:
        known = self.connection.adapters.types.get(oid)
        if known is None:
            return "text"
        return "json" if oid == known.array_oid else TYPES.get(known.name, "text")

    def _fetch(self, cursor: "Cursor | psycopg.ServerCursor[PostgresRow]") -> Iterator[Sequence[object]]:
        with _translate_errors(self.stop):
            while rows := cursor.fetchmany(_FETCH_ROWS):
                yield from rows


def cancel(connection: PostgresConnection) -> None:
    """Ask the server to stop the running statement. Does not raise if that fails."""
    try:
        connection.cancel_safe(timeout=_CANCEL_SECONDS)
    except psycopg.Error:
        return  # it is repeated, and the server has its own time limit


@contextmanager
def _translate_errors(stop: Stop) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.QueryCanceled:
        raise stopped(stop) from None
    except psycopg.Error as error:
        raise _translated(error) from None


def _translated(error: psycopg.Error) -> StatementFailed | DatabaseUnavailable:
    if error.sqlstate is None or error.sqlstate[:2] in _CONNECTION_STATES:
        return DatabaseUnavailable("The database broke the connection off.")
    cure = _CURES.get(error.sqlstate)
    said = (error.diag.message_primary, error.diag.message_detail, error.diag.message_hint, cure)
    return StatementFailed(". ".join(part.rstrip(".") for part in said if part) + ".")


def load_times_as_text(connection: PostgresConnection) -> None:
    """Load dates and times as ISO 8601 text: the server allows values that Python does not."""
    for name in ("date", "time", "timetz", "interval"):
        connection.adapters.register_loader(name, TextLoader)
    for name in ("timestamp", "timestamptz"):
        connection.adapters.register_loader(name, _MomentLoader)


class _MomentLoader(Loader):
    """Loads `2024-05-01 10:00:00+00` as `2024-05-01T10:00:00+00:00`; values such as infinity stay."""

    def load(self, data: Buffer) -> str:
        text = bytes(data).decode()
        text = re.sub(r"^(\d{4}-\d\d-\d\d) (?=\d)", r"\1T", text)
        return re.sub(r"([+-]\d\d)$", r"\1:00", text) if "T" in text else text
