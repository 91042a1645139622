"""A run's log: whoever reads it, from wherever, misses nothing and sees nothing twice."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from app.core.bus.event_log import IDS_PER_ATTEMPT, EventLog, EventLogs


async def read(log: EventLog, after: int) -> list[int]:
    return [entry.id async for entry in log.read(after, stop=lambda: False)]


@given(said=st.integers(1, 30), attempt=st.integers(1, 3), data=st.data())
def test_any_cut_and_resume_is_the_uncut_log(said: int, attempt: int, data: st.DataObject) -> None:
    log = EventLog(attempt)
    for number in range(said):
        log.append("chunk", str(number))
    log.end()
    whole = asyncio.run(read(log, 0))
    cut = data.draw(st.integers(0, said))
    seen = whole[:cut]
    assert seen + asyncio.run(read(log, seen[-1] if seen else 0)) == whole
    assert whole == list(
        range((attempt - 1) * IDS_PER_ATTEMPT + 1, (attempt - 1) * IDS_PER_ATTEMPT + said + 1)
    )


async def test_an_id_beyond_the_end_of_a_log_gets_its_end() -> None:
    log = EventLog(1)
    for _ in range(3):
        log.append("chunk", "{}")
    log.end()
    assert await read(log, 99) == [3]
    assert await read(log, 3) == []


async def test_readers_get_what_comes_later_until_the_end() -> None:
    log = EventLog(1)
    readers = [asyncio.create_task(read(log, 0)) for _ in range(3)]
    for _ in range(5):
        await asyncio.sleep(0)
        log.append("chunk", "{}")
    log.end()
    assert await asyncio.gather(*readers) == [[1, 2, 3, 4, 5]] * 3


async def test_a_reader_of_an_earlier_attempt_gets_the_whole_new_one() -> None:
    log = EventLog(2)
    log.append("reset", "{}")
    log.end()
    assert await read(log, after=57) == [IDS_PER_ATTEMPT + 1]


async def test_a_reader_that_has_seen_the_last_event_gets_no_more() -> None:
    log = EventLog(1)
    log.append("done", "{}")
    log.end()
    assert await read(log, after=1) == []


async def test_a_reader_that_should_stop_is_let_go_when_woken() -> None:
    log, stopped = EventLog(1), False
    reader = asyncio.create_task(anext(log.read(0, stop=lambda: stopped), None))
    await asyncio.sleep(0)
    stopped = True
    log.wake_readers()
    assert await reader is None


def test_ended_logs_are_forgotten_beyond_a_number_and_live_ones_never() -> None:
    logs = EventLogs()
    live = logs.open("live", 1)
    for number in range(1_200):
        logs.open(f"run {number}", 1).end()
    assert logs.get("live") is live
    assert logs.get("run 0") is None
    assert logs.get("run 1199") is not None
