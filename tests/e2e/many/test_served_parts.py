"""Requests and streams in processes of their own, over NATS and Typesense."""

from collections.abc import AsyncGenerator, Iterator
from uuid import uuid4

import httpx
import pytest

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.e2e.test_bad_input import assert_problem
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.chatting import ChatClient, chat_http
from tests.support.choices import FIRST
from tests.support.cluster import Cluster, running_cluster, shared
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, chunks, client_of

QUESTION = "How many customers per country?"
ROWS = [["Brazil", 2], ["Norway", 1]]


@pytest.fixture(scope="module")
def parts(
    typesense_server: TypesenseServer,
    nats_server: NatsServer,
    model_of_all: ScriptedModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    settings = shared(typesense_server, nats_server) | model_settings(model_of_all)
    settings["KAI_TUNING__WORKER__LEASE_SECONDS"] = "60"
    folder = tmp_path_factory.mktemp("parts")
    with running_cluster(
        folder, settings, apis=0, parts=("requests", "streams", "streams"), workers=1
    ) as running:
        yield running


@pytest.fixture
async def requests(parts: Cluster) -> AsyncGenerator[Client]:
    async with client_of(parts.apis[0]) as client:
        yield client


@pytest.fixture
async def streams(parts: Cluster) -> AsyncGenerator[Client]:
    async with client_of(parts.apis[1]) as client:
        yield client


async def test_a_question_that_the_requests_take_is_streamed_by_any_process_of_the_streams(
    parts: Cluster, requests: Client, model: ScriptedModel, shop: str
) -> None:
    async with (
        chat_http(parts.apis[0]) as asking,
        chat_http(parts.apis[1]) as first,
        chat_http(parts.apis[2]) as second,
    ):
        session = await ChatClient(asking).start(await requests.connect(shop))
        name = str(uuid4())
        model.say(sql(PER_COUNTRY), FIRST)
        queued = await ChatClient(asking).queue(session, QUESTION, name)
        assert queued["streamUrl"] == f"/api/stream/{session}/{name}"
        for http in (first, second):
            events = await ChatClient(http).follow(session, name)
            assert chunks(events, "results")[0]["rows"] == ROWS
            assert events[-1].data["status"] == "complete"
        kept = await ChatClient(asking).conversation(session)
        assert [each["role"] for each in kept["messages"]] == ["user", "assistant"]


async def test_a_question_with_its_stream_is_cancelled_by_a_request(
    requests: Client, streams: Client, model: ScriptedModel, shop: str
) -> None:
    session = await requests.open_session(await requests.connect(shop))
    model.say(Scripted("CHAT: never said", hold_after=0))
    async with streams.asking(session, "one") as stream:
        await model.until(lambda: len(model.requests) == 1)
        await requests.cancel(session, stream.run_id)
        assert (await stream.rest())[-1].data["status"] == "cancelled"


async def test_each_part_refuses_what_the_other_serves_and_names_it(
    parts: Cluster, requests: Client, streams: Client, shop: str
) -> None:
    session = await requests.open_session(await requests.connect(shop))
    asked = await requests.http.post(f"/sessions/{session}/query/stream", json={"query": QUESTION})
    listed = await streams.http.get("/sessions")
    assert (await requests.session(session))["messages"]["items"] == []
    for refused, part, other in ((asked, "requests", "streams"), (listed, "streams", "requests")):
        problem = assert_problem(refused, 421)
        assert problem["type"] == "urn:kai:served-elsewhere"
        assert f"serves {part} only" in problem["detail"]
        assert f"--serve {other}" in problem["detail"]
    async with httpx.AsyncClient(base_url=parts.apis[0].address) as http:
        chat = await http.post("/openai/v1/chat/completions", json={})
        assert (chat.status_code, "--serve streams" in chat.json()["error"]["message"]) == (421, True)
        assert (await http.get("/")).status_code != 421


async def test_readiness_says_which_part_a_process_serves(parts: Cluster) -> None:
    served = []
    for process in parts.processes:
        async with httpx.AsyncClient(base_url=process.address.removesuffix("/readyz")) as http:
            answer = await http.get("/readyz")
            assert answer.status_code == 200, answer.text
            served.append(answer.json().get("serves"))
            assert (await http.get("/healthz")).status_code == 200
            assert "kai_" in (await http.get("/metrics")).text
    assert served == ["requests", "streams", "streams", None]
