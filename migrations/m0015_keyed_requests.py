"""Collection of requests with an `Idempotency-Key`, and of their responses."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

KEYED_REQUESTS = Collection(
    "keyed_requests",
    [Field("owner", "keyword"), Field("created_at", "integer"), Field("leased_until", "integer")],
)


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collection; one that exists already is left as it is."""
    await storage.create_collection(KEYED_REQUESTS)
    await progress(1, 1)
