"""HTTP/1.1 connections of uvicorn that are closed when a request does not arrive in time.

uvicorn itself limits only how long a connection may idle between requests. `BodyLimit` answers a body that
is too slow while a route waits for it; the rest of a body that no route reads is waited for here.
"""

import asyncio
import json
from typing import Any, Literal, TypeAlias

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.core.errors import Malformed, problem_type
from app.core.settings import HttpSettings
from app.http.problems import PROBLEM_JSON, problem_answer

_Awaited: TypeAlias = Literal["head", "rest of the body"]

_CLOSE = {"Connection": "close"}


class HttpConnection(H11Protocol):
    """One connection. `connection_class` sets how long it waits."""

    settings: HttpSettings

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.app = _refusing_ambiguous_lengths(self.app)
        self._awaited: _Awaited | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._has_begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await("head")

    def data_received(self, data: bytes) -> None:
        self._has_begun = True
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await("head")
        elif not self._is_body_unread():
            self._await(None)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._has_begun = False
        self._await("rest of the body" if self._is_body_unread() else None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._await(None)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "malformed", "Malformed request", detail=msg)

    def _is_body_unread(self) -> bool:
        """True if a response is complete before the body of its request has arrived."""
        return self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.DONE

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
        if self._awaited == "head" and self._has_begun:
            seconds = f"{self.settings.head_seconds:g}"
            detail = f"The request line and the headers did not arrive within {seconds} seconds."
            self._refuse(408, "request-timeout", "The request is too slow", detail=detail)
        else:  # an idle client does not expect an answer, and an unread body has its answer already
            self.transport.close()

    def _refuse(self, status: int, kind: str, title: str, *, detail: str) -> None:
        """Answer a request that never reaches the application, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self.transport.is_closing():
            problem = {"type": problem_type(kind), "title": title, "status": status, "detail": detail}
            body = json.dumps(problem).encode()
            headers = [
                ("Content-Type", PROBLEM_JSON),
                ("Content-Length", str(len(body))),
                ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
                ("Connection", "close"),
            ]
            response = h11.Response(status_code=status, headers=headers, reason=title)
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def connection_class(its_settings: HttpSettings) -> type[HttpConnection]:
    """Returns the class for uvicorn, which creates an instance for each connection."""

    class Connection(HttpConnection):
        settings = its_settings

    return Connection


def _refusing_ambiguous_lengths(app: Any) -> ASGIApp:
    """The application, behind a check for the ambiguity that request smuggling uses (RFC 9112, 6.1)."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", ())}
        if {b"content-length", b"transfer-encoding"} <= names:
            refusal = Malformed("The request has Content-Length and Transfer-Encoding. Send one of them.")
            answer = problem_answer(refusal)
            answer.headers.update(_CLOSE)
            await answer(scope, receive, send)
            return
        await app(scope, receive, send)

    return checked
