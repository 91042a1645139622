"""One question by `POST /ask`, beside a session that is made, asked and streamed.

    python -m tests.bench.ask [rounds]

Both ways ask one server, in turns, with the user's own statement: no model, so that what is left is KAI's own
work. Prints the server's processor time and the bytes of the responses for a question of each way, and ends
with 1 if `/ask` takes more than 1.1 times the processor time of the stream.
"""

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from tests.support.server import Client, Server, client_of, running_server
from tests.support.shop import make_shop

MOST = 1.1
BATCH = 50
"""Questions of one way before the other's turn: the processor's clock has ticks of 10 ms."""
SQL = "SELECT name, country FROM customers ORDER BY id"
QUESTION = {"query": "Who are the customers?", "sql": SQL}


async def ask(http: httpx.AsyncClient, database: str) -> int:
    answer = await http.post("/ask", json={**QUESTION, "database": database})
    assert answer.json()["row_count"] == 3, answer.text
    return len(answer.content)


async def create_and_stream(http: httpx.AsyncClient, database: str) -> int:
    made = await http.post("/sessions", json={"db_connection_id": database})
    stream = await http.post(f"/sessions/{made.json()['id']}/query/stream", json=QUESTION)
    assert "event: done" in stream.text, stream.text
    return len(made.content) + len(stream.content)


async def measured(
    server: Server, one: Callable[[httpx.AsyncClient, str], Awaitable[int]], kai: Client, database: str
) -> tuple[float, float]:
    """Returns milliseconds of the server's processor and bytes for a question."""
    before = server.cpu_seconds()
    sizes = [await one(kai.http, database) for _ in range(BATCH)]
    return (server.cpu_seconds() - before) * 1_000 / BATCH, statistics.mean(sizes)


async def main(rounds: int) -> bool:
    """Returns True if `/ask` is within its limit."""
    ways = {"ask": ask, "create and stream": create_and_stream}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder, running_server(Path(folder)) as server:
        async with client_of(server) as kai:
            database = await kai.connect(f"sqlite:///{make_shop(Path(folder) / 'shop.db')}")
            for number in range(rounds + 1):
                for name, one in list(ways.items())[:: 1 if number % 2 else -1]:
                    figures = await measured(server, one, kai, database)
                    if number:  # the first round warms up
                        found[name].append(figures)
    medians = {name: statistics.median(ms for ms, _ in each) for name, each in found.items()}
    for name, each in found.items():
        size = statistics.mean(size for _, size in each)
        print(f"{name:<18} {medians[name]:6.2f} ms of processor, {size:8,.0f} bytes a question")
    ratio = medians["ask"] / medians["create and stream"]
    print(f"{ratio:.2f} x, at most {MOST}")
    return ratio <= MOST


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else 8)) else 1)
