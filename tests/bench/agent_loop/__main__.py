"""Own time of a step of an investigation without the model, over SQLite and over Typesense, beside
LangChain's `create_agent` with its approval middleware, and what a turn leaves in checkpoints.

python -m tests.bench.agent_loop [--rounds 7] [--page]

The model answers from a process of its own, without delay, and calls the same tools with the same statements
in all of them; they take their turns in turns. Times are processor time of the process that takes the steps.
`create_agent` is installed from PyPI for the time of the run, in the versions of `peer/requirements.txt`.
"""

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, closing
from itertools import count
from pathlib import Path
from typing import cast

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_OWNER
from app.modules.records.model import NewQuestion
from tests.bench.agent_loop.model import PEER, model_process, question
from tests.bench.agent_loop.peer_process import peer_process
from tests.bench.killed_turns import settings_on
from tests.bench.own_time.limits import build_database
from tests.bench.own_time.report import conditions, write_part

LONG = 12
SHORT = 2
STORES = {"sqlite": "KAI, SQLite", "typesense": "KAI, Typesense"}
REACHES = {"sqlite": "≤ 15", "typesense": "≤ 25"}

TakeTurn = Callable[[int, int], Awaitable[float]]
"""Takes a turn of so many steps and of a number. Returns its seconds of processor time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--page", action="store_true", help="write the figures into docs/performance.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kai-loop-") as temporary, ExitStack() as opened:
        text = asyncio.run(_measured(Path(temporary), opened, given.rounds))
    if given.page:
        write_part("steps", f"{conditions()}\n\n{text}")
    print(text)


async def _measured(folder: Path, opened: ExitStack, rounds: int) -> str:
    base_url = opened.enter_context(model_process())
    database = build_database(folder)
    takers: dict[str, TakeTurn] = {}
    async with AsyncExitStack() as running:
        for store in STORES:
            (folder / store).mkdir()
            settings = settings_on(folder / store, base_url, store, opened)
            services = await running.enter_async_context(open_services(settings, "once"))
            connection = await services.database_connections.register(
                LOCAL_OWNER, database, "shop", description=""
            )
            takers[store] = _kai(services, connection.id)
        (folder / PEER).mkdir()
        take = peer_process(folder / PEER, database=folder / "shop.db", model_url=base_url)
        takers[PEER] = _in_thread(opened.enter_context(take))
        took = await _steps(takers, rounds)
    lines = ["| | processor time of a step | reach |", "|---|---|---|"]
    own = statistics.median(took["sqlite"])
    for name, each in took.items():
        ratio = statistics.median(each) / own
        title = STORES.get(name, "`create_agent`, SQLite")
        lines.append(f"| {title} | {_spread(each)} ms ({ratio:.2f} x) | {REACHES.get(name, '')} |")
    lines += ["", f"| checkpoints of a turn, SQLite | {SHORT} steps | {LONG} steps |", "|---|---|---|"]
    for name, path in (
        ("KAI", folder / "sqlite" / "data" / "checkpoints.db"),
        ("`create_agent`", folder / PEER / "checkpoints.db"),
    ):
        few, many = _checkpoint_bytes(path)
        lines.append(f"| {name} | {few / 1_000:,.0f} kB | {many / 1_000:,.0f} kB |")
    return "\n".join(lines)


def _kai(services: Services, connection_id: str) -> TakeTurn:
    async def take(steps: int, turn: int) -> float:
        began = time.process_time()
        session = await services.sessions.create(LOCAL_OWNER, connection_id, None, mode="ask", metadata={})
        asked = await services.sessions.ask(LOCAL_OWNER, session.id, NewQuestion(question(steps, turn)))
        last = ""
        async for entry in services.sessions.follower.events(asked[1]):
            last = entry.data
        used = time.process_time() - began
        if json.loads(last).get("steps") != steps:
            raise RuntimeError(f"the turn did not take {steps} steps: {last}")
        return used

    return take


def _in_thread(take: Callable[[int, int], float]) -> TakeTurn:
    return lambda steps, turn: asyncio.to_thread(take, steps, turn)


async def _steps(takers: dict[str, TakeTurn], rounds: int) -> dict[str, list[float]]:
    """Returns the milliseconds of a step by who took it: what the steps of a long turn take beyond those of
    the median short one. The first round warms up.
    """
    short: dict[str, list[float]] = {name: [] for name in takers}
    long: dict[str, list[float]] = {name: [] for name in takers}
    turns = count(1_000)
    for number in range(rounds + 1):
        for name, take in takers.items():
            few = await take(SHORT, next(turns))
            many = await take(LONG, next(turns))
            if number:
                short[name].append(few)
                long[name].append(many)
    return {
        name: [(many - statistics.median(short[name])) * 1_000 / (LONG - SHORT) for many in long[name]]
        for name in takers
    }


def _checkpoint_bytes(path: Path) -> tuple[float, float]:
    """Returns the mean bytes of the checkpoints of a session of one turn: of short turns and of long ones."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT sum(length(checkpoint) + length(metadata)) + coalesce((SELECT sum(length(value)) "
            "FROM writes WHERE writes.thread_id = checkpoints.thread_id), 0) AS size FROM checkpoints "
            "GROUP BY thread_id ORDER BY size"
        ).fetchall()
    sizes = [cast("float", row[0]) for row in rows]
    half = len(sizes) // 2
    return statistics.mean(sizes[:half]), statistics.mean(sizes[half:])


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    main()
