"""What an owner uses is exact in every store, and what is used up is refused before anything begins."""

import asyncio
from dataclasses import dataclass
from uuid import uuid4

import pytest

from app.core.storage.port import Document, Storage
from app.modules.usage.errors import BytesSpent, TokensSpent, TooManyRuns, TooManySessions
from app.modules.usage.repository import UsageRepository, _id
from app.modules.usage.service import Allowances, Quotas

NOON = 1_700_049_600_000
"""2023-11-15T12:00:00Z"""
DAY_MS = 86_400_000
HALF_A_DAY_SECONDS = 43_200


@dataclass
class Clock:
    now: int = NOON

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def storage(storage_of_each_kind: Storage) -> Storage:
    return storage_of_each_kind


@pytest.fixture
def clock() -> Clock:
    return Clock()


def allowances(
    storage: Storage, clock: Clock, runs: int = 2, sessions: int = 2, tokens_per_day: int = 100
) -> Allowances:
    return Allowances(UsageRepository(storage), Quotas(runs, sessions, tokens_per_day), clock)


async def keep_session(storage: Storage, status: str = "idle", owner: str = "ada") -> None:
    await storage.create("sessions", {"id": str(uuid4()), "owner": owner, "status": status})


async def keep_run(storage: Storage, status: str, **fields: int | str) -> None:
    await storage.create("runs", {"id": str(uuid4()), "owner": "ada", "status": status, **fields})


async def begin_run(granted: Allowances, storage: Storage) -> bool:
    try:
        async with granted.new_run("ada"):
            await keep_run(storage, "open")
    except TooManyRuns:
        return False
    return True


async def test_tokens_add_up_whichever_process_notes_them(storage: Storage, clock: Clock) -> None:
    several = [allowances(storage, clock) for _ in range(3)]
    await asyncio.gather(*(each.spent("ada", 7) for each in several for _ in range(4)))
    assert (await several[0].usage("ada")).tokens_today == 84
    assert (await several[0].usage("Ada")).tokens_today == 0


async def test_spent_tokens_refuse_a_run_until_midnight_utc(storage: Storage, clock: Clock) -> None:
    granted = allowances(storage, clock)
    await granted.spent("ada", 99)
    assert await begin_run(granted, storage)
    await granted.spent("ada", 30)
    with pytest.raises(TokensSpent) as refused:
        await begin_run(granted, storage)
    assert refused.value.headers == {"Retry-After": str(HALF_A_DAY_SECONDS)}
    assert refused.value.members["resets_at"] == "2023-11-16T00:00:00.000Z"
    clock.now += HALF_A_DAY_SECONDS * 1_000
    assert await begin_run(granted, storage)
    assert (await granted.usage("ada")).tokens_today == 0


async def test_bytes_add_up_beside_tokens_and_refuse_a_run_until_midnight_utc(
    storage: Storage, clock: Clock
) -> None:
    of_before: Document = {"id": _id("ada"), "owner": "ada", "day": clock.now // DAY_MS, "tokens": 4}
    await storage.create("usage", of_before)
    several = [
        Allowances(UsageRepository(storage), Quotas(None, None, 100, bytes_per_day=1_000), clock)
        for _ in range(3)
    ]
    await asyncio.gather(*(each.read("ada", 70) for each in several for _ in range(4)))
    await asyncio.gather(*(each.spent("ada", 5) for each in several), several[0].read("ada", None))
    usage = await several[0].usage("ada")
    assert (usage.bytes_today, usage.tokens_today) == (840, 19)
    assert await begin_run(several[0], storage)
    await several[1].read("ada", 160)
    with pytest.raises(BytesSpent, match=r"1,000 bytes.*KAI_QUOTAS__BYTES_PER_DAY") as refused:
        await begin_run(several[2], storage)
    assert refused.value.headers == {"Retry-After": str(HALF_A_DAY_SECONDS)}
    clock.now += HALF_A_DAY_SECONDS * 1_000
    assert await begin_run(several[2], storage)
    await several[0].spent("ada", 1)
    usage = await several[0].usage("ada")
    assert (usage.bytes_today, usage.tokens_today) == (0, 1)


async def test_more_than_a_third_of_what_is_left_of_the_day_is_much(storage: Storage, clock: Clock) -> None:
    granted = allowances(storage, clock)  # a hundred tokens a day
    await granted.spent("ada", 40)
    assert not await granted.is_much("ada", 20)
    assert await granted.is_much("ada", 21)
    assert not await granted.is_much("bob", 33)
    unlimited = Allowances(UsageRepository(storage), Quotas(None, None, None), clock)
    assert not await unlimited.is_much("ada", 1_000_000)


async def test_a_last_moment_of_the_day_is_reported_as_a_whole_second(storage: Storage, clock: Clock) -> None:
    clock.now += HALF_A_DAY_SECONDS * 1_000 - 1
    granted = allowances(storage, clock)
    await granted.spent("ada", 100)
    with pytest.raises(TokensSpent) as refused:
        await begin_run(granted, storage)
    assert refused.value.headers == {"Retry-After": "1"}


async def test_a_new_day_begins_from_nothing_and_a_clock_behind_does_not_bring_the_old_one_back(
    storage: Storage, clock: Clock
) -> None:
    behind, granted = Clock(), allowances(storage, clock)
    await granted.spent("ada", 90)
    clock.now += DAY_MS
    await granted.spent("ada", 5)
    await allowances(storage, behind).spent("ada", 6)
    assert (await granted.usage("ada")).tokens_today == 11


async def test_a_clock_that_was_a_year_ahead_for_once_locks_no_owner_out(
    storage: Storage, clock: Clock
) -> None:
    granted = allowances(storage, clock)
    await allowances(storage, Clock(NOON + 365 * DAY_MS)).spent("ada", 1_000)
    assert await begin_run(granted, storage)
    await granted.spent("ada", 5)
    assert (await granted.usage("ada")).tokens_today == 5


async def test_as_many_runs_as_allowed_begin_of_many_at_the_same_moment(
    storage: Storage, clock: Clock
) -> None:
    granted = allowances(storage, clock)
    assert sum(await asyncio.gather(*(begin_run(granted, storage) for _ in range(10)))) == 2
    assert (await granted.usage("ada")).runs == 2


async def test_runs_count_that_are_not_over(storage: Storage, clock: Clock) -> None:
    granted = allowances(storage, clock)
    for status in ("open", "complete", "failed", "cancelled"):
        await keep_run(storage, status)
    assert (await granted.usage("ada")).runs == 1
    assert await begin_run(granted, storage)
    assert not await begin_run(granted, storage)


async def test_sessions_are_counted_as_they_are_kept(storage: Storage, clock: Clock) -> None:
    granted = allowances(storage, clock)
    await keep_session(storage, owner="ADA")
    for _ in range(2):
        async with granted.new_session("ada"):
            await keep_session(storage)
    with pytest.raises(TooManySessions, match="Delete one"):
        async with granted.new_session("ada"):
            pytest.fail("it was let in")


async def test_where_nothing_is_limited_nothing_is_refused(storage: Storage, clock: Clock) -> None:
    granted = Allowances(UsageRepository(storage), Quotas(None, None, None), clock)
    await granted.spent("ada", 10**9)
    for _ in range(5):
        assert await begin_run(granted, storage)
    async with granted.new_session("ada"):
        pass


async def test_without_a_limit_of_tokens_the_runs_that_ended_today_are_added_up(
    storage: Storage, clock: Clock
) -> None:
    granted = Allowances(UsageRepository(storage), Quotas(None, None, None), clock)
    midnight = NOON - HALF_A_DAY_SECONDS * 1_000
    for began, ended, tokens in (
        (midnight - 5, midnight - 1, 1),
        (midnight - 5, midnight, 20),
        (midnight, NOON, 300),
    ):
        await keep_run(storage, "complete", created_at=began, ended_at=ended, tokens_used=tokens)
    await keep_run(storage, "open", created_at=NOON)
    await keep_run(storage, "complete", owner="bob", created_at=NOON, ended_at=NOON, tokens_used=4_000)
    assert (await granted.usage("ada")).tokens_today == 320


async def test_without_a_limit_of_tokens_nothing_is_counted_while_runs_are_answered(
    storage: Storage, clock: Clock
) -> None:
    granted = Allowances(UsageRepository(storage), Quotas(None, None, None), clock)
    await granted.spent("ada", 7)
    async with granted.charged("ada"):
        pass
    assert await storage.count("usage", []) == 0
