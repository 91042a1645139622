"""The events of a stream bypass the middlewares that only look at a response's head."""

from collections.abc import AsyncIterator
from functools import partial

import httpx
import pytest
from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.access_log import AccessLog, RequestMetrics
from app.http.json_compression import JsonCompression
from app.http.rate_limit_fields import RateLimitFields
from app.http.response_headers import ResponseHeaders
from app.http.response_lifetime import call_at_end
from app.modules.run.sse import EventStream

EVENTS = 1_000


class Watching:
    """Middleware that notes the kinds of the messages that it hands on."""

    def __init__(self, app: ASGIApp, seen: list[str]) -> None:
        self._app = app
        self._seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watching(message: Message) -> None:
            self._seen.append(message["type"])
            await send(message)

        await self._app(scope, receive, watching)


async def frames() -> AsyncIterator[bytes]:
    for number in range(EVENTS):
        yield f"id: {number}\nevent: token\ndata: {{}}\n\n".encode()


async def stream() -> EventStream:
    return EventStream(frames(), sep="\n")


async def fail() -> EventStream:
    raise ValueError("a defect")


async def long() -> list[int]:
    return [*range(EVENTS)]


def application(registry: CollectorRegistry, inner: list[str], outer: list[str]) -> FastAPI:
    app = FastAPI()
    app.add_api_route("/stream", stream, response_model=None)
    app.add_api_route("/long", long)
    app.add_api_route("/fail", fail, response_model=None)
    app.add_middleware(RateLimitFields)
    app.add_middleware(Watching, seen=inner)
    app.add_middleware(JsonCompression)
    app.add_middleware(AccessLog, metrics=RequestMetrics(registry))
    app.add_middleware(ResponseHeaders)
    app.add_middleware(Watching, seen=outer)
    return app


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


async def test_only_the_head_of_a_stream_passes_through_the_inner_middlewares(
    registry: CollectorRegistry,
) -> None:
    inner: list[str] = []
    outer: list[str] = []
    transport = httpx.ASGITransport(application(registry, inner, outer))
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as http:
        answer = await http.get("/stream", headers={"Accept-Encoding": "gzip", "X-Request-Id": "mine"})
    assert inner == ["http.response.start"]
    assert outer == ["http.response.start", *["http.response.body"] * (EVENTS + 1)]
    assert answer.text.count("event: token") == EVENTS
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Request-Id"] == "mine"
    assert registry.get_sample_value("kai_stream_events_sent_total") == EVENTS
    assert registry.get_sample_value("kai_open_streams") == 0
    labels = {"method": "GET", "route": "/stream", "status": "200"}
    assert registry.get_sample_value("kai_http_requests_total", labels) == 1


async def test_other_responses_pass_through_all_middlewares(registry: CollectorRegistry) -> None:
    inner: list[str] = []
    transport = httpx.ASGITransport(application(registry, inner, []))
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as http:
        answer = await http.get("/long", headers={"Accept-Encoding": "gzip"})
        assert inner == ["http.response.start", "http.response.body"]
        assert answer.headers["Content-Encoding"] == "gzip"
        failed = await http.get("/fail")
    assert (failed.status_code, failed.headers["Cache-Control"]) == (500, "no-store")


async def test_a_stream_is_sent_once_the_inner_middlewares_have_returned() -> None:
    order: list[str] = []

    async def noting() -> AsyncIterator[bytes]:
        order.append("event")
        yield b"data: {}\n\n"

    async def noted(request: Request) -> EventStream:
        call_at_end(request.scope, partial(order.append, "ended"))
        return EventStream(noting(), sep="\n")

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        await app(scope, receive, send)
        order.append("returned")

    app = FastAPI()
    app.add_api_route("/stream", noted, response_model=None)
    outer = AccessLog(inner, RequestMetrics(CollectorRegistry()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url="http://kai") as http:
        assert (await http.get("/stream")).text == "data: {}\n\n"
    assert order == ["returned", "event", "ended"]


async def test_what_is_called_at_the_end_is_called_after_a_failure_too(registry: CollectorRegistry) -> None:
    ended: list[str] = []

    async def failing(request: Request) -> EventStream:
        call_at_end(request.scope, partial(ended.append, "ended"))
        raise ValueError("a defect")

    app = application(registry, [], [])
    app.add_api_route("/failing", failing, response_model=None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai") as http:
        assert (await http.get("/failing")).status_code == 500
    assert ended == ["ended"]


async def test_a_stream_without_middlewares_sends_all_by_the_way_it_is_given() -> None:
    app = FastAPI()
    app.add_api_route("/stream", stream, response_model=None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai") as http:
        assert (await http.get("/stream")).text.count("event: token") == EVENTS
