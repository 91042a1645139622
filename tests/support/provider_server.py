"""A real HTTP server that speaks the protocol of a provider of models, and says what a test has scripted.

It runs in the test's event loop. The protocols are in `provider_protocols`.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from tests.support.chat_protocol import HttpRequest, http_chunk, json_response, read_request

WAIT_SECONDS = 60
ELSEWHERE = "/elsewhere"


@dataclass(frozen=True, kw_only=True)
class Served:
    """A reply, or with another status than 200 a refusal that says `error`.

    `hold_after` pieces are sent, then it waits for its release. With `error_in_stream` the stream ends with
    an error of the service, with `is_cut` the connection is cut.
    """

    pieces: Sequence[str] = ()
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    finish: Literal["stop", "length", "filter"] = "stop"
    status: int = 200
    error: str = "scripted"
    retry_after: str | None = None
    hold_after: int | None = None
    error_in_stream: str = ""
    is_cut: bool = False
    is_garbage: bool = False

    @property
    def counted(self) -> tuple[int, int]:
        """Tokens of the prompt and of the reply."""
        return 100, len(self.pieces)


class ModelProtocol(Protocol):
    """A provider's protocol."""

    content_type: str

    def is_chat(self, request: HttpRequest) -> bool: ...

    def parts(self, served: Served) -> list[bytes]:
        """Returns the parts of a whole stream: first those of its text."""
        ...

    def error_part(self, error: str) -> bytes: ...

    def refusal(self, served: Served) -> bytes: ...

    def answer(self, request: HttpRequest) -> bytes | None:
        """Returns the answer to another request than for a reply."""
        ...


@runtime_checkable
class WholeReplies(Protocol):
    """A protocol that has replies in one piece, too."""

    def is_whole(self, request: HttpRequest) -> bool: ...

    def whole(self, served: Served) -> bytes: ...


@dataclass
class ProviderServer:
    """The script, and what was asked."""

    protocol: ModelProtocol
    address: str = ""
    requests: list[HttpRequest] = field(default_factory=list)
    """Requests for replies."""
    others: list[HttpRequest] = field(default_factory=list)
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    script: deque[Served] = field(default_factory=deque)
    redirects: bool = False
    """All requests but those for tokens of Google's are sent on to another path."""
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = field(default_factory=dict)

    def say(self, *served: Served) -> None:
        """The next replies, in order."""
        self.script.extend(served)

    @property
    def asked(self) -> dict[str, Any]:
        """The body of the latest request for a reply."""
        return dict(json.loads(self.requests[-1].body))

    def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self.connections[task] = writer

    async def close(self) -> None:
        """Close all connections."""
        for writer in self.connections.values():
            writer.transport.abort()
        await asyncio.gather(*self.connections)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                if self.redirects and request.path != "/token":
                    self.others.append(request)
                    writer.write(json_response({}, 307, {"Location": f"{self.address}{ELSEWHERE}"}))
                elif self.protocol.is_chat(request):
                    self.requests.append(request)
                    await self._reply(self.script.popleft(), reader, writer)
                elif isinstance(self.protocol, WholeReplies) and self.protocol.is_whole(request):
                    self.requests.append(request)
                    writer.write(self.protocol.whole(self.script.popleft()))
                else:
                    self.others.append(request)
                    writer.write(self.protocol.answer(request) or json_response({}, 404))
                await writer.drain()
        except ConnectionError:
            pass  # the client, or the script, has cut the connection
        finally:
            writer.transport.abort()

    async def _reply(
        self, served: Served, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if served.status != 200:
            writer.write(self.protocol.refusal(served))
            return
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.protocol.content_type}\r\n"
        writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        parts = self.protocol.parts(served)
        if served.error_in_stream:
            parts = [*parts[: len(served.pieces)], self.protocol.error_part(served.error_in_stream)]
        if served.is_garbage:
            parts = [b"data: {never\n\n"]
        for position, part in enumerate(parts):
            if position == served.hold_after and not self.released.is_set():
                await self._hold(reader)
            if served.is_cut and position == len(served.pieces):
                raise ConnectionAbortedError
            writer.write(http_chunk(part))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async def _hold(self, reader: asyncio.StreamReader) -> None:
        self.held.set()
        released = asyncio.create_task(self.released.wait())
        left = asyncio.create_task(reader.read(1))
        await asyncio.wait({released, left}, return_when=asyncio.FIRST_COMPLETED)
        has_left = left.done()
        for task in (released, left):
            task.cancel()
        await asyncio.gather(released, left, return_exceptions=True)
        if has_left:
            self.disconnected.set()
            raise ConnectionResetError


@asynccontextmanager
async def provider_server(protocol: ModelProtocol) -> AsyncIterator[ProviderServer]:
    """Serves until the end of the block."""
    served = ProviderServer(protocol)
    server = await asyncio.start_server(served.connect, "127.0.0.1", 0)
    async with server:
        served.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield served
        finally:
            await served.close()
