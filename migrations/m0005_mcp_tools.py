"""Collection of the tools of MCP servers that administrators have approved."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

COLLECTION = Collection("mcp_tools", [Field("server", "keyword")])


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collection; one that exists already is left as it is."""
    await storage.create_collection(COLLECTION)
    await progress(1, 1)
