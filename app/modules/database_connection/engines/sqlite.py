"""SQLite files, opened read-only."""

import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Engine, StaticPool, create_engine

from app.modules.database_connection.engines.databases import stopped
from app.modules.database_connection.engines.files import FileDatabase
from app.modules.database_connection.guard.functions import allowed_names
from app.modules.database_connection.limits import STATEMENT_MEMORY_BYTES
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

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
_CATALOG_PRAGMAS = {
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "read_uncommitted",
    "table_info",
    "table_list",
    "table_xinfo",
}
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
    """A file that existed when its URL was read."""

    dialect: Literal["sqlite"] = "sqlite"

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator["_SqliteSession"]:
        with closing(self._open(stop)) as connection:
            connection.set_authorizer(_authorize_query)
            yield _SqliteSession(connection, stop)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with closing(self._open(stop)) as connection:
            connection.set_authorizer(_authorize_scan)
            yield create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)

    def _open(self, stop: Stop) -> sqlite3.Connection:
        with _in_our_words(stop):
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

    def execute(self, sql: str) -> RawRows:
        with _in_our_words(self.stop):
            cursor = self.connection.execute(sql)
        names = [column[0] for column in cursor.description or ()]
        return RawRows(names, [None] * len(names), self._fetch(cursor))

    def _fetch(self, cursor: sqlite3.Cursor) -> Iterator[Sequence[object]]:
        with _in_our_words(self.stop):
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
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    for category, bound in _LIMITS.items():
        connection.setlimit(category, bound)
    connection.set_progress_handler(lambda: stop.due, _PROGRESS_OPCODES)


def _is_kais_own(connection: sqlite3.Connection) -> bool:
    """True if the file has the tables of KAI's store or checkpoints."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE name = '_collections'"
        " UNION ALL SELECT 1 WHERE 3 = (SELECT count(*) FROM pragma_table_info('checkpoints')"
        " WHERE name IN ('thread_id', 'checkpoint_ns', 'checkpoint_id'))"
    )
    return found.fetchone() is not None


def _authorize_query(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """Authorizer of queries: allows SELECT from tables that are not SQLite's own, with allowed functions."""
    if action == sqlite3.SQLITE_READ:
        allowed = not (first or "").startswith("sqlite_")
    elif action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() in allowed_names("sqlite")
    else:
        allowed = action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _authorize_scan(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """Authorizer of scans: allows what `_authorize_query` allows, and reading the catalog."""
    if action == sqlite3.SQLITE_READ or (action == sqlite3.SQLITE_PRAGMA and first in _CATALOG_PRAGMAS):
        return sqlite3.SQLITE_OK
    return _authorize_query(action, first, second, database=database, trigger=trigger)


@contextmanager
def _in_our_words(stop: Stop) -> Iterator[None]:
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
    return StatementFailed(str(error))
