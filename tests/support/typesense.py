"""Clients and collections of a real Typesense server."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
from pydantic import SecretStr
from typesense import AsyncClient

from app.core.bus.port import Decisions
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import DirectClient, TypesenseAddress, typesense_client
from app.core.storage.typesense_server import TypesenseServer
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
