"""Completes a store whose first steps were others than `initial` is now: fields, a collection, and what is
compared in documents. A store that `initial` made as it is now is only looked at.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from app.core.storage.port import Collection, Document, Equals, Field, Query, Storage
from migrations.backfill import Progress

_AT_ONCE = 500

_FIELDS = {
    "sessions": [Field("turns", "integer")],
    "messages": [Field("sequence", "integer"), Field("version_count", "integer")],
    "result_chunks": [Field("created_at", "integer")],
}


async def migrate(storage: Storage, progress: Progress) -> None:
    """Change the documents that lack a field. What is changed already is left as it is."""

    async def number(session: Document) -> Document:
        """Turns were not counted: each question began one, and messages were ordered by their ids."""
        turns = await _number_messages(storage, str(session["id"]))
        return {"summary": None, **session, "turns": turns, "turn": turns}

    async def rate(message: Document) -> Document:
        """Ratings were not part of their messages."""
        given = await storage.get("feedback", str(message["id"]))
        feedback = given and {name: given[name] for name in ("rating", "comment", "corrected_sql")}
        return {"feedback": feedback, **message, "version_count": 0}

    async def date(chunk: Document) -> Document:
        return {**chunk, "created_at": UUID(str(chunk["message_id"])).int >> 80}  # the time in a UUIDv7

    await storage.create_collection(
        Collection("model_choices", [Field("model", "keyword"), Field("host", "keyword")])
    )
    for collection, fields in _FIELDS.items():
        await storage.add_fields(collection, fields)
    await _change_lacking(storage, "sessions", "turns", change=number, progress=progress)
    await _change_lacking(storage, "messages", "version_count", change=rate, progress=progress)
    await _change_lacking(storage, "result_chunks", "created_at", change=date, progress=progress)


async def _change_lacking(
    storage: Storage,
    collection: str,
    field: str,
    *,
    change: Callable[[Document], Awaitable[Document]],
    progress: Progress,
) -> None:
    """Change every document without this field, which `change` sets."""
    lacking = [Equals(field, None)]
    total, done = await storage.count(collection, lacking), 0
    while found := (await storage.query(collection, Query(lacking, limit=_AT_ONCE))).items:
        await storage.put(collection, [await change(document) for document in found])
        done += len(found)
        await progress(done, max(total, done))


async def _number_messages(storage: Storage, session_id: str) -> int:
    """Returns the number of the session's turns."""
    turns = 0
    cursor: str | None = None
    while True:
        page = await storage.query(
            "messages", Query([Equals("session_id", session_id)], limit=_AT_ONCE, cursor=cursor)
        )
        numbered: list[Document] = []
        for message in page.items:
            is_question = message["role"] == "human"
            turns += is_question
            numbered.append({**message, "sequence": 2 * turns + (not is_question)})
        await storage.put("messages", numbered)
        if (cursor := page.next_cursor) is None:
            return turns
