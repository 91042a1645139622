"""Runs a second with more and more workers, many sessions asking at once, and what each process pays for one.

With all of it on one machine it soon is the machine that is measured: what a run costs tells more.
"""

import asyncio

import nats

from tests.bench.scaling.model import QUESTION
from tests.bench.scaling.systems import Ground, Use, asked_of, used
from tests.bench.scaling.table import row, title
from tests.bench.scaling.wire import ask
from tests.support.cluster import Cluster, running_cluster

WORKERS = (1, 2, 4)
SESSIONS = 48
WARM_UP = 8


async def measure(ground: Ground, runs: int) -> None:
    title(f"Runs a second, {min(SESSIONS, runs)} sessions asking at once; processor time of a run, ms")
    row(
        "",
        "runs/s",
        "API",
        "workers",
        "NATS",
        "Typesense",
        "model",
        "this client",
        "NATS got / holds",
    )
    rates: list[float] = []
    for workers in WORKERS:
        folder = ground.folder / f"throughput {workers}"
        settings = ground.over_nats()
        with running_cluster(folder, settings, apis=1, workers=workers, log=ground.log) as cluster:
            before = await _nats(ground)
            use = await load(ground, cluster, runs)
            after = await _nats(ground)
            messages, kib = ((now - then) / (runs + WARM_UP) for now, then in zip(after, before, strict=True))
        rates.append(runs / use.seconds)
        ratio = f"{rates[-1]:.1f}" + (f" (x {rates[-1] / rates[0]:.2f})" if len(rates) > 1 else "")
        costs = [f"{1_000 * seconds / runs:.1f}" for seconds in use.cpu.values()]
        row(f"{workers} worker{'s' if workers > 1 else ''}", ratio, *costs, f"{messages:.0f} / {kib:.0f} KiB")


async def _nats(ground: Ground) -> tuple[float, float]:
    """Messages that streams got so far, and KiB they hold."""
    client = await nats.connect(ground.nats.url)
    try:
        states = [each.state for each in await client.jetstream().streams_info()]
    finally:
        await client.close()
    return sum(each.last_seq for each in states), sum(each.bytes for each in states) / 1_024


async def load(ground: Ground, cluster: Cluster, runs: int) -> Use:
    address = cluster.apis[0].address
    async with asked_of(cluster.apis[0], ground.database) as (client, database):
        sessions = [await client.open_session(database) for _ in range(min(SESSIONS, runs))]

    async def talk(session: str) -> None:
        for _ in range(runs // len(sessions)):
            await (await ask(address, session, QUESTION)).done()

    for session in sessions[:WARM_UP]:
        await (await ask(address, session, QUESTION)).done()
    with used(ground.processes(cluster)) as use:
        await asyncio.gather(*map(talk, sessions))
    return use
