"""Changes every document of a collection, for the steps of a migration."""

from collections.abc import Awaitable, Callable

from app.core.storage.port import Document, Query, Storage

Progress = Callable[[int, int], Awaitable[None]]
"""Called with the number of items done and the total."""

_AT_ONCE = 500


async def backfill(
    storage: Storage, collection: str, change: Callable[[Document], Document], *, progress: Progress
) -> None:
    """Replace every document by what `change` makes of it. `change` must be idempotent."""
    total = await storage.count(collection, [])
    done = 0
    cursor: str | None = None
    while True:
        page = await storage.query(collection, Query(limit=_AT_ONCE, cursor=cursor))
        await storage.put(collection, [change(document) for document in page.items])
        done += len(page.items)
        await progress(done, max(total, done))
        if (cursor := page.next_cursor) is None:
            return
