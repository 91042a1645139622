"""The bus over a Redis that forgets, goes away, and over workers that freeze."""

import asyncio
from collections.abc import AsyncGenerator, Iterator

import pytest

from app.core.bus.event_log import first_id
from app.core.bus.port import BusUnavailable, LeasedRun
from app.core.bus.redis_client import redis_clients
from app.core.errors import CannotRun
from tests.support import redis_server as redis_program
from tests.support.buses import LEASE_SECONDS, Bus, heard, new_prefix, redis_bus, ref
from tests.support.redis_server import RedisServer, running_redis

NOW, SOON = 0.05, 5.0


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One to break."""
    if not redis_program.installed():
        pytest.skip("Redis is not installed: apt-get install redis-server")
    with running_redis(tmp_path_factory.mktemp("fragile")) as server:
        yield server


@pytest.fixture
def prefix() -> str:
    return new_prefix()


@pytest.fixture
async def one(redis: RedisServer, prefix: str) -> AsyncGenerator[Bus]:
    async with redis_bus(redis, prefix) as opened:
        yield opened


@pytest.fixture
async def other(redis: RedisServer, prefix: str) -> AsyncGenerator[Bus]:
    async with redis_bus(redis, prefix) as opened:
        yield opened


async def test_a_lease_that_is_not_kept_runs_out(one: Bus, other: Bus) -> None:
    await one.queue.put(ref(), first=True)
    assert await one.queue.take(SOON) == LeasedRun(ref(), first=True)
    assert await other.queue.take(NOW) is None
    assert await other.queue.take(LEASE_SECONDS + 3) == LeasedRun(ref(), first=False)


async def test_a_lease_that_is_kept_does_not(one: Bus, other: Bus) -> None:
    await one.queue.put(ref(), first=True)
    await one.queue.take(SOON)
    for _ in range(8):
        await one.queue.renew([(ref(), 1)])
        assert await other.queue.take(LEASE_SECONDS / 4) is None


async def test_of_many_takers_one_gets_a_run(redis: RedisServer, prefix: str) -> None:
    async with redis_bus(redis, prefix, 60) as one, redis_bus(redis, prefix, 60) as other:
        taking = [asyncio.create_task(bus.queue.take(0.2)) for bus in (one, other) * 5]
        for number in range(3):
            await one.queue.put(ref(number), first=True)
        taken = [leased.ref.run_id for leased in await asyncio.gather(*taking) if leased]
    assert sorted(taken) == ["run-0", "run-1", "run-2"]


async def test_an_attempt_learns_that_a_later_one_speaks(one: Bus, other: Bus) -> None:
    one.logs.writer("run-0", 1).append("chunk", "old")
    await other.logs.say("run-0", 2, [("reset", "new")], ended=False)
    (kept,) = await one.queue.renew([(ref(), 1)])
    assert kept.lost
    (kept,) = await other.queue.renew([(ref(), 2)])
    assert not kept.lost


async def test_a_redis_that_has_forgotten_everything_learns_it_again(
    one: Bus, other: Bus, redis: RedisServer
) -> None:
    await one.queue.put(ref(0), first=True)
    await one.queue.put(ref(1), first=True)
    await one.queue.take(SOON)
    redis.empty()
    await one.queue.renew([(ref(0), 1)])
    assert await other.queue.missing([ref(0), ref(1)]) == [ref(1)]
    assert await other.queue.take(NOW) is None


async def test_a_log_that_redis_has_forgotten_is_written_again(
    one: Bus, other: Bus, redis: RedisServer
) -> None:
    writer = one.logs.writer("run-0", 1)
    async with other.logs.follow("run-0") as early:
        listening = asyncio.create_task(heard(early))
        for number in range(50):
            writer.append("chunk", str(number))
            if number in (20, 40):
                await asyncio.sleep(0.1)
                redis.empty()
        await writer.end("done", "50")
        whole = [(first_id(1) + number, str(number)) for number in range(51)]
        assert await asyncio.wait_for(listening, SOON) == whole
    async with one.logs.follow("run-0") as late:
        assert await heard(late) == whole


async def test_a_log_that_is_left_without_an_end_is_logged_and_keeps_no_follower_waiting(
    one: Bus, redis: RedisServer, prefix: str
) -> None:
    async with one.logs.follow("run-0") as log, redis_bus(redis, prefix) as stopping:
        writer = stopping.logs.writer("run-0", 1)
        writer.append("chunk", "said")
        writer.leave()
        await asyncio.wait_for(stopping.logs.aclose(), 2)
        said = await asyncio.wait_for(anext(log.read(0, stop=lambda: False)), SOON)
        assert (said.id, said.data) == (first_id(1), "said")


async def test_who_follows_hears_all_although_another_came_and_went_before_redis_answered(
    one: Bus, other: Bus, redis: RedisServer
) -> None:
    async def follow() -> list[tuple[int, str]]:
        async with one.logs.follow("run-0") as log:
            return await heard(log)

    redis.freeze()
    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    async with one.logs.follow("run-0"):
        pass
    redis.thaw()
    await asyncio.sleep(0.2)  # the log was looked for, and is empty
    await other.logs.writer("run-0", 1).end("done", "over")
    assert await asyncio.wait_for(following, SOON) == [(first_id(1), "over")]


async def test_followers_and_writers_outlive_a_redis_that_is_killed(
    one: Bus, other: Bus, redis: RedisServer
) -> None:
    writer = one.logs.writer("run-0", 1)
    async with other.logs.follow("run-0") as log:
        listening = asyncio.create_task(heard(log))
        writer.append("chunk", "before")
        await asyncio.sleep(0.1)
        redis.kill()
        writer.append("chunk", "meanwhile")
        with pytest.raises(BusUnavailable):
            await one.queue.put(ref(), first=True)
        redis.start()
        await writer.end("done", "after")
        assert [data for _, data in await asyncio.wait_for(listening, 10)] == ["before", "meanwhile", "after"]


async def test_a_redis_that_does_not_answer_is_unavailable_in_seconds(one: Bus, redis: RedisServer) -> None:
    await one.queue.ping()
    redis.freeze()
    try:
        with pytest.raises(BusUnavailable, match="KAI_REDIS__URL"):
            await asyncio.wait_for(one.queue.ping(), 15)
    finally:
        redis.thaw()


async def test_a_cancellation_is_received_again_after_redis_was_unavailable(
    one: Bus, other: Bus, redis: RedisServer
) -> None:
    listening = asyncio.ensure_future(anext(aiter(other.queue.cancellations())))
    await asyncio.sleep(0.1)
    redis.kill()
    redis.start()
    async with asyncio.timeout(60):
        while not listening.done():
            await one.queue.cancel("run-0")
            await asyncio.sleep(0.1)
    assert listening.result() == "run-0"


async def test_an_attempt_that_leaves_has_said_what_it_had_to_say(one: Bus, other: Bus) -> None:
    leaving = one.logs.writer("run-0", 1)
    leaving.append("chunk", "before")
    leaving.leave()
    async with other.logs.follow("run-0") as log:
        assert (await asyncio.wait_for(anext(log.read(0, stop=lambda: False)), SOON)).data == "before"
        await other.logs.writer("run-0", 2).end("done", "after")
        assert [data for _, data in await asyncio.wait_for(heard(log), SOON)] == ["before", "after"]


async def test_more_calls_at_once_than_there_are_connections_are_all_answered(one: Bus) -> None:
    waiting = await asyncio.gather(*(one.queue.waiting() for _ in range(1_000)))
    assert waiting == [0] * 1_000


@pytest.mark.parametrize("parameter", ["socket_timeout=abc", "unheard_of=1", "db=shop", "protocol=9"])
async def test_a_url_with_a_parameter_that_redis_does_not_have_is_named_and_not_shown(parameter: str) -> None:
    with pytest.raises(CannotRun, match="KAI_REDIS__URL") as refused:
        async with redis_clients(f"redis://:s3cr3t@127.0.0.1/0?{parameter}"):
            pass
    assert "s3cr3t" not in str(refused.value)
