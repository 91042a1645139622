"""Fields by which sessions that are not kept are left out of lists and deleted, and ended runs are listed."""

from app.core.storage.port import Field, Storage
from migrations.backfill import Progress

SESSION_FIELDS = [Field("expires_at", "integer")]
RUN_FIELDS = [Field("expires_at", "integer"), Field("ended_at", "integer")]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Declare the fields. Sessions of before are kept."""
    await storage.add_fields("sessions", SESSION_FIELDS)
    await storage.add_fields("runs", RUN_FIELDS)
    await progress(1, 1)
