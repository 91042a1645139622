"""KAI's own time: a real server, real streams, and a scripted model in a process of its own.

python -m tests.bench.own_time [--quick] [--many] [--save FILE] [--page]
python -m tests.bench.own_time --compare OLD NEW

Prints one table at the end and nothing before. Processor time (user and system) is of the server alone.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE

from tests.bench.own_time import limits
from tests.bench.own_time.many import many_processes
from tests.bench.own_time.model import model_process
from tests.bench.own_time.report import Figure, compared, conditions, figure, load, save, table, write_page
from tests.bench.scaling.wire import Wire, ask
from tests.support.server import Client, Server, client_of, running_server

QUESTION = "How many customers are there?"
AT_ONCE = 100
_OTHERS = ("KAI_", "OPENAI_", "PYTHONDONTWRITEBYTECODE")
SESSIONS = 10


@dataclass(frozen=True)
class Sizes:
    rounds: int
    turns: int


WHOLE = Sizes(rounds=5, turns=60)
QUICK = Sizes(rounds=2, turns=10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: to try it out")
    parser.add_argument("--many", action="store_true", help="also many processes (NATS and Typesense)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the figures as JSON")
    parser.add_argument("--page", action="store_true", help="write the figures into docs/performance.md")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="saved figures")
    given = parser.parse_args()
    if given.compare:
        old, new = map(load, given.compare)
        print(compared(old, new))
        return
    figures = _measured(QUICK if given.quick else WHOLE, many=given.many)
    if given.save:
        save(figures, given.save)
    if given.page:
        write_page(figures, conditions())
    print(table(figures))


def _measured(sizes: Sizes, *, many: bool) -> list[Figure]:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kai-bench-")))
        shop = limits.build_database(folder)
        model = opened.enter_context(model_process())
        figures = asyncio.run(_one_process(folder, shop, model, sizes))
        figures += asyncio.run(limits.model_stream(model["KAI_LLM__BASE_URL"], sizes.rounds))
        figures += _starts(folder, shop, sizes.rounds)
        if many:
            figures += many_processes(folder, sizes.rounds)
        return figures


async def _one_process(folder: Path, shop: str, model: dict[str, str], sizes: Sizes) -> list[Figure]:
    with running_server(folder / "one", model, log=folder / "one.log") as server:
        async with client_of(server) as client:
            database = await client.connect(shop)
            session = await client.open_session(database)
            await _turns(server, session, 5)
            cpu: list[float] = []
            firsts: list[float] = []
            empties: list[float] = []
            rates: list[float] = []
            crowds: list[list[float]] = []
            graph: list[float] = []
            for _ in range(sizes.rounds):
                empties.append(await _empty_request(client, sizes.turns))
                used = server.cpu_seconds()
                wires = await _turns(server, session, sizes.turns)
                cpu.append((server.cpu_seconds() - used) * 1_000 / sizes.turns)
                firsts.append(_percentile([_first(each) for each in wires], 50))
                rates.append(await _rate(server, client, database, sizes.turns))
                crowds.append(await _crowd(server, client, database))
                graph.append(await limits.graph_in_memory(sizes.turns))
    empty = sorted(empties)[len(empties) // 2]
    alone = sorted(graph)[len(graph) // 2]
    half = [_percentile(each, 50) for each in crowds]
    most = [_percentile(each, 99) for each in crowds]
    return [
        figure("an empty request, answered", empties, "ms", limit="", floor=0),
        figure("LangGraph alone: five nodes in memory, no server, processor", graph, "ms"),
        figure(
            "processor time of a turn: SQLite, two replies of 24 chunks",
            cpu,
            "ms",
            reach="≤ 30",
            limit="LangGraph alone",
            floor=alone,
        ),
        figure("first event, unloaded", firsts, "ms", reach="≤ 2.5 x", limit="an empty request", floor=empty),
        figure(f"first event, {AT_ONCE} sessions at once, p50", half, "ms", reach="≤ 100"),
        figure(f"first event, {AT_ONCE} sessions at once, p99", most, "ms", reach="≤ 500"),
        figure(f"turns a second, {SESSIONS} sessions", rates, "/s", reach="≥ 30"),
    ]


async def _turns(server: Server, session: str, count: int) -> list[Wire]:
    return [await (await ask(server.address, session, QUESTION)).done() for _ in range(count)]


async def _rate(server: Server, client: Client, database: str, turns: int) -> float:
    sessions = [await client.open_session(database) for _ in range(SESSIONS)]
    each = max(1, turns // SESSIONS)
    start = time.perf_counter()
    await asyncio.gather(*(_turns(server, session, each) for session in sessions))
    return each * SESSIONS / (time.perf_counter() - start)


async def _crowd(server: Server, client: Client, database: str) -> list[float]:
    """Returns milliseconds to the first event of sessions that ask at one moment."""
    sessions = [await client.open_session(database) for _ in range(AT_ONCE)]
    wires = await asyncio.gather(*(ask(server.address, session, QUESTION) for session in sessions))
    await asyncio.gather(*(each.done() for each in wires))
    return [_first(each) for each in wires]


async def _empty_request(client: Client, count: int) -> float:
    times: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        await client.http.get("/../../healthz")
        times.append((time.perf_counter() - start) * 1_000)
    return _percentile(times, 50)


def _starts(folder: Path, shop: str, rounds: int) -> list[Figure]:
    kai = str(Path(sys.executable).with_name("kai"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)}

    def run(*arguments: str) -> float:
        start = time.perf_counter()
        subprocess.run([kai, *arguments], env=environment, capture_output=True, check=True)
        return time.perf_counter() - start

    def serve() -> float:
        start = time.perf_counter()
        settings = {**environment, "KAI_DATA_DIR": str(folder / "start"), "KAI_PORT": "0"}
        with subprocess.Popen([kai, "serve"], env=settings, stdout=PIPE, stderr=DEVNULL, text=True) as server:
            assert server.stdout is not None
            assert server.stdout.readline().startswith("KAI is ready")
            ready = time.perf_counter() - start
            server.terminate()
        return ready

    asked = [_with_cpu(lambda: run("ask", "How many customers?", "--db", shop)) for _ in range(rounds)]
    helped = [_with_cpu(lambda: run("--help")) for _ in range(rounds)]
    served = [_with_cpu(serve) for _ in range(rounds)]
    return [
        figure("kai --help", [seconds for seconds, _ in helped], "s", reach="≤ 0.3"),
        figure("kai --help, processor", [cpu for _, cpu in helped], "s"),
        figure("kai ask, SQLite, no model", [seconds for seconds, _ in asked], "s", reach="≤ 1.5"),
        figure("kai ask, SQLite, no model, processor", [cpu for _, cpu in asked], "s"),
        figure("kai serve, until ready", [seconds for seconds, _ in served], "s", reach="≤ 1.5"),
        figure("kai serve, started and stopped, processor", [cpu for _, cpu in served], "s"),
    ]


def _with_cpu(work: Callable[[], float]) -> tuple[float, float]:
    """Returns what `work` returns, and the processor seconds of the child processes that it has ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _first(wire: Wire) -> float:
    return (wire.first_event_at - wire.asked_at) * 1_000


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    main()
