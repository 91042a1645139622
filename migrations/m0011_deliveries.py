"""Field by which notices are found whose deliveries to mail and chats wait."""

from app.core.storage.port import Field, Storage
from migrations.backfill import Progress


async def migrate(storage: Storage, progress: Progress) -> None:
    """Declare the field. Notices of before have no deliveries."""
    await storage.add_fields("notices", [Field("deliver_due_at", "integer")])
    await progress(1, 1)
