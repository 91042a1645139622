"""Event streams of protocols: the log of a run, folded into the frames of a protocol.

A frame's id is `<event id>-<index>`: the event it was made from, and its place among the frames of that
event. It is the same in every process. A client that comes back gets the log folded again from its start,
without the frames that it has.
"""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue, TypeAdapter
from starlette.types import Receive, Scope, Send

from app.core.bus.event_log import EventLog, LogEntry
from app.core.errors import Malformed
from app.modules.run.sse import (
    SEND_TIMEOUT_SECONDS,
    SHUTDOWN_GRACE_SECONDS,
    EventStream,
    Heartbeat,
    Leaving,
    pieces,
)
from graph.events import SessionEvent

HEARTBEAT_SECONDS = 5
"""Pause between the comments of a silent stream."""

_CURSOR = re.compile(r"([0-9]{1,15})-([0-9]{1,6})")
_FROM_THE_START = (None, "", "-1")
_EVENT: TypeAdapter[SessionEvent] = TypeAdapter(SessionEvent)

StreamEnd = Literal["ended", "left", "stopping"]
"""How a stream has closed: the run has ended and its client has read all, the client has left before, or this
process stops.
"""


@dataclass(frozen=True)
class Frame:
    """A server-sent event without its id. `data` is one line; without a name, only the data is sent."""

    event: str | None
    data: str

    @classmethod
    def of(cls, event: str | None, payload: JsonValue) -> "Frame":
        """A frame of ASCII JSON: some clients end a line at characters that JSON allows in it."""
        return cls(event, json.dumps(payload, separators=(",", ":")))


@dataclass(frozen=True, order=True)
class Position:
    """The place of a frame in its stream. Event 0 has the frames before the first event."""

    event_id: int
    index: int

    def __str__(self) -> str:
        return f"{self.event_id}-{self.index}"


START = Position(0, -1)
"""Before every frame."""


class Fold(Protocol):
    """Makes the frames of one protocol out of the events of one run, in order. It reads nothing else.

    None stands for a frame that this client has not asked for: the others keep their places.
    """

    def begin(self) -> Sequence[Frame | None]:
        """The frames before the first event."""

    def frames(self, event: SessionEvent) -> Sequence[Frame | None]:
        """The frames of the next event."""


def position_of(last_event_id: str | None) -> Position:
    """Returns the position after which a stream continues. None, an empty text and -1 are its start.

    Raises `Malformed` for other text.
    """
    if last_event_id in _FROM_THE_START:
        return START
    found = _CURSOR.fullmatch(last_event_id or "")
    if found is None:
        raise Malformed("Last-Event-ID must be the id of a frame of this stream, or -1 for its start.")
    return Position(int(found[1]), int(found[2]))


def events_of(entry: LogEntry) -> list[SessionEvent]:
    """Returns the event of an entry; none for checked claims, which workers of earlier versions log."""
    if '"claims"' in entry.data and json.loads(entry.data).get("type") == "claims":
        return []
    return [_EVENT.validate_json(entry.data)]


async def folded(
    log: EventLog, fold: Fold, *, after: Position, stop: Callable[[], bool]
) -> AsyncGenerator[list[tuple[Position, Frame]]]:
    """Yields the frames behind a position until the run ends: those that are present at a time in one batch.

    If `stop` returns true when the log's readers are woken, the reading ends before the log.
    """
    begun = [(Position(0, index), frame) for index, frame in enumerate(fold.begin())]
    if new := _behind(after, begun):
        yield new
    async with aclosing(log.read_batches(0, stop)) as batches:
        async for batch in batches:
            found = [
                (Position(entry.id, index), frame)
                for entry in batch
                for event in events_of(entry)
                for index, frame in enumerate(fold.frames(event))
            ]
            if new := _behind(after, found):
                yield new


def _behind(after: Position, frames: Iterable[tuple[Position, Frame | None]]) -> list[tuple[Position, Frame]]:
    return [(position, frame) for position, frame in frames if frame is not None and position > after]


def encoded(frame_id: str, frame: Frame) -> bytes:
    """Returns a frame as it is sent. One without a name has no id: its clients come back to no stream."""
    named = "" if frame.event is None else f"id: {frame_id}\nevent: {frame.event}\n"
    return f"{named}data: {frame.data}\n\n".encode()


def folded_stream(
    run_id: str,
    following: AbstractAsyncContextManager[EventLog],
    fold: Fold,
    *,
    after: Position = START,
    before_sending: Callable[[], Awaitable[None]] | None = None,
    headers: Mapping[str, str] | None = None,
    on_close: Callable[[StreamEnd], None] | None = None,
) -> EventStream:
    """The response that sends the frames of a run behind a position, until the run ends.

    `following` is what `RunFollower.follow` returns. `before_sending` is awaited before frames are sent that
    the fold has made. `on_close` is called once, when nothing is sent any more.
    """
    reading = StreamState()

    async def frames() -> AsyncGenerator[bytes]:
        async with following as log:
            reading.leaving.wake(log)
            async with aclosing(folded(log, fold, after=after, stop=reading.leaving.is_set)) as batches:
                async for batch in batches:
                    if before_sending is not None:
                        await before_sending()
                    for piece in pieces(encoded(str(position), frame) for position, frame in batch):
                        yield piece
            if log.ended:
                reading.has_ended = True

    return FrameStream(
        frames(),
        reading,
        headers={"Cache-Control": "no-cache, no-store", "X-Run-Id": run_id, **(headers or {})},
        on_close=on_close,
    )


class StreamState:
    """State of a stream that is being sent. `leaving` is set when the server stops."""

    def __init__(self) -> None:
        self.leaving = Leaving()
        self.has_ended = False

    @property
    def end(self) -> StreamEnd:
        if self.has_ended:
            return "ended"
        return "stopping" if self.leaving.is_set() else "left"


class FrameStream(EventStream):
    """An event stream of a protocol, with a heartbeat. `reading` is set by its frames."""

    def __init__(
        self,
        frames: AsyncGenerator[bytes],
        reading: StreamState,
        *,
        headers: Mapping[str, str],
        on_close: Callable[[StreamEnd], None] | None = None,
    ) -> None:
        super().__init__(
            frames,
            headers=headers,
            ping=HEARTBEAT_SECONDS,
            ping_message_factory=Heartbeat,
            send_timeout=SEND_TIMEOUT_SECONDS,
            shutdown_event=reading.leaving,
            shutdown_grace_period=SHUTDOWN_GRACE_SECONDS,
            sep="\n",
        )
        self._reading = reading
        self._on_close = on_close

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().stream(scope, receive, send)
        finally:
            if self._on_close is not None:
                self._on_close(self._reading.end)
