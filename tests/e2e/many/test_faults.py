"""Workers die, freeze or stop, clocks differ, NATS loses its data: each question is answered, and once."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from ag_ui_validate.pytest_plugin import assert_valid_agui
from langgraph_sdk import get_client
from langgraph_sdk.errors import NotFoundError

import kai_analyst_client
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.e2e.test_agui_clients import body_of
from tests.e2e.test_approval import PLAN_TO_ACT, agent_session, card_of, decide, follow
from tests.e2e.test_investigations import calls, finish
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support import booking_tool
from tests.support.choices import BRAZIL, FIRST, NORWAY, choice
from tests.support.cluster import Cluster, cache, running_cluster, shared
from tests.support.fault_proxy import fault_proxy
from tests.support.keys import made_key
from tests.support.mcp_client import mcp_client, said_by
from tests.support.nats_server import FragileNats
from tests.support.redis_server import RedisServer
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event, Server, chunks, client_of, steps
from tests.support.waiting import until

QUESTION = "How many customers per country?"
ROWS = [["Brazil", 2], ["Norway", 1]]


@pytest.fixture
def settings(
    typesense_server: TypesenseServer, fragile_nats: FragileNats, model: ScriptedModel
) -> dict[str, str]:
    return shared(typesense_server, fragile_nats) | model_settings(model)


@pytest.fixture
def cluster(settings: dict[str, str], tmp_path: Path) -> Iterator[Cluster]:
    """One API; the worker that begins is the first, for the test starts the second."""
    with running_cluster(tmp_path, settings, apis=1, workers=1) as running:
        yield running


@pytest.fixture
def second_worker(settings: dict[str, str], tmp_path: Path) -> Iterator[Server]:
    worker = Server(tmp_path / "second", settings, "worker")
    yield worker
    worker.kill()


async def interrupted(kai: Client, model: ScriptedModel, session: str) -> tuple[str, list[Event]]:
    """A run whose rows are there and whose analysis is being chosen; its id, and its events so far."""
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
    async with kai.asking(session, QUESTION) as stream:
        before = await stream.until("status", step="analyzing")
        await model.until(lambda: model.on_hold == 1)
        return stream.run_id, before


async def answers(kai: Client, session: str) -> list[str]:
    items = (await kai.session(session))["messages"]["items"]
    return [each["analysis"] for each in items if each["role"] == "assistant"]


async def test_a_worker_killed_in_mid_answer_is_replaced_and_its_statement_is_not_run_again(
    cluster: Cluster, second_worker: Server, model: ScriptedModel, shop: str
) -> None:
    async with client_of(cluster.apis[0]) as kai:
        session = await kai.open_session(await kai.connect(shop))
        run_id, before = await interrupted(kai, model, session)
        cluster.workers[0].kill()
        model.say(FIRST)
        second_worker.start()
        async with kai.following(session, run_id, before[-1].id) as stream:
            after = await stream.rest()
        assert after[0].name == "reset"
        assert "executing_sql" not in steps(after)
        assert chunks(after, "results") == chunks(before, "results")
        assert [event.name for event in after].count("done") == 1
        assert await answers(kai, session) == [BRAZIL]


async def test_streams_of_other_protocols_end_with_the_whole_answer_after_their_worker_was_killed(
    cluster: Cluster, second_worker: Server, model: ScriptedModel, shop: str
) -> None:
    model.rule("", Scripted(FIRST, hold_after=1))
    model.rule("SQL writer", sql(PER_COUNTRY))
    async with client_of(cluster.apis[0]) as kai:
        connection = await kai.connect(shop)
        agent, chat = [await kai.open_session(connection) for _ in range(2)]
        events: list[str] = []
        chunks_of_chat: list[str] = []

        async def read(path: str, body: dict[str, object], found: list[str]) -> None:
            url = f"{cluster.apis[0].address}{path}"
            headers = {"X-Kai-Session": chat}
            async with kai.http.stream("POST", url, json=body, headers=headers) as answer:
                assert answer.status_code == 200
                async for line in answer.aiter_lines():
                    match line.partition("data: "):
                        case "", _, data if data:
                            found.append(data)

        completion = {
            "model": connection,
            "messages": [{"role": "user", "content": QUESTION}],
            "stream": True,
        }
        reading = asyncio.gather(
            read(f"/ag-ui/{connection}", body_of(agent, QUESTION), events),
            read("/openai/v1/chat/completions", completion, chunks_of_chat),
        )

        await model.until(lambda: model.on_hold == 2)
        cluster.workers[0].kill()
        model.release()
        second_worker.start()
        await reading

        assert_valid_agui(events, max_warnings=0)
        sent = [json.loads(each) for each in events]
        assert [each["name"] for each in sent if each["type"] == "CUSTOM"].count("kai.reset") == 1
        assert sent[-1]["outcome"] == {"type": "success"}
        texts: dict[str, str] = defaultdict(str)
        for each in sent:
            if each["type"] == "TEXT_MESSAGE_CONTENT":
                texts[each["messageId"]] += each["delta"]
        assert list(texts.values()) == [BRAZIL]
        assert next(iter(texts)).endswith("-r1")

        *pieces, last = chunks_of_chat
        assert last == "[DONE]"
        choices = [json.loads(each)["choices"][0] for each in pieces]
        assert [each["finish_reason"] for each in choices if each["finish_reason"]] == ["stop"]
        said = "".join(each["delta"].get("content", "") for each in choices)
        assert [said.count(each) for each in ("```sql", "Norway | 1", BRAZIL)] == [1, 1, 1]

        assert await answers(kai, agent) == await answers(kai, chat) == [BRAZIL]


async def test_cut_streams_of_two_owners_bring_each_frame_once_although_their_worker_was_killed(
    settings: dict[str, str], redis_server: RedisServer, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    model.rule("", Scripted(FIRST + " Nothing else is worth a word." * 8, hold_after=1))
    model.rule("SQL writer", sql(PER_COUNTRY))
    settings |= cache(redis_server) | {"KAI_AUTH__REQUIRED": "true"}
    ann, bob = [made_key(tmp_path, each, "--role", "admin", **settings) for each in ("ann", "bob")]
    question: Any = {"messages": [{"role": "user", "content": QUESTION}]}
    modes: Any = ["updates", "messages-tuple"]
    channels = ["lifecycle", "updates", "messages", "tools"]
    second = Server(tmp_path / "second", settings, "worker")
    async with AsyncExitStack() as opened:
        cluster = opened.enter_context(running_cluster(tmp_path, settings, apis=2, workers=1))
        opened.callback(second.kill)
        first, other = [each.address for each in cluster.apis]
        proxies = [
            await opened.enter_async_context(fault_proxy(urlsplit(each).port or 0)) for each in (first, other)
        ]
        for proxy in proxies:
            proxy.cut_after = 6_000
        through_first, through_other = [proxy.url for proxy in proxies]
        databases = {}
        for key in (ann, bob):
            own = await opened.enter_async_context(kai_analyst_client.AsyncKai(first, key))
            databases[key] = (await own.databases.add(shop, "Shop")).id

        async def langgraph() -> tuple[str, list[Any]]:
            async with get_client(url=f"{through_first}/langgraph", api_key=ann) as client:
                thread = (await client.threads.create())["thread_id"]
                stream = client.runs.stream(thread, databases[ann], input=question, stream_mode=modes)
                return thread, [part async for part in stream]

        async def event_streaming() -> tuple[str, list[Any]]:
            async with (
                get_client(url=f"{through_other}/langgraph", api_key=bob) as client,
                client.threads.stream(assistant_id=databases[bob]) as thread,
            ):
                await thread.run.start(input=question)
                return thread.thread_id, [event async for event in thread.subscribe(channels)]

        async def typed() -> list[kai_analyst_client.Event]:
            async with kai_analyst_client.AsyncKai(through_other, ann) as kai:
                session = await kai.sessions.create(databases[ann])
                return [event async for event in kai.stream(QUESTION, session=session)]

        async def mcp() -> dict[str, Any]:
            async with mcp_client(other, bob) as client:
                return await said_by(client, "ask", question=QUESTION)

        asking = asyncio.gather(langgraph(), event_streaming(), typed(), mcp())
        await model.until(lambda: model.on_hold == 4)
        cluster.workers[0].kill()
        model.release()
        await asyncio.to_thread(second.start)
        (thread, parts), (followed, events), typed_events, answered = await asyncio.wait_for(asking, 90)

        assert len(json.dumps([part.data for part in parts])) > 6_000
        assert len(json.dumps(events)) > 6_000
        async with (
            get_client(url=f"{other}/langgraph", api_key=ann) as of_ann,
            get_client(url=f"{first}/langgraph", api_key=bob) as of_bob,
        ):
            run_id = parts[0].data["run_id"]
            again = of_ann.runs.join_stream(thread, run_id, stream_mode=modes)
            assert parts == [part async for part in again]
            assert parts[-1].data["status"] == "success"
            sequence = [event["seq"] for event in events]
            assert sequence == sorted(set(sequence))
            assert events[-1]["params"]["data"]["event"] == "completed"
            for stranger, of_another in ((of_ann, followed), (of_bob, thread)):
                with pytest.raises(NotFoundError):
                    await stranger.threads.get_state(of_another)
            values: Any = (await of_bob.threads.get_state(followed))["values"]
        assert values["analysis"] == answered["answer"]
        assert [event.event for event in typed_events].count("reset") == 1
        assert typed_events[-1].event == "done"


async def test_a_frozen_worker_that_wakes_up_after_it_was_replaced_says_and_keeps_nothing_more(
    cluster: Cluster, second_worker: Server, model: ScriptedModel, shop: str
) -> None:
    async with client_of(cluster.apis[0]) as kai:
        session = await kai.open_session(await kai.connect(shop))
        run_id, before = await interrupted(kai, model, session)
        cluster.workers[0].freeze()
        model.release()
        model.say(choice("f2"), sql("SELECT count(*) AS n FROM customers"), FIRST)
        second_worker.start()
        async with kai.following(session, run_id, before[-1].id) as stream:
            after = await stream.rest()
        cluster.workers[0].thaw()
        again = await kai.ask(session, "And in all?")
        async with kai.following(session, run_id) as stream:
            whole = await stream.rest()
        assert [event.name for event in whole].count("done") == 1
        assert whole[-1] == after[-1]
        assert chunks(again, "results")[0]["rows"] == [[3]]
        assert NORWAY in model.requests[-2].text
        assert await answers(kai, session) == [NORWAY, "**Number of customers: 3**."]


async def test_a_worker_that_is_stopped_hands_its_runs_over_and_none_is_lost(
    cluster: Cluster, second_worker: Server, model: ScriptedModel, shop: str
) -> None:
    model.rule("", Scripted("CHAT: hello there", delay_seconds=0.5))
    async with client_of(cluster.apis[0]) as kai:
        connection = await kai.connect(shop)
        sessions = [await kai.open_session(connection) for _ in range(50)]
        asking = [asyncio.create_task(kai.ask(session, "hello to you, KAI")) for session in sessions]
        await model.until(lambda: len(model.requests) >= 10)
        second_worker.start()
        await asyncio.to_thread(cluster.workers[0].stop)
        for events in await asyncio.wait_for(asyncio.gather(*asking), 90):
            assert [event.name for event in events].count("done") == 1
            assert events[-1].data["status"] == "complete"


async def test_a_run_that_kills_its_workers_is_given_up_with_a_reason(
    cluster: Cluster, model: ScriptedModel, shop: str
) -> None:
    worker = cluster.workers[0]
    async with client_of(cluster.apis[0]) as kai:
        session = await kai.open_session(await kai.connect(shop))
        model.rule("", Scripted("CHAT: never said", hold_after=0))
        async with kai.asking(session, "one two three") as stream:
            for tries in range(1, 4):
                await model.until(lambda: len(model.requests) == tries)  # noqa: B023
                worker.kill()
                worker.start()
            events = await stream.rest()
        error = next(event.data for event in events if event.name == "error")
        assert error["type"] == "urn:kai:too-many-attempts"
        assert events[-1].data["status"] == "failed"
        model.forget()
        model.say("CHAT: at last")
        assert chunks(await kai.ask(session, "and now?"), "analysis") == ["at last"]


async def test_a_nats_that_loses_its_data_in_mid_answer_costs_nothing(
    cluster: Cluster, fragile_nats: FragileNats, model: ScriptedModel, shop: str
) -> None:
    async with client_of(cluster.apis[0]) as kai:
        session = await kai.open_session(await kai.connect(shop))
        model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1), "CHAT: next")
        async with (
            kai.asking(session, QUESTION) as stream,
            kai.asking(session, "what is next?", multitask_strategy="enqueue") as waiting,
        ):
            before = await stream.until("status", step="analyzing")
            await model.until(lambda: model.on_hold == 1)
            fragile_nats.kill()
            fragile_nats.lose_data()
            fragile_nats.start()
            model.release()
            after = await stream.rest()
            assert chunks(await waiting.rest(), "analysis") == ["next"]
        waits, *ids = [event.id for event in before + after]
        assert (waits, ids) == (1, list(range(ids[0], ids[-1] + 1)))
        assert after[-1].data["status"] == "complete"
        assert len(model.requests) == 3
        assert await answers(kai, session) == [BRAZIL, "next"]


async def test_while_nats_is_unavailable_questions_are_refused_and_nothing_is_kept_of_them(
    cluster: Cluster, fragile_nats: FragileNats, model: ScriptedModel, shop: str
) -> None:
    async with client_of(cluster.apis[0]) as kai:
        session = await kai.open_session(await kai.connect(shop))
        fragile_nats.kill()
        refused = await kai.http.post(f"/sessions/{session}/query/stream", json={"query": QUESTION})
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert (await kai.session(session))["messages"]["items"] == []
        fragile_nats.start()

        async def is_ready() -> bool:
            return (await kai.http.get(f"{cluster.apis[0].address}/readyz")).status_code == 200

        await until(is_ready)
        model.say(sql(PER_COUNTRY), FIRST)
        assert (await kai.ask(session, QUESTION))[-1].data["status"] == "complete"


async def test_a_conversation_keeps_its_order_over_machines_whose_clocks_differ(
    cluster: Cluster, settings: dict[str, str], model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    async with client_of(cluster.apis[0]) as kai:
        session = await kai.open_session(await kai.connect(shop))
        model.say(sql(PER_COUNTRY), FIRST)
        await kai.ask(session, QUESTION)
    cluster.workers[0].stop()
    with running_cluster(
        tmp_path / "behind", settings, apis=1, workers=1, clock_ahead_seconds=-3_600
    ) as late:
        async with client_of(late.apis[0]) as kai:
            for number in range(2):
                model.say(sql(f"SELECT count(*) + {number} AS answer FROM customers"), FIRST)
                assert (await kai.ask(session, f"Again {number}?"))[-1].data["status"] == "complete"
            history = [each["query"] for each in (await kai.session(session))["messages"]["items"]]
    assert history == [QUESTION, QUESTION, "Again 0?", "Again 0?", "Again 1?", "Again 1?"]
    assert "Answer: 3" in model.requests[-2].text


async def test_when_more_questions_wait_than_will_be_answered_soon_the_next_one_learns_when_to_come_back(
    settings: dict[str, str], shop: str, tmp_path: Path
) -> None:
    crowded = settings | {"KAI_WORKER__MAX_WAITING": "2"}
    with running_cluster(tmp_path / "crowded", crowded, apis=1, workers=0) as workless:
        async with client_of(workless.apis[0]) as kai:
            connection = await kai.connect(shop)
            sessions = [await kai.open_session(connection) for _ in range(3)]
            for session in sessions[:2]:
                async with kai.asking(session, QUESTION):
                    """It waits."""
            answer = await kai.http.post(f"/sessions/{sessions[2]}/query/stream", json={"query": QUESTION})
            assert (answer.status_code, answer.headers["Retry-After"]) == (429, "10")
            assert answer.json()["type"] == "urn:kai:workers-busy"
            assert (await kai.session(sessions[2]))["messages"]["items"] == []


async def test_an_action_of_a_worker_that_freezes_is_unknown_and_never_made_again(
    settings: dict[str, str], model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    booking_tool.install(tmp_path / "site")
    bookings = tmp_path / "bookings"
    settings |= {
        "PYTHONPATH": str(tmp_path / "site"),
        "KAI_TOOLS__EXTENSIONS": "true",
        booking_tool.VARIABLE: str(bookings),
    }
    second = Server(tmp_path / "second", settings, "worker")
    with running_cluster(tmp_path, settings, apis=1, workers=1) as cluster:
        async with client_of(cluster.apis[0]) as kai:
            session = await agent_session(kai, shop)
            model.say(PLAN_TO_ACT, calls(("book", {"n": 7, "waits_for": str(tmp_path / "never there")})))
            await kai.ask(session, "Book seven.")
            decided = await decide(kai, session, await card_of(kai, session))

            async def is_booked() -> bool:
                return bookings.exists()

            await until(is_booked)
            (worker,) = cluster.workers
            worker.freeze()
            model.say(finish("Look whether it is booked."))
            second.start()
            try:
                events = await follow(kai, session, decided.json()["run_id"])
                (returned,) = [event.data for event in events if event.name == "tool_result"]
                assert returned["status"] == "unknown"
                assert events[-1].data["status"] == "complete"
                assert "may have happened" in model.requests[-1].text
                worker.thaw()
                model.say(sql("SELECT count(*) AS customers FROM customers"), FIRST)
                assert (await kai.ask(session, "How many customers?"))[-1].data["status"] == "complete"
                assert await answers(kai, session) == ["Look whether it is booked.", "**Customers: 3**."]
            finally:
                second.kill()
    assert bookings.read_text().split() == ["7"]
