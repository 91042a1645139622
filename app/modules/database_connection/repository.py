"""Connections and their scanned tables in the store."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict

from pydantic import JsonValue, TypeAdapter

from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.ids import id_of
from app.core.storage.documents import Documents, all_documents
from app.core.storage.edits import version_of
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import AnyOf, Document, Equals, Query, Storage
from app.modules.database_connection.engines.urls import database_name
from app.modules.database_connection.errors import ConnectionNotFound, NotTheOwner
from app.modules.database_connection.model import Connection, ConnectionEdit
from app.modules.database_connection.roles import Roles
from app.modules.database_connection.scan.progress import ScanProgress
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.scan.vectors_kept import is_of_vectors
from app.modules.database_connection.schema import Schema, Table

_PAGE = 200
_WRITTEN = 250
"""Tables in one write."""
_ALL_USERS = "all"
# Those from the examples on are other modules', which are deleted with their connection.
_OF_A_CONNECTION = ("tables", "column_texts", "scans", "examples", "glossary", "instructions", "overviews")

_TEXTS = TypeAdapter(dict[str, list[str]])
_PROGRESS = TypeAdapter(ScanProgress)
_TABLE = TypeAdapter(Table)


class ConnectionRepository:
    """Every read names the reader. A connection of another owner that is not shared is unknown."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._connections = Documents(storage, "database_connections", Connection, write=_written)
        self._tables_kept = Documents(storage, "tables", Table, upgrade=_table_fields)

    async def save(self, connection: Connection) -> None:
        await self._connections.put(connection)

    async def get(self, reader: str, connection_id: str) -> Connection:
        """Returns a connection that the reader may use. Raises `ConnectionNotFound`."""
        found = await self._storage.get("database_connections", connection_id)
        if found is None or found["readers"] not in _read_by(reader):
            raise _not_found()
        return self._connections.read(found)

    async def exists(self, connection_id: str) -> bool:
        """True for a connection of any owner."""
        return await self._storage.get("database_connections", connection_id) is not None

    async def has_policies(self, reader: str, connection_ids: Iterable[str]) -> bool:
        """True if one of these connections shows each person what its policies let them see. Those that the
        reader may not use show nothing.
        """
        for each in sorted(set(connection_ids)):
            try:
                if (await self.get(reader, each)).policies is not None:
                    return True
            except ConnectionNotFound:
                continue
        return False

    async def policies_changed(self, reader: str, connection_ids: Iterable[str], since: int) -> bool:
        """True if the policies of one of these connections, as far as the reader may use them, have changed
        since a time in epoch milliseconds.
        """
        for each in sorted(set(connection_ids)):
            with suppress(ConnectionNotFound):
                if (await self.get(reader, each)).policies_at >= since:
                    return True
        return False

    async def own(self, owner: str, connection_id: str) -> Connection:
        """Returns a connection of this owner. Raises `ConnectionNotFound` or `NotTheOwner`."""
        connection = await self.get(owner, connection_id)
        if connection.owner != owner:
            raise NotTheOwner
        return connection

    async def page(self, reader: str, wanted: ListRequest) -> Listed[Connection]:
        return await self._connections.list_page([AnyOf("readers", _read_by(reader))], wanted)

    async def oldest(self, reader: str, limit: int) -> list[Connection]:
        """Returns the first connections that the reader may use, oldest first."""
        return await self._connections.first(Query([AnyOf("readers", _read_by(reader))], limit=limit))

    async def edit(self, connection: Connection, edit: ConnectionEdit) -> Connection:
        """Change fields together for the owner. What was scanned at another address counts no longer.

        Raises `ConnectionNotFound` when the connection was deleted meanwhile.
        """
        changes: Document = {
            name: asdict(value) if isinstance(value, Roles) else value
            for name, value in edit.items()
            if isinstance(value, str | int | Roles)
        }
        if "policies" in edit:
            changes |= {"policies": edit["policies"], "policies_at": now_ms()}
        if "ask_above_rows" in edit:
            changes["ask_above_rows"] = edit["ask_above_rows"]
        if "refuse_above_rows" in edit:
            changes["refuse_above_rows"] = edit["refuse_above_rows"]
        if "shared" in edit:
            changes["readers"] = _readers(connection.owner, edit["shared"])
        if "starters" in edit:
            changes["starters"] = [*edit["starters"]]
        if "schemas" in edit:
            changes["schemas"] = [*edit["schemas"]]
        if "address" in edit:
            changes |= {**asdict(edit["address"]), "scanned_at": None, "table_count": None}
        changed = await self._connections.edit(connection.id, changes)
        if changed is None:
            raise _not_found()
        if "address" in edit:
            await self._storage.delete("column_texts", [Equals("db_connection_id", connection.id)])
        return changed

    async def delete(self, connection: Connection) -> None:
        """Delete the connection last, so that an interrupted deletion can be repeated."""
        await self.delete_parts(connection)
        await self._connections.delete(Equals("id", connection.id))

    async def delete_parts(self, connection: Connection) -> None:
        """All that hangs on a connection."""
        vectors = filter(is_of_vectors, self._storage.collections())
        for collection in (*_OF_A_CONNECTION, *vectors):
            await self._storage.delete(collection, [Equals("db_connection_id", connection.id)])

    async def keep_catalog(self, connection: Connection, found: Schema, replacing: Schema) -> None:
        """Keep these tables, and no others, of a connection; the connection last, as the proof.

        Raises `ConnectionNotFound`, and keeps nothing, when it was deleted meanwhile.
        """
        for start in range(0, len(found.tables), _WRITTEN):  # other requests take turns in between
            some = found.tables[start : start + _WRITTEN]
            await self._storage.put("tables", [_document(connection, table) for table in some])
        gone = {table.name for table in replacing.tables} - {table.name for table in found.tables}
        mine = Equals("db_connection_id", connection.id)
        if gone:
            for collection in ("tables", "column_texts"):
                await self._storage.delete(collection, [mine, AnyOf("name", sorted(gone))])
        changes: dict[str, JsonValue] = {"scanned_at": now_ms(), "table_count": len(found.tables)}
        if await self._storage.patch("database_connections", connection.id, changes) is None:
            await self._storage.delete("tables", [mine])
            raise _not_found()

    async def keep_profiles(
        self, connection: Connection, scanned: ScannedSchema, names: Sequence[str]
    ) -> None:
        """Keep what is known of the tables of these names."""
        wanted = set(names)
        tables = [table for table in scanned.schema.tables if table.name in wanted]
        texts = [_texts_document(connection, name, scanned.texts.get(name, {})) for name in names]
        await self._storage.put("tables", [_document(connection, table) for table in tables])
        await self._storage.put("column_texts", texts)

    async def keep_progress(self, connection: Connection, progress: ScanProgress) -> None:
        kept = {
            "id": connection.id,
            "owner": connection.owner,
            "db_connection_id": connection.id,
            **asdict(progress),
        }
        await self._storage.put("scans", [kept])

    async def progress(self, connection: Connection) -> ScanProgress:
        """Progress as last stored, by any process."""
        found = await self._storage.get("scans", connection.id)
        return ScanProgress() if found is None else _PROGRESS.validate_python(found)

    async def edit_table(self, connection: Connection, table: Table) -> Table:
        """Store what the owner has written of a table. Returns the table with its version.

        Raises `ConnectionNotFound` when it was deleted meanwhile.
        """
        written: Document = {"table": _table_document(table)}
        changed = await self._tables_kept.edit(id_of(connection.id, table.name), written)
        if changed is None:
            raise _not_found()
        return changed

    async def tables(
        self, connection: Connection, limit: int, cursor: str | None
    ) -> tuple[list[Table], str | None]:
        """Returns a page of tables, sorted by name, and the cursor of the next page."""
        tables = await self._tables(connection)
        start = cursor_position(cursor)
        more = len(tables) > start + limit
        return tables[start : start + limit], position_cursor(start + limit) if more else None

    async def scanned_schema(self, connection: Connection) -> ScannedSchema:
        """All tables that the last scan has found, and the texts in their columns."""
        texts = {
            str(each["name"]): _TEXTS.validate_python(each["texts"])
            async for each in self._all("column_texts", connection)
        }
        database = database_name(connection.dialect, connection.masked_url)
        return ScannedSchema(Schema(connection.dialect, await self._tables(connection), database), texts)

    async def _tables(self, connection: Connection) -> list[Table]:
        found = [self._tables_kept.read(each) async for each in self._all("tables", connection)]
        return sorted(found, key=lambda table: table.name)

    def _all(self, collection: str, connection: Connection) -> AsyncGenerator[Document]:
        own = Query([Equals("db_connection_id", connection.id)], limit=_PAGE)
        return all_documents(self._storage, collection, own)


def _table_fields(document: Document) -> Mapping[str, object]:
    """Returns the fields of a stored table. Its version is that of the document."""
    table = document["table"]
    return {**(table if isinstance(table, dict) else {}), "version": version_of(document)}


def _written(connection: Connection) -> Document:
    return {**asdict(connection), "readers": _readers(connection.owner, connection.shared)}


def _readers(owner: str, shared: bool) -> str:
    return _ALL_USERS if shared else f"owner:{owner}"


def _read_by(reader: str) -> list[str]:
    return [_readers(reader, False), _ALL_USERS]


def _not_found() -> ConnectionNotFound:
    return ConnectionNotFound("There is no database connection with this id.")


def _document(connection: Connection, table: Table) -> Document:
    return {**_key(connection, table.name), "table": _table_document(table), "version": table.version}


def _table_document(table: Table) -> Document:
    """Returns the fields of a table that say more than their defaults: most of a column's say no more."""
    document: Document = _TABLE.dump_python(table, exclude_defaults=True)
    return document


def _texts_document(connection: Connection, name: str, texts: Mapping[str, Sequence[str]]) -> Document:
    kept: Document = {column: list(values) for column, values in texts.items()}
    return {**_key(connection, name), "texts": kept}


def _key(connection: Connection, table_name: str) -> Document:
    return {
        "id": id_of(connection.id, table_name),
        "owner": connection.owner,
        "db_connection_id": connection.id,
        "name": table_name,
    }
