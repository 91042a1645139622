"""Server-sent events of a run: the stream response, and where it continues."""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing
from functools import partial
from typing import Self

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from app.core.bus.event_log import EventLog, LogEntry
from app.core.errors import Malformed
from app.http.methods import is_head, send_head
from app.http.response_lifetime import stream_later
from app.http.send_bypass import direct_after_head

PING_SECONDS = 10
"""Silence after which a comment is sent. Proxies cut idle streams from 29 s on."""

SEND_TIMEOUT_SECONDS = 20
"""Time after which a client that reads nothing is disconnected; it may resume. A shorter time would trap
clients on slow links: the same large event would be cut off and sent again forever."""

SHUTDOWN_GRACE_SECONDS = 2
"""Time for the last comment when the server stops. Shorter than uvicorn's own limit."""

_HEARTBEAT = b": heartbeat\n"
_MAX_ID_DIGITS = 15
_PIECE_BYTES = 65_536
"""The most bytes of several events in one write. A whole log would fill the client's buffer at once."""


def last_event_id(header: str | None) -> int:
    """Returns the id after which the stream continues, 0 for the start. Raises `Malformed` for other text."""
    if header is None or header == "":
        return 0
    if not (header.isascii() and header.isdigit() and len(header) <= _MAX_ID_DIGITS):
        raise Malformed("Last-Event-ID must be the id of an event of this run.")
    return int(header)


class Heartbeat(ServerSentEvent):
    """A comment that ends no event: decoders take the blank line behind a comment for an event without data,
    once they have seen an id.
    """

    def encode(self) -> bytes:
        return _HEARTBEAT


class EventStream(EventSourceResponse):
    """An event stream that declares its media type, so that FastAPI lists its events in OpenAPI.

    Its events bypass the middlewares that only look at the head, and are sent once these have returned.
    """

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_head(scope):
            await send_head(self, send)
            return
        await stream_later(scope, partial(self.stream, scope, receive, direct_after_head(scope, send)))

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it."""
        await super().__call__(scope, receive, send)


class Leaving(anyio.Event):
    """Set when the server stops. It wakes the reader of a log by itself, without a task that waits for it."""

    def __new__(cls) -> Self:
        return object.__new__(cls)  # anyio's own makes an event of its backend

    def __init__(self) -> None:
        self._is_set = False
        self._log: EventLog | None = None

    def set(self) -> None:
        self._is_set = True
        if self._log is not None:
            self._log.wake_readers()

    def is_set(self) -> bool:
        return self._is_set

    def wake(self, log: EventLog) -> None:
        """From now on, wake the readers of this log."""
        self._log = log


def event_stream(run_id: str, following: AbstractAsyncContextManager[EventLog], after: int) -> EventStream:
    leaving = Leaving()
    return EventStream(
        _frames(following, after, leaving),
        headers={"Cache-Control": "no-cache, no-store", "X-Run-Id": run_id},
        ping=0,  # the library's costs each stream a task; the frames have their own
        send_timeout=SEND_TIMEOUT_SECONDS,
        shutdown_event=leaving,
        shutdown_grace_period=SHUTDOWN_GRACE_SECONDS,
        sep="\n",
    )


async def _frames(
    following: AbstractAsyncContextManager[EventLog], after: int, leaving: Leaving
) -> AsyncGenerator[bytes]:
    """Yields the events that are present at a time in one piece, so that they are sent in one write."""
    async with following as log:
        leaving.wake(log)
        reading = log.read_batches(after, leaving.is_set, silence_seconds=PING_SECONDS)
        async with aclosing(reading) as batches:
            async for batch in batches:
                if not batch:
                    yield _HEARTBEAT
                for piece in pieces(map(_encoded, batch)):
                    yield piece
        if not log.ended:
            yield b": the server is stopping; come back with Last-Event-ID\n"


def _encoded(entry: LogEntry) -> bytes:
    """Returns the frame of an event. Its data is one line."""
    return f"id: {entry.id}\nevent: {entry.event}\ndata: {entry.data}\n\n".encode()


def pieces(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yields frames, together up to a size."""
    together: list[bytes] = []
    size = 0
    for frame in frames:
        if together and size + len(frame) > _PIECE_BYTES:
            yield b"".join(together)
            together.clear()
            size = 0
        together.append(frame)
        size += len(frame)
    if together:
        yield b"".join(together)
