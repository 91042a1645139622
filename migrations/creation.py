"""Making collections, as a step of a migration does."""

from collections.abc import Sequence

from app.core.storage.port import Collection, Storage
from migrations.backfill import Progress


async def create_all(storage: Storage, collections: Sequence[Collection], progress: Progress) -> None:
    """Those that are there already are left as they are."""
    for number, collection in enumerate(collections):
        await storage.create_collection(collection)
        await progress(number + 1, len(collections))
