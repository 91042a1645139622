"""Changes every document of a collection, for the steps of a migration."""

from collections.abc import Awaitable, Callable

from app.core.storage.port import Document, Query, Storage

Progress = Callable[[int, int], Awaitable[None]]
"""Called with the number of items done and the total."""

_AT_ONCE = 500


async def backfill(
    storage: Storage, collection: str, change: Callable[[Document], Document], *, progress: Progress
) -> None:
    """Replace documents by what `change` makes of them if it changes them. It must be idempotent."""
    total = await storage.count(collection, [])
    done = 0
    cursor: str | None = None
    while True:
        page = await storage.query(collection, Query(limit=_AT_ONCE, cursor=cursor))
        pairs = [(document, change(document)) for document in page.items]
        if changed := [new for old, new in pairs if new != old]:
            await storage.put(collection, changed)
        done += len(page.items)
        await progress(done, max(total, done))
        if (cursor := page.next_cursor) is None:
            return
