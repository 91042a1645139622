"""The frames of a run: each once and in order, wherever a client comes back."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext

import pytest
from httpx_sse._decoders import SSEDecoder
from langgraph_sdk import sse as langgraph_sse
from openai import _streaming as openai_streaming
from starlette.types import Message

from app.core.bus.event_log import EventLog, entries, first_id
from app.core.errors import Malformed
from app.modules.protocols.frame_stream import (
    START,
    Frame,
    Position,
    StreamState,
    encoded,
    events_of,
    folded,
    folded_stream,
    position_of,
)
from app.modules.run.messages import wire
from app.modules.run.sse import Heartbeat
from graph.events import AnalysisChunk, SessionEvent, TextChunk

SAID: list[SessionEvent] = [
    TextChunk(content="Two ", channel="analysis"),
    TextChunk(content="in Brazil", channel="sql"),
    AnalysisChunk(content="Two in Brazil"),
]


class Doubled:
    """Two frames before the first event, none for text of a statement, two for others."""

    def begin(self) -> Sequence[Frame]:
        return [Frame.of("begin", 1), Frame.of("begin", 2)]

    def frames(self, event: SessionEvent) -> Sequence[Frame]:
        if isinstance(event, TextChunk) and event.channel == "sql":
            return []
        return [Frame.of(event.event, 1), Frame.of(event.event, 2)]


def log_of(said: Sequence[SessionEvent], attempt: int = 1, *, ended: bool = True) -> EventLog:
    log = EventLog()
    log.extend(entries(first_id(attempt), [wire(event) for event in said]), ended=ended)
    return log


async def read(log: EventLog, after: Position = START) -> list[str]:
    batches = folded(log, Doubled(), after=after, stop=lambda: False)
    return [str(position) async for batch in batches for position, _ in batch]


WHOLE = ["0-0", "0-1", "1000001-0", "1000001-1", "1000003-0", "1000003-1"]


async def test_a_frame_is_named_by_its_event_and_its_place_among_the_frames_of_it() -> None:
    assert await read(log_of(SAID)) == WHOLE


@pytest.mark.parametrize("seen", range(len(WHOLE) + 1))
async def test_a_client_that_comes_back_gets_each_frame_once(seen: int) -> None:
    after = position_of(WHOLE[seen - 1] if seen else None)
    assert WHOLE[:seen] + await read(log_of(SAID), after) == WHOLE


async def test_a_client_of_an_earlier_attempt_gets_the_new_one_from_its_start() -> None:
    assert await read(log_of(SAID, attempt=2), Position(1_000_004, 1)) == [
        id_.replace("1000", "2000") for id_ in WHOLE[2:]
    ]


async def test_frames_come_as_their_events_do() -> None:
    log = EventLog()
    reader = asyncio.create_task(read(log))
    for number, event in enumerate(SAID, first_id(1)):
        await asyncio.sleep(0)
        log.extend(entries(number, [wire(event)]), ended=number == first_id(1) + 2)
    assert await reader == WHOLE


@pytest.mark.parametrize("start", [None, "", "-1"])
def test_a_stream_can_be_read_from_its_start(start: str | None) -> None:
    assert position_of(start) == START


@pytest.mark.parametrize("wrong", ["7", "7-", "-2", "a-b", "7-1-1", "1" * 16 + "-0", "\u0667-1"])
def test_another_id_is_refused(wrong: str) -> None:
    with pytest.raises(Malformed):
        position_of(wrong)


def test_an_event_of_the_log_is_read_as_it_was_emitted() -> None:
    log = log_of(SAID)
    assert [events_of(entry) for entry in log.after(0)] == [[each] for each in SAID]


def test_a_frame_is_one_line_of_ascii_for_each_field() -> None:
    frame = Frame.of("chunk", {"text": "a\u2028ü\n"})
    assert encoded("7-0", frame) == b'id: 7-0\nevent: chunk\ndata: {"text":"a\\u2028\\u00fc\\n"}\n\n'
    assert encoded("7-1", Frame(None, "[DONE]")) == b"data: [DONE]\n\n"


@pytest.mark.parametrize("name", ["values", None])
def test_a_heartbeat_is_no_event_to_the_decoders_of_clients(name: str | None) -> None:
    frames = [encoded(f"{place}-0", Frame.of(name, place)) for place in range(2)]
    stream = Heartbeat().encode().join([b"", *frames, b""])
    lines = [line.removesuffix("\n") for line in stream.decode().splitlines(keepends=True)]
    plain, langgraph = SSEDecoder(), langgraph_sse.SSEDecoder()
    decoded = [
        [event.data for event in openai_streaming.SSEDecoder().iter_bytes(iter([stream]))],
        [event.data for line in lines if (event := plain.decode(line)) is not None],
        [str(part.data) for line in lines if (part := langgraph.decode(line.encode())) is not None],
    ]
    assert decoded == [["0", "1"]] * 3


async def sent_by(log: EventLog, closed: list[str], *, leave_after: int | None = None) -> bytes:
    """Returns what a stream sends to a client that leaves after some messages, or never."""
    sent: list[bytes] = []
    left = asyncio.Event()

    async def send(message: Message) -> None:
        body = message.get("body", b"")
        assert isinstance(body, bytes)
        sent.append(body)
        if leave_after is not None and len(sent) > leave_after:
            left.set()

    async def receive() -> Message:
        await left.wait()
        return {"type": "http.disconnect"}

    stream = folded_stream("run", nullcontext(log), Doubled(), on_close=closed.append)
    await stream({"type": "http", "method": "GET", "asgi": {"version": "3.0"}}, receive, send)
    return b"".join(sent)


async def test_a_stream_reports_that_its_client_has_read_all() -> None:
    closed: list[str] = []
    sent = await sent_by(log_of(SAID), closed)
    assert [line[4:].decode() for line in sent.split(b"\n") if line.startswith(b"id: ")] == WHOLE
    assert closed == ["ended"]


async def test_a_stream_reports_that_its_client_has_left() -> None:
    closed: list[str] = []
    async with asyncio.timeout(30):
        await sent_by(log_of(SAID, ended=False), closed, leave_after=2)
    assert closed == ["left"]


def test_a_stop_of_the_server_is_no_departure() -> None:
    reading = StreamState()
    reading.leaving.set()
    assert reading.end == "stopping"
