"""Requests of one turn to KAI's own store: nothing that is at hand is read again."""

import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from app.bootstrap import Services, common, open_services
from app.core.settings import LlmSettings, MemorySettings, Settings, WorkerSettings
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Document, Page, Query
from app.core.storage.typesense_transport import KeepAliveTransport
from app.modules.records.model import NewQuestion, Session
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel

OWNER = "local"
COUNT = "SELECT count(*) AS n FROM customers"
MAX_TYPESENSE_REQUESTS = 10
"""Of a follow-up with a model, its checkpoints and its stored rows included."""
VERIFIED = "How many customers do we have?"

reads: Counter[tuple[str, str]] = Counter()
"""Reads of the store since the last `clear`, by operation and collection."""
http_requests: Counter[str] = Counter()
"""Requests to Typesense since the last `clear`, by method and path without ids."""


class CountingStorage(MeasuredStorage):
    """Counts the reads that pass through it."""

    async def get(self, collection: str, document_id: str) -> Document | None:
        reads["get", collection] += 1
        return await super().get(collection, document_id)

    async def query(self, collection: str, query: Query) -> Page:
        reads["query", collection] += 1
        return await super().query(collection, query)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    send = KeepAliveTransport.handle_async_request

    async def counting(self: KeepAliveTransport, request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith(("/collections", "/multi_search")):
            http_requests[f"{request.method} {request.url.path.split('/')[1]}"] += 1
        return await send(self, request)

    monkeypatch.setattr(common, "MeasuredStorage", CountingStorage)
    monkeypatch.setattr(KeepAliveTransport, "handle_async_request", counting)


@pytest.fixture(params=["sqlite", "typesense"])
async def services(
    request: pytest.FixtureRequest, tmp_path: Path, model: ScriptedModel
) -> AsyncGenerator[Services]:
    llm = LlmSettings(
        base_url=model.base_url,
        api_key=SecretStr("sk-x"),
        model="scripted",
        embedding_model="scripted-64",
        max_retries=0,
        context_tokens=500,
    )
    settings = Settings(
        data_dir=tmp_path / "data",
        llm=llm,
        memory=MemorySettings(profile=True, recall_ms=10_000, profile_seconds=60),
        worker=WorkerSettings(follow_up_pause_seconds=600),  # what follows a turn is not counted in the next
    )
    if request.param == "typesense":
        typesense = request.getfixturevalue("ready_typesense")
        settings = settings.model_copy(update={"store": "typesense", "typesense": typesense})
    async with open_services(settings, "once") as opened:
        yield opened


@pytest.fixture
async def session(services: Services, tmp_path: Path) -> Session:
    """A session about a database that is too large for the prompt."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
        for number in range(60):
            connection.execute(f"CREATE TABLE stock_{number} (id INTEGER PRIMARY KEY, shelf TEXT, size TEXT)")
    known = await services.database_connections.register(OWNER, f"sqlite:///{path}", "shop", description="")
    await services.database_connections.scan(OWNER, known.id)
    await services.context_store.add_example(OWNER, known.id, VERIFIED, sql=COUNT, status="verified")
    return await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={})


async def ask(
    services: Services, model: ScriptedModel, session: Session, question: str, sql: str | None = None
) -> None:
    """Ask and count: only what happens until `done` is counted."""
    model.say(f"```sql\n{COUNT}\n```", FIRST)
    reads.clear()
    http_requests.clear()
    asked = await services.sessions.ask(OWNER, session.id, NewQuestion(question, sql=sql))
    said = [entry async for entry in services.sessions.follower.events(asked[1])]
    assert '"complete"' in said[-1].data, said[-1].data


async def test_a_turn_reads_each_document_once_where_it_is_asked_and_once_where_it_is_answered(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    await ask(services, model, session, "How many customers are there?")
    await ask(services, model, session, "And how many in Brazil?")
    assert reads["get", "sessions"] == 2
    assert reads["get", "database_connections"] == 2
    assert (
        reads["get", "runs"] == 2
    )  # the second time, in a request of others, to see that it is still its turn
    assert reads["query", "examples"] == 1
    assert reads["query", "glossary"] == 1
    assert reads["query", "instructions"] == 1
    assert reads["query", "usage"] + reads["get", "usage"] == 0
    assert sum(http_requests.values()) <= MAX_TYPESENSE_REQUESTS


async def test_turns_up_to_the_sixtieth_cost_as_much_as_the_second_and_one_in_ten_prunes(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    for number in range(50):
        await ask(services, model, session, f"How many customers are there, {number}?")
    requests: list[int] = []
    prunings = 0
    for number in range(50, 60):
        await ask(services, model, session, f"How many customers are there, {number}?")
        requests.append(sum(http_requests.values()))
        prunings += http_requests["DELETE collections"] > 0
    assert min(requests) <= MAX_TYPESENSE_REQUESTS
    assert prunings <= 1


async def test_the_profile_is_read_once_a_session_and_shown_in_every_turn(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    await services.profiles.consent(OWNER, given=True)
    await services.profiles.write(OWNER, "output_preferences", ["Short answers"], confirmed=False)
    await ask(services, model, session, "How many customers are there?")
    assert reads["get", "profiles"] == 2  # the second time to see that it has not changed meanwhile
    await services.profiles.write(OWNER, "goals", ["Long answers"], confirmed=False)
    model.requests.clear()
    await ask(services, model, session, "And how many in Brazil?")
    assert reads["get", "profiles"] == 0
    assert sum(http_requests.values()) <= MAX_TYPESENSE_REQUESTS
    assert [each.text.count("- Short answers") for each in model.requests] == [1, 1]
    assert not any("Long answers" in each.text for each in model.requests)
    model.requests.clear()
    later = await services.sessions.create(OWNER, session.db_connection_id, None, mode="ask", metadata={})
    await ask(services, model, later, "How many customers are there?")
    assert all("- Long answers" in each.text for each in model.requests)


async def test_without_a_profile_prompts_say_nothing_of_the_user(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    await services.profiles.consent(OWNER, given=True)
    await ask(services, model, session, "How many customers are there?")
    assert not any("About the user" in each.text for each in model.requests)


async def test_a_given_statement_needs_no_recall(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    await ask(services, model, session, "How many customers are there?")
    model.embedded.clear()
    await ask(services, model, session, "My own", sql=COUNT)
    assert not reads["query", "examples"] + reads["query", "glossary"] + reads["query", "instructions"]
    assert not model.embedded


async def test_a_verified_question_reads_its_context_once_and_embeds_nothing(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    await ask(services, model, session, "How many customers are there?")
    assert model.embedded  # the schema does not fit, so tables are ranked
    model.embedded.clear()
    await ask(services, model, session, VERIFIED)
    assert reads["query", "examples"] == reads["query", "glossary"] == reads["query", "instructions"] == 1
    assert not model.embedded
