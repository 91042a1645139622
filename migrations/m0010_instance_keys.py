"""Collection of the key by which an installation names what it names, encrypted."""

from app.core.storage.port import Collection, Storage
from migrations.backfill import Progress


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collection; one that exists already is left as it is."""
    await storage.create_collection(Collection("instance_keys", []))
    await progress(1, 1)
