"""Requests are counted per owner in one process or in all that share a Redis; without Redis none are."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from app.core.rates import PATIENCE_SECONDS, Policy, Rates, RemainingQuota, open_rates
from app.core.settings import RedisSettings
from tests.support.redis_server import RedisServer

SCARCE = Policy("requests", 3, window_seconds=60)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no count late."""
    monkeypatch.setattr("app.core.rates.PATIENCE_SECONDS", 60.0)


@pytest.fixture
def shared(redis_server: RedisServer, patient: None) -> RedisServer:
    redis_server.empty()
    return redis_server


@pytest.fixture(params=["memory", "redis"])
async def rates(request: pytest.FixtureRequest, patient: None) -> AsyncGenerator[Rates]:
    kept = request.param == "redis" and request.getfixturevalue("shared")
    async with open_rates(RedisSettings(url=SecretStr(kept.url) if kept else None), [SCARCE]) as opened:
        yield opened


@asynccontextmanager
async def on(server: RedisServer, policy: Policy = SCARCE, prefix: str = "kai:") -> AsyncGenerator[Rates]:
    async with open_rates(RedisSettings(url=SecretStr(server.url), prefix=prefix), [policy]) as opened:
        yield opened


async def counted(rates: Rates, owner: str = "ada", name: str = "requests") -> RemainingQuota:
    count = await rates.count(name, owner)
    assert count is not None
    return count


def was_counted(count: RemainingQuota | None) -> bool:
    return count is not None


async def until(met: Callable[[RemainingQuota | None], bool], rates: Rates) -> RemainingQuota | None:
    """The first count that is so, of at most a minute."""
    async with asyncio.timeout(60):
        while not met(count := await rates.count("requests", "ada")):  # noqa: ASYNC110  (time itself is awaited)
            await asyncio.sleep(0.05)
        return count


async def test_so_many_requests_as_granted_are_within_the_limit_and_the_next_is_not(rates: Rates) -> None:
    counts = [await counted(rates) for _ in range(5)]
    assert [each.remaining for each in counts] == [2, 1, 0, 0, 0]
    assert [each.exceeded for each in counts] == [False, False, False, True, True]
    assert all(30 <= each.reset_seconds <= 60 for each in counts)


async def test_of_many_at_the_same_moment_no_more_than_granted_are_within_the_limit(rates: Rates) -> None:
    counts = await asyncio.gather(*(counted(rates) for _ in range(20)))
    assert sum(not each.exceeded for each in counts) == 3


async def test_owners_do_not_take_from_each_other_whatever_they_are_called(rates: Rates) -> None:
    for owner in ("ada", "ADA", "ada/3/60/second", "ada ", "", "ada\r\nFLUSHALL", "a" * 10_000):
        assert (await counted(rates, owner)).remaining == 2


async def test_a_policy_that_is_not_set_counts_nothing(rates: Rates) -> None:
    assert await rates.count("questions", "ada") is None


@pytest.mark.parametrize("where", ["memory", "redis"])
async def test_a_window_that_is_over_gives_all_back(where: str, request: pytest.FixtureRequest) -> None:
    url = SecretStr(request.getfixturevalue("shared").url) if where == "redis" else None
    async with open_rates(RedisSettings(url=url), [Policy("requests", 1, window_seconds=1)]) as rates:
        assert not (await counted(rates)).exceeded
        refused = await until(lambda count: count is not None and count.exceeded, rates)
        assert refused is not None
        assert refused.reset_seconds == 1
        assert await until(lambda count: count is not None and not count.exceeded, rates)


async def test_processes_with_one_redis_share_a_limit(shared: RedisServer) -> None:
    async with on(shared) as one, on(shared) as other:
        remaining = [(await counted(each)).remaining for each in (one, other, one)]
        assert remaining == [2, 1, 0]
        assert (await counted(other)).exceeded


async def test_those_that_share_a_redis_under_different_prefixes_share_no_limit(shared: RedisServer) -> None:
    async with on(shared, prefix="one:") as one, on(shared, prefix="other:") as other:
        assert [(await counted(each)).remaining for each in (one, other, one)] == [2, 2, 1]


@pytest.mark.usefixtures("patient")
async def test_without_redis_no_request_is_refused_and_the_log_says_so_once(
    fragile_redis: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.rates.PAUSE_SECONDS", 600.0)
    async with on(fragile_redis) as rates:
        await counted(rates)
        fragile_redis.kill()
        with caplog.at_level(logging.WARNING):
            assert [await rates.count("requests", "ada") for _ in range(20)] == [None] * 20
    assert [each.message.split(",")[0] for each in caplog.records] == ["Redis does not answer"]


async def test_a_redis_that_hangs_holds_up_one_request_for_a_moment_and_then_none(
    fragile_redis: RedisServer,
) -> None:
    async with on(fragile_redis) as rates:
        await until(was_counted, rates)
        fragile_redis.freeze()
        start = time.monotonic()
        assert [await rates.count("requests", "ada") for _ in range(100)] == [None] * 100
        assert time.monotonic() - start < 50 * PATIENCE_SECONDS
        fragile_redis.thaw()


@pytest.mark.usefixtures("patient")
async def test_a_redis_that_is_back_counts_again(fragile_redis: RedisServer) -> None:
    async with on(fragile_redis) as rates:
        await counted(rates)
        fragile_redis.kill()
        assert await rates.count("requests", "ada") is None
        fragile_redis.start()
        count = await until(was_counted, rates)
        assert count is not None
        assert count.remaining == 2


async def test_many_requests_that_a_hanging_redis_held_up_leave_no_connection_lost(
    fragile_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.rates.PATIENCE_SECONDS", 1.0)  # of a command, too
    async with on(fragile_redis, Policy("requests", 10_000, window_seconds=60)) as rates:
        await until(was_counted, rates)
        fragile_redis.freeze()
        held_up = await asyncio.gather(*(rates.count("requests", "ada") for _ in range(40)))
        assert held_up == [None] * 40
        fragile_redis.thaw()
        monkeypatch.setattr("app.core.rates.PATIENCE_SECONDS", 60.0)
        async with asyncio.timeout(60):
            while None in await asyncio.gather(*(rates.count("requests", "ada") for _ in range(40))):  # noqa: ASYNC110  (time itself is awaited)
                await asyncio.sleep(0.05)


async def test_rates_open_without_their_redis_and_never_show_its_password() -> None:
    url = "redis://:s3cret@127.0.0.1:1/0"
    async with open_rates(RedisSettings(url=SecretStr(url)), [SCARCE]) as rates:
        assert await rates.count("requests", "ada") is None
        assert "s3cret" not in repr(vars(rates)) + repr(vars(rates._storage))
