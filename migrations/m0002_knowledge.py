"""What is known of a database beyond its tables: texts in its columns, how far its scan is, and what
people have told of it (verified examples, glossary, instructions)."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress
from migrations.creation import create_all

_OF_A_CONNECTION = [Field("owner", "keyword"), Field("db_connection_id", "keyword")]

COLLECTIONS = [
    Collection("scans", _OF_A_CONNECTION),
    Collection("column_texts", [*_OF_A_CONNECTION, Field("name", "keyword")]),
    Collection(
        "examples",
        [
            *_OF_A_CONNECTION,
            Field("status", "keyword"),
            Field("question_key", "keyword"),
            Field("message_id", "keyword"),
            Field("question", "text"),
        ],
    ),
    Collection("glossary", [*_OF_A_CONNECTION, Field("term", "text"), Field("meaning", "text")]),
    Collection("instructions", [*_OF_A_CONNECTION, Field("text", "text")]),
]


async def migrate(storage: Storage, progress: Progress) -> None:
    await create_all(storage, COLLECTIONS, progress)
