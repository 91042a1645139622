"""What a turn costs: a real server, a scripted model of no latency, real streams. `make bench-turns` runs it.

Figures are of this machine, where client, server and model share the cores; compare them only with
figures of the same run.
"""

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.server import Client, Server, client_of, running_server

MODEL_PORT = 18_765
TURNS = 200
SETTINGS = {"KAI_LLM__BASE_URL": f"http://127.0.0.1:{MODEL_PORT}/v1", "KAI_LLM__MODEL": "scripted"}


@dataclass(frozen=True)
class Timing:
    """Of one turn, in milliseconds from the request; `own` is what the server counts itself."""

    first_event: float
    done: float
    own: float


async def turn(client: Client, session: str) -> Timing:
    start = time.perf_counter()
    async with client.asking(session, "How many customers are there?") as stream:
        await stream.next()
        first = time.perf_counter()
        events = await stream.rest()
    end = time.perf_counter()
    assert events[-1].data["status"] == "complete", events[-1]
    return Timing((first - start) * 1000, (end - start) * 1000, events[-1].data["elapsed_ms"])


async def load(client: Client, server: Server, connection: str, sessions: int) -> None:
    opened = [await client.open_session(connection) for _ in range(sessions)]
    each = max(2, TURNS // sessions)

    async def talk(session: str) -> list[Timing]:
        return [await turn(client, session) for _ in range(each)]

    start, used = time.perf_counter(), server.cpu_seconds()
    timings = [timing for talked in await asyncio.gather(*map(talk, opened)) for timing in talked]
    rate = len(timings) / (time.perf_counter() - start)
    cpu = (server.cpu_seconds() - used) / len(timings) * 1000
    first, done = [each.first_event for each in timings], [each.done for each in timings]
    load = f"{rate:5.1f} turns/s, {cpu:.0f} ms CPU each"
    print(f"{sessions:4} sessions: first event {spread(first)}, done {spread(done)}, {load}")


def spread(milliseconds: list[float]) -> str:
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return f"p50 {cuts[49]:6.1f} p99 {cuts[98]:6.1f} ms"


async def floor(client: Client) -> None:
    """What any request costs here, the client's part included: the limit for a first event."""
    timings = []
    for _ in range(TURNS):
        start = time.perf_counter()
        await client.http.get("/../../healthz")
        timings.append((time.perf_counter() - start) * 1000)
    print(f"a request that does nothing: {spread(timings)}")


async def memory(client: Client, server: Server, connection: str) -> None:
    count = 500
    before = server.resident_kib()
    sessions = [await client.open_session(connection) for _ in range(count)]
    print(f"an idle session: {(server.resident_kib() - before) / count:.1f} KiB resident")
    done = (await client.ask(sessions[0], "How many customers are there?"))[-1].data
    slow = [await client.open_session(connection) for _ in range(100)]
    before = server.resident_kib()
    async with AsyncExitStack() as streams:
        for session in slow:
            stream = await streams.enter_async_context(client.asking(session, "HOLD"))
            await stream.next()
        print(f"an open stream with its run: {(server.resident_kib() - before) / 100:.0f} KiB resident")
    assert done["status"] == "complete"


async def measure(folder: Path) -> None:
    shop = folder / "shop.db"
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO customers (name) VALUES (?)", [("Ada",)] * 100)
        connection.commit()
    start = time.perf_counter()
    with running_server(folder / "data", SETTINGS, log=folder / "log") as server:
        print(f"start to ready: {time.perf_counter() - start:.2f} s")
        async with client_of(server) as client:
            known = await client.connect(f"sqlite:///{shop}")
            await turn(client, await client.open_session(known))
            print(f"start to first answer: {time.perf_counter() - start:.2f} s")
            await floor(client)
            for sessions in (1, 10, 100):
                await load(client, server, known, sessions)
            await memory(client, server, known)


@contextmanager
def model_process() -> Iterator[None]:
    """In a process of its own, so that the server is not slowed by its client's thread."""
    command = [sys.executable, "-m", "tests.support.scripted_model", "--port", str(MODEL_PORT)]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary, model_process():
        asyncio.run(measure(Path(temporary)))
