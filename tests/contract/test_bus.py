"""One contract for the bus, within a process and over Redis: what is put in is delivered, what is said is
heard."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.core.bus.event_log import first_id
from app.core.bus.port import LeasedRun
from tests.support.buses import Bus, heard, local_bus, new_prefix, redis_bus, ref

NOW, SOON = 0.05, 5.0


@pytest.fixture(params=["local", "redis"])
async def bus(request: pytest.FixtureRequest) -> AsyncGenerator[Bus]:
    if request.param == "local":
        yield local_bus()
    else:
        async with redis_bus(request.getfixturevalue("redis_server"), new_prefix()) as opened:
            yield opened


async def test_runs_are_delivered_in_the_order_they_were_put_in(bus: Bus) -> None:
    for number in range(5):
        await bus.queue.put(ref(number), first=True)
    taken = [await bus.queue.take(SOON) for _ in range(5)]
    assert taken == [LeasedRun(ref(number), first=True) for number in range(5)]


async def test_nothing_comes_of_an_empty_queue(bus: Bus) -> None:
    assert await bus.queue.take(NOW) is None


async def test_who_waits_is_woken(bus: Bus) -> None:
    taking = asyncio.create_task(bus.queue.take(SOON))
    await asyncio.sleep(0)
    await bus.queue.put(ref(), first=True)
    assert await asyncio.wait_for(taking, 1) == LeasedRun(ref(), first=True)


async def test_a_run_put_in_twice_is_delivered_once(bus: Bus) -> None:
    await bus.queue.put(ref(), first=True)
    await bus.queue.put(ref(), first=False)
    assert await bus.queue.take(SOON) == LeasedRun(ref(), first=True)
    await bus.queue.put(ref(), first=True)
    assert await bus.queue.take(NOW) is None


async def test_a_run_given_back_goes_before_all_that_wait(bus: Bus) -> None:
    await bus.queue.put(ref(0), first=True)
    await bus.queue.put(ref(1), first=True)
    leased = await bus.queue.take(SOON)
    assert leased is not None
    await bus.queue.requeue(LeasedRun(leased.ref, first=False))
    assert await bus.queue.take(SOON) == LeasedRun(ref(0), first=False)
    assert await bus.queue.take(SOON) == LeasedRun(ref(1), first=True)


async def test_what_waits_is_counted_and_what_is_unknown_is_missing(bus: Bus) -> None:
    for number in range(3):
        await bus.queue.put(ref(number), first=True)
    await bus.queue.take(SOON)
    assert await bus.queue.waiting() == 2
    assert await bus.queue.missing([ref(number) for number in range(5)]) == [ref(3), ref(4)]
    assert await bus.queue.missing([]) == []


async def test_a_run_that_is_over_is_gone_and_may_be_put_in_again(bus: Bus) -> None:
    await bus.queue.put(ref(), first=True)
    await bus.queue.take(SOON)
    await bus.queue.ack(ref())
    assert await bus.queue.missing([ref()]) == [ref()]
    await bus.queue.put(ref(), first=False)
    assert await bus.queue.take(SOON) == LeasedRun(ref(), first=False)


async def test_a_cancellation_is_reported_at_once_and_again_with_the_lease(bus: Bus) -> None:
    listening = asyncio.ensure_future(anext(aiter(bus.queue.cancellations())))
    await asyncio.sleep(0.1)  # it has subscribed by then
    await bus.queue.cancel("run-0")
    assert await asyncio.wait_for(listening, SOON) == "run-0"
    kept = await bus.queue.renew([(ref(0), 1), (ref(1), 1)])
    assert [(each.ref, each.lost, each.cancelled) for each in kept] == [
        (ref(0), False, True),
        (ref(1), False, False),
    ]


async def test_followers_hear_all_whenever_they_come(bus: Bus) -> None:
    async with bus.logs.follow("run-0") as early:
        listening = asyncio.create_task(heard(early))
        writer = bus.logs.writer("run-0", 1)
        for number in range(100):
            writer.append("chunk", str(number))
            await asyncio.sleep(0)
        await writer.end("done", "100")
        whole = await asyncio.wait_for(listening, SOON)
    assert whole == [(first_id(1) + number, str(number)) for number in range(101)]
    async with bus.logs.follow("run-0") as late:
        assert await heard(late) == whole
        assert await heard(late, after=whole[49][0]) == whole[50:]


async def test_what_is_said_before_an_attempt_comes_first(bus: Bus) -> None:
    await bus.logs.say("run-0", 0, [("status", "waiting")], ended=False)
    writer = bus.logs.writer("run-0", 1)
    await writer.end("done", "over")
    async with bus.logs.follow("run-0") as log:
        assert await heard(log) == [(1, "waiting"), (first_id(1), "over")]


async def test_an_attempt_falls_silent_once_a_later_one_speaks(bus: Bus) -> None:
    old, new = bus.logs.writer("run-0", 1), bus.logs.writer("run-0", 2)
    async with bus.logs.follow("run-0") as log:
        listening = asyncio.create_task(heard(log))
        old.append("chunk", "old")
        await until_heard(bus, 1)
        new.append("reset", "new")
        await until_heard(bus, 2)
        await old.end("done", "old")
        await new.end("done", "new")
        said = await asyncio.wait_for(listening, SOON)
    assert said == [(first_id(1), "old"), (first_id(2), "new"), (first_id(2) + 1, "new")]


async def test_a_log_ends_once(bus: Bus) -> None:
    await bus.logs.writer("run-0", 1).end("done", "first")
    await bus.logs.say("run-0", 2, [("done", "second")], ended=True)
    async with bus.logs.follow("run-0") as log:
        assert await heard(log) == [(first_id(1), "first")]


async def until_heard(bus: Bus, count: int) -> None:
    async with bus.logs.follow("run-0") as log, asyncio.timeout(SOON):
        entries = log.read(0, stop=lambda: False)
        for _ in range(count):
            await anext(entries)
