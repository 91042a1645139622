"""The embedded store: one SQLite file, a table a collection, through SQLAlchemy.

A write is durable against the death of the process, though not of the machine (WAL, synchronous
NORMAL). All writes go through one connection that begins IMMEDIATE, so that a condition and the
change it guards are one step, for other processes on the file too.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue
from sqlalchemy import Connection, and_, column, delete, insert, select, text
from sqlalchemy.exc import IntegrityError

from app.core.storage.port import Collection, Condition, Document, DocumentExists, Field, Page
from app.core.storage.sqlite_access import Access
from app.core.storage.sqlite_paging import Order, Place, beyond, read_cursor, write_cursor
from app.core.storage.sqlite_tables import CATALOG, CollectionTable

MAX_PAGE = 1_000

_READERS = 4
_ANALYSED_ROWS = 400
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # letters and digits with their accents


class SqliteStorage:
    """Implements `Storage`; opened by `open_sqlite`."""

    def __init__(self, path: Path) -> None:
        self._writing = Access(path, "BEGIN IMMEDIATE", connections=1)
        self._reading = Access(path, "BEGIN", connections=_READERS)
        self._tables: dict[str, CollectionTable] = {}

    async def load(self) -> None:
        """Learn the collections that the file holds."""
        for name, fields in await self._writing.do(_read_catalog):
            declared = [Field(field, kind) for field, kind in json.loads(fields)]
            self._tables[name] = CollectionTable(Collection(name, declared))

    async def _table(self, collection: str) -> CollectionTable:
        if collection not in self._tables:
            await self.load()  # another process may have made it since
        return self._tables[collection]

    async def create_collection(self, collection: Collection) -> None:
        table = CollectionTable(collection)
        await self._writing.do(lambda connection: _create_table(connection, table))
        self._tables[collection.name] = table

    async def get(self, collection: str, document_id: str) -> Document | None:
        found, wanted = (await self._table(collection)).found, {"wanted": document_id}
        kept = await self._reading.do(lambda opened: opened.execute(found, wanted).scalar_one_or_none())
        return None if kept is None else _decode(kept)

    async def create(self, collection: str, document: Document) -> None:
        table = await self._table(collection)
        row = table.row(document)
        try:
            await self._writing.do(lambda connection: connection.execute(insert(table.rows), [row]))
        except IntegrityError as error:
            raise DocumentExists(str(document["id"])) from error

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        if documents:
            table = await self._table(collection)
            await self._writing.do(lambda connection: _put(connection, table, documents))

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
    ) -> Document | None:
        table = await self._table(collection)
        meets = and_(table.rows.c.id == document_id, *map(table.compile, where))

        def change(connection: Connection) -> Document | None:
            kept = connection.execute(select(table.document).where(meets)).scalar_one_or_none()
            if kept is None:
                return None
            changed = {**_decode(kept), **changes, "id": document_id}
            _put(connection, table, [changed])
            return changed

        return await self._writing.do(change)

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        if not where:
            raise ValueError("a deletion needs a condition")
        table = await self._table(collection)
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
        table = await self._table(collection)
        order = Order(collection, table.field(order_by), descending)
        ordered, identity = table.rows.c[order_by], table.rows.c.id
        statement = select(ordered, identity, table.document).where(*map(table.compile, where))
        if cursor is not None:
            place = read_cursor(cursor, order)
            statement = statement.where(beyond(ordered, identity, place, descending=descending))
        keys = [key.desc() if descending else key.asc() for key in (ordered, identity)]
        statement = statement.order_by(*keys).limit(limit + 1)
        found = await self._reading.do(lambda connection: connection.execute(statement).all())
        items = [_decode(document) for _, _, document in found[:limit]]
        if len(found) <= limit:
            return Page(items, None)
        value, document_id, _ = found[limit - 1]
        return Page(items, write_cursor(order, Place(value, document_id)))

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        _check_limit(limit)
        wanted = _WORD.findall(words)
        if not wanted:
            return []
        table = await self._table(collection)
        # Quoted words are never FTS syntax; the star makes the last one a prefix.
        quoted = " ".join(f'"{word}"' for word in wanted) + "*"
        statement = (
            select(table.document)
            .join(table.full_text, table.full_text.c.rowid == table.position)
            .where(column(table.full_text.name).match(quoted), *map(table.compile, where))
            .order_by(column("rank"), table.rows.c.id.desc())
            .limit(limit)
        )
        found = await self._reading.do(lambda connection: connection.execute(statement).scalars().all())
        return [_decode(document) for document in found]

    async def close(self) -> None:
        for access in (self._reading, self._writing):
            await asyncio.to_thread(access.close)


@asynccontextmanager
async def open_sqlite(path: Path) -> AsyncGenerator[SqliteStorage]:
    """Opens (and makes) the file, and closes it."""
    storage = SqliteStorage(path)
    try:
        await storage.load()
        yield storage
    finally:
        await storage.close()


def _read_catalog(connection: Connection) -> list[tuple[str, str]]:
    CATALOG.create(connection, checkfirst=True)
    # Without statistics SQLite may search by the wider of two conditions.
    connection.exec_driver_sql(f"PRAGMA analysis_limit={_ANALYSED_ROWS}")
    connection.exec_driver_sql("ANALYZE")
    return [(name, fields) for name, fields in connection.execute(select(CATALOG))]


def _create_table(connection: Connection, table: CollectionTable) -> None:
    kept = connection.execute(select(CATALOG.c.fields).where(CATALOG.c.name == table.name)).scalar()
    if kept is None:
        table.rows.create(connection)
        for statement in table.full_text_ddl():
            connection.execute(text(statement))
        connection.execute(insert(CATALOG).values(name=table.name, fields=table.specification()))
    elif kept != table.specification():
        raise ValueError(f"the collection {table.name!r} is kept with other fields")


def _put(connection: Connection, table: CollectionTable, documents: Sequence[Document]) -> None:
    connection.execute(table.replacing, [table.row(document) for document in documents])


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise ValueError(f"limit must be from 1 to {MAX_PAGE}")


def _decode(document: str) -> Document:
    decoded: Document = json.loads(document)
    return decoded
