"""Lists of sessions as they grow to a million: `make bench-listing` runs it on a Typesense it starts.

python -m tests.bench.listing [sessions ...]
"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

from app.core.storage.port import Document, Equals, Query, Storage
from app.core.storage.sqlite import open_sqlite
from migrations.runner import migrate
from tests.bench.checkpointers import temporary_folder, typesense
from tests.support.typesense import address_of, open_typesense

OWNERS = 1_000
PAGE = 20
TRIES = 100
WORDS = ["revenue", "customers", "orders", "churn", "margin", "stock", "returns", "region", "month", "price"]


def session(number: int, chance: random.Random) -> Document:
    return {
        "id": str(UUID(int=number + 1)),
        "owner": f"owner {number % OWNERS}",
        "db_connection_id": str(UUID(int=number % 7)),
        "status": "idle",
        "active_run_id": None,
        "updated_at": 1_700_000_000_000 + number * 10,
        "title": " ".join(chance.choices(WORDS, k=4)) + f" {number}",
        "mode": "ask",
        "metadata": {},
        "created_at": 1_700_000_000_000 + number * 10,
    }


async def fill(storage: Storage, start: int, stop: int) -> None:
    chance = random.Random(start)
    for first in range(start, stop, 2_000):
        await storage.put("sessions", [session(n, chance) for n in range(first, min(first + 2_000, stop))])


async def first_page(storage: Storage, owner: str) -> None:
    await page(storage, owner, None)


async def page(storage: Storage, owner: str, cursor: str | None) -> str | None:
    found = await storage.query(
        "sessions",
        Query([Equals("owner", owner)], order_by="updated_at", descending=True, limit=PAGE, cursor=cursor),
    )
    return found.next_cursor


async def cursor_of_page(storage: Storage, owner: str, number: int) -> str | None:
    cursor: str | None = None
    for _ in range(number - 1):
        cursor = await page(storage, owner, cursor)
        if cursor is None:
            return None
    return cursor


async def later_page(storage: Storage, number: int) -> Callable[[str], Awaitable[object]]:
    """Reads that page of one owner's sessions."""
    cursor = await cursor_of_page(storage, "owner 7", number)
    return lambda _: page(storage, "owner 7", cursor)


async def search(storage: Storage, owner: str) -> None:
    await storage.search("sessions", "revenue mon", [Equals("owner", owner)], limit=250)


async def timed(work: Callable[[str], Awaitable[object]]) -> str:
    times: list[float] = []
    chance = random.Random(1)
    for _ in range(TRIES):
        owner = f"owner {chance.randrange(OWNERS)}"
        start = time.perf_counter()
        await work(owner)
        times.append((time.perf_counter() - start) * 1_000)
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered):5.1f} p99 {ordered[int(TRIES * 0.99)]:5.1f} ms"


async def measure(name: str, storage: Storage, sizes: list[int]) -> None:
    await migrate(storage)
    filled = 0
    for size in sizes:
        start = time.perf_counter()
        await fill(storage, filled, size)
        took, filled = time.perf_counter() - start, size
        cells = [f"first page {await timed(lambda owner: first_page(storage, owner))}"]
        last = size // OWNERS // PAGE
        number = min(100, last)
        if number > 1:
            cells.append(f"page {number} {await timed(await later_page(storage, number))}")
        cells.append(f"search {await timed(lambda owner: search(storage, owner))}")
        print(f"{name:<10} {size:>9,} sessions ({took:.0f} s to fill): {', '.join(cells)}", flush=True)


async def main(sizes: list[int]) -> None:
    with typesense() as server:
        async with open_typesense(address_of(server), "bench_") as storage:
            await measure("Typesense", storage, sizes)
    with temporary_folder() as folder:
        async with open_sqlite(folder / "kai.db") as embedded:
            await measure("SQLite", embedded, sizes)


if __name__ == "__main__":
    asyncio.run(main([int(size) for size in sys.argv[1:]] or [10_000, 100_000, 1_000_000]))
