"""Collections of the steps and calls of investigations."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

_OF_MESSAGE = [Field("owner", "keyword"), Field("session_id", "keyword"), Field("message_id", "keyword")]

COLLECTIONS = [
    Collection("agent_steps", _OF_MESSAGE),
    Collection("tool_calls", [*_OF_MESSAGE, Field("status", "keyword")]),
]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collections; one that exists already is left as it is."""
    for number, collection in enumerate(COLLECTIONS, 1):
        await storage.create_collection(collection)
        await progress(number, len(COLLECTIONS))
