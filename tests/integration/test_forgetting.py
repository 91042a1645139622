"""Forgetting is complete: no collection, cache, log, stream or file holds a word of what was deleted."""

import json
import logging
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal
from uuid import uuid4

import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from pydantic import JsonValue, SecretStr

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_CALLER, SCOPES_OF_ROLE, Caller
from app.core.ids import new_id
from app.core.settings import (
    LlmSettings,
    MemorySettings,
    NatsSettings,
    RedisSettings,
    Settings,
    TypesenseSettings,
    WorkerSettings,
)
from app.core.storage.listing import ListRequest
from app.core.storage.port import Equals, Query
from app.modules.boards.service import NewPin
from app.modules.forgetting.router import router
from app.modules.memory.memory_job import MemoryJob
from app.modules.memory.model import NewFact
from app.modules.memory.profile import Profile, ProfileItem
from app.modules.memory.scopes import Scope
from app.modules.memory.turns import StoredTurns
from app.modules.records.model import Message, NewQuestion, Session
from app.modules.records.steps import InvestigationRecords
from app.modules.rules.model import RuleText
from app.modules.schedules.model import Notice
from app.modules.session.confirmations import Verdict
from app.modules.session.erasure import ForgottenSession
from app.modules.session.service import SessionFilter
from tests.support.callers import admin, call_as
from tests.support.choices import FIRST
from tests.support.facts import source
from tests.support.scripted_model import AFTERWARDS, Scripted, ScriptedModel
from tests.support.traces import (
    Traces,
    checkpoints_in_file,
    count_in_typesense,
    traces_in_files,
    traces_in_nats,
    traces_in_redis,
    traces_in_typesense,
)
from tests.support.waiting import until
from typesense_checkpoint.records import hash_thread

OWNER = "local"
WORD = "zebramarker"
SQL = f"SELECT country || ' {WORD}' AS {WORD}_country, count(*) AS {WORD}_count FROM customers GROUP BY 1"
TITLE = f"Customers of {WORD}"
SUMMARY = f"They counted customers of {WORD}."
WRITTEN = f"{SUMMARY}\nThemes: {WORD} sales\nPersons: Ada {WORD}\nPlaces: {WORD} Town\nSentiment: positive"
NAMES, REMEMBERS = AFTERWARDS
"""Of the prompts of titles, and of memories."""

NewStatus = Literal["active", "waiting"]
PLANTED_FACTS: list[tuple[Scope, NewStatus]] = [
    ("session", "active"),
    ("workspace", "waiting"),
]

RECORDS = ("turns", "result_chunks", "feedback", "examples", "conversation_memories", "facts", "profiles")
EVERYWHERE = frozenset({*RECORDS, "decisions", "token-streams"})

Scan = Callable[[], Awaitable[Traces]]
Count = Callable[[str], Awaitable[int]]


@dataclass(frozen=True)
class Opened:
    """KAI in one process, and a scan of all that it keeps."""

    services: Services
    scan: Scan
    shop: Path
    places: frozenset[str]
    """Where the scan finds the word at least."""
    checkpoints: Count
    """Number of documents of a session's thread. They are compressed, so the scan does not read them."""


@pytest.fixture(params=["sqlite", "typesense", "typesense, nats and redis"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path, model: ScriptedModel) -> AsyncGenerator[Opened]:
    data = tmp_path / "data"
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted", max_retries=0)
    settings = Settings(
        data_dir=data,
        llm=llm,
        memory=MemorySettings(profile=True, recall_ms=10_000, profile_seconds=60),
        worker=WorkerSettings(follow_up_pause_seconds=0),
    )

    async def in_files() -> Traces:
        return traces_in_files(data, WORD)

    async def in_file(session_id: str) -> int:
        return checkpoints_in_file(data / "checkpoints.db", session_id)

    prefix = ""
    scan: Scan = in_files
    checkpoints: Count = in_file
    places: frozenset[str] = frozenset()  # a file is one place, whose log may be written to it at any time
    if request.param != "sqlite":
        typesense = request.getfixturevalue("typesense_server")
        kept_in: TypesenseSettings = request.getfixturevalue("ready_typesense")
        prefix = kept_in.prefix
        settings = settings.model_copy(
            update={
                "store": "typesense",
                "encryption_key": SecretStr(Fernet.generate_key().decode()),
                "typesense": kept_in,
            }
        )

        async def in_typesense() -> Traces:
            return traces_in_files(data, WORD) + await traces_in_typesense(typesense, prefix, WORD)

        async def in_collection(session_id: str) -> int:
            return await count_in_typesense(
                typesense, f"{prefix}checkpoints0", f"thread:={hash_thread(session_id)}"
            )

        scan, checkpoints, places = in_typesense, in_collection, frozenset(RECORDS)
    if request.param == "typesense, nats and redis":
        of_run = f"t{uuid4().hex}_"
        bus, redis = request.getfixturevalue("nats_server"), request.getfixturevalue("redis_server")
        settings = settings.model_copy(
            update={
                "nats": NatsSettings(url=SecretStr(bus.url), prefix=of_run),
                "redis": RedisSettings(url=SecretStr(redis.url), prefix=of_run),
            }
        )

        async def everywhere() -> Traces:
            return (
                await in_typesense()
                + await traces_in_nats(bus, of_run, WORD)
                + await traces_in_redis(redis, of_run, WORD)
            )

        scan, places = everywhere, EVERYWHERE
    shop = tmp_path / "shop.db"
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
        connection.execute("INSERT INTO customers (country) VALUES ('Norway'), ('Spain'), ('Peru')")
        connection.commit()
    async with open_services(settings) as services:
        yield Opened(services, scan, shop, places, checkpoints)
        await services.database_connections.close()


async def ask(services: Services, session: Session, question: str, key: str = WORD) -> Message:
    """Returns the answer, once its memory is written."""
    sessions = services.sessions
    asked = await sessions.ask(OWNER, session.id, NewQuestion(question, idempotency_key=f"{key}-{new_id()}"))
    events = [entry async for entry in sessions.follower.events(asked[1])]
    assert events[-1].event == "done"
    now = await sessions.repository.get(OWNER, session.id)
    messages, _ = await sessions.repository.messages(now, 20, None)

    async def is_remembered() -> bool:
        memory = await services.memories.repository.find(session.id)
        return memory is not None and memory.covers == messages[-1].id

    await until(is_remembered)
    return messages[-1]


async def planted(kai: Opened, model: ScriptedModel) -> Session:
    """A session with the word in its question, statement, rows, chart, answer, title, comment, example,
    memory, profile and fact. A model has written its title and its memory.
    """
    services = kai.services
    known = await services.database_connections.register(
        OWNER, f"sqlite:///{kai.shop}", "shop", description=""
    )
    session = await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={"tag": WORD})
    model.say(SQL, f"There are three in {WORD}.")
    model.rule_after(NAMES, TITLE)
    model.rule_after(REMEMBERS, WRITTEN)
    answer = await ask(services, session, f"How many customers are in {WORD}?")
    assert answer.row_count == 3
    assert WORD in str(answer.chart).casefold()
    memory = await services.memories.repository.find(session.id)
    assert memory is not None
    assert (memory.summary, memory.persons, memory.places) == (SUMMARY, [f"Ada {WORD}"], [f"{WORD} Town"])

    async def is_titled() -> bool:
        return (await services.sessions.repository.get(OWNER, session.id)).title == TITLE

    await until(is_titled)
    await services.sessions.feedback.give(
        OWNER, session.id, answer.id, rating="up", comment=f"Right about {WORD}", corrected_sql=None
    )
    await services.profiles.consent(OWNER, given=True)
    for text in (f"Counts {WORD}", f"Sells {WORD}"):
        await services.profiles.update(OWNER, partial(_learned, text, answer))
    for scope, status in PLANTED_FACTS:
        await services.facts.keep(fact(session, answer, scope, status))
    return session


def _learned(text: str, answer: Message, profile: Profile) -> Profile:
    item = ProfileItem(text=text, at=1, message_id=answer.id, session_id=answer.session_id)
    return replace(profile, items={"work_profile": [*profile.of("work_profile"), item]})


def fact(session: Session, answer: Message | None, scope: Scope, status: NewStatus) -> NewFact:
    return NewFact(
        owner=OWNER,
        scope=scope,
        kind="preference",
        text=f"Prefers {WORD} in {scope}.",
        source=source("feedback", session_id=session.id, message_id=answer.id if answer else None),
        connection_id=session.connection_id,
        status=status,
    )


async def test_a_deleted_session_leaves_no_word_anywhere(kai: Opened, model: ScriptedModel) -> None:
    session = await planted(kai, model)
    before = await kai.scan()
    assert before
    assert kai.places <= set(before)
    assert await kai.checkpoints(session.id)
    await kai.services.sessions.delete(OWNER, session.id)
    assert not await kai.scan()
    assert await kai.checkpoints(session.id) == 0


def call(tool: str, **arguments: JsonValue) -> tuple[str, str]:
    return tool, json.dumps(arguments)


async def investigated(kai: Opened, model: ScriptedModel, *, is_decided: bool) -> Session:
    """A session with the word in what an investigation thought, called, found, asked and was answered. Its
    cards were approved and denied, or still wait.
    """
    services = kai.services
    known = await services.database_connections.register(
        OWNER, f"sqlite:///{kai.shop}", "shop", description=""
    )
    session = await services.sessions.create(OWNER, known.id, None, mode="agent", metadata={})
    reads = Scripted(
        f"I look at {WORD}.",
        calls=(
            call("run_sql", sql=SQL, purpose=f"Shows {WORD}"),
            call("run_sql", sql=f"SELECT {WORD} FROM customers"),
            call("search_examples", question=f"customers of {WORD}"),
            call("remember", text=f"It counts {WORD}.", kind="decision", scope="session"),
            call("define_term", term=WORD, meaning=f"Means {WORD}."),
        ),
    )
    finding: JsonValue = {
        "result": "r1.1",
        "fact": f"total({WORD}_count)",
        "reading": f"Look at {WORD} again.",
    }
    ends = Scripted(calls=(call("finish", answer=f"Three in {WORD}.", findings=[finding]),))
    model.say(f"INVESTIGATE:\n1. Look at {WORD}", reads, ends)
    _, run = await services.sessions.ask(
        OWNER, session.id, NewQuestion(f"Why {WORD}?", idempotency_key=f"{WORD}-{new_id()}")
    )
    events = [json.loads(entry.data) async for entry in services.sessions.follower.events(run)]
    assert events[-1]["status"] == "awaiting_approval", events[-1]
    cards = {each["tool_name"]: each for each in events if each["event"] == "confirmation"}
    assert cards.keys() == {"remember", "define_term"}
    if is_decided:
        caller = Caller(owner=OWNER, role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="local")
        verdicts: list[tuple[str, Verdict]] = [("define_term", "deny"), ("remember", "approve")]
        run_ids = []
        for tool, verdict in verdicts:
            decided = await services.confirmations.decide(
                caller,
                session.id,
                cards[tool]["confirmation_id"],
                verdict=verdict,
                call_hash=cards[tool]["call_hash"],
                reason=f"Because of {WORD}",
            )
            run_ids.append(decided.run_id)
        following = await services.sessions.run(OWNER, session.id, str(run_ids[-1]))
        events = [json.loads(entry.data) async for entry in services.sessions.follower.events(following[1])]
        assert (events[-1]["event"], events[-1]["status"]) == ("done", "complete"), events[-1]
        assert any(WORD in str(each) for each in events if each.get("type") == "findings"), events
    return session


@pytest.mark.parametrize("is_decided", [True, False])
async def test_a_deleted_investigation_leaves_no_word_anywhere(
    kai: Opened, model: ScriptedModel, caplog: pytest.LogCaptureFixture, is_decided: bool
) -> None:
    caplog.set_level(logging.INFO)
    session = await investigated(kai, model, is_decided=is_decided)
    if kai.places:
        assert {"tool_calls", "agent_steps"} <= set(await kai.scan())
    assert await kai.scan()
    await kai.services.sessions.delete(OWNER, session.id)
    assert not await kai.scan()
    assert await kai.checkpoints(session.id) == 0
    audited = [str(vars(each)) for each in caplog.records if each.name == "kai.audit"]
    assert any("run_sql" in line for line in audited)
    assert not any(WORD in line.casefold() for line in audited)


async def test_a_verified_example_is_kept_on_purpose(kai: Opened, model: ScriptedModel) -> None:
    session = await planted(kai, model)
    context = kai.services.context_store
    (example,) = (
        await context.examples.page([Equals("session_id", session.id)], ListRequest(limit=10))
    ).items
    await context.change_example(OWNER, example.id, {"status": "verified"})
    await kai.services.sessions.delete(OWNER, session.id)
    assert (await context.examples.get(example.id)).question == example.question
    await kai.services.forgetting.forget_everything(LOCAL_CALLER)
    assert not await kai.scan()


async def test_everything_of_an_owner_leaves_no_word_anywhere(kai: Opened, model: ScriptedModel) -> None:
    services = kai.services
    session = await planted(kai, model)
    connection_id = session.connection_id
    await services.context_store.add_term(OWNER, connection_id, WORD, meaning=f"It means {WORD}.", sql=None)
    await services.context_store.add_instruction(OWNER, connection_id, f"Mind the {WORD}.", scope=None)
    await services.facts.keep(replace(fact(session, None, "user", "active"), source=source()))
    assert services.rules is not None
    await services.rules.add(LOCAL_CALLER, WORD, RuleText(text=f"Count the {WORD}."))
    await services.items.put(OWNER, ["team", WORD], WORD, value={WORD: WORD})
    await pin_latest(services, session)
    if kai.places:
        assert {"items", "item_namespaces", "boards", "pins", "pin_rows", "notices"} <= set(await kai.scan())
    assert await services.forgetting.forget_everything(LOCAL_CALLER) == []
    assert not await kai.scan()
    assert await kai.checkpoints(session.id) == 0
    left = await services.sessions.page(OWNER, SessionFilter(), ListRequest(limit=10))
    assert left.items == []


async def pin_latest(services: Services, session: Session) -> None:
    """Pin the latest answer of a session that has rows."""
    answers = [each for each in await services.sessions.history(session) if each.row_count]
    board = await services.boards.create(OWNER, f"Board of {WORD}")
    new = NewPin(message_id=answers[-1].id, title=None, chart_choice=None, width=6, height=2)
    pin = (await services.boards.pin(OWNER, board.id, new)).pin
    notice = Notice(
        id=new_id(),
        owner=OWNER,
        schedule_id=new_id(),
        board_id=board.id,
        pin_id=pin.id,
        db_connection_id=pin.db_connection_id,
        title=f"Orders of {WORD}",
        kind="ran",
        scheduled_for=1,
        at=1,
        missed=0,
    )
    await services.schedules.repository.tell(notice)


async def test_what_memory_holds_is_forgotten_and_not_remembered_again(
    kai: Opened, model: ScriptedModel
) -> None:
    services = kai.services
    session = await planted(kai, model)
    assert await services.forgetting.memory.forget_owner(OWNER) == []
    reader = StoredTurns(services.sessions.repository, InvestigationRecords(services.storage).is_tainted)
    await MemoryJob(reader, services.memories, None).work(session.id)  # as after a start of the process
    assert await services.memories.repository.find(session.id) is None
    assert await services.storage.count("facts", [Equals("owner", OWNER)]) == 0


async def test_what_is_written_late_for_a_deleted_session_is_deleted_again(
    kai: Opened, model: ScriptedModel
) -> None:
    services = kai.services
    session = await planted(kai, model)
    names = ("messages", "runs", "result_chunks", "feedback", "examples")
    own = [Equals("session_id", session.id)]
    of_facts = [Equals("source_session_id", session.id)]
    late = {name: (await services.storage.query(name, Query(own))).items for name in names}
    late["facts"] = (await services.storage.query("facts", Query(of_facts))).items
    kept = await services.storage.get("sessions", session.id)
    assert all(late.values())
    assert kept is not None
    await services.sessions.delete(OWNER, session.id)
    for name, documents in {**late, "sessions": [kept]}.items():
        await services.storage.put(name, documents)
    assert await kai.scan()
    await services.storage.patch("forgotten", session.id, {"due_at": 0})
    await services.sessions.forgetting.sweep()

    async def is_clean() -> bool:  # the worker may have been first
        return not await kai.scan()

    await until(is_clean)


async def test_a_session_that_is_deleted_while_it_is_answered_leaves_nothing(
    kai: Opened, model: ScriptedModel
) -> None:
    services = kai.services
    connection = await services.database_connections.register(
        OWNER, f"sqlite:///{kai.shop}", "shop", description=""
    )
    session = await services.sessions.create(OWNER, connection.id, None, mode="ask", metadata={})
    model.say(SQL, Scripted(FIRST, hold_after=0))
    asked = await services.sessions.ask(OWNER, session.id, NewQuestion(f"How many {WORD}?"))
    async with services.sessions.follower.follow(asked[1]) as log:
        await model.until(lambda: model.on_hold == 1)
        async for entry in log.read(after=0, stop=lambda: False):
            if entry.event == "chunk" and WORD in entry.data:
                break
        await services.sessions.delete(OWNER, session.id)
        await log.wait_for_end(10)
        assert log.ended

    async def is_clean() -> bool:  # a memory job that finds the session deleted deletes what it has written
        return not await kai.scan()

    await until(is_clean)


async def test_a_deletion_whose_process_has_died_is_completed(kai: Opened, model: ScriptedModel) -> None:
    services = kai.services
    session = await planted(kai, model)
    begun = ForgottenSession(id=session.id, at=0, due_at=0)
    await services.storage.put("forgotten", [asdict(begun)])
    await services.sessions.forgetting.sweep()

    async def is_gone() -> bool:
        return await services.sessions.repository.find(session.id) is None

    await until(is_gone)


async def test_a_forgotten_fact_is_in_no_log_of_the_runs_that_used_it(
    kai: Opened, model: ScriptedModel
) -> None:
    services = kai.services
    connection = await services.database_connections.register(
        OWNER, f"sqlite:///{kai.shop}", "shop", description=""
    )
    session = await services.sessions.create(OWNER, connection.id, None, mode="ask", metadata={})
    kept = await services.facts.keep(
        NewFact(
            owner=OWNER,
            scope="workspace",
            kind="terminology",
            text=f"country means {WORD}",
            source=source(),
            connection_id=connection.id,
        )
    )
    model.say("SELECT country FROM customers", "There is one.")
    answer = await ask(services, session, "Which country?", key="plain")
    assert answer.remembered == [kept.fact.id]
    await services.facts.forget(OWNER, kept.fact.id)
    assert not await kai.scan()


async def shown_in_a_session(kai: Opened, model: ScriptedModel) -> Session:
    """A session whose prompts have shown a profile with the word, and which says nothing of it itself."""
    services = kai.services
    await services.profiles.consent(OWNER, given=True)
    await services.profiles.write(OWNER, "goals", [f"Learn about {WORD}"], confirmed=False)
    connection = await services.database_connections.register(
        OWNER, f"sqlite:///{kai.shop}", "shop", description=""
    )
    session = await services.sessions.create(OWNER, connection.id, None, mode="ask", metadata={})
    model.say("SELECT country FROM customers", "There is one.")
    await ask(services, session, "Which country?", key="plain")
    assert any(WORD in each.text for each in model.requests)
    return session


@pytest.mark.parametrize("forgotten", ["profile", "memory"])
async def test_a_forgotten_profile_is_in_no_checkpoint_and_nowhere_else(
    kai: Opened, model: ScriptedModel, forgotten: str
) -> None:
    services = kai.services
    session = await shown_in_a_session(kai, model)
    assert await kai.scan()
    if forgotten == "profile":
        await services.profiles.forget_all(OWNER)
    else:
        assert await services.forgetting.memory.forget_owner(OWNER) == []
    assert not await kai.scan()
    model.requests.clear()
    await ask(services, session, "And which now?", key="plain")
    assert not any(WORD in each.text for each in model.requests)


async def test_a_forgotten_item_of_a_profile_is_in_no_checkpoint(kai: Opened, model: ScriptedModel) -> None:
    services = kai.services
    session = await shown_in_a_session(kai, model)
    await services.profiles.write(OWNER, "goals", [], confirmed=False)
    assert not await kai.scan()
    model.requests.clear()
    await ask(services, session, "And which now?", key="plain")
    assert not any(WORD in each.text for each in model.requests)


async def test_the_routes_delete_what_is_the_callers_and_name_what_is_left(tmp_path: Path) -> None:
    async with open_services(Settings(data_dir=tmp_path / "data")) as services:
        shop = tmp_path / "shop.db"
        with closing(sqlite3.connect(shop)) as connection:
            connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY)")
        register = services.database_connections.register
        mine = await register("ann", f"sqlite:///{shop}", "mine", description="")
        theirs = await register("bob", f"sqlite:///{shop}", "other", description="")
        for owner, known in (("ann", mine), ("bob", theirs)):
            await services.sessions.create(owner, known.id, None, mode="ask", metadata={})
            note = NewFact(owner=owner, scope="user", kind="preference", text="Short.", source=source())
            await services.facts.keep(note)
        app = FastAPI()
        app.state.services = services
        app.include_router(router)
        callers = [
            Caller(owner="ann", role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="api_key"),
            admin("ann"),
        ]
        call_as(app, lambda _: callers[0])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai") as client:
            memory = await client.delete("/memory")
            assert (memory.status_code, memory.json()) == (202, {"not_confirmed": []})
            assert await services.storage.count("facts", []) == 1
            assert await services.storage.count("sessions", []) == 2
            left = (await client.delete("/me/data")).json()["not_confirmed"]
            assert [each["what"] for each in left] == [
                "databases, examples, glossary, instructions and rules"
            ]
            del callers[0]
            everything = await client.delete("/me/data")
            assert (everything.status_code, everything.json()) == (202, {"not_confirmed": []})
        for collection in ("facts", "sessions", "database_connections"):
            (kept,) = (await services.storage.query(collection, Query())).items
            assert kept["owner"] == "bob"
