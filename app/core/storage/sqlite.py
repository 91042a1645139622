"""The embedded store: one SQLite file, a table a collection, through SQLAlchemy.

A write is durable against the death of the process, though not of the machine (WAL, synchronous
NORMAL). All writes go through one connection that begins IMMEDIATE, so that a condition and the
change it guards are one step, for other processes on the file too. Each call is one visit to a
thread: measured, an async driver's many visits make it five times slower.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    and_,
    create_engine,
    delete,
    event,
    insert,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from app.core.storage.port import (
    Collection,
    Condition,
    Document,
    DocumentExists,
    Field,
    Page,
    StorageUnavailable,
)
from app.core.storage.sqlite_paging import beyond, read_cursor, write_cursor
from app.core.storage.sqlite_tables import CATALOG, CollectionTable

MAX_PAGE = 1_000

_BUSY_TIMEOUT_SECONDS = 5
_READERS = 4
_WORD = re.compile(r"\w+")

Found = TypeVar("Found")


class SqliteStorage:
    """Implements `Storage`; opened by `open_sqlite`."""

    def __init__(self, path: Path) -> None:
        self._writing = _Access(path, begin="BEGIN IMMEDIATE", connections=1)
        self._reading = _Access(path, begin="BEGIN", connections=_READERS)
        self._tables: dict[str, CollectionTable] = {}

    async def load(self) -> None:
        """Learn the collections that the file holds."""

        def read(connection: Connection) -> list[tuple[str, str]]:
            CATALOG.create(connection, checkfirst=True)
            return [(name, fields) for name, fields in connection.execute(select(CATALOG))]

        for name, fields in await self._writing.do(read):
            declared = [Field(field, kind) for field, kind in json.loads(fields)]
            self._tables[name] = CollectionTable(Collection(name, declared))

    async def create_collection(self, collection: Collection) -> None:
        table = CollectionTable(collection)
        fields = json.dumps([[field.name, field.kind] for field in collection.fields])

        def create(connection: Connection) -> None:
            table.rows.create(connection, checkfirst=True)
            for statement in table.full_text_ddl():
                connection.execute(text(statement))
            record = upsert(CATALOG).values(name=collection.name, fields=fields)
            connection.execute(record.on_conflict_do_nothing())

        await self._writing.do(create)
        self._tables[collection.name] = table

    async def get(self, collection: str, document_id: str) -> Document | None:
        wanted = {"wanted": document_id}
        found = self._tables[collection].found
        kept = await self._reading.do(
            lambda connection: connection.execute(found, wanted).scalar_one_or_none()
        )
        return None if kept is None else _decode(kept)

    async def create(self, collection: str, document: Document) -> None:
        table = self._tables[collection]
        row = table.row(document)
        try:
            await self._writing.do(lambda connection: connection.execute(insert(table.rows), [row]))
        except IntegrityError as error:
            raise DocumentExists(str(document["id"])) from error

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        if documents:
            table = self._tables[collection]
            await self._writing.do(lambda connection: _put(connection, table, documents))

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
    ) -> Document | None:
        table = self._tables[collection]
        meets = and_(table.rows.c.id == document_id, *map(table.compile, where))

        def change(connection: Connection) -> Document | None:
            kept = connection.execute(select(table.rows.c.document).where(meets)).scalar_one_or_none()
            if kept is None:
                return None
            changed = {**_decode(kept), **changes}
            _put(connection, table, [changed])
            return changed

        return await self._writing.do(change)

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        if not where:
            raise ValueError("a deletion needs a condition")
        table = self._tables[collection]
        statement = delete(table.rows).where(*map(table.compile, where))
        return await self._writing.do(lambda connection: connection.execute(statement).rowcount)

    async def query(
        self,
        collection: str,
        where: Sequence[Condition],
        *,
        order_by: str = "id",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        _check_limit(limit)
        table = self._tables[collection]
        order, identity = table.rows.c[order_by], table.rows.c.id
        statement = select(order, identity, table.rows.c.document).where(*map(table.compile, where))
        if cursor is not None:
            place = read_cursor(cursor, collection, order_by)
            statement = statement.where(beyond(order, identity, place, descending=descending))
        keys = [key.desc() if descending else key.asc() for key in (order, identity)]
        statement = statement.order_by(*keys).limit(limit + 1)
        found = await self._reading.do(lambda connection: connection.execute(statement).all())
        items = [_decode(document) for _, _, document in found[:limit]]
        if len(found) <= limit:
            return Page(items, None)
        value, document_id, _ = found[limit - 1]
        return Page(items, write_cursor(collection, order_by, value, document_id))

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        _check_limit(limit)
        wanted = _WORD.findall(words)
        if not wanted:
            return []
        table = self._tables[collection]
        # Quoted words are never FTS syntax; the star makes the last one a prefix.
        quoted = " ".join(f'"{word}"' for word in wanted) + "*"
        statement = (
            select(table.rows.c.document)
            .join(table.full_text, table.full_text.c.rowid == table.rows.c.position)
            .where(literal_column(table.full_text.name).match(quoted), *map(table.compile, where))
            .order_by(literal_column("rank"), table.rows.c.id.desc())
            .limit(limit)
        )
        found = await self._reading.do(lambda connection: connection.execute(statement).scalars().all())
        return [_decode(document) for document in found]

    async def close(self) -> None:
        self._writing.close()
        self._reading.close()


@asynccontextmanager
async def open_sqlite(path: Path) -> AsyncGenerator[SqliteStorage]:
    """Opens (and makes) the file, and closes it."""
    storage = SqliteStorage(path)
    try:
        await storage.load()
        yield storage
    finally:
        await storage.close()


class _Access:
    """Some connections to the file, each call in a thread and a transaction of its own."""

    def __init__(self, path: Path, begin: str, connections: int) -> None:
        self._engine = _engine(path, begin, connections)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="storage")

    async def do(self, work: Callable[[Connection], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, work)

    def _do(self, work: Callable[[Connection], Found]) -> Found:
        with _translated_errors(), self._engine.begin() as connection:
            return work(connection)

    def close(self) -> None:
        self._threads.shutdown()
        self._engine.dispose()


def _engine(path: Path, begin: str, connections: int) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        connect_args={"timeout": _BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        # The driver would begin transactions by itself, and only DEFERRED ones.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        yield
    except OperationalError as error:
        raise StorageUnavailable("The embedded store is locked, full or damaged.") from error


def _put(connection: Connection, table: CollectionTable, documents: Sequence[Document]) -> None:
    connection.execute(table.replacing, [table.row(document) for document in documents])


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise ValueError(f"limit must be from 1 to {MAX_PAGE}")


def _decode(document: str) -> Document:
    decoded: Document = json.loads(document)
    return decoded
