"""Sessions that a client names and that get their database later, over both stores."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from pydantic import JsonValue

from app.bootstrap import Services, open_services
from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.settings import NO_QUOTAS, Settings
from app.core.storage.listing import ListRequest
from app.core.storage.port import Equals
from app.main import create_app
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.lookup import DatabaseUnclear, DatabaseUnknown
from app.modules.protocols.frame_stream import events_of
from app.modules.protocols.messages import ClientMessage, chat_messages, conversation, question_of_run, rows
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import NewQuestion, Origin, Run, Session, hidden_owner
from app.modules.run.errors import SessionBusy
from app.modules.session.errors import (
    BoundElsewhere,
    ConnectionNeeded,
    SessionExists,
)
from app.modules.session.service import SessionFilter
from graph.events import ResultsChunk
from tests.support.waiting import until

OWNER = "local"


@pytest.fixture(params=["sqlite", "typesense"])
async def services(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Services]:
    settings = Settings(data_dir=tmp_path / "data", quotas=NO_QUOTAS)
    if request.param == "typesense":
        kept_in = request.getfixturevalue("ready_typesense")
        settings = settings.model_copy(update={"store": "typesense", "typesense": kept_in})
    async with open_services(settings) as opened:
        yield opened


@pytest.fixture
async def databases(services: Services, tmp_path: Path) -> list[str]:
    """Ids of two databases of one table each."""
    found: list[str] = []
    for name in ("shop", "depot"):
        path = tmp_path / f"{name}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
        known = await services.database_connections.register(OWNER, f"sqlite:///{path}", name, description="")
        found.append(known.id)
    return found


async def unbound(services: Services, session_id: str | None = None) -> Session:
    return await services.sessions.create(OWNER, None, None, mode="ask", metadata={}, session_id=session_id)


async def ask(
    services: Services, session: Session, database: str | None, key: str | None = None
) -> tuple[Session, Run]:
    return await services.sessions.ask(
        OWNER,
        session.id,
        NewQuestion(
            "How many customers?",
            multitask_strategy="enqueue",
            idempotency_key=key,
            sql="SELECT count(*) AS n FROM customers",
            db_connection_id=database,
        ),
    )


async def answer(services: Services, asked: tuple[Session, Run]) -> None:
    async for _ in services.sessions.follower.events(asked[1]):
        pass


async def test_the_first_question_gives_a_session_its_database(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    assert session.db_connection_id is None
    with pytest.raises(ConnectionNeeded):
        await ask(services, session, None)
    with pytest.raises(ConnectionNotFound):
        await ask(services, session, new_id())
    await answer(services, await ask(services, session, databases[0]))
    await answer(services, await ask(services, session, None))
    with pytest.raises(BoundElsewhere):
        await ask(services, session, databases[1])
    now = await services.sessions.repository.get(OWNER, session.id)
    assert now.connection_id == databases[0]
    messages = await services.sessions.history(now)
    assert [each.status for each in messages] == 4 * ["complete"]


async def test_a_session_gets_one_of_the_databases_that_questions_name_at_once(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    keys = [str(number) if number % 2 else None for number in range(8)]
    asked = await asyncio.gather(
        *(ask(services, session, databases[n % 2 if n < 6 else 0], key) for n, key in enumerate(keys)),
        return_exceptions=True,
    )
    bound_to = (await services.sessions.repository.get(OWNER, session.id)).connection_id
    refused = [each for each in asked if isinstance(each, BaseException)]
    runs = [each for each in asked if not isinstance(each, BaseException)]
    assert {type(each) for each in refused} == {BoundElsewhere}
    assert len(runs) == (5 if bound_to == databases[0] else 3)
    assert {session.connection_id for session, _ in runs} == {bound_to}
    for each in runs:
        await answer(services, each)


async def test_a_session_of_one_run_is_hidden_at_its_end_and_deleted_a_minute_later(
    services: Services, databases: list[str]
) -> None:
    sessions = services.sessions
    alone = await sessions.create(OWNER, databases[0], None, mode="ask", metadata={}, is_for_one_run=True)
    asked = await ask(services, alone, None)
    services.departures.hide_at_end(*asked)

    async def is_hidden() -> bool:
        return await sessions.count(OWNER, SessionFilter()) == 0

    await until(is_hidden)
    with pytest.raises(SessionUnknown):
        await sessions.repository.get(OWNER, alone.id)
    assert await sessions.repository.find(alone.id) is None
    assert (await sessions.page(OWNER, SessionFilter(text="customers"), ListRequest(limit=10))).items == []
    assert await sessions.repository.latest_answers(OWNER, 10) == []

    async def read() -> list[str]:
        hidden = await sessions.repository.get(hidden_owner(OWNER), alone.id)
        return [each.status for each in await sessions.history(hidden)]

    await services.departures.delete_left(now_ms() + 50_000)
    assert await read() == ["complete", "complete"]
    await services.departures.delete_left(now_ms() + 61_000)
    with pytest.raises(SessionUnknown):
        await read()


async def test_the_same_key_binds_once_and_is_one_run(services: Services, databases: list[str]) -> None:
    session = await unbound(services)
    asked = await asyncio.gather(*(ask(services, session, databases[0], "key") for _ in range(5)))
    assert len({run.id for _, run in asked}) == 1
    with pytest.raises(BoundElsewhere):
        await ask(services, session, databases[1], "key")
    await answer(services, asked[0])
    assert len(await services.sessions.repository.runs(session, 10)) == 1


async def test_a_client_may_choose_the_id_of_a_session_once(services: Services) -> None:
    session_id = str(uuid4())
    made = await asyncio.gather(*(unbound(services, session_id) for _ in range(4)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in made) == ["Session", *3 * ["SessionExists"]]
    with pytest.raises(SessionExists):
        await services.sessions.create("bob", None, None, mode="ask", metadata={}, session_id=session_id)
    with pytest.raises(SessionUnknown):
        await services.sessions.repository.get("bob", session_id)


async def test_the_id_of_a_deleted_session_is_not_taken_again(services: Services) -> None:
    session = await unbound(services, str(uuid4()))
    await services.sessions.delete(OWNER, session.id)
    with pytest.raises(SessionExists):
        await unbound(services, session.id)
    with pytest.raises(SessionUnknown):
        await services.sessions.repository.get(OWNER, session.id)


async def test_a_text_of_a_client_names_one_conversation(services: Services) -> None:
    made = await asyncio.gather(*(services.threads.named(OWNER, "thread_1", {"a": 1}) for _ in range(4)))
    assert len({each.id for each in made}) == 1
    assert (await services.threads.named(OWNER, made[0].id.upper(), {})).id == made[0].id
    assert (await services.threads.named("bob", "thread_1", {})).id != made[0].id
    assert (await services.threads.named("bob", made[0].id, {})).id != made[0].id


async def test_a_database_is_named_by_its_id_its_name_or_as_the_only_one(
    services: Services, databases: list[str]
) -> None:
    threads = services.threads
    assert (await threads.database(OWNER, databases[1])).id == databases[1]
    assert (await threads.database(OWNER, " Depot ")).id == databases[1]
    for unclear in ("kai", None):
        with pytest.raises(DatabaseUnclear) as several:
            await threads.database(OWNER, unclear)
        assert all(each in several.value.detail for each in databases)
    with pytest.raises(DatabaseUnknown):
        await threads.database(OWNER, "another")
    with pytest.raises(DatabaseUnclear):
        await threads.database("bob", None)
    with pytest.raises(DatabaseUnknown):
        await threads.database("bob", databases[0])
    await services.database_connections.delete(OWNER, databases[0])
    assert (await threads.database(OWNER, "kai")).id == databases[1]


async def test_a_question_keeps_the_id_that_its_client_has_given_it(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    origin = Origin(protocol="langgraph", client_message_id="human-1", metadata={"tag": "x"})
    asked = await services.sessions.ask(
        OWNER,
        session.id,
        NewQuestion(
            "How many customers?",
            sql="SELECT count(*) AS n FROM customers",
            db_connection_id=databases[0],
            origin=origin,
        ),
    )
    await answer(services, asked)
    unnamed = await ask(services, session, None)
    await answer(services, unnamed)
    runs = await services.sessions.repository.runs(session, 10)
    assert [(run.protocol, run.client_message_id, run.metadata) for run in runs] == [
        ("kai", None, {}),
        ("langgraph", "human-1", {"tag": "x"}),
    ]
    messages = await services.sessions.history(await services.sessions.repository.get(OWNER, session.id))
    assert [each.client_message_id for each in messages] == ["human-1", None, None, None]
    shown = conversation(messages)
    assert shown[0] == question_of_run(asked[1])
    assert question_of_run(unnamed[1]) in shown


async def test_runs_are_listed_newest_first_by_state_and_place(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    for _ in range(3):
        await answer(services, await ask(services, session, databases[0]))
    newest = await services.sessions.repository.runs(session, 10)
    assert [run.created_at for run in newest] == sorted((run.created_at for run in newest), reverse=True)
    assert await services.sessions.repository.runs(session, 1, 1) == newest[1:2]
    assert await services.sessions.repository.runs(session, 10, 3) == []
    assert await services.sessions.repository.runs(session, 10, status="complete") == newest
    assert await services.sessions.repository.runs(session, 10, status="failed") == []


async def test_the_history_holds_the_latest_messages_oldest_first(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    for _ in range(2):
        await answer(services, await ask(services, session, databases[0]))
    now = await services.sessions.repository.get(OWNER, session.id)
    whole = await services.sessions.history(now)
    assert [each.role for each in whole] == 2 * ["human", "assistant"]
    assert await services.sessions.history(now, 3) == whole[1:]


async def test_the_rows_of_an_answer_are_the_same_live_in_the_history_and_without_stored_rows(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    asked = await services.sessions.ask(
        OWNER,
        session.id,
        NewQuestion(
            "Numbers",
            sql="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) SELECT i FROM n",
            db_connection_id=databases[0],
        ),
    )
    live = await result_of(services, asked)
    (message,) = [each for each in await services.sessions.history(session) if each.role == "assistant"]
    assert message.rows_head == [[n] for n in range(1, 21)]
    assert live == chat_messages(message)[1]
    await services.storage.delete("result_chunks", [Equals("message_id", message.id)])
    session, run = await services.sessions.run(OWNER, session.id, asked[1].id)
    await services.storage.patch("messages", message.id, {"rows_head": [[7]]})
    async with services.sessions.follower.follow(replace(run, id=new_id())) as log:
        again = [each async for entry in log.read(0, lambda: False) for each in events_of(entry)]
    assert [each.content["rows"] for each in again if isinstance(each, ResultsChunk)] == [[[7]]]


async def result_of(services: Services, asked: tuple[Session, Run]) -> ClientMessage:
    """Returns the chat message of the rows that a run has emitted."""
    emitted = [
        each async for entry in services.sessions.follower.events(asked[1]) for each in events_of(entry)
    ]
    (found,) = [each.content for each in emitted if isinstance(each, ResultsChunk)]
    return rows(asked[1].message_id, found)


async def test_a_fork_and_its_state_name_the_copies_of_messages(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    for _ in range(2):
        await answer(services, await ask(services, session, databases[0]))
    (latest, *_), _ = await services.sessions.copies.checkpoints(OWNER, session.id, 1, cursor=None)
    fork = await services.sessions.copies.fork(OWNER, session.id, latest.id)
    originals = await services.sessions.history(await services.sessions.repository.get(OWNER, session.id))
    copies = await services.sessions.history(fork)
    assert [each.source_message_id for each in copies] == [each.id for each in originals]
    assert {each.source_message_id for each in originals} == {None}
    (state, *_), _ = await services.sessions.copies.checkpoints(OWNER, fork.id, 1, cursor=None)
    assert state.message_id == copies[-1].id
    await answer(services, await ask(services, fork, None))
    now = await services.sessions.repository.get(OWNER, fork.id)
    assert len(await services.sessions.history(now)) == 6


async def test_sessions_are_found_by_pairs_of_their_metadata(services: Services) -> None:
    async def made(metadata: dict[str, JsonValue]) -> str:
        session = await services.sessions.create(OWNER, None, None, mode="ask", metadata=metadata)
        return session.id

    async def found(**metadata: JsonValue) -> set[str]:
        wanted = SessionFilter(metadata=metadata)
        listed = await services.sessions.select(OWNER, wanted, 100)
        assert await services.sessions.count(OWNER, wanted) == len(listed)
        return {each.id for each in listed}

    text = await made({"user": "Ann", "n": "1", "tags": ["a"]})
    number = await made({"user": "ann", "n": 1})
    truth = await made({"user": "ann", "n": True, "more": {"n": 1}})
    assert await found() == {text, number, truth}
    assert await found(user="ann") == {number, truth}
    assert (await found(n="1"), await found(n=1), await found(n=1.0)) == ({text}, {number}, {number})
    assert await found(user="ann", n=True) == {truth}
    assert await found(tags=["a"]) == await found(other=None) == await found(user=None) == set()
    await services.sessions.change(OWNER, text, {"metadata": {"user": "bob"}})
    assert (await found(user="Ann"), await found(user="bob")) == (set(), {text})
    assert await services.sessions.select("bob", SessionFilter(metadata={"user": "bob"}), 10) == []


async def test_sessions_are_selected_by_ids_states_order_and_offset(services: Services) -> None:
    made = [await unbound(services) for _ in range(5)]
    ids = [each.id for each in made]
    select = services.sessions.select
    oldest = await select(OWNER, SessionFilter(ids=ids[1:4]), 2, order_by="created_at", descending=False)
    assert [each.created_at for each in oldest] == [each.created_at for each in made[1:3]]
    behind = await select(OWNER, SessionFilter(ids=ids[1:4]), 10, offset=2)
    assert len(behind) == 1
    await services.sessions.change(OWNER, ids[0], {"status": "closed"})
    closed = await select(OWNER, SessionFilter(statuses=["closed", "error"]), 10)
    assert [each.id for each in closed] == ids[:1]


async def test_a_conversation_is_found_by_its_questions(services: Services, databases: list[str]) -> None:
    async def asked(session: Session, *questions: str) -> None:
        for question in questions:
            each = await services.sessions.ask(
                OWNER,
                session.id,
                NewQuestion(
                    question,
                    multitask_strategy="enqueue",
                    sql="SELECT 1 AS one",
                    db_connection_id=databases[0],
                ),
            )
            await answer(services, each)

    async def found(*questions: str, database: int = 0, owner: str = OWNER) -> str | None:
        sessions = await services.sessions.find_conversations(owner, databases[database], questions)
        return sessions[0].id if sessions else None

    first, second = await unbound(services), await unbound(services)
    await asked(first, "One?", "Two?")
    await asked(second, "One?")
    assert await found("One?") == second.id
    assert await found("One?", "Two?") == first.id
    assert (await found(), await found("Two?"), await found("One?", "Two?", "Three?")) == (None, None, None)
    assert (await found("One?", database=1), await found("One?", owner="bob")) == (None, None)
    await asked(second, "Two?")
    assert await found("One?", "Two?") == second.id
    checkpoints, _ = await services.sessions.copies.checkpoints(OWNER, second.id, 100, cursor=None)
    earlier = next(each for each in checkpoints if each.query == "One?" and not each.next_steps)
    fork = await services.sessions.copies.fork(OWNER, second.id, earlier.id)
    assert await found("One?") == fork.id
    await services.sessions.change(OWNER, second.id, {"status": "closed"})
    assert await found("One?", "Two?") == first.id
    await services.sessions.delete(OWNER, first.id)
    assert await found("One?", "Two?") is None


async def test_a_question_after_others_is_refused_once_another_has_come(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)

    async def ask(question: str, after: list[str]) -> None:
        each = await services.sessions.ask(
            OWNER,
            session.id,
            NewQuestion(question, sql="SELECT 1 AS one", db_connection_id=databases[0], after=after),
        )
        await answer(services, each)

    await ask("One?", [])
    with pytest.raises(SessionBusy):
        await ask("Two?", [])
    await ask("Two?", ["One?"])


async def test_a_session_is_followed_from_run_to_run(services: Services, databases: list[str]) -> None:
    session = await unbound(services)
    asked = [await ask(services, session, databases[0])]
    await answer(services, asked[0])
    following = services.sessions.follow_runs(session)
    async with asyncio.timeout(60), aclosing(following):
        assert (await anext(following)).id == asked[0][1].id
        for _ in range(2):
            later = asyncio.ensure_future(anext(following))
            await asyncio.sleep(0)
            asked.append(await ask(services, session, None))
            assert (await later).id == asked[-1][1].id
            await answer(services, asked[-1])
    async with asyncio.timeout(60), aclosing(services.sessions.follow_runs(session, asked[1][1])) as rest:
        assert (await anext(rest)).id == asked[2][1].id
        ending = asyncio.ensure_future(anext(rest, None))
        await services.sessions.delete(OWNER, session.id)
        assert await ending is None


async def test_the_routes_show_a_session_without_a_database_and_bind_it(
    services: Services, databases: list[str]
) -> None:
    session = await unbound(services)
    transport = httpx.ASGITransport(create_app(services, Settings(quotas=NO_QUOTAS)))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:

        async def asked(**fields: str) -> tuple[int, str]:
            body = {"query": "mine", "sql": "SELECT 1 AS one", **fields}
            sent = await client.post(f"/api/v1/sessions/{session.id}/query/stream", json=body)
            kind = "" if sent.status_code == 200 else str(sent.json()["type"])
            return sent.status_code, kind

        listed = (await client.get("/api/v1/sessions")).json()["items"]
        assert [each["db_connection_id"] for each in listed] == [None]
        one = (await client.get(f"/api/v1/sessions/{session.id}")).json()
        assert (one["db_connection_id"], one["messages"]["items"]) == (None, [])
        chats = (await client.get(f"/api/history/users/{OWNER}/conversations")).json()["conversations"]
        assert [each["dbConnectionId"] for each in chats] == [None]
        assert await asked() == (422, "urn:kai:connection-needed")
        assert await asked(db_connection_id=new_id()) == (404, "urn:kai:not-found")
        assert await asked(db_connection_id=databases[0]) == (200, "")
        assert await asked(db_connection_id=databases[1]) == (409, "urn:kai:session-bound")
        assert await asked() == (200, "")
        filtered = await client.get("/api/v1/sessions", params={"db_connection_id": databases[0]})
        assert [each["id"] for each in filtered.json()["items"]] == [session.id]
        assert (await client.delete(f"/api/v1/sessions/{session.id}")).status_code == 204


async def test_a_session_without_a_database_is_counted_forgotten_and_closed(services: Services) -> None:
    first, second = await unbound(services), await unbound(services)
    assert (await services.allowances.usage(OWNER)).sessions == 2
    await services.sessions.change(OWNER, first.id, {"status": "closed", "title": "Later"})
    await services.sessions.delete(OWNER, second.id)
    kept = await services.sessions.select(OWNER, SessionFilter(), 10)
    assert [(each.id, each.db_connection_id, each.title) for each in kept] == [(first.id, None, "Later")]
