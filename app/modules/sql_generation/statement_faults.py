"""Faults of stored statements: why one would no longer run on the schema as it was scanned last."""

from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql_generation.schema_index import SchemaIndex, SchemaIndexes
from graph.errors import DatabaseUnavailable, StatementRefused

_INDEXED_DATABASES = 100


class StatementFaults:
    """Finds the faults of stored statements for routes, which have no run."""

    def __init__(self, connections: DatabaseConnections) -> None:
        self._connections = connections
        self._indexes = SchemaIndexes(_INDEXED_DATABASES)

    async def find(self, connection: Connection, sql: str) -> str | None:
        """Returns why a statement would not run, and the cure.

        Returns None if it would run, and also if the database was never scanned or KAI is too busy to check.
        """
        if await self._connections.known_schema(connection) is None:
            return None
        try:
            scanned = await self._connections.scanned_schema(connection)
        except DatabaseUnavailable:
            return None
        return await find_fault(sql, self._indexes.of(connection.id, scanned), self._connections)


async def find_fault(sql: str, index: SchemaIndex, connections: DatabaseConnections) -> str | None:
    """As `SchemaIndex.fault`, in a thread and only so long. None if KAI is too busy to check."""
    try:
        return await connections.examine(sql, index.fault, sql)
    except StatementRefused as refused:
        return refused.detail
    except DatabaseUnavailable:
        return None
