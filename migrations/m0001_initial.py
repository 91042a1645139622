"""The first schema: every collection of KAI's records, with its indexed fields."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

_TURNS = "turns"
"""What a turn writes at once."""

_OF_CONNECTION = [Field("owner", "keyword"), Field("db_connection_id", "keyword")]
_OF_MESSAGE = [Field("owner", "keyword"), Field("session_id", "keyword"), Field("message_id", "keyword")]

COLLECTIONS = [
    Collection(
        "sessions",
        [
            *_OF_CONNECTION,
            Field("status", "keyword"),
            Field("active_run_id", "keyword"),
            Field("fence", "integer"),
            Field("turns", "integer"),
            Field("updated_at", "integer"),
            Field("title", "text"),
            Field("titled_by", "keyword"),
        ],
        _TURNS,
    ),
    Collection(
        "messages",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("run_id", "keyword"),
            Field("role", "keyword"),
            Field("sequence", "integer"),
            Field("version_count", "integer"),
            Field("query", "text"),
        ],
        _TURNS,
    ),
    Collection(
        "runs",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("status", "keyword"),
            Field("idempotency_key", "keyword"),
            Field("attempt", "integer"),
            Field("created_at", "integer"),
        ],
        _TURNS,
    ),
    Collection("result_chunks", [*_OF_MESSAGE, Field("created_at", "integer")]),
    Collection("feedback", _OF_MESSAGE),
    Collection(
        "conversation_memories",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("covers", "keyword"),
            Field("updated_at", "integer"),
            Field("summary", "text"),
            Field("theme_words", "text"),
        ],
    ),
    Collection(
        "database_connections",
        [Field("owner", "keyword"), Field("name", "keyword"), Field("readers", "keyword")],
    ),
    Collection("scans", _OF_CONNECTION),
    Collection("tables", [*_OF_CONNECTION, Field("name", "keyword")]),
    Collection("column_texts", [*_OF_CONNECTION, Field("name", "keyword")]),
    Collection(
        "examples",
        [
            *_OF_CONNECTION,
            Field("status", "keyword"),
            Field("question_key", "keyword"),
            Field("message_id", "keyword"),
            Field("question", "text"),
        ],
    ),
    Collection("glossary", [*_OF_CONNECTION, Field("term", "text"), Field("meaning", "text")]),
    Collection("instructions", [*_OF_CONNECTION, Field("text", "text")]),
    Collection("model_choices", [Field("model", "keyword"), Field("host", "keyword")]),
    Collection("usage", [Field("owner", "keyword"), Field("day", "integer"), Field("tokens", "integer")]),
    Collection(
        "api_keys",
        [Field("owner", "keyword"), Field("prefix", "keyword"), Field("revoked_at", "integer")],
    ),
]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collections; one that exists already is left as it is."""
    for number, collection in enumerate(COLLECTIONS, 1):
        await storage.create_collection(collection)
        await progress(number, len(COLLECTIONS))
