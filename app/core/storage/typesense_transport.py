"""HTTP/1.1 transport for httpx over keep-alive connections, with the parser of httptools.

A request of httpx's own transport costs three times the CPU (`make bench-store-client`). This one does what
requests to Typesense need: a whole body is sent, a whole body is read. There are no proxies, no HTTP/2 and
no streaming.
"""

import asyncio
import ssl
from collections import defaultdict
from contextlib import suppress
from typing import TypeAlias, cast

import httptools
import httpx

_Origin: TypeAlias = tuple[str, str, int]
_PORTS = {"http": 80, "https": 443}


class KeepAliveTransport(httpx.AsyncBaseTransport):
    """Sends each request on an idle connection, or on a new one. At most `max_connections` are open.

    The timeouts of a request are honoured: `connect`, `pool`, and `read` for each pause of the server.
    Raises `httpx.TransportError`: subclasses of it for failures, and itself once it is closed.
    """

    def __init__(self, max_connections: int = 100) -> None:
        self._room = asyncio.Semaphore(max_connections)
        self._idle: defaultdict[_Origin, list[_Connection]] = defaultdict(list)
        self._ssl: ssl.SSLContext | None = None
        self._is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        seconds = cast("dict[str, float | None]", request.extensions.get("timeout", {}))
        try:
            await asyncio.wait_for(self._room.acquire(), seconds.get("pool"))
        except TimeoutError as error:
            raise httpx.PoolTimeout("no connection is free", request=request) from error
        try:
            connection = await self._connection(request, seconds.get("connect"))
            try:
                status, headers, body = await connection.exchange(request, seconds.get("read"))
            except BaseException:
                connection.close()  # the rest of the response may still come on it
                raise
        finally:
            self._room.release()
        if self._is_closed:
            connection.close()
        elif connection.is_open:
            self._idle[_origin(request.url)].append(connection)
        return httpx.Response(
            status, headers=headers, content=body, request=request, extensions={"network_stream": connection}
        )

    async def _connection(self, request: httpx.Request, seconds: float | None) -> "_Connection":
        if self._is_closed:
            raise httpx.TransportError("the client is closed", request=request)
        origin = _origin(request.url)
        idle = self._idle[origin]
        while idle:
            if (connection := idle.pop()).is_open:
                return connection
        scheme, host, port = origin
        if scheme == "https" and self._ssl is None:
            self._ssl = httpx.create_ssl_context()
        context = self._ssl if scheme == "https" else None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                _, opened = await loop.create_connection(_Connection, host, port, ssl=context)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"{host} did not answer", request=request) from error
        except OSError as error:
            raise httpx.ConnectError(str(error), request=request) from error
        return opened

    async def aclose(self) -> None:
        """Close idle connections. Requests under way may end, since writes outlive the cancellation of their
        callers; each then closes its connection. There are no further requests.
        """
        self._is_closed = True
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # the loop closes the sockets in its next iteration


class _Connection(asyncio.Protocol):
    """One connection, for one exchange at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._response: asyncio.Future[None] | None = None
        self._deadline: asyncio.Timeout | None = None
        self._read_seconds: float | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def exchange(
        self, request: httpx.Request, read_seconds: float | None
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Send a request and read its response."""
        if self._transport is None:
            raise httpx.WriteError("the connection is closed", request=request)
        self._parser = httptools.HttpResponseParser(self)
        self._headers = []
        self._body = []
        self._response = self._loop.create_future()
        self._read_seconds = read_seconds
        self._transport.write(_encoded(request))
        try:
            async with asyncio.timeout(read_seconds) as self._deadline:
                await self._response
        except TimeoutError as error:
            raise httpx.ReadTimeout("the server did not answer in time", request=request) from error
        except (OSError, httptools.HttpParserError) as error:
            raise httpx.RemoteProtocolError(str(error), request=request) from error
        finally:
            self._response = None
            self._deadline = None
        return self._parser.get_status_code(), self._headers, b"".join(self._body)

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._response is None:
            self.close()  # nothing was asked
            return
        self._extend_deadline()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(error)

    def resume_writing(self) -> None:
        self._extend_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._fail(exc or ConnectionResetError("the server closed the connection"))

    def _extend_deadline(self) -> None:
        if self._deadline is not None and self._read_seconds is not None:
            with suppress(RuntimeError):  # it has just expired
                self._deadline.reschedule(self._loop.time() + self._read_seconds)

    def _fail(self, error: Exception) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_exception(error)

    # Called by the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if not self._parser.should_keep_alive():
            self.close()
        if self._response is not None and not self._response.done():
            self._response.set_result(None)


def _origin(url: httpx.URL) -> _Origin:
    return url.scheme, url.host, url.port or _PORTS[url.scheme]


def _encoded(request: httpx.Request) -> bytes:
    lines = [b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines.extend(b"%b: %b" % header for header in request.headers.raw)
    return b"\r\n".join([*lines, b"", request.content])
