"""The typed client in front of a KAI, blocking and asynchronous."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from kai_analyst_client import (
    AsyncKai,
    Changed,
    Event,
    Forbidden,
    Invalid,
    Kai,
    KaiError,
    NotFound,
    SessionBusy,
    StatementFailed,
    Unauthenticated,
    Unreachable,
    generate_sql,
)
from kai_analyst_client.schema import Done, ResultsChunk, Status
from tests.support.choices import FIRST
from tests.support.fault_proxy import FaultProxy, fault_proxy
from tests.support.keys import made_key
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Server, running_server

COUNT = "One number.\n```sql\nSELECT COUNT(*) AS n FROM customers\n```"
NUMBERS = """```sql
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) SELECT i FROM n
```"""


@pytest.fixture(scope="module")
def database(shared_server: Server, shop: str) -> str:
    """The shop, by its id."""
    with Kai(shared_server.address) as kai:
        return kai.databases.add(shop, "Client shop", "A small shop").id


@pytest.fixture
def client(shared_server: Server, model: ScriptedModel) -> Iterator[Kai]:
    with Kai(shared_server.address, "sk-of-another-service") as kai:
        yield kai


def test_a_question_is_answered_with_its_statement_rows_and_analysis(
    client: Kai, model: ScriptedModel, database: str
) -> None:
    model.say(COUNT, FIRST)
    answer = client.ask("How many customers?", database=database)
    assert answer.sql == "SELECT COUNT(*) AS n FROM customers"
    assert answer.rows == [[3]]
    assert [column.name for column in answer.columns] == ["n"]
    assert answer.analysis == "**Number of customers: 3**."
    assert answer.status == "complete"
    follow_up = client.ask("And now?", session=answer.session_id, sql="SELECT 2 AS two")
    assert follow_up.session_id == answer.session_id
    assert follow_up.rows == [[2]]
    messages = client.sessions.messages(answer.session_id)
    assert [each.role for each in messages] == ["human", "assistant"] * 2
    assert client.rows(messages[1], answer.session_id).rows == [[3]]
    assert client.sessions.messages(answer.session_id, limit=1) == messages[-1:]


def test_a_key_creates_one_record_and_a_version_guards_it(client: Kai) -> None:
    first, again = (client.boards.create("Sales", key="board-17") for _ in range(2))
    assert again.id == first.id
    with pytest.raises(Invalid, match="key"):
        client.boards.create("Costs", key="board-17")
    changed = client.boards.change(first, title="Takings", version=first.version)
    with pytest.raises(Changed) as error:
        client.boards.change(first, title="Costs", version=first.version)
    assert error.value.members["version"] == changed.version
    assert client.boards.get(first).title == "Takings"


async def test_the_asynchronous_client_answers_the_same(
    shared_server: Server, model: ScriptedModel, database: str
) -> None:
    model.say(COUNT, FIRST)
    async with AsyncKai(shared_server.address) as kai:
        found = next(each for each in await kai.databases.list() if each.id == database)
        answer = await kai.ask("How many customers?", database=found)
        assert (await kai.rows(answer)).rows == [[3]]
        both = await asyncio.gather(kai.me(), kai.usage())
    assert answer.analysis == "**Number of customers: 3**."
    assert both[0].owner == "local"


def test_events_are_typed_and_end_with_done(client: Kai, model: ScriptedModel, database: str) -> None:
    model.say(COUNT, FIRST)
    with client.stream("How many customers?", database=database) as stream:
        events = list(stream)
    assert isinstance(events[0], Status)
    assert [each.content.rows for each in events if isinstance(each, ResultsChunk)] == [[[3]]]
    assert isinstance(events[-1], Done)
    assert stream.place is not None
    assert stream.place.run_id == events[-1].run_id
    again = list(client.follow(stream.place.session_id, events[-1].run_id))
    assert again[-1] == events[-1]


async def test_a_stream_that_is_left_goes_on_and_can_be_cancelled(
    shared_server: Server, model: ScriptedModel, database: str
) -> None:
    model.say(Scripted("CHAT: too late", hold_after=0))
    async with AsyncKai(shared_server.address) as kai:
        session = await kai.sessions.create(database)
        async with kai.stream("Who?", session=session) as stream:
            assert isinstance(await anext(stream), Status)
            await model.until(lambda: model.on_hold == 1)
        assert stream.place is not None
        run_id = stream.place.run_id or ""
        with pytest.raises(SessionBusy) as busy:
            await kai.ask("And?", session=session)
        assert busy.value.members["active_run_id"] == run_id
        await kai.sessions.cancel(session, run_id)
        assert (await kai.wait(session, run_id)).status == "cancelled"


@pytest.fixture
async def proxy(shared_server: Server) -> AsyncGenerator[FaultProxy]:
    async with fault_proxy(urlsplit(shared_server.address).port or 0) as running:
        yield running


async def test_a_cut_stream_brings_each_event_once_and_in_order(
    proxy: FaultProxy, shared_server: Server, model: ScriptedModel, database: str
) -> None:
    analysis = " ".join(f"Sentence {number} about the customers." for number in range(60))
    model.say(COUNT, analysis)
    async with AsyncKai(shared_server.address) as kai:
        session = await kai.sessions.create(database)
        proxy.cut_after = 6_000
        async with AsyncKai(proxy.url) as cut:
            events = [event async for event in cut.stream("How many customers?", session=session)]
        run_id = events[-1].run_id if isinstance(events[-1], Done) else ""
        whole = [event async for event in kai.follow(session, run_id)]
    assert events == whole
    assert len(whole) > 20

    def blocking() -> list[Event]:
        with Kai(proxy.url) as cut:
            return list(cut.follow(session, run_id))

    assert await asyncio.to_thread(blocking) == whole


async def test_a_question_whose_answer_was_lost_is_asked_once(
    proxy: FaultProxy, shared_server: Server, model: ScriptedModel, database: str
) -> None:
    model.say(COUNT, FIRST)
    async with AsyncKai(shared_server.address) as kai, AsyncKai(proxy.url) as cut:
        session = await kai.sessions.create(database)
        proxy.cut_after = 1
        asking = asyncio.create_task(cut.ask("How many customers?", session=session))
        await model.until(lambda: len(model.requests) > 0)
        proxy.cut_after = 0
        answer = await asking
        assert answer.analysis == "**Number of customers: 3**."
        assert len(await kai.sessions.messages(session)) == 2


async def test_a_request_that_is_refused_for_a_while_is_sent_again(proxy: FaultProxy) -> None:
    proxy.refusal = b"HTTP/1.1 429 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
    async with AsyncKai(proxy.url) as kai:
        assert (await kai.me()).owner == "local"
    assert proxy.refusal == b""


def test_rows_beyond_one_page_are_read_and_become_data_frames(
    client: Kai, model: ScriptedModel, database: str
) -> None:
    model.say(NUMBERS, "Six thousand numbers.")
    answer = client.ask("Numbers?", database=database)
    assert (answer.row_count, len(answer.rows)) == (6_000, 100)
    table = client.rows(answer)
    assert [row[0] for row in table] == list(range(1, 6_001))
    assert table.to_pandas()["i"].sum() == table.to_polars()["i"].sum() == 18_003_000
    assert table.to_arrow().num_rows == 6_000
    assert client.sessions.export(answer.session_id, answer.message_id).count(b"\n") == 6_001


def test_refusals_and_failures_are_errors_of_their_types(
    client: Kai, model: ScriptedModel, database: str
) -> None:
    with pytest.raises(NotFound):
        client.sessions.get("01970000-0000-7000-8000-000000000000")
    with pytest.raises(NotFound, match="Client shop"):
        client.ask("How many?", database="no such database")
    with pytest.raises(Invalid) as invalid:
        client.ask("", database=database)
    assert invalid.value.type == "urn:kai:validation"
    session = client.sessions.create(database)
    with pytest.raises(StatementFailed) as failed:
        client.ask("Delete them", session=session, sql="DELETE FROM customers")
    assert failed.value.members["session_id"] == session.id
    with pytest.raises(StatementFailed):
        client.databases.inspect(database, "DELETE FROM customers")
    with Kai("http://127.0.0.1:9") as nowhere, pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        nowhere.sessions.create(client.databases.get(database))


def test_sql_is_generated_and_a_schema_is_described(client: Kai, model: ScriptedModel, database: str) -> None:
    model.say(COUNT)
    generated = client.generate_sql("How many customers?", database, run=True)
    assert generated.valid
    assert generated.rows is not None
    assert generated.rows.rows == [[3]]
    tables = client.databases.tables(database)
    assert [table.name for table in tables] == ["customers", "orders"]
    model.rule("", "A table of the shop.")
    document = client.document_schema(database, ["customers"])
    assert document.analysis is not None
    assert "customers" in document.analysis


def test_sessions_facts_and_rules_are_kept_changed_and_deleted(
    client: Kai, model: ScriptedModel, database: str
) -> None:
    session = client.sessions.create(database, "Q4", metadata={"team": "sales"})
    assert client.sessions.change(session, title=None).title is None
    assert session.id in {each.id for each in client.sessions.list(database=database)}
    fact = client.facts.add("Churn means no order for 90 days.", "terminology", database=database)
    assert fact.is_new
    assert [each.id for each in client.facts.list(words="churn")] == [fact.id]
    client.facts.forget(fact.id)
    rule = client.rules.add("revenue", "State revenue without tax.", priority=10)
    assert not client.rules.change("revenue", active=False).active
    assert rule.name in {each.name for each in client.rules.list()}
    client.rules.delete("revenue")
    assert {each.name for each in client.models()} >= {"scripted"}
    assert client.capabilities().model.on
    assert "check_data" in {each.name for each in client.tools().items}
    assert client.memory.profile().enabled is False
    client.sessions.delete(session)
    with pytest.raises(NotFound):
        client.sessions.get(session)


def test_sql_is_generated_without_a_server(shop: str) -> None:
    generated = generate_sql("How many customers?", database_url=shop, run=True)
    assert generated.valid
    assert generated.rows is not None
    assert generated.rows.rows == [[3]]
    with pytest.raises(KaiError, match="no-such-folder"):
        generate_sql("How many customers?", database_url="sqlite:////no-such-folder/shop.db")


@dataclass(frozen=True)
class House:
    server: Server
    ann: str
    bob: str
    database: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, shop: str) -> Iterator[House]:
    """A server that asks for a login, without a model."""
    data = tmp_path_factory.mktemp("owners")
    ann, bob = (made_key(data, owner, "--role", "admin") for owner in ("ann", "bob"))
    with running_server(data, {"KAI_AUTH__REQUIRED": "true"}) as server:
        with Kai(server.address, ann) as kai:
            database = kai.databases.add(shop, "Shop").id
        yield House(server, ann, bob, database)


def test_another_owner_sees_nothing(house: House) -> None:
    with Kai(house.server.address, house.ann) as ann, Kai(house.server.address, house.bob) as bob:
        answer = ann.ask("How many customers?")
        assert answer.rows == [[3]]
        assert bob.databases.list() == []
        assert bob.sessions.list() == []
        for call in (
            lambda: bob.sessions.get(answer.session_id),
            lambda: bob.rows(answer),
            lambda: bob.wait(answer.session_id, answer.run_id),
            lambda: bob.sessions.create(ann.databases.get(house.database)),
        ):
            with pytest.raises(NotFound):
                call()


def test_a_key_is_needed_and_has_its_scopes(house: House) -> None:
    with Kai(house.server.address) as stranger, pytest.raises(Unauthenticated):
        stranger.me()
    with Kai(house.server.address, house.ann) as ann:
        made = ann.api_keys.add("ann", 1, scopes=["read"])
        with Kai(house.server.address, made.key) as reader, pytest.raises(Forbidden, match="scope ask"):
            reader.sessions.create(house.database)
        ann.api_keys.revoke(made.id)
