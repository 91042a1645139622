"""Clients and collections of a real Typesense server."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
from pydantic import SecretStr
from typesense import AsyncClient

from app.core.bus.port import Decisions
from app.core.settings import TypesenseSettings
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Collection
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import DirectClient, TypesenseAddress, typesense_client
from app.core.storage.typesense_server import TypesenseServer
from migrations.runner import migrate
from typesense_checkpoint import TypesenseCheckpointer


class ConfiguredServer(TypesenseServer):
    """One with further settings of Typesense's own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder)
        self.settings = {name.replace("_", "-"): value for name, value in settings.items()}

    def configuration(self) -> dict[str, str]:
        return super().configuration() | self.settings


@contextmanager
def cluster(folder: Path) -> Iterator[list[ConfiguredServer]]:
    """Three nodes that hold the same."""
    nodes = [ConfiguredServer(folder / str(number)) for number in range(3)]
    listing = folder / "nodes"
    listing.write_text(",".join(f"127.0.0.1:{node.peering_port}:{node.port}" for node in nodes))
    for number, node in enumerate(nodes):
        (folder / str(number)).mkdir()
        (folder / str(number) / "key").write_text("the same for all")
        node.settings["nodes"] = str(listing)
    try:
        for node in nodes:
            node.spawn()
        for node in nodes:
            node.wait_until_ready()
        yield nodes
    finally:
        for node in nodes:
            node.kill()


class Wire(httpx.AsyncBaseTransport):
    """Sees every request; loses the first answer to each one, or refuses some, as configured."""

    def __init__(self) -> None:
        self._wire = httpx.AsyncHTTPTransport()
        self.requests: list[httpx.Request] = []
        self.loses_answers = False
        self.refuses: str | None = None
        self._lost: set[bytes] = set()

    @property
    def bytes_sent(self) -> int:
        return sum(len(request.content) for request in self.requests)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.refuses is not None and self.refuses in str(request.url):
            raise httpx.ConnectError("refused")
        response = await self._wire.handle_async_request(request)
        what = request.method.encode() + request.url.raw_path + request.content
        if self.loses_answers and what not in self._lost:
            self._lost.add(what)
            await response.aclose()
            raise httpx.ReadError("the answer was lost")
        return response

    async def aclose(self) -> None:
        await self._wire.aclose()


class ReadyStores:
    """Stores that are up to date and empty.

    To make a store's collections costs a server a second of its processor, and each that is kept makes the
    next ones dearer. So a store is emptied after a test and lent to the next one.
    """

    _ALL: Mapping[str, str] = {"patches0": "made_at:>=0", "checkpoints0": "kind:!=none"}
    _ALL_RECORDS = "high0:>=-9223372036854775807"
    _KEPT = ("collections0", "migrations")
    _SEARCHES_AT_ONCE = 50

    def __init__(self, server: TypesenseServer) -> None:
        self._server = server
        self._free: list[str] = []
        self._as_made: Mapping[str, Collection] = {}
        self._http = httpx.Client(
            base_url=server.url, headers={"X-TYPESENSE-API-KEY": server.api_key}, timeout=60
        )

    @contextmanager
    def lent(self) -> Iterator[TypesenseSettings]:
        """A test that changes the declarations of collections has the last use of the store."""
        prefix = self._free.pop() if self._free else self._make()
        yield TypesenseSettings(
            nodes=[self._server.url], api_key=SecretStr(self._server.api_key), prefix=prefix
        )
        self._empty(prefix)
        if self._catalog(prefix) == self._as_made and not self._filled(prefix):
            self._free.append(prefix)

    def close(self) -> None:
        self._http.close()

    def _make(self) -> str:
        prefix = f"t{uuid4().hex}_"

        async def migrated() -> None:
            async with open_typesense(address_of(self._server), prefix) as storage:
                await migrate(storage)

        with ThreadPoolExecutor(1) as beside_the_tests_loop:
            beside_the_tests_loop.submit(asyncio.run, migrated()).result()
        self._as_made = self._catalog(prefix)
        return prefix

    def _empty(self, prefix: str) -> None:
        for name in self._filled(prefix):
            wanted = self._ALL.get(name, self._ALL_RECORDS)
            self._http.delete(
                f"/collections/{prefix}{name}/documents", params={"filter_by": wanted}
            ).raise_for_status()

    def _filled(self, prefix: str) -> list[str]:
        """Names of the collections with documents."""
        places = {*map(layout.place_of, self._as_made.values()), *self._ALL}
        names = sorted(places.difference(self._KEPT))
        filled = []
        for at in range(0, len(names), self._SEARCHES_AT_ONCE):
            some = names[at : at + self._SEARCHES_AT_ONCE]
            searches = [{"collection": prefix + name, "q": "*", "per_page": 0} for name in some]
            found = self._http.post("/multi_search", json={"searches": searches}).raise_for_status()
            results = found.json()["results"]
            filled += [name for name, each in zip(some, results, strict=True) if each.get("found")]
        return filled

    def _catalog(self, prefix: str) -> Mapping[str, Collection]:
        listed = self._http.get(f"/collections/{prefix}collections0/documents/export").raise_for_status()
        declared = [layout.collection_of(json.loads(line)) for line in listed.text.splitlines()]
        return {each.name: each for each in declared}


def address_of(server: TypesenseServer) -> TypesenseAddress:
    return TypesenseAddress(
        nodes=[server.url], api_key=SecretStr(server.api_key), timeout_seconds=30, max_retries=2
    )


@asynccontextmanager
async def open_typesense(
    address: TypesenseAddress, prefix: str, decisions: Decisions | None = None, *, decided: Sequence[str] = ()
) -> AsyncGenerator[TypesenseStorage]:
    async with typesense_client(address) as client:
        storage = TypesenseStorage(client, prefix, decisions, decided=decided)
        await storage.open()
        yield storage


@asynccontextmanager
async def client_of(
    server: TypesenseServer, wire: httpx.AsyncBaseTransport | None = None
) -> AsyncGenerator[AsyncClient]:
    async with DirectClient(transport=wire, timeout=60) as http:
        yield AsyncClient(
            {"api_key": server.api_key, "nodes": [server.url], "retry_interval_seconds": 0.01}, http
        )


@asynccontextmanager
async def checkpointer_of(
    server: TypesenseServer, wire: httpx.AsyncBaseTransport | None = None
) -> AsyncGenerator[TypesenseCheckpointer]:
    """A checkpointer on a collection of its own."""
    async with client_of(server, wire) as client:
        name = f"checkpoints_{uuid4().hex}"
        checkpointer = TypesenseCheckpointer(client, collection=name)
        await checkpointer.setup()
        yield checkpointer
        await client.collections[name].delete()
