"""Collections of schedules and of what they tell."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

COLLECTIONS = [
    Collection(
        "schedules",
        [
            Field("owner", "keyword"),
            Field("board_id", "keyword"),
            Field("pin_id", "keyword"),
            Field("db_connection_id", "keyword"),
            Field("due_at", "integer"),
            Field("created_at", "integer"),
        ],
    ),
    Collection(
        "notices",
        [
            Field("owner", "keyword"),
            Field("board_id", "keyword"),
            Field("pin_id", "keyword"),
            Field("db_connection_id", "keyword"),
            Field("at", "integer"),
            Field("webhook_due_at", "integer"),
        ],
    ),
    Collection("notice_marks", [Field("owner", "keyword")]),
]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collections; one that exists already is left as it is."""
    for number, collection in enumerate(COLLECTIONS, 1):
        await storage.create_collection(collection)
        await progress(number, len(COLLECTIONS))
