"""API keys, and who may see a database connection: its owner until he shares it."""

from app.core.storage.port import Collection, Document, Field, Storage
from migrations.backfill import Progress, backfill
from migrations.creation import create_all

COLLECTIONS = [
    Collection(
        "api_keys",
        [Field("owner", "keyword"), Field("prefix", "keyword"), Field("revoked_at", "integer")],
    )
]


async def migrate(storage: Storage, progress: Progress) -> None:
    await create_all(storage, COLLECTIONS, progress)
    await storage.add_fields("database_connections", [Field("readers", "keyword")])
    await backfill(storage, "database_connections", _seen_by_its_owner, progress)


def _seen_by_its_owner(connection: Document) -> Document:
    return {"shared": False, "readers": f"owner:{connection['owner']}", **connection}
