"""Sessions with what hangs on them, and database connections with their scanned tables."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress
from migrations.creation import create_all

COLLECTIONS = [
    Collection(
        "sessions",
        [
            Field("owner", "keyword"),
            Field("db_connection_id", "keyword"),
            Field("status", "keyword"),
            Field("active_run_id", "keyword"),
            Field("updated_at", "integer"),
            Field("title", "text"),
        ],
    ),
    Collection(
        "messages",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("run_id", "keyword"),
            Field("role", "keyword"),
            Field("query", "text"),
        ],
    ),
    Collection(
        "runs",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("status", "keyword"),
            Field("idempotency_key", "keyword"),
        ],
    ),
    Collection(
        "result_chunks",
        [Field("owner", "keyword"), Field("session_id", "keyword"), Field("message_id", "keyword")],
    ),
    Collection(
        "feedback",
        [Field("owner", "keyword"), Field("session_id", "keyword"), Field("message_id", "keyword")],
    ),
    Collection("database_connections", [Field("owner", "keyword"), Field("name", "keyword")]),
    Collection(
        "tables",
        [Field("owner", "keyword"), Field("db_connection_id", "keyword"), Field("name", "keyword")],
    ),
]


async def migrate(storage: Storage, progress: Progress) -> None:
    await create_all(storage, COLLECTIONS, progress)
