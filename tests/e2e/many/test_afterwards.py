"""What is done once a question is answered, by workers of its own: titles and memories."""

from collections.abc import AsyncGenerator, Iterator

import httpx
import pytest

from app.core.bus.nats_server import NatsNotInstalled
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.chatting import ChatClient, chat_http
from tests.support.choices import FIRST
from tests.support.cluster import Cluster, running_cluster, shared
from tests.support.nats_server import FragileNats, running_nats
from tests.support.scripted_model import AFTERWARDS, Scripted, ScriptedModel
from tests.support.server import Client, client_of
from tests.support.waiting import until

QUESTION = "How many customers per country?"
TITLE, MEMORY = AFTERWARDS


@pytest.fixture(scope="module")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FragileNats]:
    """To be killed; it keeps what it has acknowledged."""
    try:
        with running_nats(tmp_path_factory.mktemp("killed")) as server:
            yield server
    except NatsNotInstalled as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def cluster(
    typesense_server: TypesenseServer,
    nats: FragileNats,
    model_of_all: ScriptedModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    settings = shared(typesense_server, nats) | model_settings(model_of_all)
    folder = tmp_path_factory.mktemp("afterwards")
    with running_cluster(folder, settings, apis=1, workers=1, kinds=("history", "memory")) as running:
        yield running


@pytest.fixture
async def kai(cluster: Cluster) -> AsyncGenerator[Client]:
    async with client_of(cluster.apis[0]) as client:
        yield client


@pytest.fixture
async def chat(cluster: Cluster) -> AsyncGenerator[ChatClient]:
    async with chat_http(cluster.apis[0]) as http:
        yield ChatClient(http)


@pytest.fixture
async def session(kai: Client, chat: ChatClient, shop: str) -> str:
    return await chat.start(await kai.connect(shop))


async def until_titled(kai: Client, session: str, title: str) -> None:
    async def titled() -> bool:
        return bool((await kai.session(session))["title"] == title)

    await until(titled)


async def until_idle(kai: Client, session: str) -> None:
    async def idle() -> bool:
        return bool((await kai.session(session))["status"] == "idle")

    await until(idle)


async def test_a_queued_question_is_answered_titled_and_remembered_by_three_kinds_of_workers(
    kai: Client, chat: ChatClient, model: ScriptedModel, session: str
) -> None:
    model.rule_after(TITLE, "Geography of clientele")
    model.rule_after(MEMORY, "Customers were counted by country.\nThemes: countries")
    model.say(sql(PER_COUNTRY), FIRST)
    await chat.queue(session, QUESTION, "one")
    assert (await chat.follow(session, "one"))[-1].data["status"] == "complete"
    await until_titled(kai, session, "Geography of clientele")
    assert (await chat.memory_of(session))["themes"] == ["countries"]
    assert await chat.search("clients counted") == [session]


async def test_a_title_a_person_gives_meanwhile_stays(
    kai: Client, chat: ChatClient, model: ScriptedModel, session: str
) -> None:
    model.rule_after(TITLE, Scripted("Written too late", hold_after=0))
    model.rule_after(MEMORY, "They counted.")
    model.say(sql(PER_COUNTRY), FIRST, sql(PER_COUNTRY), FIRST)
    await chat.queue(session, QUESTION, "one")
    await model.until(lambda: any(TITLE in each.text for each in model.afterwards))
    await chat.http.put(f"/history/conversations/{session}/title", json={"title": "Mine"})
    model.release()
    await chat.queue(session, QUESTION, "two")
    await chat.follow(session, "two")
    await chat.memory_of(session)
    assert (await kai.session(session))["title"] == "Mine"


@pytest.mark.parametrize("worker_dies", [True, False], ids=["dies", "lives"])
async def test_an_answer_that_was_complete_without_nats_is_stored_and_published_later(
    kai: Client,
    chat: ChatClient,
    model: ScriptedModel,
    session: str,
    cluster: Cluster,
    nats: FragileNats,
    worker_dies: bool,
) -> None:
    model.rule_after(TITLE, "Titled in the end")
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
    await chat.queue(session, QUESTION, "one")
    await model.until(lambda: model.on_hold == 1)
    nats.kill()
    model.release()

    await model.until(lambda: model.on_hold == 0)
    if worker_dies:
        cluster.workers[0].kill()
    before = await kai.session(session)
    assert (before["status"], before["title"]) == ("processing", QUESTION)
    nats.start()
    if worker_dies:
        cluster.workers[0].start()
    await until_titled(kai, session, "Titled in the end")
    await until_idle(kai, session)
    assert (await chat.follow(session, "one"))[-1].data["status"] == "complete"


async def test_a_worker_of_titles_killed_at_one_leaves_it_to_another_life(
    kai: Client, chat: ChatClient, model: ScriptedModel, session: str, cluster: Cluster
) -> None:
    model.rule_after(TITLE, Scripted("Never said", hold_after=0))
    model.say(sql(PER_COUNTRY), FIRST)
    await chat.queue(session, QUESTION, "one")
    await model.until(lambda: any(TITLE in each.text for each in model.afterwards))
    cluster.afterwards[0].kill()
    model.rule_after(TITLE, "Said by its heir")
    cluster.afterwards[0].start()
    await until_titled(kai, session, "Said by its heir")


async def test_a_worker_of_titles_that_is_stopped_ends_the_present_one(
    kai: Client, chat: ChatClient, model: ScriptedModel, session: str, cluster: Cluster
) -> None:
    model.rule_after(TITLE, Scripted("Written to the end", delay_seconds=0.2))
    model.say(sql(PER_COUNTRY), FIRST)
    await chat.queue(session, QUESTION, "one")
    await model.until(lambda: any(TITLE in each.text for each in model.afterwards))
    cluster.afterwards[0].stop()
    assert (await kai.session(session))["title"] == "Written to the end"
    cluster.afterwards[0].start()


async def test_each_worker_tells_of_its_health(cluster: Cluster) -> None:
    async with httpx.AsyncClient(timeout=60) as http:
        for worker in cluster.afterwards:
            assert (await http.get(worker.address)).json()["status"] == "ready"
