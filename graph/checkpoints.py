"""The checkpointer of each store: LangGraph's SQLite saver when embedded, or Typesense."""

import sqlite3
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiosqlite
import httpx
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from typesense import AsyncClient
from typesense.exceptions import TypesenseClientError

from graph.errors import CheckpointsUnavailable
from typesense_checkpoint import CheckpointIncomplete, TypesenseCheckpointer

Checkpointer = BaseCheckpointSaver[str]


class SqliteCheckpointer(AsyncSqliteSaver):
    """LangGraph's SQLite saver with pruning, which it lacks."""

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all checkpoints of the threads but the latest of each namespace, or (`delete`) all of them.

        KAI's graphs have no delta channels, which would need earlier checkpoints.
        """
        async with self.lock:
            for thread_id in thread_ids:
                for table in ("writes", "checkpoints"):
                    await self.conn.execute(_PRUNING[strategy].format(table=table), {"thread_id": thread_id})
            await self.conn.commit()


_PRUNING = {
    "delete": "DELETE FROM {table} WHERE thread_id = :thread_id",
    "keep_latest": """
        DELETE FROM {table} WHERE thread_id = :thread_id AND (checkpoint_ns, checkpoint_id) NOT IN (
            SELECT checkpoint_ns, max(checkpoint_id) FROM checkpoints
            WHERE thread_id = :thread_id GROUP BY checkpoint_ns)""",
}


@asynccontextmanager
async def sqlite_checkpointer(path: Path, cipher: CipherProtocol) -> AsyncGenerator[SqliteCheckpointer]:
    """Open the checkpointer of a file, which is created if missing.

    Checkpoints survive a crash of the process. The latest may be lost in a power failure.
    """
    async with aiosqlite.connect(path) as connection:
        saver = SqliteCheckpointer(connection, serde=_serializer(cipher))
        await saver.setup()
        await connection.execute("PRAGMA synchronous=NORMAL")
        yield saver


async def typesense_checkpointer(
    client: AsyncClient, collection: str, cipher: CipherProtocol
) -> TypesenseCheckpointer:
    """Open the checkpointer of a Typesense collection, which is created if missing.

    Raises `TypesenseClientError` or `httpx.HTTPError`.
    """
    saver = TypesenseCheckpointer(client, collection=collection, serde=_serializer(cipher))
    await saver.setup()
    return saver


def _serializer(cipher: CipherProtocol) -> SerializerProtocol:
    # Only plain values are constructed, so a tampered checkpoint cannot run code.
    return EncryptedSerializer(cipher, JsonPlusSerializer(allowed_msgpack_modules=None))


@contextmanager
def translated_errors() -> Generator[None]:
    """Raises `CheckpointsUnavailable` when the store is unavailable, slow or full, or refuses a request."""
    try:
        yield
    except (TypesenseClientError, httpx.HTTPError, sqlite3.OperationalError, CheckpointIncomplete) as error:
        raise CheckpointsUnavailable(
            "The store does not answer, so the conversation cannot go on just now. Ask again."
        ) from error
