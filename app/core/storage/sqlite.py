"""The embedded store: one SQLite file with a table for each collection, through SQLAlchemy.

A write survives a crash of the process, but not always one of the machine (WAL, synchronous NORMAL).
All writes go through one connection whose transactions begin IMMEDIATE. So a condition and its change
are atomic, also for other processes that use the file.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue
from sqlalchemy import Connection, and_, column, delete, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from app.core.storage.paging import Order, Place, check_limit, check_vector, read_cursor, write_cursor
from app.core.storage.port import Collection, Condition, Document, DocumentExists, Field, Page
from app.core.storage.sqlite_access import SqliteAccess
from app.core.storage.sqlite_tables import CATALOG, CollectionTable

_READERS = 4
_ANALYSED_ROWS = 400
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # letters and digits with their accents


class SqliteStorage:
    """Implements `Storage`; opened by `open_sqlite`."""

    def __init__(self, path: Path) -> None:
        self._writing = SqliteAccess(path, "BEGIN IMMEDIATE", connections=1)
        self._reading = SqliteAccess(path, "BEGIN", connections=_READERS)
        self._tables: dict[str, CollectionTable] = {}

    async def load(self) -> None:
        """Read the declared collections from the file."""
        for name, fields in await self._writing.do(_read_catalog):
            self._tables[name] = CollectionTable(_collection(name, fields))

    async def _table(self, collection: str) -> CollectionTable:
        if collection not in self._tables:
            await self.load()  # another process may have made it since
        return self._tables[collection]

    def collections(self) -> Sequence[str]:
        return list(self._tables)

    async def create_collection(self, collection: Collection) -> None:
        self._tables[collection.name] = await self._writing.do(lambda opened: _make(opened, collection))

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        table = await self._table(collection)
        self._tables[collection] = await self._writing.do(lambda opened: _extend(opened, table, fields))

    async def get(self, collection: str, document_id: str) -> Document | None:
        found = (await self._table(collection)).found
        wanted = {"wanted": document_id}
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

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        table = await self._table(collection)
        statement = select(func.count()).select_from(table.rows).where(*map(table.compile, where))
        return await self._reading.do(lambda connection: connection.execute(statement).scalar_one())

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
        check_limit(limit)
        table = await self._table(collection)
        order = Order.of(table.collection, order_by, descending=descending)
        ordered = table.rows.c[order_by]
        identity = table.rows.c.id
        statement = select(ordered, identity, table.document).where(*map(table.compile, where))
        if cursor is not None:
            place = read_cursor(cursor, order)
            statement = statement.where(table.beyond(order_by, place, descending=descending))
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
        check_limit(limit)
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

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Document]:
        from app.core.storage.nearness import nearest  # noqa: PLC0415  (numpy: few need it, and it loads slowly)

        check_limit(limit)
        table = await self._table(collection)
        check_vector(table.collection.field(field), vector)
        stored = table.rows.c[field]
        compared = select(table.position, stored).where(stored.is_not(None), *map(table.compile, where))

        def find(connection: Connection) -> list[str]:
            positions = nearest(connection.execute(compared).all(), vector, limit)
            of_positions = select(table.position, table.document).where(table.position.in_(positions))
            documents = dict(connection.execute(of_positions).all())
            return [documents[position] for position in positions]

        return [_decode(document) for document in await self._reading.do(find)]

    async def close(self) -> None:
        for access in (self._reading, self._writing):
            await asyncio.to_thread(access.close)


@asynccontextmanager
async def open_sqlite(path: Path) -> AsyncGenerator[SqliteStorage]:
    """Open a store, creating the file if it is missing. It is closed with the block."""
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


def _collection(name: str, fields: str) -> Collection:
    return Collection(name, [Field(*field) for field in json.loads(fields)])


def _make(connection: Connection, collection: Collection) -> CollectionTable:
    """Returns the table of a collection, created if missing. It may have more fields."""
    kept = connection.execute(select(CATALOG.c.fields).where(CATALOG.c.name == collection.name)).scalar()
    if kept is None:
        table = CollectionTable(collection)
        _create(connection, table)
        connection.execute(insert(CATALOG).values(name=table.name, fields=table.specification()))
        return table
    found = _collection(collection.name, kept)
    if any(field not in found.fields for field in collection.fields):
        raise ValueError(f"the collection {collection.name!r} exists with other fields")
    return CollectionTable(found)


def _create(connection: Connection, table: CollectionTable) -> None:
    table.rows.create(connection)
    for statement in table.full_text_ddl():
        connection.execute(text(statement))


def _extend(connection: Connection, table: CollectionTable, fields: Sequence[Field]) -> CollectionTable:
    """Rebuild a table with more fields in one transaction, with new triggers and indexes."""
    declared = table.collection.fields
    wanted = [*declared, *(field for field in fields if field not in declared)]
    extended = CollectionTable(Collection(table.name, wanted))
    documents = [_decode(kept) for kept in connection.execute(select(table.document)).scalars()]
    table.rows.drop(connection)
    connection.execute(text(f'DROP TABLE IF EXISTS "{table.full_text.name}"'))
    _create(connection, extended)
    if documents:
        _put(connection, extended, documents)
    changed = update(CATALOG).where(CATALOG.c.name == table.name)
    connection.execute(changed.values(fields=extended.specification()))
    return extended


def _put(connection: Connection, table: CollectionTable, documents: Sequence[Document]) -> None:
    connection.execute(table.replacing, [table.row(document) for document in documents])


def _decode(document: str) -> Document:
    decoded: Document = json.loads(document)
    return decoded
