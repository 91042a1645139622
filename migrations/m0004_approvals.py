"""Declares the time until which a call of a tool can be approved."""

from app.core.storage.port import Field, Storage
from migrations.backfill import Progress


async def migrate(storage: Storage, progress: Progress) -> None:
    """Declare the field; one that is declared already is left as it is."""
    await storage.add_fields("tool_calls", [Field("expires_at", "integer")])
    await progress(1, 1)
