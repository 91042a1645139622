"""HTTP/1.1 connections of uvicorn that are closed when a request does not arrive in time.

uvicorn itself limits only how long a connection may idle between requests, and httptools, which parses them,
does not limit the size of a head. `BodyLimit` answers a body that is too slow while a route waits for it; the
rest of a body that no route reads is waited for here.
"""

import asyncio
import json
from typing import Any, Literal, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from app.core.errors import Malformed, problem_type
from app.core.settings import HttpSettings
from app.http.problems import PROBLEM_JSON, problem_answer

_Awaited: TypeAlias = Literal["head", "rest of the body"]
_Part: TypeAlias = Literal["nothing", "head", "body"]
"""The part of a request that has begun to arrive and is not complete."""

_CLOSE = {"Connection": "close"}
_MAX_HEAD_BYTES = 65_536


class HttpConnection(HttpToolsProtocol):
    """One connection. `connection_class` sets how long it waits."""

    # More than thirty attributes in one dictionary would give each connection keys of its own.
    __slots__ = ("_awaited", "_deadline", "_head_bytes", "_part")

    settings: HttpSettings

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.app = _refusing_ambiguous_requests(self.app)
        self._part: _Part = "nothing"
        self._head_bytes = 0
        self._awaited: _Awaited | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await("head")

    def data_received(self, data: bytes) -> None:
        if self._part == "nothing":
            self._part = "head"
            self._head_bytes = 0
        super().data_received(data)
        if self._part == "head":
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD_BYTES:
                self._refuse(431, "malformed", "Malformed request", detail="The headers are too large.")
        self._await_what_is_missing()

    def on_message_begin(self) -> None:
        self._part = "head"
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._part = "body"
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._part = "nothing"
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_what_is_missing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._await(None)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "malformed", "Malformed request", detail=msg)

    def _await_what_is_missing(self) -> None:
        """A route that reads a body waits for it itself; what follows a request under way has time."""
        if self._part == "nothing" or _is_under_way(self.cycle):
            self._await(None)
        else:
            self._await("head" if self._part == "head" else "rest of the body")

    def _await(self, awaited: _Awaited | None) -> None:
        """Begin to wait, unless this is waited for already, or stop waiting."""
        if awaited == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._awaited = awaited
        if awaited is not None and not self.transport.is_closing():
            seconds = self.settings.head_seconds if awaited == "head" else self.settings.body_seconds
            self._deadline = self.loop.call_later(seconds, self._end_wait)

    def _end_wait(self) -> None:
        if self._awaited == "head" and self._part == "head":
            seconds = f"{self.settings.head_seconds:g}"
            detail = f"The request line and the headers did not arrive within {seconds} seconds."
            self._refuse(408, "request-timeout", "The request is too slow", detail=detail)
        else:  # an idle client does not expect an answer, and an unread body has its answer already
            self.transport.close()

    def _refuse(self, status: int, kind: str, title: str, *, detail: str) -> None:
        """Answer a request that never reaches the application, and close the connection."""
        if not _is_under_way(self.cycle) and not self.transport.is_closing():
            problem = {"type": problem_type(kind), "title": title, "status": status, "detail": detail}
            body = json.dumps(problem).encode()
            headers = {
                "content-type": PROBLEM_JSON,
                "content-length": str(len(body)),
                "cache-control": "no-store",
                "x-content-type-options": "nosniff",
                "connection": "close",
            }
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            self.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[status], lines.encode(), body))
        self.transport.close()


def _is_under_way(cycle: RequestResponseCycle | None) -> bool:
    """True if a response is not complete. A connection has no cycle before its first request."""
    return cycle is not None and not cycle.response_complete


def connection_class(its_settings: HttpSettings) -> type[HttpConnection]:
    """Returns the class for uvicorn, which creates an instance for each connection."""

    class Connection(HttpConnection):
        settings = its_settings

    return Connection


def _refusing_ambiguous_requests(app: Any) -> ASGIApp:
    """The application, behind a check for what request smuggling uses (RFC 9112, 3.2 and 6.1)."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        names = [name for name, _ in scope.get("headers", ())]
        detail = _ambiguity(names, scope["http_version"]) if scope["type"] == "http" else None
        if detail is None:
            await app(scope, receive, send)
            return
        answer = problem_answer(Malformed(detail))
        answer.headers.update(_CLOSE)
        await answer(scope, receive, send)

    return checked


def _ambiguity(names: list[bytes], version: str) -> str | None:
    """Returns what is ambiguous about a request with these header names, or None."""
    if b"content-length" in names and b"transfer-encoding" in names:
        return "The request has Content-Length and Transfer-Encoding. Send one of them."
    if names.count(b"host") > 1 or (b"host" not in names and version == "1.1"):
        return "The request needs exactly one Host header."
    return None
