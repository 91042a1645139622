"""CPU of a request to Typesense: `make bench-store-client` runs it, on a server that it starts.

Measures user and system time of this process, by turns, so that other load changes all figures alike.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import httpx
from typesense import AsyncClient

from app.core.storage.typesense_client import DirectClient
from app.core.storage.typesense_server import TypesenseServer
from app.core.storage.typesense_transport import KeepAliveTransport
from typesense_checkpoint.collection import TypesenseCollection
from typesense_checkpoint.searches import Search

ROUNDS = 21
REQUESTS = 40
SEARCHES: list[Search] = [{"filter_by": "key:=k1"}, {"filter_by": "key:=k2"}]
DOCUMENTS: list[dict[str, object]] = [{"id": str(n), "key": f"k{n}", "data": "x" * 500} for n in range(4)]

CLIENTS: dict[str, Callable[[], httpx.AsyncClient]] = {
    "httpx": httpx.AsyncClient,
    "httpx, KeepAliveTransport": lambda: httpx.AsyncClient(transport=KeepAliveTransport()),
    "DirectClient, KeepAliveTransport": lambda: DirectClient(transport=KeepAliveTransport()),
}


async def cpu_of(call: Callable[[], Awaitable[object]]) -> float:
    """Returns microseconds a call."""
    began = time.process_time()
    for _ in range(REQUESTS):
        await call()
    return (time.process_time() - began) / REQUESTS * 1e6


async def measure(server: TypesenseServer) -> None:
    async with AsyncExitStack() as opened:
        collections: dict[str, TypesenseCollection[dict[str, object]]] = {}
        for name, opening in CLIENTS.items():
            http = await opened.enter_async_context(opening())
            client = AsyncClient({"api_key": server.api_key, "nodes": [server.url]}, http)
            collections[name] = TypesenseCollection(client, "measured")
        await collections["httpx"].create_if_missing([{"name": "key", "type": "string"}])
        importing: dict[str, list[float]] = {name: [] for name in collections}
        searching: dict[str, list[float]] = {name: [] for name in collections}
        for _ in range(ROUNDS):
            for name, each in collections.items():
                importing[name].append(await cpu_of(partial(each.write, DOCUMENTS, "upsert")))
                searching[name].append(await cpu_of(partial(each.find, *SEARCHES)))
    print("CPU of this process in µs a request, median (least); 4 documents written, 2 searches")
    for name in collections:
        written = f"{statistics.median(importing[name]):5.0f} ({min(importing[name]):4.0f})"
        found = f"{statistics.median(searching[name]):5.0f} ({min(searching[name]):4.0f})"
        print(f"{name:34} import {written}   multi_search {found}")
    print(
        "of httpx:",
        json.dumps(
            {
                name: [
                    round(statistics.median(importing[name]) / statistics.median(importing["httpx"]), 2),
                    round(statistics.median(searching[name]) / statistics.median(searching["httpx"]), 2),
                ]
                for name in collections
            }
        ),
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = TypesenseServer(Path(folder))
        server.start()
        try:
            asyncio.run(measure(server))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
