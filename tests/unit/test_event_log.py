"""A run's log: a reader misses nothing and sees nothing twice, wherever it starts."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.bus.event_log import IDS_PER_ATTEMPT, EventLog, entries, first_id
from app.core.bus.local import LocalLogs
from app.modules.run import sse


def log_of(said: int, attempt: int = 1, *, ended: bool = True) -> EventLog:
    log = EventLog()
    log.extend(entries(first_id(attempt), [("chunk", "{}")] * said), ended=ended)
    return log


async def read(log: EventLog, after: int) -> list[int]:
    return [entry.id async for entry in log.read(after, stop=lambda: False)]


@given(said=st.integers(1, 30), attempt=st.integers(0, 3), data=st.data())
def test_any_cut_and_resume_is_the_uncut_log(said: int, attempt: int, data: st.DataObject) -> None:
    log = log_of(said, attempt)
    whole = asyncio.run(read(log, 0))
    seen = whole[: data.draw(st.integers(0, said))]
    assert seen + asyncio.run(read(log, seen[-1] if seen else 0)) == whole
    assert whole == list(range(attempt * IDS_PER_ATTEMPT + 1, attempt * IDS_PER_ATTEMPT + said + 1))


async def test_an_id_beyond_the_end_of_a_log_gets_its_end() -> None:
    log = log_of(3, attempt=0)
    assert await read(log, 99) == [3]
    assert await read(log, 3) == []


async def test_readers_get_what_comes_later_until_the_end() -> None:
    log = EventLog()
    readers = [asyncio.create_task(read(log, 0)) for _ in range(3)]
    for number in range(1, 6):
        await asyncio.sleep(0)
        log.extend(entries(number, [("chunk", "{}")]), ended=number == 5)
    assert await asyncio.gather(*readers) == [[1, 2, 3, 4, 5]] * 3


async def test_a_reader_of_an_earlier_attempt_gets_the_whole_new_one() -> None:
    assert await read(log_of(1, attempt=2), after=57) == [2 * IDS_PER_ATTEMPT + 1]


async def test_what_comes_twice_or_after_the_end_is_left_out() -> None:
    log = log_of(3, attempt=0, ended=False)
    log.extend(entries(2, [("chunk", "again")] * 3), ended=True)
    log.extend(entries(5, [("chunk", "too late")]))
    assert await read(log, 0) == [1, 2, 3, 4]


async def test_a_reader_that_should_stop_is_released_when_woken() -> None:
    log, stopped = EventLog(), False
    reader = asyncio.create_task(anext(log.read(0, stop=lambda: stopped), None))
    await asyncio.sleep(0)
    stopped = True
    log.wake_readers()
    assert await reader is None


async def test_a_silent_log_has_empty_batches() -> None:
    log = log_of(1, ended=False)
    async with aclosing(log.read_batches(0, lambda: False, silence_seconds=0)) as batches:
        assert [len(await anext(batches)) for _ in range(3)] == [1, 0, 0]


async def test_a_silent_stream_has_comments_until_the_server_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PING_SECONDS", 0)
    leaving = sse.Leaving()
    frames = sse._frames(LocalLogs().follow("run"), 0, leaving)
    assert [await anext(frames), await anext(frames)] == [sse.Heartbeat().encode()] * 2
    leaving.set()
    assert b"Last-Event-ID" in [frame async for frame in frames][-1]


async def test_a_stop_of_the_server_wakes_a_reader() -> None:
    leaving = sse.Leaving()
    frames = sse._frames(LocalLogs().follow("run"), 0, leaving)
    reading = asyncio.create_task(anext(frames, b""))
    await asyncio.sleep(0)
    leaving.set()
    assert b"Last-Event-ID" in await reading


async def test_ended_logs_are_forgotten_beyond_a_number_and_live_ones_never() -> None:
    logs = LocalLogs()
    logs.writer("live", 1).append("chunk", "{}")
    for number in range(1_200):
        await logs.writer(f"run {number}", 1).end("done", "{}")
    async with logs.follow("live") as live, logs.follow("run 0") as first, logs.follow("run 1199") as last:
        assert [live.last_id, first.last_id, last.last_id] == [first_id(1), 0, first_id(1)]
