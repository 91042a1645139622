"""Where the title of a session came from, and a summary of each conversation to search by."""

from app.core.storage.port import Collection, Document, Field, Storage
from migrations.backfill import Progress, backfill
from migrations.creation import create_all

COLLECTIONS = [
    Collection(
        "conversation_memories",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("covers", "keyword"),
            Field("updated_at", "integer"),
            Field("summary", "text"),
            Field("theme_words", "text"),
        ],
    )
]


async def migrate(storage: Storage, progress: Progress) -> None:
    await create_all(storage, COLLECTIONS, progress)
    await storage.add_fields("sessions", [Field("titled_by", "keyword")])
    await backfill(storage, "sessions", _session, progress)


def _session(document: Document) -> Document:
    """Titles there are already stay as they are: nobody can tell any more who gave them."""
    return {"titled_by": None if document.get("title") is None else "person", **document}
