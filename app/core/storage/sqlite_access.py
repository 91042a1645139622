"""Connections to an SQLite file for asynchronous callers. Each call is one transaction in one thread.

A call switches to a thread once. An async driver switches several times, which was measured to take
more than twice as long.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from app.core.storage.port import StorageFull, StorageUnavailable

_BUSY_TIMEOUT_SECONDS = 5
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


class SqliteAccess:
    """A pool of connections to the file, with one thread for each."""

    def __init__(self, path: Path, begin: Literal["BEGIN", "BEGIN IMMEDIATE"], connections: int) -> None:
        self._engine = _engine(path, begin, connections)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="storage")

    async def do(self, work: Callable[[Connection], Found]) -> Found:
        """Run `work` in one transaction. It is finished even if the caller is cancelled.

        Raises `StorageUnavailable`.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, work)

    def _do(self, work: Callable[[Connection], Found]) -> Found:
        with _translated_errors(), self._engine.begin() as connection:
            return work(connection)

    async def empty_log(self) -> None:
        """Write the write-ahead log to the file and truncate it. Left for later while another process reads.

        Raises `StorageUnavailable`.
        """
        await asyncio.get_running_loop().run_in_executor(self._threads, self._empty_log)

    def _empty_log(self) -> None:
        with _translated_errors(), closing(self._engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the connections after running calls have finished."""
        self._threads.shutdown()
        self._engine.dispose()


def _engine(path: Path, begin: str, connections: int) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        connect_args={"timeout": _BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
        hide_parameters=True,  # errors are logged, and parameters hold texts of users
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        # The driver would begin transactions by itself, and only DEFERRED ones.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        yield
    except DBAPIError as error:
        match error.orig:
            case sqlite3.Error(sqlite_errorcode=sqlite3.SQLITE_FULL):
                raise StorageFull("The disk of the embedded store is full.") from error
            case sqlite3.Error(sqlite_errorcode=int(code)) if code & 0xFF in _AWAY:
                raise StorageUnavailable("The embedded store is locked or damaged.") from error
        raise
