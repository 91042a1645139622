"""One contract for decisions, within a process and over NATS: who names the latest one makes the next."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.core.bus.port import ERASED, Decision, Decisions
from tests.support.buses import local_bus, nats_bus, new_prefix

DOCUMENT = "sessions.01a3185c-5000-7558-9125-3902ffc597bd"


@pytest.fixture(params=["local", "nats"])
async def both(request: pytest.FixtureRequest) -> AsyncGenerator[tuple[Decisions, Decisions]]:
    """The decisions as two processes have them; in one process they are the same."""
    if request.param == "local":
        decisions = local_bus().decisions
        yield decisions, decisions
        return
    server, prefix = request.getfixturevalue("nats_server"), new_prefix()
    async with nats_bus(server, prefix) as one, nats_bus(server, prefix) as other:
        yield one.decisions, other.decisions


async def decided(decisions: Decisions, value: str, after: int = 0, document: str = DOCUMENT) -> int:
    number = await decisions.decide(document, value, after)
    assert number is not None
    return number


async def test_nothing_is_decided_before_someone_does(both: tuple[Decisions, Decisions]) -> None:
    one, _ = both
    assert await one.find(DOCUMENT) is None


async def test_who_names_the_latest_decision_makes_the_next(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    first = await decided(one, "one")
    second = await decided(other, "other", after=first)
    assert second > first > 0
    assert await one.find(DOCUMENT) == await other.find(DOCUMENT) == Decision(second, "other")


async def test_who_names_an_earlier_decision_or_none_is_refused(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    first = await decided(one, "one")
    second = await decided(other, "other", after=first)
    for late in (0, first, second + 1):
        assert await one.decide(DOCUMENT, "late", late) is None
    assert await one.find(DOCUMENT) == Decision(second, "other")


async def test_a_decision_may_be_repeated_by_the_one_that_made_it(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    number = await decided(one, "one")
    assert await one.decide(DOCUMENT, "one", 0) == number
    assert await other.decide(DOCUMENT, "other", 0) is None


async def test_of_many_values_at_once_one_is_the_decision(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    values = [f"value {number}" for number in range(20)]
    asked = [each.decide(DOCUMENT, value, 0) for each, value in zip([one, other] * 10, values, strict=True)]
    numbers = await asyncio.gather(*asked)
    (made,) = [(number, value) for number, value in zip(numbers, values, strict=True) if number is not None]
    assert await other.find(DOCUMENT) == Decision(*made)


async def test_documents_are_decided_apart(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    await decided(one, "é 🙂", document=f"{DOCUMENT}-a")
    await decided(other, '{"empty": ""}', document=f"{DOCUMENT}-b")
    found = [await one.find(f"{DOCUMENT}-a"), await other.find(f"{DOCUMENT}-b")]
    assert [each.value for each in found if each] == ["é 🙂", '{"empty": ""}']


async def test_what_is_erased_stays_decided_without_its_value(both: tuple[Decisions, Decisions]) -> None:
    one, other = both
    neighbour = f"{DOCUMENT[:-1]}e"
    first = await decided(one, "the words")
    await decided(one, "of a neighbour", document=neighbour)
    await other.erase([DOCUMENT, "runs.unknown"])
    erased = await one.find(DOCUMENT)
    assert erased == Decision(erased.number if erased else 0, ERASED)
    assert await one.decide(DOCUMENT, "late", first) is None
    assert await other.find("runs.unknown") is None
    kept = await other.find(neighbour)
    assert kept is not None
    assert kept.value == "of a neighbour"
