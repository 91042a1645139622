"""Registered databases: the one way to what stands in them."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.secrets import SecretBox, SecretUnreadable
from app.core.storage.port import Storage
from app.modules.database_connection.databases import Database
from app.modules.database_connection.errors import (
    DatabaseDown,
    DatabaseUnreachable,
    StatementRefused,
    TableNotFound,
    UrlNotSupported,
)
from app.modules.database_connection.execution import Statement
from app.modules.database_connection.inspection import InspectedStatement, inspect, sample_statement
from app.modules.database_connection.limits import Limits
from app.modules.database_connection.repository import Connection, ConnectionRepository
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.scan import scan
from app.modules.database_connection.schema import Schema, Table
from app.modules.database_connection.threads import DatabaseThreads, Stop
from app.modules.database_connection.urls import read_url
from graph.errors import DatabaseUnavailable, StatementFailed


class DatabaseConnections:
    """Every method names the owner; what belongs to somebody else raises `ConnectionNotFound`."""

    def __init__(self, storage: Storage, secrets: SecretBox, limits: Limits) -> None:
        self._repository = ConnectionRepository(storage)
        self._secrets = secrets
        self._limits = limits
        self._threads = DatabaseThreads(limits.max_threads)
        self._schemas: OrderedDict[str, Schema] = OrderedDict()
        self._scans: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def register(self, owner: str, url: str, name: str, description: str) -> Connection:
        """Test a database and keep its URL, encrypted.

        Raises `UrlNotSupported` or `DatabaseUnreachable`, in words without secrets.
        """
        database = await asyncio.to_thread(read_url, url)
        try:
            await self._threads.run(lambda stop: _try(database, self._limits, stop))
        except DatabaseUnavailable as error:
            raise DatabaseUnreachable(error.detail) from None
        connection = Connection(
            id=new_id(),
            owner=owner,
            name=name,
            description=description,
            dialect=database.dialect,
            masked_url=database.masked_url,
            encrypted_url=self._secrets.encrypt(database.url),
            created_at=now_ms(),
        )
        await self._repository.save(connection)
        return connection

    async def get(self, owner: str, connection_id: str) -> Connection:
        return await self._repository.get(owner, connection_id)

    async def page(self, owner: str, limit: int, cursor: str | None) -> tuple[list[Connection], str | None]:
        return await self._repository.page(owner, limit, cursor)

    async def delete(self, owner: str, connection_id: str) -> None:
        """Forget a connection and its tables; its sessions stay readable."""
        connection = await self._repository.get(owner, connection_id)
        await self._repository.delete(connection)
        self._schemas.pop(connection.id, None)

    async def scan(self, owner: str, connection_id: str) -> Connection:
        """Read the schema anew; descriptions given by people stay. Raises `DatabaseDown`."""
        connection = await self._repository.get(owner, connection_id)
        async with self._scan_lock(connection.id):
            try:
                return await self._scan(connection)
            except DatabaseUnavailable as error:
                raise DatabaseDown(error.detail) from error

    async def tables(
        self, owner: str, connection_id: str, limit: int, cursor: str | None
    ) -> tuple[list[Table], str | None]:
        """The tables that the last scan has found, by name; none before the first."""
        connection = await self._repository.get(owner, connection_id)
        return await self._repository.tables(connection, limit, cursor)

    async def describe_table(
        self, owner: str, connection_id: str, table_name: str, description: str
    ) -> Table:
        """Raises `TableNotFound`."""
        connection = await self._repository.get(owner, connection_id)
        async with self._scan_lock(connection.id):
            schema = await self._repository.schema(connection)
            found = next((table for table in schema.tables if table.name == table_name), None)
            if found is None:
                raise TableNotFound("The scanned schema has no table of this name.")
            described = replace(found, description=description)
            await self._repository.save_table(connection, described)
            self._schemas.pop(connection.id, None)
        return described

    async def sample(self, owner: str, connection_id: str, table_name: str) -> ResultSet:
        """The first rows of a table. Raises `TableNotFound`, `StatementRefused` or `DatabaseDown`."""
        connection, schema = await self._known(owner, connection_id)
        table = next((each for each in schema.tables if each.name == table_name), None)
        if table is None:
            raise TableNotFound("The scanned schema has no table of this name.")
        try:
            return await self.run(connection, sample_statement(table, schema.dialect))
        except StatementFailed as failure:
            raise StatementRefused(failure.detail) from failure
        except DatabaseUnavailable as error:
            raise DatabaseDown(error.detail) from error

    async def inspect(self, owner: str, connection_id: str, sql: str) -> InspectedStatement:
        """Look at a statement without running it. Raises `StatementRefused` or `DatabaseDown`."""
        _, schema = await self._known(owner, connection_id)
        try:
            return await asyncio.to_thread(inspect, sql, schema)
        except StatementFailed as failure:
            raise StatementRefused(failure.detail) from failure

    async def _known(self, owner: str, connection_id: str) -> tuple[Connection, Schema]:
        """A connection with its schema. Raises `DatabaseDown` when it cannot be read for the first time."""
        connection = await self._repository.get(owner, connection_id)
        try:
            return connection, await self.schema(connection)
        except DatabaseUnavailable as error:
            raise DatabaseDown(error.detail) from error

    async def schema(self, connection: Connection) -> Schema:
        """The schema as last scanned; the first need of it scans. Raises `DatabaseUnavailable`."""
        if connection.id not in self._schemas:
            async with self._scan_lock(connection.id):
                await self._learn(connection)
        self._schemas.move_to_end(connection.id)
        return self._schemas[connection.id]

    async def run(self, connection: Connection, sql: str) -> ResultSet:
        """Check a statement and run it read-only under limits; on cancellation it stops in the database.

        Raises `StatementFailed` or `DatabaseUnavailable`.
        """
        schema = await self.schema(connection)
        limits = self._limits
        statement = Statement(
            sql, schema, self._database(connection), limits.statement, limits.connect_seconds
        )
        return await self._threads.run(statement.run)

    def _database(self, connection: Connection) -> Database:
        """Raises `DatabaseUnavailable` when the URL that was kept is of no use any more."""
        try:
            return read_url(self._secrets.decrypt(connection.encrypted_url))
        except UrlNotSupported as error:
            raise DatabaseUnavailable(error.detail) from None
        except SecretUnreadable:
            raise DatabaseUnavailable(
                "The URL of this connection was encrypted with another key. Register the database again."
            ) from None

    def _scan_lock(self, connection_id: str) -> asyncio.Lock:
        return self._scans.setdefault(connection_id, asyncio.Lock())

    async def _learn(self, connection: Connection) -> None:
        """Under the scan lock: whoever waited for it may find the schema known by now."""
        if connection.id in self._schemas:
            return
        now = await self._repository.get(connection.owner, connection.id)
        if now.scanned_at is None:
            await self._scan(now)
        else:
            self._remember(now.id, await self._repository.schema(now))

    async def _scan(self, connection: Connection) -> Connection:
        database = self._database(connection)
        found = await self._threads.run(lambda stop: scan(database, self._limits, stop))
        known = await self._repository.schema(connection)
        schema = replace(found, tables=_described(found.tables, known.tables))
        scanned = await self._repository.keep_scan(connection, schema, replacing=known)
        self._remember(connection.id, schema)
        return scanned

    def _remember(self, connection_id: str, schema: Schema) -> None:
        self._schemas[connection_id] = schema
        while len(self._schemas) > self._limits.max_cached_schemas:
            self._schemas.popitem(last=False)


def _described(tables: Sequence[Table], known: Sequence[Table]) -> list[Table]:
    """The tables with what people, or else their database, have said of them."""
    said = {table.name: table.description for table in known}
    return [replace(table, description=said.get(table.name) or table.description) for table in tables]


def _try(database: Database, limits: Limits, stop: Stop) -> None:
    stop.after(limits.connect_seconds)
    with database.session(stop, limits.connect_seconds) as session:
        list(session.execute("SELECT 1").rows)
