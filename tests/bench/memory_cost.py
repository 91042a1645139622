"""What memory costs a turn: `python -m tests.bench.memory_cost [TURNS]`.

The first token with facts off and on, of a user with 200 facts; turns a second into the Graphiti outbox; and
a turn's processor time with a hundred turns in the outbox and no Graphiti. Sides alternate turn by turn, so
that a busy machine slows both.
"""

import asyncio
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from app.core.servers import free_port
from app.core.storage.sqlite import open_sqlite
from migrations.runner import migrate
from tests.bench.checkpointers import temporary_folder
from tests.bench.own_time.limits import build_database
from tests.bench.own_time.model import model_process
from tests.bench.scaling.wire import ask
from tests.support.fake_graphiti import FakeGraphiti
from tests.support.graph_memory import graph_memory
from tests.support.server import Server, client_of, running_server

QUESTION = "How many of our customers are there, as I like it?"
FACTS = 200
WAITING = 100
ADDED = 1_000
JOBS = 8
"""Of a worker of its own for Graphiti. Beside runs, a process does one at a time."""


@dataclass
class Side:
    """A server, a session of it, and what its turns took, in milliseconds."""

    server: Server
    session: str
    firsts: list[float] = field(default_factory=list)
    cpu: float = 0

    async def turn(self) -> None:
        used = self.server.cpu_seconds()
        wire = await (await ask(self.server.address, self.session, QUESTION)).done()
        self.cpu += (self.server.cpu_seconds() - used) * 1_000
        self.firsts.append((wire.first_word_at - wire.asked_at) * 1_000)

    @property
    def median(self) -> float:
        return statistics.median(self.firsts)


async def alternate(name: str, without: Side, with_it: Side, turns: int) -> None:
    for side in (without, with_it):
        await side.turn()
        side.firsts.clear()
        side.cpu = 0
    for _ in range(turns):
        await without.turn()
        await with_it.turn()
    later = statistics.median(b - a for a, b in zip(without.firsts, with_it.firsts, strict=True))
    print(
        f"{name}: first token {without.median:.1f} and {with_it.median:.1f} ms, later by {later:.1f} ms "
        f"(ratio {with_it.median / without.median:.2f}); processor {without.cpu / turns:.1f} and "
        f"{with_it.cpu / turns:.1f} ms a turn (ratio {with_it.cpu / without.cpu:.2f})",
        flush=True,
    )


async def facts_off_and_on(folder: Path, shop: str, model: dict[str, str], turns: int) -> None:
    off = {**model, "KAI_MEMORY__FACTS": "false", "KAI_QUOTAS__QUESTIONS_PER_MINUTE": "0"}
    on = {**off, "KAI_MEMORY__FACTS": "true", "KAI_QUOTAS__REQUESTS_PER_MINUTE": "0"}
    with (
        running_server(folder / "off", off, folder / "off.log") as first,
        running_server(folder / "on", on, folder / "on.log") as second,
    ):
        async with client_of(first) as plain, client_of(second) as client:
            without = Side(first, await plain.open_session(await plain.connect(shop)))
            connection = await client.connect(shop)
            for number in range(FACTS):
                fact = {
                    "text": f"Customers of region {number} are those of report {number * 7}",
                    "kind": "lesson_learned",
                    "scope": "user" if number % 2 else "workspace",
                    "db_connection_id": connection,
                }
                answer = await client.http.post("/memory/facts", json=fact)
                assert answer.status_code == 201, answer.text
            with_it = Side(second, await client.open_session(connection))
            await alternate(f"{FACTS} facts, off and on", without, with_it, turns)


async def dead_graphiti(folder: Path, shop: str, model: dict[str, str], turns: int) -> None:
    off = {**model, "KAI_QUOTAS__QUESTIONS_PER_MINUTE": "0"}
    on = {
        **off,
        "KAI_GRAPH_MEMORY__ENABLED": "true",
        "KAI_GRAPH_MEMORY__INGEST": "true",
        "KAI_GRAPH_MEMORY__RECALL": "true",
        "KAI_GRAPH_MEMORY__ENDPOINT": f"http://127.0.0.1:{free_port()}",
    }
    with (
        running_server(folder / "none", off, folder / "none.log") as first,
        running_server(folder / "dead", on, folder / "dead.log") as second,
    ):
        async with client_of(first) as plain, client_of(second) as client:
            without = Side(first, await plain.open_session(await plain.connect(shop)))
            connection = await client.connect(shop)
            state = (await client.http.get("/memory/graph")).json()
            await client.http.patch(f"/database-connections/{connection}", json={"external_memory": True})
            consent = {
                "db_connection_id": connection,
                "endpoint": state["endpoint"],
                "text_version": state["text_version"],
            }
            granted = await client.http.put("/memory/consents", json=consent)
            assert granted.json()["in_force"], granted.text
            with_it = Side(second, await client.open_session(connection))
            for _ in range(WAITING):
                await with_it.turn()
            await alternate(f"Graphiti dead, {WAITING} turns waiting, off and on", without, with_it, turns)


async def into_the_outbox(folder: Path, at_once: int) -> None:
    fake = FakeGraphiti()
    fake.url = f"http://127.0.0.1:{free_port()}"
    async with open_sqlite(folder / f"outbox{at_once}.db") as storage:
        await migrate(storage)
        async with graph_memory(storage, fake) as memory:
            await memory.consent()
            turns = [memory.turn("revenue?", "It is 5.", session_id=memory.session_id) for _ in range(ADDED)]
            began, used = time.perf_counter(), time.process_time()
            for start in range(0, ADDED, at_once):
                await asyncio.gather(*map(memory.graphiti.remember_turn, turns[start : start + at_once]))
            took, cpu = time.perf_counter() - began, time.process_time() - used
            assert await memory.graphiti.outbox.count([]) == 2 * ADDED
    print(
        f"outbox, {at_once} jobs at once: {ADDED / took:.0f} turns a second by the clock, "
        f"{ADDED / cpu:.0f} by the processor",
        flush=True,
    )


async def main(turns: int) -> None:
    with temporary_folder() as folder, model_process() as model:
        shop = build_database(folder)
        for at_once in (1, JOBS):
            await into_the_outbox(folder, at_once)
        await facts_off_and_on(folder, shop, model, turns)
        await dead_graphiti(folder, shop, model, turns)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
