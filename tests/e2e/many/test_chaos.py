"""Two hundred questions while processes die at random: each is answered, and once, and its stream ends."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from httpx_sse import SSEError

from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.support.cluster import Cluster, running_cluster, shared
from tests.support.nats_server import FragileNats
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event, Server, client_of

QUESTIONS, CLIENTS, SESSIONS = 200, 12, 24
DROPPED = (httpx.HTTPError, SSEError, StopAsyncIteration, AssertionError)


@dataclass(frozen=True)
class Asked:
    session: str
    run_id: str
    question: str


@pytest.fixture
def cluster(
    typesense_server: TypesenseServer, fragile_nats: FragileNats, model: ScriptedModel, tmp_path: Path
) -> Iterator[Cluster]:
    settings = shared(typesense_server, fragile_nats) | model_settings(model)
    settings["KAI_TUNING__WORKER__STORE_PATIENCE_SECONDS"] = "120"  # a slow machine may need it to come back
    with running_cluster(tmp_path, settings) as running:
        yield running


async def submitted(apis: list[Server], session: str, question: str, chance: random.Random) -> Asked:
    """Asks until it is acknowledged, always with the same key."""
    key = str(uuid4())
    while True:
        try:
            async with (
                client_of(chance.choice(apis)) as kai,
                kai.asking(session, question, key, multitask_strategy="enqueue") as stream,
            ):
                return Asked(session, stream.run_id, question)
        except DROPPED:
            await asyncio.sleep(0.1)


async def followed(apis: list[Server], asked: Asked, chance: random.Random) -> list[Event]:
    """The whole stream, put together over as many connections and instances as it takes."""
    events: list[Event] = []
    while not events or events[-1].name != "done":
        try:
            async with client_of(chance.choice(apis)) as kai:
                last = events[-1].id if events else None
                async with kai.following(asked.session, asked.run_id, last) as stream:
                    while True:
                        events.append(await stream.next())
        except DROPPED:
            await asyncio.sleep(0.1)
    return events


async def kill_and_start(
    cluster: Cluster, nats: FragileNats, chance: random.Random, over: asyncio.Event
) -> None:
    """Whatever it kills runs again when it returns."""
    while True:
        with suppress(TimeoutError):  # a stream that lost its end needs five seconds of silence
            await asyncio.wait_for(over.wait(), chance.uniform(6, 9))
            return
        victim = chance.choice([*cluster.processes, None])
        (victim or nats).kill()
        await asyncio.sleep(chance.uniform(0, 1))
        if victim is None:
            nats.start()  # here, for it ends with the thread that starts it
        else:
            await asyncio.to_thread(victim.start)


@pytest.mark.timeout(400)
async def test_every_question_is_answered_once_whichever_process_dies(
    cluster: Cluster, fragile_nats: FragileNats, model: ScriptedModel, shop: str
) -> None:
    model.rule("", Scripted("CHAT: There are three of them, two in Brazil.", delay_seconds=0.03))
    chance, apis = random.Random(11), list(cluster.apis)
    async with client_of(apis[0]) as kai:
        connection = await kai.connect(shop)
        sessions = [await kai.open_session(connection) for _ in range(SESSIONS)]
    questions = iter(range(QUESTIONS))
    runs: dict[str, list[Event]] = {}

    async def use() -> None:
        for number in questions:
            question = f"How many customers? ({number})"
            asked = await submitted(apis, chance.choice(sessions), question, chance)
            runs[asked.run_id] = await followed(apis, asked, chance)

    over = asyncio.Event()
    killing = asyncio.create_task(kill_and_start(cluster, fragile_nats, chance, over))
    try:
        await asyncio.gather(*(use() for _ in range(CLIENTS)))
    finally:
        over.set()
        await killing
    for process in cluster.processes:
        await asyncio.to_thread(process.kill)
        await asyncio.to_thread(process.start)
    assert len(runs) == QUESTIONS
    for events in runs.values():
        assert [event.name for event in events].count("done") == 1
        assert [event.id for event in events] == sorted({event.id for event in events})
    async with client_of(apis[0]) as kai:
        answers = [answer for session in sessions for answer in await answers_of(kai, session)]
    assert Counter(answers) == Counter({f"How many customers? ({number})": 1 for number in range(QUESTIONS)})


async def answers_of(kai: Client, session: str) -> list[str]:
    """The questions that are answered in the history, as often as they are."""
    found = await kai.http.get(f"/sessions/{session}", params={"limit": 100})
    assert found.json()["status"] == "idle"
    return [each["query"] for each in found.json()["messages"]["items"] if each["role"] == "assistant"]
