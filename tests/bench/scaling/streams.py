"""A thousand open streams: what they cost idle and talking, and how long all need to move to another API.

Idle are streams whose runs still wait, for no worker is up yet. Then workers come, and each stream gets a
word every two seconds. Then all connections break and come back to another API by `Last-Event-ID`.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from functools import partial

from tests.bench.scaling.model import SLOW_QUESTION, SLOW_TOKEN_SECONDS
from tests.bench.scaling.systems import Ground, Use, asked_of, resident_mib, used
from tests.bench.scaling.table import row, title
from tests.bench.scaling.wire import Wire, ask, follow
from tests.support.cluster import Cluster, running_cluster
from tests.support.server import Client

WATCHED_SECONDS = 12
WORKERS = 2
AT_ONCE = 16

Request = Callable[[], Coroutine[None, None, Wire]]


async def measure(ground: Ground, count: int) -> None:
    title(f"{count} open streams")
    row("", "processor of the API", "of the workers", "of Redis", "of Typesense", "of this client")
    room = {"KAI_WORKER__CONCURRENCY": str(max(1, count // WORKERS))}
    patience = {"KAI_LLM__TOTAL_TIMEOUT_SECONDS": "600"}
    settings, folder = ground.over_redis(**room, **patience), ground.folder / "streams"
    with ExitStack() as opened:
        apis = opened.enter_context(running_cluster(folder / "apis", settings, apis=2, workers=0)).apis
        async with asked_of(apis[0], ground.database) as (client, database):
            sessions = await _sessions(client, database, count)
            before = resident_mib(apis[0].process_id)
            asked = [partial(ask, apis[0].address, each, SLOW_QUESTION) for each in sessions]
            start = time.perf_counter()
            wires, refused = await _opened(asked)
            row(f"opened {AT_ONCE} at a time", f"{time.perf_counter() - start:.0f} s", f"{refused} put off")
            _tell("waiting for a worker", await _watch(ground, Cluster(apis[:1], [])))
            held = resident_mib(apis[0].process_id) - before
            row("memory of the API for one of them", f"{1_024 * held / count:.0f} KiB")
            workers = opened.enter_context(
                running_cluster(folder / "workers", settings, apis=0, workers=WORKERS)
            ).workers
            for wire in wires:
                await wire.talking()
            heard = sum(len(each.ids) for each in wires)
            use = await _watch(ground, Cluster(apis[:1], workers))
            rate = (sum(len(each.ids) for each in wires) - heard) / use.seconds
            _tell(f"talking, {rate:.0f} events/s in all", use)
            held = resident_mib(apis[0].process_id) - before
            row("memory of the API for one of them", f"{1_024 * held / count:.0f} KiB")
            await _move(apis[1].address, sessions, wires)


async def _sessions(client: Client, database: str, count: int) -> list[str]:
    room = asyncio.Semaphore(AT_ONCE)

    async def one() -> str:
        async with room:
            return await client.open_session(database)

    return await asyncio.gather(*(one() for _ in range(count)))


async def _opened(requests: Sequence[Request]) -> tuple[list[Wire], int]:
    """The streams, so many opened at a time; and how often a busy server asked to come again."""
    room, refused = asyncio.Semaphore(AT_ONCE), 0

    async def one(request: Request) -> Wire:
        nonlocal refused
        async with room:
            while not await (wire := await request()).accepted():
                refused += 1
                await asyncio.sleep(1)
            return wire

    return await asyncio.gather(*map(one, requests)), refused


async def _watch(ground: Ground, cluster: Cluster) -> Use:
    with used(ground.processes(cluster)) as use:
        await asyncio.sleep(WATCHED_SECONDS)
    return use


def _tell(name: str, use: Use) -> None:
    row(name, *(use.share(each) for each in ("APIs", "workers", "Redis", "Typesense", "client")))


async def _move(address: str, sessions: Sequence[str], wires: Sequence[Wire]) -> None:
    """All break off and come back to another API, each after what it has seen last."""
    for each in wires:
        each.close()
    seen = [each.ids for each in wires]
    asked = [
        partial(follow, address, session, wire.run_id, ids[-1])
        for session, wire, ids in zip(sessions, wires, seen, strict=True)
    ]
    start = time.perf_counter()
    moved, refused = await _opened(asked)
    accepted = time.perf_counter() - start
    for each in moved:
        await each.told()
    heard = time.perf_counter() - start
    await asyncio.sleep(2 * SLOW_TOKEN_SECONDS)
    broken = sum(not _whole(ids + wire.ids) for ids, wire in zip(seen, moved, strict=True))
    title(f"{len(wires)} streams break off and come back to another API")
    row("until all are accepted", f"{accepted:.2f} s")
    row(f"until all have news (one each {SLOW_TOKEN_SECONDS:.0f} s)", f"{heard:.2f} s")
    row("told to come again later", str(refused))
    row("streams with an event lost or repeated", str(broken))
    assert broken == 0


def _whole(ids: Sequence[int]) -> bool:
    return list(ids) == list(range(ids[0], ids[0] + len(ids)))
