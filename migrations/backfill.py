"""Changing every document of a collection, as a step of a migration does."""

from collections.abc import Awaitable, Callable

from app.core.storage.port import Document, Storage

Progress = Callable[[int, int], Awaitable[None]]
"""Told how much of how much is done."""

_AT_ONCE = 500


async def backfill(
    storage: Storage, collection: str, change: Callable[[Document], Document], progress: Progress
) -> None:
    """Put every document back as `change` makes it; it must bear to be given its own result."""
    total = await storage.count(collection, [])
    done = 0
    cursor: str | None = None
    while True:
        page = await storage.query(collection, [], limit=_AT_ONCE, cursor=cursor)
        await storage.put(collection, [change(document) for document in page.items])
        done += len(page.items)
        await progress(done, max(total, done))
        if (cursor := page.next_cursor) is None:
            return
