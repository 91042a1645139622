"""The embedded store: one SQLite file with a table for each collection; SQLAlchemy writes its SQL.

A write survives a crash of the process, but not always one of the machine (WAL, synchronous NORMAL).
All writes go through one connection whose transactions begin IMMEDIATE. So a condition and its change
are atomic, also for other processes that use the file.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import JsonValue
from sqlalchemy import bindparam, column, delete, func, insert, select, update
from sqlalchemy.schema import CreateIndex, CreateTable, DropTable

from app.core.storage.paging import Order, PageKey, check_limit, check_vector, read_cursor, write_cursor
from app.core.storage.port import (
    Amend,
    Collection,
    Condition,
    Document,
    DocumentExists,
    Equals,
    Field,
    Near,
    Page,
    Query,
)
from app.core.storage.sqlite_access import Prepared, SqliteAccess, definition
from app.core.storage.sqlite_tables import CATALOG, CollectionTable, Shape

_READERS = 4
_ANALYSED_ROWS = 400
_MERGED_PAGES = 500
"""Of an index of words in one transaction, so that other writes get their turn."""
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # letters and digits with their accents

Catalog: TypeAlias = Sequence[tuple[str, str]]
"""Names of the declared collections, and their fields as `CollectionTable.specification` writes them."""

Begin: TypeAlias = Literal["first", "after null", "after value"]
"""Where a page begins: with the first row, or after a place with no value of the field or with one."""

_built_once = lru_cache(maxsize=1024)


class SqliteStorage:
    """Implements `Storage`; opened by `open_sqlite`."""

    def __init__(self, path: Path) -> None:
        self._writing = SqliteAccess(path, "BEGIN IMMEDIATE", connections=1)
        self._reading = SqliteAccess(path, "BEGIN", connections=_READERS)
        self._tables: dict[str, CollectionTable] = {}

    async def load(self) -> None:
        """Read the declared collections from the file."""
        self._learn(await self._writing.do(_open_catalog))

    def _learn(self, catalog: Catalog) -> None:
        """Know the collections of the catalog as it says now, also those of other processes."""
        for name, fields in catalog:
            if name not in self._tables or self._tables[name].specification() != fields:
                self._tables[name] = _table_of(name, fields)

    async def _table(self, collection: str) -> CollectionTable:
        if collection not in self._tables:
            await self.load()  # another process may have made it since
        return self._tables[collection]

    def collections(self) -> Sequence[str]:
        return list(self._tables)

    async def create_collection(self, collection: Collection) -> None:
        self._learn(await self._writing.do(lambda opened: _make(opened, collection)))

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        self._learn(await self._writing.do(lambda opened: _extend(opened, collection, fields)))

    async def get(self, collection: str, document_id: str) -> Document | None:
        table = await self._table(collection)
        shape, values = table.shape([Equals("id", document_id)])
        found = _kept(table, shape)
        kept = await self._reading.read(lambda opened: found.run(opened, values).fetchone())
        return None if kept is None else table.document_of(kept)

    async def create(self, collection: str, document: Document) -> None:
        table = await self._table(collection)
        row = table.row(document)
        try:
            await self._writing.write(lambda connection: table.inserting.run(connection, row))
        except sqlite3.IntegrityError as error:
            raise DocumentExists(str(document["id"])) from error

    async def create_missing(self, collection: str, documents: Sequence[Document]) -> None:
        if documents:
            table = await self._table(collection)
            rows = [table.row(document) for document in documents]
            await self._writing.write(lambda connection: table.inserting_missing.run_many(connection, rows))

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        if documents:
            table = await self._table(collection)
            await self._writing.write(lambda connection: _put(connection, table, documents))

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
        also: Sequence[tuple[str, Document]] = (),
        amend: Amend | None = None,
    ) -> Document | None:
        table = await self._table(collection)
        others = [(await self._table(name), document) for name, document in also]
        shape, values = table.shape([Equals("id", document_id), *where])
        found = _kept(table, shape)

        def change(connection: sqlite3.Connection) -> Document | None:
            kept = found.run(connection, values).fetchone()
            if kept is None:
                return None
            stored = table.document_of(kept)
            amended = stored if amend is None else amend(stored)
            if amended is None:
                return None
            changed = {**amended, **changes, "id": document_id}
            _put(connection, table, [changed])
            for other, document in others:
                _put(connection, other, [document])
            return changed

        return await self._writing.write(change)

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        if not where:
            raise ValueError("a deletion needs a condition")
        table = await self._table(collection)
        shape, values = table.shape(where)
        statement = _deletion(table, shape)
        return await self._writing.do(lambda connection: statement.run(connection, values).rowcount)

    async def forget_earlier(self, collection: str, document_id: str) -> None:
        """A row has one state."""

    async def scrub(self) -> None:
        """SQLite overwrites deleted rows itself. Words stay in an index until its segments are merged, and
        earlier pages in the write-ahead log until it is emptied.
        """
        for table in self._tables.values():
            if table.has_words:
                pages = -_MERGED_PAGES
                while await self._writing.do(partial(_merge, table=table, pages=pages)):
                    pages = _MERGED_PAGES
        await self._writing.empty_log()

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        table = await self._table(collection)
        shape, values = table.shape(where)
        statement = _counted(table, shape)
        number: int = await self._reading.read(lambda opened: statement.run(opened, values).fetchone()[0])
        return number

    async def query(self, collection: str, query: Query) -> Page:
        check_limit(query.limit)
        table = await self._table(collection)
        order = Order.of(table.collection, query)
        shape, values = table.shape(query.where)
        place = None if query.cursor is None else read_cursor(query.cursor, order)
        begin: Begin = "first"
        if place is not None:
            begin = "after null" if place.value is None else "after value"
            values = {**values, "place": place.value, "place_id": place.document_id}
        statement = _page(table, shape, order, begin=begin)
        values = {**values, "limit": query.limit + 1}
        found = await self._reading.read(lambda opened: statement.run(opened, values).fetchall())
        items = [table.document_of(row[2:]) for row in found[: query.limit]]
        if len(found) <= query.limit:
            return Page(items, None)
        value, document_id = found[query.limit - 1][:2]
        return Page(items, write_cursor(order, PageKey(value, document_id)))

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        check_limit(limit)
        wanted = _quoted(words)
        if wanted is None:
            return []
        table = await self._table(collection)
        shape, values = table.shape(where)
        statement = _matching(table, shape, only_ids=False)
        values = {**values, "words": wanted, "limit": limit}
        found = await self._reading.read(lambda opened: statement.run(opened, values).fetchall())
        return [table.document_of(row) for row in found]

    async def search_ids(
        self, collection: str, queries: Sequence[str], where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Sequence[str]]:
        check_limit(limit)
        table = await self._table(collection)
        shape, values = table.shape(where)
        statement = _matching(table, shape, only_ids=True)
        values = {**values, "limit": limit}

        def match(connection: sqlite3.Connection, words: str | None) -> Sequence[str]:
            if words is None:
                return []
            return [found for (found,) in statement.run(connection, {**values, "words": words})]

        def search(connection: sqlite3.Connection) -> list[Sequence[str]]:
            return [match(connection, _quoted(words)) for words in queries]

        return await self._reading.do(search)

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Near]:
        from app.core.storage.nearness import nearest  # noqa: PLC0415  (numpy: few need it, and it loads slowly)

        check_limit(limit)
        table = await self._table(collection)
        check_vector(table.collection.field(field), vector)
        shape, values = table.shape(where)
        compared = _vectors(table, shape, field)

        def find(connection: sqlite3.Connection) -> list[Near]:
            found = nearest(compared.run(connection, values).fetchall(), vector, limit)
            positions = [position for position, _ in found]
            ids = dict(_ids(table).run(connection, {"positions": positions}).fetchall())
            return [Near(ids[position], cosine) for position, cosine in found]

        return await self._reading.do(find)

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


def _quoted(words: str) -> str | None:
    """Returns a query for all words of a text, the last one as a prefix. None if there are none."""
    # Quoted words are never FTS syntax; the star makes the last one a prefix.
    wanted = _WORD.findall(words)
    return " ".join(f'"{word}"' for word in wanted) + "*" if wanted else None


@_built_once
def _kept(table: CollectionTable, shape: Shape) -> Prepared:
    return Prepared(select(*table.kept).where(*table.meets(shape)))


@_built_once
def _deletion(table: CollectionTable, shape: Shape) -> Prepared:
    return Prepared(delete(table.rows).where(*table.meets(shape)))


@_built_once
def _counted(table: CollectionTable, shape: Shape) -> Prepared:
    return Prepared(select(func.count()).select_from(table.rows).where(*table.meets(shape)))


@_built_once
def _page(table: CollectionTable, shape: Shape, order: Order, *, begin: Begin) -> Prepared:
    """Returns a statement for the field of the order, the id and the kept columns of `limit` rows."""
    field = order.field.name
    descending = order.descending
    ordered = table.rows.c[field]
    identity = table.rows.c.id
    keys = [key.desc() if descending else key.asc() for key in (ordered, identity)]
    page = select(ordered, identity, *table.kept).where(*table.meets(shape))
    if begin != "first":
        page = page.where(table.beyond(field, is_null=begin == "after null", descending=descending))
    return Prepared(page.order_by(*keys).limit(bindparam("limit")))


@_built_once
def _matching(table: CollectionTable, shape: Shape, *, only_ids: bool) -> Prepared:
    """Returns a statement for `limit` rows that match `words`, best first."""
    wanted = [table.rows.c.id] if only_ids else table.kept
    matching = (
        select(*wanted)
        .join(table.full_text, table.full_text.c.rowid == table.position)
        .where(column(table.full_text.name).match(bindparam("words")), *table.meets(shape))
        .order_by(column("rank"), table.rows.c.id.desc())
        .limit(bindparam("limit"))
    )
    return Prepared(matching)


@_built_once
def _vectors(table: CollectionTable, shape: Shape, field: str) -> Prepared:
    stored = table.rows.c[field]
    return Prepared(select(table.position, stored).where(stored.is_not(None), *table.meets(shape)))


@_built_once
def _ids(table: CollectionTable) -> Prepared:
    wanted = table.position.in_(bindparam("positions", expanding=True))
    return Prepared(select(table.position, table.rows.c.id).where(wanted))


def _open_catalog(connection: sqlite3.Connection) -> Catalog:
    connection.execute(definition(CreateTable(CATALOG, if_not_exists=True)))
    # Without statistics SQLite may search by the wider of two conditions.
    connection.execute(f"PRAGMA analysis_limit={_ANALYSED_ROWS}")
    connection.execute("ANALYZE")
    return _read_catalog(connection)


def _read_catalog(connection: sqlite3.Connection) -> Catalog:
    return Prepared(select(CATALOG)).run(connection).fetchall()


def _collection(name: str, fields: str) -> Collection:
    return Collection(name, [Field(*field) for field in json.loads(fields)])


@_built_once
def _table_of(name: str, fields: str) -> CollectionTable:
    return CollectionTable(_collection(name, fields))


def _make(connection: sqlite3.Connection, collection: Collection) -> Catalog:
    """Create a collection if it is missing. It may have more fields. Returns the catalog afterwards."""
    catalog = _read_catalog(connection)
    kept = dict(catalog).get(collection.name)
    if kept is None:
        table = CollectionTable(collection)
        _create(connection, table)
        Prepared(insert(CATALOG).values(name=table.name, fields=table.specification())).run(connection)
        return [*catalog, (table.name, table.specification())]
    found = _collection(collection.name, kept)
    if any(field not in found.fields for field in collection.fields):
        raise ValueError(f"the collection {collection.name!r} exists with other fields")
    return catalog


def _create(connection: sqlite3.Connection, table: CollectionTable) -> None:
    connection.execute(definition(CreateTable(table.rows)))
    for index in sorted(table.rows.indexes, key=lambda each: str(each.name)):
        connection.execute(definition(CreateIndex(index)))
    for statement in table.full_text_ddl():
        connection.execute(statement)


def _extend(connection: sqlite3.Connection, name: str, fields: Sequence[Field]) -> Catalog:
    """Rebuild a table with more fields in one transaction, with new triggers and indexes.

    Returns the catalog afterwards. Fields that another process has declared meanwhile stay.
    """
    catalog = dict(_read_catalog(connection))
    table = _table_of(name, catalog[name])
    declared = table.collection.fields
    missing = [field for field in fields if field not in declared]
    if not missing:
        return [*catalog.items()]
    extended = CollectionTable(Collection(name, [*declared, *missing]))
    documents = [table.document_of(kept) for kept in Prepared(select(*table.kept)).run(connection)]
    connection.execute(definition(DropTable(table.rows)))
    connection.execute(f'DROP TABLE IF EXISTS "{table.full_text.name}"')
    _create(connection, extended)
    if documents:
        _put(connection, extended, documents)
    changed = update(CATALOG).where(CATALOG.c.name == name)
    Prepared(changed.values(fields=extended.specification())).run(connection)
    return [*{**catalog, name: extended.specification()}.items()]


def _merge(connection: sqlite3.Connection, table: CollectionTable, pages: int) -> bool:
    """Merge some segments of an index of words; a negative number begins a merge of all. False if there is
    nothing to merge, which SQLite tells by the number of changes.
    """
    before = connection.total_changes
    index = f'"{table.full_text.name}"'
    connection.execute(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608
    return connection.total_changes - before > 1


def _put(connection: sqlite3.Connection, table: CollectionTable, documents: Sequence[Document]) -> None:
    table.replacing.run_many(connection, [table.row(document) for document in documents])
