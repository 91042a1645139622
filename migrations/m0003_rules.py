"""Collections of stored rules, and of the toggles of rules."""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

COLLECTIONS = [
    Collection("rules", [Field("audience", "keyword"), Field("owner", "keyword")]),
    Collection("rule_states", [Field("audience", "keyword")]),
]


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collections; one that exists already is left as it is."""
    for number, collection in enumerate(COLLECTIONS, 1):
        await storage.create_collection(collection)
        await progress(number, len(COLLECTIONS))
