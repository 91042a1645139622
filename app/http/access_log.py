"""Access log and metrics of HTTP requests, and the request id."""

import logging
import re
import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.ids import new_id
from app.core.logs.ids import bound
from app.core.logs.start import ACCESS
from app.http.problems import internal_problem
from app.http.response_lifetime import call_then_stream
from app.http.routes import API_PREFIX
from app.http.send_bypass import direct_send, offer_direct_send

QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""Routes that machines call every few seconds: logged at level debug, not traced."""

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_STREAM = b"text/event-stream"
_EVENT = b"\ndata: "  # after id and event; within the data a line break is escaped

logger = logging.getLogger(ACCESS)


class RequestMetrics:
    """Counters and histograms of requests. Routes are labelled by template, so that labels are bounded."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "kai_http_requests",
            "Requests that ended, by route template",
            ["method", "route", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "kai_http_request_duration_seconds",
            "From a request to the end of its response; for streams, their whole length",
            ["method", "route"],
            buckets=(0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60, 300),
            registry=registry,
        )
        self.streams = Gauge("kai_open_streams", "Open event streams", registry=registry)
        self.events = Counter("kai_stream_events_sent", "Events sent over streams", registry=registry)


class AccessLog:
    """ASGI middleware around all others but `ResponseHeaders`: logs and counts requests.

    Answers an unexpected exception with a problem object. Sends streams once all within have returned.
    """

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope["headers"])
        answer = _Answer(send, request_id, self._metrics, send_body=direct_send(scope, send))
        offer_direct_send(scope, answer.send_body)
        began = time.monotonic()
        with bound(request_id=request_id):
            try:
                await self._call_app(scope, receive, answer)
            finally:
                answer.end()
                self._record(scope, answer.status, time.monotonic() - began)

    async def _call_app(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        try:
            await call_then_stream(self._app, scope, receive, send=answer.send)
        except Exception:
            logger.exception("the request failed by a fault of KAI")
            if answer.status is not None:
                raise  # the answer has begun, so the connection must be closed
            problem: Response = internal_problem(answer.request_id)
            await problem(scope, receive, answer.send)

    def _record(self, scope: Scope, status: int | None, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = _template(scope)
        label = "none" if status is None else str(status)  # the client left before there was one
        self._metrics.requests.labels(method, route, label).inc()
        self._metrics.seconds.labels(method, route).observe(seconds)
        logger.log(
            logging.DEBUG if route in QUIET else logging.INFO,
            "request",
            extra={
                "method": method,
                "route": route,
                "status": status,
                "duration_ms": round(seconds * 1000),
            },
        )


class _Answer:
    """A response in progress. `status` is None before its first byte."""

    def __init__(self, send: Send, request_id: str, metrics: RequestMetrics, *, send_body: Send) -> None:
        self.request_id = request_id
        self.status: int | None = None
        self._send = send
        self._send_body = send_body
        self._metrics = metrics
        self._streams = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begin(message)
        else:
            self._count(message)
        await self._send(message)

    async def send_body(self, message: Message) -> None:
        """Send what follows the head of a stream."""
        self._count(message)
        await self._send_body(message)

    def _count(self, message: Message) -> None:
        """Count events before they are sent, so that a client that has read `done` finds them counted."""
        if self._streams and message["type"] == "http.response.body":
            self._metrics.events.inc(message.get("body", b"").count(_EVENT))

    def end(self) -> None:
        if self._streams:
            self._metrics.streams.dec()

    def _begin(self, message: Message) -> None:
        self.status = message["status"]
        headers = [*message.get("headers", ())]
        self._streams = any(
            name.lower() == b"content-type" and value.startswith(_STREAM) for name, value in headers
        )
        if self._streams:
            self._metrics.streams.inc()
        message["headers"] = [*headers, (b"x-request-id", self.request_id.encode())]


def _request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The request id that the caller sent if it is safe to log, else a new one."""
    given = dict(headers).get(b"x-request-id", b"").decode("latin-1")
    return given if _ID.fullmatch(given) else new_id()


def _template(scope: Scope) -> str:
    """The template of the route that answered, without its parameters."""
    template = getattr(scope.get("route"), "path", None)
    if not isinstance(template, str):
        return "unmatched"
    prefixed = scope["path"].startswith(API_PREFIX) and not template.startswith(API_PREFIX)
    return API_PREFIX + template if prefixed else template
