"""The client against a strict stand-in of Graphiti: its contract, and an answer to each of its defects."""

import json
from collections.abc import AsyncGenerator
from ipaddress import ip_network

import pytest

from app.modules.memory.graphiti.circuit import FAILURES, OPEN_SECONDS, Circuit
from app.modules.memory.graphiti.client import (
    MAX_TEXT_CHARACTERS,
    AddressNotAllowed,
    AnswerTooLarge,
    GraphitiAddress,
    GraphitiClient,
    GraphitiFailed,
    GraphitiRefused,
    GraphitiSkipped,
    GraphitiUnavailable,
    GraphMessage,
)
from app.modules.memory.scopes import Groups
from tests.support.clock import Clock
from tests.support.fake_graphiti import FakeGraphiti, running_graphiti

GROUPS = Groups(b"a key")
GROUP = GROUPS.user("ann")


@pytest.fixture
async def graphiti() -> AsyncGenerator[FakeGraphiti]:
    async with running_graphiti() as fake:
        yield fake


@pytest.fixture
async def client(graphiti: FakeGraphiti) -> AsyncGenerator[GraphitiClient]:
    async with GraphitiClient(GraphitiAddress(graphiti.url)) as opened:
        yield opened


def message(name: str, content: str = "revenue is without tax") -> GraphMessage:
    return GraphMessage(name=name, role_type="user", content=content, timestamp="2026-03-01T10:00:00.000Z")


async def test_what_was_accepted_is_seen_once_it_is_processed(
    graphiti: FakeGraphiti, client: GraphitiClient
) -> None:
    graphiti.looks_before_visible = 1
    await client.add_messages(GROUP, [message("one"), message("two")])
    assert await client.episodes(GROUP) == []
    assert [each.name for each in await client.episodes(GROUP)] == ["one", "two"]
    found = await client.search([GROUP], "revenue", max_facts=5)
    assert [each.text for each in found] == ["user(user): revenue is without tax"]


async def test_a_message_has_a_role_and_never_a_uuid(graphiti: FakeGraphiti, client: GraphitiClient) -> None:
    await client.add_messages(GROUP, [message("one")])
    ((_, sent),) = graphiti.accepted
    assert "role" in sent
    assert "uuid" not in sent


async def test_every_group_is_one_that_the_worker_survives(
    graphiti: FakeGraphiti, client: GraphitiClient
) -> None:
    odd = 'Zoë "z" <zoe@example.com>/\n'
    for group in (GROUPS.user(odd), GROUPS.session(odd, odd), GROUPS.workspace(odd, odd), GROUPS.trial(odd)):
        await client.add_messages(group, [message("one")])
    assert not graphiti.is_dead


async def test_the_stand_in_dies_of_what_kills_the_real_worker(graphiti: FakeGraphiti) -> None:
    for body in (
        {"group_id": "a b", "messages": [message("one").body()]},
        {"group_id": "fine", "messages": [{**message("one").body(), "uuid": "made-by-a-client"}]},
    ):
        graphiti.restart()
        assert graphiti._route("POST", "/messages", json.dumps(body).encode())[0] == 202
        assert graphiti.is_dead
    without_role = message("one").body()
    del without_role["role"]
    body = {"group_id": "fine", "messages": [without_role]}
    assert graphiti._route("POST", "/messages", json.dumps(body).encode())[0] == 422


async def test_a_search_names_its_groups(graphiti: FakeGraphiti, client: GraphitiClient) -> None:
    await client.add_messages(GROUP, [message("one")])
    with pytest.raises(ValueError, match="at least one group"):
        await client.search([], "revenue", max_facts=5)
    assert await client.search([GROUPS.user("bob")], "revenue", max_facts=5) == []


@pytest.mark.parametrize("repeated", ["search", "episodes", "health"])
async def test_a_reset_after_a_500_costs_a_read_nothing(
    graphiti: FakeGraphiti, client: GraphitiClient, repeated: str
) -> None:
    graphiti.failures = 1
    with pytest.raises(GraphitiUnavailable, match="500"):
        await client.check_health()
    match repeated:
        case "search":
            assert await client.search([GROUP], "revenue", max_facts=5) == []
        case "episodes":
            assert await client.episodes(GROUP) == []
        case _:
            await client.check_health()
    assert len(graphiti.requests) == 3


async def test_a_write_is_not_repeated_when_its_connection_is_reset(
    graphiti: FakeGraphiti, client: GraphitiClient
) -> None:
    graphiti.resets_after_accepting = 1
    with pytest.raises(GraphitiUnavailable) as failed:
        await client.add_messages(GROUP, [message("one")])
    assert failed.value.may_have_arrived
    assert graphiti.names(GROUP) == ["one"]


async def test_a_slow_service_costs_a_search_its_time_and_no_more(
    graphiti: FakeGraphiti, client: GraphitiClient
) -> None:
    graphiti.stops_answering = True
    with pytest.raises(GraphitiUnavailable, match="in time"):
        await client.search([GROUP], "revenue", max_facts=5, seconds=0.05)


async def test_an_answer_beyond_the_limit_is_refused(graphiti: FakeGraphiti, client: GraphitiClient) -> None:
    graphiti.bulky = True
    with pytest.raises(AnswerTooLarge, match="256 KiB"):
        await client.search([GROUP], "revenue", max_facts=5)


async def test_facts_of_older_services_are_read(graphiti: FakeGraphiti, client: GraphitiClient) -> None:
    graphiti.is_older = True
    await client.add_messages(GROUP, [message("one")])
    assert len(await client.search([GROUP], "revenue", max_facts=5)) == 1


async def test_texts_are_cut_and_hold_one_line(graphiti: FakeGraphiti, client: GraphitiClient) -> None:
    await client.add_messages(GROUP, [message("one", "revenue\n\x1b[31m" + "x" * 2_000)])
    (found,) = await client.search([GROUP], "revenue", max_facts=5)
    assert len(found.text) == MAX_TEXT_CHARACTERS
    assert found.text.isprintable()


async def test_a_group_and_an_episode_can_be_deleted(graphiti: FakeGraphiti, client: GraphitiClient) -> None:
    await client.add_messages(GROUP, [message("one"), message("two")])
    first, _ = await client.episodes(GROUP)
    await client.delete_episode(first.uuid)
    await client.delete_episode(first.uuid)
    assert graphiti.names(GROUP) == ["two"]
    await client.delete_group(GROUP)
    assert graphiti.names(GROUP) == []


async def test_the_circuit_opens_after_failures_in_a_row_and_then_tries_one_call(
    graphiti: FakeGraphiti,
) -> None:
    clock = Clock()
    async with GraphitiClient(GraphitiAddress(graphiti.url), Circuit(clock)) as client:
        graphiti.authorization = "Bearer right"
        for _ in range(FAILURES):
            with pytest.raises(GraphitiRefused, match="401"):
                await client.check_health()
        graphiti.authorization = None
        graphiti.failures = 20
        for _ in range(FAILURES):
            with pytest.raises(GraphitiUnavailable):
                await client.delete_group(GROUP)
        sent = len(graphiti.requests)
        with pytest.raises(GraphitiSkipped):
            await client.search([GROUP], "revenue", max_facts=5)
        assert len(graphiti.requests) == sent
        clock.now += OPEN_SECONDS
        graphiti.failures, graphiti._resets = 0, 0
        await client.check_health()
        assert not client.circuit.is_open


async def test_a_dead_service_is_unavailable() -> None:
    async with GraphitiClient(GraphitiAddress("http://127.0.0.1:9")) as client:
        with pytest.raises(GraphitiUnavailable, match="cannot be reached") as failed:
            await client.add_messages(GROUP, [message("one")])
        assert not failed.value.may_have_arrived


async def test_a_proxy_gets_its_header(graphiti: FakeGraphiti) -> None:
    graphiti.authorization = "Bearer right"
    async with GraphitiClient(GraphitiAddress(graphiti.url, header="Bearer right")) as client:
        await client.check_health()


@pytest.mark.parametrize(
    "endpoint",
    ["http://192.0.2.7:8000", "http://10.1.2.3", "http://169.254.169.254", "https://169.254.169.254"],
)
async def test_memories_go_to_no_address_that_is_not_allowed(endpoint: str) -> None:
    async with GraphitiClient(GraphitiAddress(endpoint, networks=[ip_network("10.9.0.0/16")])) as client:
        with pytest.raises(AddressNotAllowed) as refused:
            await client.check_health()
    assert "KAI_GRAPH_MEMORY__NETWORKS" in str(refused.value) or "metadata" in str(refused.value)


async def test_no_text_of_a_failure_holds_the_header(graphiti: FakeGraphiti) -> None:
    graphiti.authorization = "Bearer right"
    async with GraphitiClient(GraphitiAddress(graphiti.url, header="Bearer wr0ng")) as client:
        with pytest.raises(GraphitiFailed) as failed:
            await client.check_health()
    assert "wr0ng" not in str(failed.value)
