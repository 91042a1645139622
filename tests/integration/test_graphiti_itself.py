"""Graphiti itself and the stand-in of it: what both do, and KAI's graph memory over the real one."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import httpx
import pytest

from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from app.modules.memory.graphiti.client import GraphitiAddress, GraphitiClient, GraphMessage
from app.modules.memory.graphiti.service import RECALL_SECONDS
from app.modules.memory.graphiti.testing import check_connection
from app.modules.memory.scopes import GroupId
from migrations.runner import migrate
from tests.support.fake_graphiti import FakeGraphiti, running_graphiti
from tests.support.graph_memory import GROUPS, GraphMemory, graph_memory
from tests.support.graphiti_service import GraphitiService, derive_facts, running_service
from tests.support.scripted_model import scripted_model
from tests.support.waiting import until

SERVICE_SECONDS = "app.modules.memory.graphiti.service.RECALL_SECONDS"
ANN = GROUPS.user("ann")
BOB = GROUPS.user("bob")


@pytest.fixture(scope="module")
def graphiti(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphitiService]:
    with scripted_model() as model:
        model.policy = derive_facts
        with running_service(tmp_path_factory.mktemp("graphiti"), model.base_url) as service:
            yield service


@pytest.fixture(params=["stand-in", "graphiti"])
async def service(request: pytest.FixtureRequest) -> AsyncGenerator[FakeGraphiti | GraphitiService]:
    """The stand-in answers as the service does over FalkorDB."""
    if request.param == "graphiti":
        yield request.getfixturevalue("graphiti")
        return
    async with running_graphiti() as fake:
        fake.delete_lies = True
        fake.finds_no_episode = True
        yield fake


@pytest.fixture
async def client(service: FakeGraphiti | GraphitiService) -> AsyncGenerator[GraphitiClient]:
    async with GraphitiClient(GraphitiAddress(service.url)) as opened:
        yield opened


@pytest.fixture
async def group(request: pytest.FixtureRequest) -> GroupId:
    """A group of this test alone: the service lives longer."""
    return GROUPS.trial(request.node.name)


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncGenerator[Storage]:
    async with open_sqlite(tmp_path / "kai.db") as opened:
        await migrate(opened)
        yield opened


def message(name: str, content: str, at: str = "2026-03-01T10:00:00.000Z") -> GraphMessage:
    return GraphMessage(name=name, role_type="user", content=content, timestamp=at)


async def until_kept(client: GraphitiClient, group: GroupId, *names: str) -> None:
    async def kept() -> bool:
        return {*names} <= {each.name for each in await client.episodes(group)}

    await until(kept, 120)


async def test_what_is_accepted_is_kept_in_order_and_found_in_its_groups_alone(
    client: GraphitiClient, group: GroupId
) -> None:
    other = GROUPS.trial(f"{group} other")
    await client.add_messages(
        group,
        [
            message("one", "revenue is without tax"),
            message("two", "a year begins in April", "2026-03-02T10:00:00Z"),
        ],
    )
    await client.add_messages(other, [message("three", "revenue is counted in euros")])
    await until_kept(client, group, "one", "two")
    await until_kept(client, other, "three")
    assert [each.name for each in await client.episodes(group)] == ["one", "two"]
    assert [each.name for each in await client.episodes(group, 1)] == ["two"]
    found = await client.search([group], "revenue", max_facts=5)
    assert any("without tax" in each.text for each in found)
    assert not any("euros" in each.text for each in found)
    both = [each.text for each in await client.search([group, other], "revenue", max_facts=5)]
    assert any("without tax" in each for each in both)
    assert any("euros" in each for each in both)
    assert await client.search([GROUPS.trial(f"{group} empty")], "revenue", max_facts=5) == []
    assert await client.episodes(GROUPS.trial(f"{group} empty")) == []


async def test_a_message_needs_a_role(service: FakeGraphiti | GraphitiService, group: GroupId) -> None:
    body = message("one", "revenue is without tax").body()
    del body["role"]
    async with httpx.AsyncClient(base_url=service.url) as http:
        answer = await http.post("/messages", json={"group_id": group, "messages": [body]})
    assert answer.status_code == 422


@pytest.mark.parametrize("killing", ["a group's name that is not legal", "a uuid of the client's"])
async def test_the_worker_dies_of_what_it_does_not_know_and_answers_as_before(
    service: FakeGraphiti | GraphitiService, client: GraphitiClient, group: GroupId, killing: str
) -> None:
    body = message("one", "revenue is without tax").body()
    sent = {"group_id": "not legal", "messages": [body]}
    if killing.startswith("a uuid"):
        sent = {"group_id": group, "messages": [{**body, "uuid": "made-by-a-client"}]}
    async with httpx.AsyncClient(base_url=service.url) as http:
        assert (await http.post("/messages", json=sent)).status_code == 202
    await client.check_health()
    await client.add_messages(group, [message("two", "a year begins in April")])
    test = await check_connection(client, GROUPS.trial(f"{group} test"), "smoke", seen_seconds=3)
    assert [each.name for each in test.steps if not each.passed][:1] == ["kept"]
    service.restart()
    assert "two" not in {each.name for each in await client.episodes(group)}
    await client.add_messages(group, [message("three", "a year begins in May")])
    await until_kept(client, group, "three")


async def test_deleting_deletes_nothing_and_the_test_of_the_connection_says_so(
    client: GraphitiClient, group: GroupId
) -> None:
    await client.add_messages(group, [message("one", "revenue is without tax")])
    await until_kept(client, group, "one")
    (episode,) = await client.episodes(group)
    await client.delete_episode(episode.uuid)
    await client.delete_group(group)
    assert [each.name for each in await client.episodes(group)] == ["one"]
    test = await check_connection(client, GROUPS.trial(f"{group} test"), "smoke", seen_seconds=120)
    assert [(each.name, each.passed) for each in test.steps] == [
        ("health", True),
        ("write", True),
        ("kept", True),
        ("search", True),
        ("delete", True),
        ("deleted", False),
    ]
    assert "does not forget" in test.steps[-1].detail


async def test_the_graph_memory_remembers_recalls_and_forgets_with_graphiti(
    storage: Storage, graphiti: GraphitiService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SERVICE_SECONDS, 60.0)  # a busy machine is slow
    async with graph_memory(storage, FakeGraphiti(url=graphiti.url)) as memory:
        await memory.answer("Before the consent?", "It is 4.")
        await memory.consent()
        turn = await memory.answer("What was the revenue in May?", "The revenue was 5 euros.")
        await memory.promote("months are written as 2026-03")
        await memory.work()
        names = [f"kai.turn.{turn.message_id}.{who}" for who in ("user", "assistant")]
        for each in (memory.session_group, memory.workspace_group):
            await until_kept(memory.client, GroupId(each), f"kai.ownership.{each}", *names)
        user = GroupId(memory.user_group)
        await until_kept(memory.client, user, f"kai.ownership.{user}")

        async def promoted() -> bool:
            return any("months" in each.content for each in await memory.client.episodes(user))

        await until(promoted, 120)
        await memory.work(seconds=61)
        assert await memory.statuses() == ["seen", "seen", "seen"]

        session, workspace = GroupId(memory.session_group), GroupId(memory.workspace_group)
        groups = [session, workspace, user]
        recalled = await search(memory, groups, "revenue in May, months")
        assert [*dict.fromkeys(group for group, _ in recalled)] == groups
        found = await search(memory, [session], "revenue in May")
        assert any("5 euros" in text for _, text in found)
        assert not any("consent" in text for _, text in found)
        assert await search(memory, [GROUPS.user("bob")], "revenue in May, months") == []
        monkeypatch.setattr(SERVICE_SECONDS, RECALL_SECONDS)
        with graphiti.frozen():
            assert await search(memory, groups, "revenue in May, months") == []
        monkeypatch.setattr(SERVICE_SECONDS, 60.0)
        again = await search(memory, groups, "revenue in May, months")
        assert sorted(again) == sorted(recalled)

        await memory.forgetting.forget_owner(memory.owner, memory.time.ms)
        await memory.work(seconds=1)
        assert await memory.forgetting.unconfirmed(memory.owner) == 3
        assert await search(memory, groups, "revenue in May, months") == []
        for each in groups:
            graphiti.delete_graph(each)
        await memory.work(seconds=86_400)
        assert await memory.forgetting.unconfirmed(memory.owner) == 0
        assert await memory.documents("graph_groups") == []
        assert await memory.documents("graph_outbox") == []


async def search(memory: GraphMemory, groups: list[GroupId], query: str) -> list[tuple[GroupId, str]]:
    return await memory.graphiti.search(memory.owner, memory.connection_id, groups, query=query, max_facts=20)


async def test_a_model_that_fails_once_stops_the_worker_until_it_is_restarted(tmp_path: Path) -> None:
    fails = True
    with scripted_model() as model:
        model.policy = lambda asked: None if fails else derive_facts(asked)
        with running_service(tmp_path, model.base_url) as service:
            async with GraphitiClient(GraphitiAddress(service.url)) as client:
                await client.add_messages(ANN, [message("one", "revenue is without tax")])
                await model.until(lambda: bool(model.requests))
                fails = False
                await client.add_messages(ANN, [message("two", "a year begins in April")])
                test = await check_connection(client, BOB, "smoke", seen_seconds=3)
                assert [each.name for each in test.steps if not each.passed][:1] == ["kept"]
                service.restart()
                await client.add_messages(ANN, [message("three", "a year begins in May")])
                await until_kept(client, ANN, "three")
