"""Connections and their scanned tables in the store."""

import hashlib
from dataclasses import asdict, dataclass, field
from typing import cast

from pydantic import JsonValue, TypeAdapter

from app.core.clock import now_ms
from app.core.ids import is_id
from app.core.storage.port import AnyOf, Document, Equals, Storage
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.schema import Schema, Table

_PAGE = 200


@dataclass(frozen=True)
class Connection:
    """A registered database. `encrypted_url` holds its secrets; times are epoch milliseconds.

    `warnings`: what its account could do beyond reading when it was registered.
    """

    id: str
    owner: str
    name: str
    description: str
    dialect: str
    masked_url: str
    encrypted_url: str = field(repr=False)
    created_at: int
    scanned_at: int | None = None
    table_count: int | None = None
    warnings: tuple[str, ...] = ()


_CONNECTION = TypeAdapter(Connection)
_TABLE = TypeAdapter(Table)


class ConnectionRepository:
    """Every read names the owner; what belongs to somebody else is unknown."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def save(self, connection: Connection) -> None:
        await self._storage.put("database_connections", [cast("Document", asdict(connection))])

    async def get(self, owner: str, connection_id: str) -> Connection:
        """Raises `ConnectionNotFound`."""
        found = (
            await self._storage.get("database_connections", connection_id) if is_id(connection_id) else None
        )
        if found is None or found["owner"] != owner:
            raise _not_found()
        return _CONNECTION.validate_python(found)

    async def page(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Connection], str | None]:
        """Oldest first."""
        where = [Equals("owner", owner)]
        page = await self._storage.query("database_connections", where, limit=limit, cursor=cursor)
        return [_CONNECTION.validate_python(each) for each in page.items], page.next_cursor

    async def delete(self, connection: Connection) -> None:
        """Tables first, so that a deletion broken off can be asked for again; and those last that a scan
        has found meanwhile."""
        tables = [Equals("db_connection_id", connection.id)]
        await self._storage.delete("tables", tables)
        await self._storage.delete("database_connections", [Equals("id", connection.id)])
        await self._storage.delete("tables", tables)

    async def keep_scan(self, connection: Connection, found: Schema, replacing: Schema) -> Connection:
        """Keep these tables, and no others, of a connection; the connection last, as the proof.

        Raises `ConnectionNotFound`, and keeps nothing, when it was deleted meanwhile.
        """
        await self._storage.put("tables", [_document(connection, table) for table in found.tables])
        gone = {table.name for table in replacing.tables} - {table.name for table in found.tables}
        mine = Equals("db_connection_id", connection.id)
        if gone:
            await self._storage.delete("tables", [mine, AnyOf("name", sorted(gone))])
        changes: dict[str, JsonValue] = {"scanned_at": now_ms(), "table_count": len(found.tables)}
        changed = await self._storage.patch("database_connections", connection.id, changes)
        if changed is None:
            await self._storage.delete("tables", [mine])
            raise _not_found()
        return _CONNECTION.validate_python(changed)

    async def save_table(self, connection: Connection, table: Table) -> None:
        await self._storage.put("tables", [_document(connection, table)])

    async def tables(
        self, connection: Connection, limit: int, cursor: str | None
    ) -> tuple[list[Table], str | None]:
        """By name."""
        where = [Equals("db_connection_id", connection.id)]
        page = await self._storage.query("tables", where, order_by="name", limit=limit, cursor=cursor)
        return [_TABLE.validate_python(each["table"]) for each in page.items], page.next_cursor

    async def schema(self, connection: Connection) -> Schema:
        """All tables that the last scan has found."""
        tables, cursor = await self.tables(connection, _PAGE, None)
        while cursor is not None:
            more, cursor = await self.tables(connection, _PAGE, cursor)
            tables += more
        return Schema(connection.dialect, tables)


def _not_found() -> ConnectionNotFound:
    return ConnectionNotFound("There is no database connection with this id.")


def _document(connection: Connection, table: Table) -> Document:
    key = f"{connection.id}/{table.name}"
    document = {
        "id": hashlib.sha256(key.encode()).hexdigest(),
        "owner": connection.owner,
        "db_connection_id": connection.id,
        "name": table.name,
        "table": asdict(table),
    }
    return cast("Document", document)
