"""The order of a session's messages: a number each, taken from the number of their turn."""

from app.core.storage.port import Equals, Field, Storage
from migrations.backfill import Progress

_AT_ONCE = 200


async def migrate(storage: Storage, progress: Progress) -> None:
    await storage.add_fields("sessions", [Field("turns", "integer")])
    await storage.add_fields("messages", [Field("sequence", "integer")])
    total, done = await storage.count("sessions", []), 0
    cursor: str | None = None
    while True:
        page = await storage.query("sessions", [], limit=_AT_ONCE, cursor=cursor)
        for session in page.items:
            turns = await _number_messages(storage, str(session["id"])) // 2 + 1
            await storage.put("sessions", [{"turns": turns, "turn": turns, "summary": None, **session}])
        done += len(page.items)
        await progress(done, max(total, done))
        if (cursor := page.next_cursor) is None:
            return


async def _number_messages(storage: Storage, session_id: str) -> int:
    """In the order of their ids, in which they were kept until now; returns how many there are."""
    number = 0
    cursor: str | None = None
    while True:
        page = await storage.query(
            "messages", [Equals("session_id", session_id)], limit=_AT_ONCE, cursor=cursor
        )
        numbered = [{**message, "sequence": number + place} for place, message in enumerate(page.items)]
        await storage.put("messages", numbered)
        number += len(numbered)
        if (cursor := page.next_cursor) is None:
            return number
