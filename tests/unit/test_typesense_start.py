"""A Typesense that has been started and cannot be read yet says why and for how long."""

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.requests import Request
from typesense import AsyncClient

from app.core.storage.port import StorageStarting
from app.core.storage.starting import catch_up_within
from app.core.storage.typesense_client import ReadYourWrites, translated_errors
from app.http.problems import storage_unavailable
from app.http.readiness import Readiness


class Connection:
    """A connection of the wire, which httpx names in each response."""


class Starting(httpx.AsyncBaseTransport):
    """A server with these numbers of writes left to apply; it refuses everything when there are none."""

    def __init__(self, *queued: int) -> None:
        self._queued: Iterator[int] = iter(queued)
        self._refuses = not queued
        self._connection = Connection()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        extensions = {"network_stream": self._connection}
        if self._refuses:
            refusal = {"message": "Not Ready or Lagging"}
            return httpx.Response(503, json=refusal, extensions=extensions)
        if request.url.path == "/status":
            status = {"state": "LEADER", "queued_writes": next(self._queued)}
            return httpx.Response(200, json=status, extensions=extensions)
        return httpx.Response(200, json={"found": 0, "hits": []}, extensions=extensions)


async def read(wire: httpx.AsyncBaseTransport) -> None:
    await read_over(ReadYourWrites(wire, measure_seconds=0))


async def read_over(transport: ReadYourWrites) -> None:
    async with httpx.AsyncClient(transport=transport) as http:
        with translated_errors():
            client = AsyncClient({"api_key": "k", "nodes": ["http://127.0.0.1:1"], "num_retries": 0}, http)
            await client.collections["c"].documents.search({"q": "*", "query_by": "a"})


async def test_a_short_log_is_waited_for() -> None:
    await read(Starting(3, 2, 0))


async def test_a_long_log_is_said_with_an_estimate() -> None:
    with pytest.raises(
        StorageStarting, match=r"applies its log for about \d+ s more \(999,999 writes"
    ) as raised:
        await read(Starting(1_000_000, 999_999))
    assert raised.value.retry_after_seconds is not None
    assert raised.value.retry_after_seconds > 1_000


async def test_a_server_under_load_is_waited_for() -> None:
    await read(Starting(900, 899, 950, 0))


async def test_a_log_of_few_large_writes_is_said_too_once_it_has_lasted() -> None:
    wire = ReadYourWrites(Starting(200, 199, 198, 197), measure_seconds=0)
    with catch_up_within(0), pytest.raises(StorageStarting, match=r"applies its log for 0 s so far \(200 w"):
        await read_over(wire)
    with catch_up_within(0), pytest.raises(StorageStarting, match=r"applies its log for about \d+ s more"):
        await read_over(wire)


async def test_loading_documents_is_said_with_its_duration() -> None:
    with pytest.raises(StorageStarting, match=r"loads its documents, for 0 s so far"):
        await read(Starting())


async def test_readiness_and_the_http_answer_say_it_too() -> None:
    verdict = await Readiness([("store", lambda: read(Starting(1_000_000, 999_999)))]).look()
    (store,) = verdict.dependencies
    assert verdict.status == "unavailable"
    assert "applies its log for about" in (store.error or "")
    request = Request({"type": "http", "app": FastAPI(), "headers": []})
    answer = await storage_unavailable(
        request, StorageStarting("Typesense is not ready: it applies its log.", 240)
    )
    assert isinstance(answer, JSONResponse)
    assert answer.headers["Retry-After"] == "240"
    assert b"applies its log" in bytes(answer.body)
