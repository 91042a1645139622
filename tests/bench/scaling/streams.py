"""A thousand open streams: what they cost idle and talking, and how long all need to move to another API.

Idle are those whose runs wait, for there is no worker. Then, with workers, each gets a word every two
seconds. Then their API is killed, and all come back to another one by `Last-Event-ID`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from itertools import pairwise

from app.core.bus.event_log import IDS_PER_ATTEMPT, first_id
from tests.bench.scaling.model import SLOW_QUESTION, SLOW_TOKEN_SECONDS
from tests.bench.scaling.systems import Ground, Use, asked_of, resident_mib, used
from tests.bench.scaling.table import row, title
from tests.bench.scaling.wire import Wire, ask, follow
from tests.support.cluster import Cluster, running_cluster
from tests.support.server import Client, Server

WATCHED_SECONDS = 12
WORKERS = 2
AT_ONCE = 48

Request = Callable[[], Coroutine[None, None, Wire]]
Ready = Callable[[Wire], Awaitable[object]]


async def measure(ground: Ground, count: int) -> None:
    title(f"{count} open streams")
    row("", "processor of the API", "of the workers", "of NATS", "of Typesense", "of this client")
    await _waiting(ground, count)
    await _talking(ground, count)


async def _waiting(ground: Ground, count: int) -> None:
    folder, settings = ground.folder / "waiting", ground.over_nats()
    with running_cluster(folder, settings, apis=1, workers=0, log=ground.log) as cluster:
        async with asked_of(cluster.apis[0], ground.database) as (client, database):
            sessions = await _sessions(client, database, count)
        before = resident_mib(cluster.apis[0].process_id)
        wires = await _asked(cluster.apis[0], sessions, Wire.accepted)
        _tell("waiting for a worker", await _watch(ground, cluster))
        _tell_memory(cluster.apis[0], before, count)
        for wire in wires:
            wire.close()


async def _talking(ground: Ground, count: int) -> None:
    room = {"KAI_WORKER__CONCURRENCY": str(max(1, count // WORKERS + AT_ONCE))}
    settings = ground.over_nats(**room, KAI_LLM__TOTAL_TIMEOUT_SECONDS="600")
    folder = ground.folder / "talking"
    with running_cluster(folder, settings, apis=2, workers=WORKERS, log=ground.log) as cluster:
        first = cluster.apis[0]
        async with asked_of(first, ground.database) as (client, database):
            sessions = await _sessions(client, database, count)
        before = resident_mib(first.process_id)
        wires = await _asked(first, sessions, Wire.talking)
        heard = sum(len(each.ids) for each in wires)
        use = await _watch(ground, Cluster([first], cluster.workers))
        rate = (sum(len(each.ids) for each in wires) - heard) / use.seconds
        _tell(f"talking, {rate:.0f} events/s in all", use)
        _tell_memory(first, before, count)
        await _move(ground, cluster, sessions, wires)


async def _asked(api: Server, sessions: Sequence[str], ready: Ready) -> list[Wire]:
    requests = [partial(ask, api.address, each, SLOW_QUESTION) for each in sessions]
    start = time.perf_counter()
    wires, put_off = await _opened(requests, ready)
    row(f"opened {AT_ONCE} at a time", f"{time.perf_counter() - start:.0f} s", f"{put_off} put off")
    return wires


async def _sessions(client: Client, database: str, count: int) -> list[str]:
    room = asyncio.Semaphore(AT_ONCE)

    async def one() -> str:
        async with room:
            return await client.open_session(database)

    return await asyncio.gather(*(one() for _ in range(count)))


async def _opened(requests: Sequence[Request], ready: Ready) -> tuple[list[Wire], int]:
    """The streams, so many opened at a time; and how often a busy server asked to come again."""
    room, refused = asyncio.Semaphore(AT_ONCE), 0

    async def one(request: Request) -> Wire:
        nonlocal refused
        async with room:
            while not await (wire := await request()).accepted():
                refused += 1
                await asyncio.sleep(1)
            await ready(wire)
            return wire

    return await asyncio.gather(*map(one, requests)), refused


async def _watch(ground: Ground, cluster: Cluster) -> Use:
    with used(ground.processes(cluster)) as use:
        await asyncio.sleep(WATCHED_SECONDS)
    return use


def _tell(name: str, use: Use) -> None:
    row(name, *(use.share(each) for each in ("APIs", "workers", "NATS", "Typesense", "client")))


def _tell_memory(api: Server, before: float, count: int) -> None:
    held = resident_mib(api.process_id) - before
    row("memory of the API for one of them", f"{1_024 * held / count:.0f} KiB")


async def _move(ground: Ground, cluster: Cluster, sessions: Sequence[str], wires: Sequence[Wire]) -> None:
    """All streams break and resume at another API, each after the last event it received."""
    first, second = cluster.apis
    with used(ground.processes(Cluster([second], cluster.workers))) as use:
        start = time.perf_counter()
        first.kill()
        for each in wires:
            await each.broken()
        seen = [each.ids for each in wires]
        asked = [
            partial(follow, second.address, session, wire.run_id, ids[-1])
            for session, wire, ids in zip(sessions, wires, seen, strict=True)
        ]
        moved, refused = await _opened(asked, Wire.accepted)
        accepted = time.perf_counter() - start
    for wire in moved:
        await wire.ended()
    heard = time.perf_counter() - start
    await asyncio.sleep(2 * SLOW_TOKEN_SECONDS)
    broken = sum(not _whole(ids + wire.ids) for ids, wire in zip(seen, moved, strict=True))
    title(f"their API is killed, and {len(wires)} streams resume at another one")
    _tell("meanwhile", use)
    row("until all are accepted", f"{accepted:.2f} s")
    row(f"until all have news (one each {SLOW_TOKEN_SECONDS:.0f} s)", f"{heard:.2f} s")
    row("asked to come again later", str(refused))
    row("streams with an event lost or repeated", str(broken))
    assert broken == 0


def _whole(ids: Sequence[int]) -> bool:
    """True if each id follows the one before, or is the first of the next attempt: a run that waits has an
    event of its own before its first.
    """
    return all(
        after == before + 1 or after == first_id(before // IDS_PER_ATTEMPT + 1)
        for before, after in pairwise(ids)
    )
