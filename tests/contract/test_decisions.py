"""One contract for decisions, within a process and over NATS: the first value of a key is the decision."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.core.bus import local, nats_streams
from app.core.bus.port import ERASED, Decisions
from tests.support.buses import local_bus, nats_bus, new_prefix
from tests.support.waiting import until

KEY = "sessions.01a3185c-5000-7558-9125-3902ffc597bd.04b5"
OLD_SECONDS = 1.0


@pytest.fixture(params=["local", "nats"])
async def both(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[Decisions, Decisions]]:
    """The decisions as two processes have them; in one process they are the same."""
    monkeypatch.setattr(local, "DECIDED_SECONDS", OLD_SECONDS)
    monkeypatch.setattr(nats_streams, "DECIDED_SECONDS", OLD_SECONDS)
    if request.param == "local":
        decisions = local_bus().decisions
        yield decisions, decisions
        return
    server, prefix = request.getfixturevalue("nats_server"), new_prefix()
    async with nats_bus(server, prefix) as one, nats_bus(server, prefix) as other:
        yield one.decisions, other.decisions


async def test_nothing_is_decided_before_someone_does(both: tuple[Decisions, Decisions]) -> None:
    one, _ = both
    assert await one.find(KEY) is None


async def test_the_first_value_is_the_decision_for_all(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    assert await one.decide(KEY, "one")
    assert not await other.decide(KEY, "other")
    assert await one.find(KEY) == await other.find(KEY) == "one"


async def test_a_decision_may_be_repeated_by_the_one_that_made_it(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    assert await one.decide(KEY, "one")
    assert await one.decide(KEY, "one")
    assert not await other.decide(KEY, "other")


async def test_of_many_values_at_once_one_is_the_decision(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    values = [f"value {number}" for number in range(20)]
    asked = [each.decide(KEY, value) for each, value in zip([one, other] * 10, values, strict=True)]
    is_first = await asyncio.gather(*asked)
    assert sum(is_first) == 1
    assert await other.find(KEY) == values[is_first.index(True)]


async def test_keys_are_decided_apart(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    assert await one.decide(f"{KEY}-a", "é 🙂")
    assert await other.decide(f"{KEY}-b", '{"empty": ""}')
    assert await other.find(f"{KEY}-a") == "é 🙂"
    assert await one.find(f"{KEY}-b") == '{"empty": ""}'


async def test_an_old_decision_stays_until_it_is_dropped(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    assert await one.decide(KEY, "one")
    assert await one.old(10) == []
    found: list[str] = []

    async def is_old() -> bool:
        found.extend(await other.old(10))
        return bool(found)

    await until(is_old)
    assert found == [KEY]
    assert await one.find(KEY) == "one"
    await other.drop(found)

    async def is_dropped() -> bool:
        return await one.find(KEY) is None

    await until(is_dropped)
    assert await one.decide(KEY, "again")


async def test_an_old_decision_that_is_not_dropped_is_old_again(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    assert await one.decide(KEY, "one")
    times = 0

    async def is_old_twice() -> bool:
        nonlocal times
        for each in (one, other):
            times += len(await each.old(10))
        return times >= 2

    await until(is_old_twice)
    assert not await other.decide(KEY, "other")


async def test_what_is_dropped_unknown_changes_nothing(both: tuple[Decisions, Decisions]) -> None:
    one, _ = both
    await one.drop([KEY])
    assert await one.decide(KEY, "one")


async def test_what_is_erased_stays_decided_without_its_value(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    document, _, _ = KEY.rpartition(".")
    neighbour = f"{document[:-1]}e.04b5"
    for key in (KEY, f"{KEY}c", neighbour):
        assert await one.decide(key, f"the words of {key}")
    await other.erase([document, "runs.unknown"])
    assert await one.find(KEY) == await other.find(f"{KEY}c") == ERASED
    assert not await one.decide(KEY, "late")
    assert await other.find(neighbour) == f"the words of {neighbour}"


async def test_what_is_erased_is_dropped_when_it_is_old(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    await one.decide(KEY, "one")
    await one.erase([KEY.rpartition(".")[0]])

    async def is_dropped() -> bool:
        await other.drop(await other.old(10))
        return await one.find(KEY) is None

    await until(is_dropped)
