"""Statements in read-only sessions of MySQL and MariaDB."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import pymysql
from pymysql.constants import ER
from pymysql.cursors import Cursor

from app.modules.database_connection.engines.databases import SCAN_AGAIN, stopped
from app.modules.database_connection.engines.mysql.values import TYPES
from app.modules.database_connection.limits import STATEMENT_MEMORY_BYTES
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

MysqlConnection: TypeAlias = "pymysql.Connection[Cursor]"

_LOCK_WAIT_SECONDS = 5
_MOST_RECURSIONS = 1_000_000  # MariaDB silently ends a recursion at 1,000
# Modes that change the meaning of SQL text. The guard parses text as without them.
_MODES_OF_WRITING = {
    *("ANSI", "ANSI_QUOTES", "DB2", "HIGH_NOT_PRECEDENCE", "IGNORE_SPACE", "MAXDB", "MSSQL"),
    *("NO_BACKSLASH_ESCAPES", "ORACLE", "PIPES_AS_CONCAT", "POSTGRESQL"),
}
_QUERY = re.compile(r"\s*(\(\s*)*(SELECT|WITH|VALUES|EXPLAIN)\b(?!\s+ANALYZE)", re.IGNORECASE)
_MAY_NOT = "An administrator allows KAI's account to read it: GRANT SELECT ON the table TO the account."
_CURES: Mapping[int, str] = {
    ER.TABLEACCESS_DENIED_ERROR: _MAY_NOT,
    ER.COLUMNACCESS_DENIED_ERROR: _MAY_NOT,
    ER.NO_SUCH_TABLE: SCAN_AGAIN,
}
"""What helps, by the server's code."""
_STOPPED = {ER.QUERY_INTERRUPTED, ER.STATEMENT_TIMEOUT, ER.QUERY_TIMEOUT}
_GONE = range(2000, 3000)  # the driver's own codes, for failures of the connection


@dataclass(kw_only=True)
class MysqlSession:
    """Session for one statement in a read-only transaction. The driver never sends two.

    Only queries are accepted, because some other statements end a transaction implicitly.
    """

    connection: MysqlConnection
    cursor: Cursor
    server: "Server"
    stop: Stop
    _reading: bool = field(default=False, init=False)

    def execute(self, sql: str) -> RawRows:
        if not _QUERY.match(sql):
            raise StatementFailed("Only queries may run: SELECT, WITH ... SELECT, VALUES.")
        with _translate_errors(self.stop):
            self._limit_time()
            self.cursor.execute(sql)
            self._reading = True
            self._check_time()
        columns = self.cursor.description or ()
        types = [TYPES.get(int(column[1])) for column in columns]
        return RawRows([column[0] for column in columns], types, self._fetch())

    def _limit_time(self) -> None:
        """Set the server's time limit a second after `stop`, in case this process dies."""
        with self.connection.cursor(Cursor) as cursor:
            if self.server.is_mariadb:
                cursor.execute("SET SESSION max_statement_time = %s", (self.stop.seconds + 1,))
            else:
                cursor.execute("SET SESSION max_execution_time = %s", (int(self.stop.seconds * 1000) + 1000,))

    def abandon(self, cancel: Callable[[], None]) -> None:
        """Discard unread rows on the server: the driver would wait for all of them."""
        if self._reading:
            cancel()
            with suppress(pymysql.Error):
                self.cursor.close()

    def _fetch(self) -> Iterator[Sequence[object]]:
        with self._ended_by_an_error(), _translate_errors(self.stop):
            while (row := self.cursor.fetchone()) is not None:
                yield row
            self._check_time()
        self._reading = False

    @contextmanager
    def _ended_by_an_error(self) -> Iterator[None]:
        """Mark the reading as ended after an error: the server sends nothing more."""
        try:
            yield
        except (StatementFailed, DatabaseUnavailable):
            self._reading = False
            raise

    def _check_time(self) -> None:
        """Raises `StatementTimedOut` if `stop` is due: SLEEP ends without an error when it is stopped."""
        if self.stop.due:
            raise stopped(self.stop)


class Server(NamedTuple):
    """The server of a connection. `thread_id` is the connection's id there."""

    thread_id: int
    is_mariadb: bool


def restrict(connection: MysqlConnection) -> Server:
    """Make a connection read-only until it is closed. Raises `DatabaseUnavailable`."""
    try:
        with connection.cursor(Cursor) as cursor:
            cursor.execute("SELECT @@sql_mode, connection_id(), version()")
            ((modes_in_use, thread_id, version),) = cursor.fetchall()
            server = Server(thread_id, "mariadb" in version.lower())
            modes = set(modes_in_use.split(",")) - _MODES_OF_WRITING
            cursor.execute("SET SESSION sql_mode = %s", (",".join(sorted(modes)),))
            cursor.execute("SET SESSION lock_wait_timeout = %s", (_LOCK_WAIT_SECONDS,))
            if server.is_mariadb:
                cursor.execute("SET SESSION max_session_mem_used = %s", (STATEMENT_MEMORY_BYTES,))
                cursor.execute("SET SESSION max_recursive_iterations = %s", (_MOST_RECURSIONS,))
            else:
                cursor.execute("SET SESSION cte_max_recursion_depth = %s", (_MOST_RECURSIONS,))
            cursor.execute("SET SESSION TRANSACTION READ ONLY")
            cursor.execute("START TRANSACTION READ ONLY")
            return server
    except pymysql.Error:
        raise DatabaseUnavailable("The server does not support read-only sessions.") from None


@contextmanager
def _translate_errors(stop: Stop) -> Iterator[None]:
    try:
        yield
    except (pymysql.Error, RuntimeError) as error:  # RuntimeError: the server asked for a local file
        raise _translated(error, stop) from None


def _translated(error: Exception, stop: Stop) -> StatementFailed | DatabaseUnavailable:
    code = error.args[0] if error.args else None
    if stop.due or code in _STOPPED:
        return stopped(stop)
    if not isinstance(code, int) or code in _GONE:
        return DatabaseUnavailable("The database broke the connection off.")
    return StatementFailed(f"{error.args[-1]}. {_CURES.get(code, '')}".rstrip())
