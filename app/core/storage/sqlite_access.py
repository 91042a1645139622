"""Connections to an SQLite file for asynchronous callers. Each call is one transaction in one thread.

A call switches to a thread once. An async driver switches several times, which was measured to take
more than twice as long. Short reads of one moment share a switch and a transaction; so do short writes that
wait for the same connection.
"""

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from sqlalchemy import ClauseElement, ExecutableDDLElement
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler

from app.core.storage.port import StorageFull, StorageUnavailable

_BUSY_TIMEOUT_SECONDS = 5
_AT_ONCE = 16
"""The most short reads or writes in one transaction."""
_PREPARED_STATEMENTS = 512
_DIALECT = sqlite.dialect(paramstyle="named")
_AWAY = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOTADB,
}

Found = TypeVar("Found")


def definition(statement: ExecutableDDLElement) -> str:
    """Returns the text of a statement that defines a table or an index."""
    return str(statement.compile(dialect=_DIALECT))


class Prepared:
    """A statement of SQLAlchemy as text for the driver: an engine would take longer than SQLite takes."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        """`columns` are those that an insertion gives."""
        compiled = statement.compile(dialect=_DIALECT, column_keys=columns)
        self._text = str(compiled)
        self._constants: Mapping[str, Any] = {}
        self._expanding: SQLCompiler | None = None
        if isinstance(compiled, SQLCompiler) and columns is None:
            self._constants = {name: value for name, value in compiled.params.items() if value is not None}
            self._expanding = compiled if compiled.post_compile_params else None

    def run(self, connection: sqlite3.Connection, values: Mapping[str, Any] | None = None) -> sqlite3.Cursor:
        """Run the statement once, with a value for each of its parameters."""
        given = {**self._constants, **(values or {})}
        if self._expanding is None:
            return connection.execute(self._text, given)
        expanded = self._expanding.construct_expanded_state(given)  # a list has a parameter for each value
        return connection.execute(expanded.statement, expanded.parameters)

    def run_many(self, connection: sqlite3.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run an insertion once for each row."""
        connection.executemany(self._text, rows)


class SqliteAccess:
    """Connections to the file, with one thread for each."""

    def __init__(self, path: Path, begin: Literal["BEGIN", "BEGIN IMMEDIATE"], connections: int) -> None:
        self._path = path
        self._begin = begin
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="storage")
        self._of_thread = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._reads: list[_Call[Any]] = []
        self._writes: deque[_Call[Any]] = deque()

    async def do(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Run `work` in one transaction. It is finished even if the caller is cancelled.

        Raises `StorageUnavailable`.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, work)

    async def read(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Run a short read, in one transaction with others of this moment. Raises `StorageUnavailable`."""
        loop = asyncio.get_running_loop()
        read = _Call(work, loop.create_future())
        self._reads.append(read)
        if len(self._reads) == 1:
            loop.call_soon(self._begin_reads, loop)
        found: Found = await read.future
        return found

    def _begin_reads(self, loop: asyncio.AbstractEventLoop) -> None:
        reads = self._reads
        self._reads = []
        for start in range(0, len(reads), _AT_ONCE):
            together = reads[start : start + _AT_ONCE]
            try:
                self._threads.submit(self._read_all, together, loop)
            except RuntimeError as closed:
                _fail(together, closed)
                _finish(together)

    def _read_all(self, reads: "Sequence[_Call[Any]]", loop: asyncio.AbstractEventLoop) -> None:
        def run_all(connection: sqlite3.Connection) -> None:
            for read in reads:
                read.run(connection)

        try:
            self._do(run_all)
        except Exception as error:  # noqa: BLE001  (each caller raises it)
            _fail(reads, error)
        loop.call_soon_threadsafe(_finish, reads)

    async def write(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Run a short write, in one transaction with others that wait by then. It is finished even if the
        caller is cancelled. If one of them is refused, each is run again in a transaction of its own.

        Raises `StorageUnavailable`: the file itself failed, so for all of them.
        """
        loop = asyncio.get_running_loop()
        write = _Call(work, loop.create_future())
        self._writes.append(write)
        self._threads.submit(self._write_waiting, loop)
        found: Found = await write.future
        return found

    def _write_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        writes: list[_Call[Any]] = []
        while self._writes and len(writes) < _AT_ONCE:
            writes.append(self._writes.popleft())
        if writes:  # else those before have taken them
            self._write_all(writes)
            loop.call_soon_threadsafe(_finish, writes)

    def _write_all(self, writes: "Sequence[_Call[Any]]") -> None:
        def run_all(connection: sqlite3.Connection) -> None:
            for write in writes:
                write.run(connection)
                if write.error is not None:
                    raise write.error

        try:
            self._do(run_all)
        except StorageUnavailable as error:
            _fail(writes, error)
        except Exception as error:  # noqa: BLE001  (each caller raises its own)
            if len(writes) == 1:
                _fail(writes, error)
            else:
                for write in writes:
                    write.error = None
                    self._write_all([write])

    def _do(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        with _translated_errors():
            connection = self._connection()
            connection.execute(self._begin)
            try:
                found = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return found

    async def empty_log(self) -> None:
        """Write the write-ahead log to the file and truncate it. Left for later while another process reads.

        Raises `StorageUnavailable`.
        """
        await asyncio.get_running_loop().run_in_executor(self._threads, self._empty_log)

    def _empty_log(self) -> None:
        with _translated_errors():
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the connections after running calls have finished."""
        self._threads.shutdown()
        for connection in self._connections:
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        """Returns the connection of this thread."""
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = _connect(self._path)
            self._connections.append(connection)
        return connection


class _Call(Generic[Found]):
    """A read or a write that waits for a thread, and then for its caller."""

    def __init__(self, work: Callable[[sqlite3.Connection], Found], future: "asyncio.Future[Found]") -> None:
        self._work = work
        self.future = future
        self._found: list[Found] = []
        self.error: Exception | None = None

    def run(self, connection: sqlite3.Connection) -> None:
        try:
            with _translated_errors():
                self._found = [self._work(connection)]
        except Exception as error:  # noqa: BLE001  (the caller raises it)
            self.error = error

    def finish(self) -> None:
        if self.future.done():
            return  # the caller is cancelled
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self._found[0])


def _fail(calls: Sequence[_Call[Any]], error: Exception) -> None:
    for call in calls:
        call.error = error


def _finish(calls: Sequence[_Call[Any]]) -> None:
    for call in calls:
        call.finish()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=_BUSY_TIMEOUT_SECONDS,
        check_same_thread=False,  # `close` is called by another thread
        isolation_level=None,  # the driver would begin transactions by itself, and only DEFERRED ones
        cached_statements=_PREPARED_STATEMENTS,
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_FULL:
            raise StorageFull("The disk of the embedded store is full.") from error
        if code is not None and code & 0xFF in _AWAY:
            raise StorageUnavailable("The embedded store is locked or damaged.") from error
        raise
