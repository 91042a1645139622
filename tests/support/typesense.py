"""Clients and collections of a real Typesense server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
from pydantic import SecretStr
from typesense import AsyncClient

from app.core.storage.typesense_client import TypesenseAddress
from app.core.storage.typesense_server import TypesenseServer
from graph.checkpointer import TypesenseCheckpointer


class Wire(httpx.AsyncBaseTransport):
    """Sees every request, and loses the first answer to each one when told to."""

    def __init__(self) -> None:
        self._wire = httpx.AsyncHTTPTransport()
        self.requests: list[httpx.Request] = []
        self.loses_answers = False
        self._lost: set[bytes] = set()

    @property
    def bytes_sent(self) -> int:
        return sum(len(request.content) for request in self.requests)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
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
        nodes=[server.url], api_key=SecretStr(server.api_key), timeout_seconds=5, max_retries=2
    )


@asynccontextmanager
async def client_of(
    server: TypesenseServer, wire: httpx.AsyncBaseTransport | None = None
) -> AsyncGenerator[AsyncClient]:
    async with httpx.AsyncClient(transport=wire, timeout=10) as http:
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
