"""What owners have used of what is counted by the day."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress
from migrations.creation import create_all

COLLECTIONS = [
    Collection("usage", [Field("owner", "keyword"), Field("day", "integer"), Field("tokens", "integer")])
]


async def migrate(storage: Storage, progress: Progress) -> None:
    await create_all(storage, COLLECTIONS, progress)
