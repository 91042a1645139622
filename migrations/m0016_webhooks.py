"""Collections of webhooks and their deliveries, and the field by which ended runs are found."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

COLLECTIONS = [
    Collection("webhooks", [Field("owner", "keyword"), Field("created_at", "integer")]),
    Collection(
        "webhook_deliveries",
        [
            Field("owner", "keyword"),
            Field("webhook_id", "keyword"),
            Field("state", "keyword"),
            Field("due_at", "integer"),
            Field("created_at", "integer"),
        ],
    ),
]
RUN_FIELDS = [Field("webhook_due_at", "integer")]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collections and declare the field. Runs of before are not reported."""
    for collection in COLLECTIONS:
        await storage.create_collection(collection)
    await storage.add_fields("runs", RUN_FIELDS)
    await progress(1, 1)
