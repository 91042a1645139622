"""What was measured for a model, and so how it is asked."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress
from migrations.creation import create_all

COLLECTIONS = [Collection("model_choices", [Field("model", "keyword"), Field("host", "keyword")])]


async def migrate(storage: Storage, progress: Progress) -> None:
    await create_all(storage, COLLECTIONS, progress)
