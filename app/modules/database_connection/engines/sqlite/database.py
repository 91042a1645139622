"""SQLite files, opened read-only."""

import hashlib
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlalchemy import Connection, Engine, StaticPool, create_engine

from app.modules.database_connection.engines.catalogs import Listing
from app.modules.database_connection.engines.databases import SCAN_AGAIN, stopped
from app.modules.database_connection.engines.files import FileDatabase
from app.modules.database_connection.engines.sqlite.authorizers import (
    NamedOnly,
    authorize_query,
    authorize_scan,
)
from app.modules.database_connection.engines.sqlite.catalog import has_tables, list_tables
from app.modules.database_connection.guard.named import NamedTable
from app.modules.database_connection.limits import STATEMENT_MEMORY_BYTES
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from app.modules.policies.masks import HASH_FUNCTION
from graph.errors import DatabaseUnavailable, StatementFailed, StatementRefused

_PROGRESS_OPCODES = 20_000  # about a millisecond of work
_LOCK_WAIT_SECONDS = 5.0
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 16 * 1024 * 1024,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1024 * 1024,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 250,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_TOO_MUCH_MEMORY = "The statement needs more memory than it may have; add filters, or aggregate earlier."
_AWAY = {
    sqlite3.SQLITE_BUSY: "it is locked by another program",
    sqlite3.SQLITE_LOCKED: "it is locked by another program",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_PERM: "the file may not be read",
    sqlite3.SQLITE_IOERR: "the file cannot be read",
    sqlite3.SQLITE_NOTADB: "the file is not a SQLite database, or it is encrypted",
    sqlite3.SQLITE_CORRUPT: "the file is damaged",
}


@dataclass(frozen=True)
class SqliteDatabase(FileDatabase):
    """A file that existed when its URL was read.

    `named` are the tables that a session may read; None for all of them.
    """

    dialect: Literal["sqlite"] = "sqlite"
    named: Mapping[str, NamedTable] | None = field(default=None, repr=False)

    def reading_only(self, named: Mapping[str, NamedTable]) -> "SqliteDatabase":
        """Returns the same database, with a session for the statement that names these tables.

        Its `execute` raises `StatementRefused` if SQLite would read another table or column.
        """
        return replace(self, named=named)

    def schema_names(self, connection: Connection) -> list[str]:
        return []

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        return has_tables(connection)

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        return list_tables(connection)

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator["_SqliteSession"]:
        with closing(self._open(stop)) as connection:
            with _translate_errors(stop):
                authorizer = None if self.named is None else NamedOnly(self.named, connection)
            connection.set_authorizer(authorizer or authorize_query)
            yield _SqliteSession(connection, stop, authorizer)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with closing(self._open(stop)) as connection:
            connection.set_authorizer(authorize_scan)
            yield create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)

    def _open(self, stop: Stop) -> sqlite3.Connection:
        with _translate_errors(stop):
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode=ro", uri=True, timeout=_LOCK_WAIT_SECONDS, isolation_level=None
            )
            try:
                _restrict(connection, stop)
            except (sqlite3.Error, DatabaseUnavailable):
                connection.close()
                raise
            return connection


@dataclass(frozen=True)
class _SqliteSession:
    connection: sqlite3.Connection
    stop: Stop
    authorizer: NamedOnly | None

    def execute(self, sql: str) -> RawRows:
        try:
            with _translate_errors(self.stop):
                cursor = self.connection.execute(sql)
        except StatementFailed:
            if self.authorizer is not None and self.authorizer.denied:
                raise StatementRefused(self.authorizer.denied, "table") from None
            raise
        names = [column[0] for column in cursor.description or ()]
        return RawRows(names, [None] * len(names), self._fetch(cursor))

    def _fetch(self, cursor: sqlite3.Cursor) -> Iterator[Sequence[object]]:
        with _translate_errors(self.stop):
            yield from cursor


def _restrict(connection: sqlite3.Connection, stop: Stop) -> None:
    """Apply every restriction except the authorizer, which is set afterwards.

    Reads the file's header, too, so that a file that is not a database fails here.
    """
    if sys.version_info >= (3, 12):  # older versions cannot set it; the authorizer refuses the same
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    # Sorting and grouping would use temporary files without a limit. The heap limit holds for all
    # connections of the process: SQLite has none per connection.
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA hard_heap_limit = {STATEMENT_MEMORY_BYTES}")
    if _is_kais_own(connection):
        raise DatabaseUnavailable(
            "This file is a store of KAI's own, or a copy of one. Questions about it are not allowed."
        )
    # The first use of a table function creates its virtual table, which the authorizers below refuse.
    connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").fetchall()
    connection.create_function(HASH_FUNCTION, 2, _hashed, deterministic=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    for category, bound in _LIMITS.items():
        connection.setlimit(category, bound)
    connection.set_progress_handler(lambda: stop.due, _PROGRESS_OPCODES)


def _hashed(key: str, value: object) -> str | None:
    return None if value is None else hashlib.sha256(f"{key}{value}".encode()).hexdigest()


def _is_kais_own(connection: sqlite3.Connection) -> bool:
    """True if the file has the tables of KAI's store or checkpoints."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE name = '_collections'"
        " UNION ALL SELECT 1 WHERE 3 = (SELECT count(*) FROM pragma_table_info('checkpoints')"
        " WHERE name IN ('thread_id', 'checkpoint_ns', 'checkpoint_id'))"
    )
    return found.fetchone() is not None


@contextmanager
def _translate_errors(stop: Stop) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _translated(error, stop) from None
    except MemoryError:  # SQLite has reached its heap limit
        raise StatementFailed(_TOO_MUCH_MEMORY) from None


def _translated(error: Exception, stop: Stop) -> StatementFailed | DatabaseUnavailable:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _AWAY:
        return DatabaseUnavailable(f"The SQLite database cannot be used: {_AWAY[code]}.")
    if code == sqlite3.SQLITE_INTERRUPT:
        return stopped(stop)
    said = str(error)
    return StatementFailed(f"{said}. {SCAN_AGAIN}" if said.startswith("no such table") else said)
