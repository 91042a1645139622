"""Server-sent events of a run: the stream response and its request header."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Annotated

import anyio
from fastapi import Header
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.core.bus.event_log import EventLog
from app.core.errors import Malformed

PING_SECONDS = 10
"""Proxies cut idle streams from 29 s on."""

SEND_TIMEOUT_SECONDS = 20
"""Time after which a client that reads nothing is disconnected; it may resume. A shorter time would trap
clients on slow links: the same large event would be cut off and sent again forever."""

SHUTDOWN_GRACE_SECONDS = 2
"""Time for the last comment when the server stops. Shorter than uvicorn's own limit."""

_MAX_ID_DIGITS = 15

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=100,
        description="Id of the last event received. Left out: the stream starts at the beginning.",
    ),
]


def last_event_id(header: str | None) -> int:
    """Returns the id after which the stream continues, 0 for the start. Raises `Malformed` for other text."""
    if header is None or header == "":
        return 0
    if not (header.isascii() and header.isdigit() and len(header) <= _MAX_ID_DIGITS):
        raise Malformed("Last-Event-ID must be the id of an event of this run.")
    return int(header)


class EventStream(EventSourceResponse):
    """An event stream that declares its media type, so that FastAPI lists its events in OpenAPI."""

    media_type = "text/event-stream"


def event_stream(run_id: str, following: AbstractAsyncContextManager[EventLog], after: int) -> EventStream:
    leaving = anyio.Event()
    return EventStream(
        _frames(following, after, leaving),
        headers={"Cache-Control": "no-cache, no-store", "X-Run-Id": run_id},
        ping=PING_SECONDS,
        send_timeout=SEND_TIMEOUT_SECONDS,
        shutdown_event=leaving,
        shutdown_grace_period=SHUTDOWN_GRACE_SECONDS,
        sep="\n",
    )


async def _frames(
    following: AbstractAsyncContextManager[EventLog], after: int, leaving: anyio.Event
) -> AsyncGenerator[ServerSentEvent]:
    async with following as log:
        watch = asyncio.create_task(leaving.wait(), name="stream: wait for shutdown")
        watch.add_done_callback(lambda _: log.wake_readers())
        try:
            async for entry in log.read(after, leaving.is_set):
                yield ServerSentEvent(entry.data, event=entry.event, id=str(entry.id), sep="\n")
            if not log.ended:
                farewell = "the server is stopping; come back with Last-Event-ID"
                yield ServerSentEvent(comment=farewell, sep="\n")
        finally:
            watch.cancel()
