"""Where an embedded KAI keeps its checkpoints: LangGraph's own SQLite saver."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


@asynccontextmanager
async def sqlite_checkpointer(path: Path) -> AsyncGenerator[AsyncSqliteSaver]:
    """Opens (and makes) the file. A checkpoint outlives the death of the process, not a power cut."""
    async with aiosqlite.connect(path) as connection:
        # No module is allowed besides plain values, so a tampered checkpoint cannot run code.
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        await saver.setup()
        await connection.execute("PRAGMA synchronous=NORMAL")
        yield saver
