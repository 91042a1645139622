"""What several processes agree by: the fence of a session, and the order and attempts of its runs."""

from app.core.storage.port import Document, Field, Storage
from migrations.backfill import Progress, backfill


async def migrate(storage: Storage, progress: Progress) -> None:
    await storage.add_fields("sessions", [Field("fence", "integer")])
    await storage.add_fields("runs", [Field("created_at", "integer"), Field("attempt", "integer")])
    await backfill(storage, "sessions", _session, progress)
    await backfill(storage, "runs", _run, progress)


def _session(document: Document) -> Document:
    return {"fence": 0, **document}


def _run(document: Document) -> Document:
    is_open = document["status"] in ("queued", "running", "open")
    return {**document, "status": "open"} if is_open else document
