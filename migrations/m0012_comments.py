"""Collection of comments, and fields by which the notices of their mentions are deleted."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

COLLECTIONS = [
    Collection(
        "comments",
        [
            Field("owner", "keyword"),
            Field("author", "keyword"),
            Field("thing_id", "keyword"),
            Field("session_id", "keyword"),
            Field("created_at", "integer"),
        ],
    )
]
NOTICE_FIELDS = [Field("session_id", "keyword"), Field("author", "keyword")]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collection and declare the fields; what is there already is left as it is."""
    for collection in COLLECTIONS:
        await storage.create_collection(collection)
    await storage.add_fields("notices", NOTICE_FIELDS)
    await progress(1, 1)
