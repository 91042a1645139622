"""Compresses JSON responses of more than a kilobyte by gzip, if the client accepts it. Streams stay as they
are."""

import asyncio
import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MIN_BYTES = 1_024
_LEVEL = 4
_IN_THREAD_FROM_BYTES = 131_072
"""A body of this size takes milliseconds, during which the event loop would stand still."""


class JsonCompression:
    """ASGI middleware. Only a JSON response with a length is held back, until its body is complete."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] == "http"
            and scope["method"] != "HEAD"
            and "gzip" in Headers(scope=scope).get("accept-encoding", "")
        ):
            send = _Compressing(send).send
        await self._app(scope, receive, send)


class _Compressing:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_worth_it(Headers(raw=message["headers"])):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_compressed(self._start, bytes(self._body))

    async def _send_compressed(self, start: Message, body: bytes) -> None:
        if len(body) < _IN_THREAD_FROM_BYTES:
            compressed = gzip.compress(body, _LEVEL, mtime=0)
        else:
            compressed = await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)
        headers = MutableHeaders(raw=start["headers"])
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(compressed))
        headers.add_vary_header("Accept-Encoding")
        await self._send(start)
        await self._send({"type": "http.response.body", "body": compressed})


def _is_worth_it(headers: Headers) -> bool:
    length = headers.get("content-length", "")
    media_type = headers.get("content-type", "").partition(";")[0]
    is_json = media_type == "application/json" or media_type.endswith("+json")
    is_long = length.isdigit() and int(length) >= _MIN_BYTES
    return is_json and is_long and "content-encoding" not in headers
