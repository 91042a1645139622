"""From a request to its first event and its first word, question after question: what NATS adds.

All shapes are up at the same time and asked in turn, so that whatever else the machine does, it does to
all of them alike.
"""

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

from app.core.bus.port import EventLogs, JobQueue, RunRef
from app.core.ids import new_id
from tests.bench.scaling.model import QUESTION
from tests.bench.scaling.systems import Ground, asked_of
from tests.bench.scaling.table import row, spread, title
from tests.bench.scaling.wire import Wire, ask
from tests.support.buses import nats_bus, new_prefix
from tests.support.cluster import running_cluster
from tests.support.server import running_server

EMBEDDED, APART = "in one process", "API and worker over NATS"
WARM_UP = 5


async def measure(ground: Ground, turns: int) -> None:
    title(f"From a request to ... ({turns} questions of each, one after the other; p50 / p99)")
    row("", "first event", "first word", "done")
    times = await _ask_in_turn(ground, turns)
    for name, wires in times.items():
        row(name, *(spread(_since_asked(wires, at)) for at in AT))
    base = times[f"{EMBEDDED}, Typesense"]
    row("NATS adds (p50)", *(_more(times[APART], base, at) for at in AT))
    await _parts(ground, turns)


async def _ask_in_turn(ground: Ground, turns: int) -> dict[str, list[Wire]]:
    async with AsyncExitStack() as opened:
        enter, folder, log = opened.enter_context, ground.folder, ground.log
        cluster = enter(running_cluster(folder / "apart", ground.over_nats(), apis=1, workers=1, log=log))
        shapes = {
            f"{EMBEDDED}, SQLite": enter(running_server(folder / "sqlite", ground.model, log)),
            f"{EMBEDDED}, Typesense": enter(running_server(folder / "alone", ground.on_typesense(), log)),
            APART: cluster.apis[0],
        }
        sessions: dict[str, str] = {}
        for name, server in shapes.items():
            client, database = await opened.enter_async_context(asked_of(server, ground.database))
            sessions[name] = await client.open_session(database)
        times: dict[str, list[Wire]] = {name: [] for name in shapes}
        for turn in range(WARM_UP + turns):
            for name, server in shapes.items():
                wire = await (await ask(server.address, sessions[name], QUESTION)).done()
                if turn >= WARM_UP:
                    times[name].append(wire)
        return times


At = Callable[[Wire], float]


def _first_event(wire: Wire) -> float:
    return wire.first_event_at


def _first_word(wire: Wire) -> float:
    return wire.first_word_at


def _done(wire: Wire) -> float:
    return wire.done_at


AT: Sequence[At] = (_first_event, _first_word, _done)


def _since_asked(wires: list[Wire], at: At) -> list[float]:
    return [(at(wire) - wire.asked_at) * 1_000 for wire in wires]


def _more(wires: list[Wire], base: list[Wire], at: At) -> str:
    one, other = statistics.median(_since_asked(wires, at)), statistics.median(_since_asked(base, at))
    return f"{one - other:+.1f} ms, x {one / other:.2f}"


async def _parts(ground: Ground, turns: int) -> None:
    title("Of that, the ways through NATS (in one process that does nothing else; p50 / p99)")
    prefix = new_prefix()
    async with nats_bus(ground.nats, prefix, 15) as bus, nats_bus(ground.nats, prefix, 15) as other:
        queue = bus.queue
        row("a question to the queue: how many wait?", await _timed(turns, lambda: _counted(queue)))
        row("a run put in, and taken", await _timed(turns, lambda: _put_and_taken(queue)))
        row("a log that has no follower yet, opened", await _timed(turns, lambda: _followed(bus.logs)))
        row("an event emitted, and read elsewhere", *await _said_and_heard(bus.logs, other.logs, turns))


async def _counted(queue: JobQueue) -> None:
    assert await queue.waiting() == 0


async def _timed(turns: int, work: Callable[[], Awaitable[None]]) -> str:
    times: list[float] = []
    for _ in range(turns):
        start = time.perf_counter()
        await work()
        times.append((time.perf_counter() - start) * 1_000)
    return spread(times)


async def _put_and_taken(queue: JobQueue) -> None:
    await queue.put(RunRef("ann", new_id(), new_id()), first=True)
    leased = await queue.take("run", 1)
    assert leased is not None
    await queue.ack(leased)


async def _followed(logs: EventLogs) -> None:
    async with logs.follow(new_id()):
        pass


async def _said_and_heard(logs: EventLogs, others: EventLogs, turns: int) -> list[str]:
    """The first event of a log, whose follower waits already."""
    times: list[float] = []
    for _ in range(turns):
        run_id = new_id()
        async with others.follow(run_id) as log:
            start, writer = time.perf_counter(), logs.writer(run_id, 1)
            writer.append("status", "{}")
            await log.news()
            times.append((time.perf_counter() - start) * 1_000)
            await writer.end("done", "{}")
    return [spread(times)]
