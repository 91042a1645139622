"""Collection of what databases hold, at a glance, for each of their readers."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

OVERVIEWS = Collection(
    "overviews",
    [Field("owner", "keyword"), Field("db_connection_id", "keyword"), Field("due_at", "integer")],
)


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collection; one that exists already is left as it is."""
    await storage.create_collection(OVERVIEWS)
    await progress(1, 1)
