"""The model away, the process killed, the server stopped: what was acknowledged is never lost."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.conftest import model_settings
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event, chunks, client_of, running_server, steps


def error_of(events: list[Event]) -> Event:
    return next(event for event in events if event.name == "error")


@pytest.mark.parametrize(
    "reply",
    [
        Scripted(status=500),
        Scripted(status=429, retry_after="0.1"),
        Scripted("```sql\nSELECT 1", ending="cut"),
    ],
    ids=["500", "429", "cut"],
)
async def test_a_model_that_is_down_is_a_retryable_error_and_the_question_stays(
    kai: Client, model: ScriptedModel, shop: str, reply: Scripted
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.rule("", reply)
    events = await kai.ask(session, "Why did the revenue of our best customers fall?")
    assert error_of(events).data["retryable"] is True
    assert "sk-never-shown" not in str(events)
    assert events[-1].data["status"] == "failed"
    kept = await kai.session(session)
    assert kept["status"] == "error"
    assert kept["messages"]["items"][0]["query"] == "Why did the revenue of our best customers fall?"


async def test_a_refused_key_is_no_matter_of_trying_again(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.rule("", Scripted(status=401))
    error = error_of(await kai.ask(session, "How many customers?")).data
    assert (error["retryable"], error["status"]) == (False, 502)
    assert "KAI_LLM__API_KEY" in error["detail"]


async def test_a_simple_question_is_answered_without_the_model_that_is_down_and_it_says_so(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.rule("", Scripted(status=500))
    events = await kai.ask(session, "How many customers per country?")
    assert "built-in writer" in error_of(events).data["detail"]
    assert chunks(events, "results")[0]["rows"] == [["Brazil", 2], ["Norway", 1]]
    assert events[-1].data["status"] == "complete"


async def test_a_run_killed_in_mid_answer_is_resumed_without_running_its_statement_again(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            async with kai.asking(session, "How many customers per country?") as stream:
                before = await stream.until("status", step="analyzing")
                await model.until(lambda: model.on_hold == 1)
                server.kill()
        model.say(FIRST)
        server.start()
        async with client_of(server) as kai, kai.following(session, stream.run_id, before[-1].id) as resumed:
            after = await resumed.rest()
            history = (await kai.session(session))["messages"]["items"]
    assert after[0].name == "reset"
    assert after[0].id > before[-1].id
    assert "executing_sql" not in steps(after)
    assert chunks(after, "results") == chunks(before, "results")
    assert chunks(after, "analysis") == [BRAZIL]
    assert after[-1].data["status"] == "complete"
    assert [(each["role"], each["sql"]) for each in history] == [("human", None), ("assistant", PER_COUNTRY)]


async def test_questions_that_waited_when_the_process_was_killed_are_answered_in_order(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        model.say(Scripted("CHAT: first", hold_after=0))
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            async with (
                kai.asking(session, "one") as one,
                kai.asking(session, "two", multitask_strategy="enqueue") as two,
            ):
                await model.until(lambda: len(model.requests) == 1)
                server.kill()
        model.say("CHAT: first again", "CHAT: second")
        server.start()
        async with client_of(server) as kai:
            async with kai.following(session, one.run_id) as stream:
                assert chunks(await stream.rest(), "analysis") == ["first again"]
            async with kai.following(session, two.run_id) as stream:
                assert chunks(await stream.rest(), "analysis") == ["second"]


async def test_an_answer_given_before_a_restart_is_said_again_to_who_asks_for_its_stream(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        model.say(sql(PER_COUNTRY), FIRST)
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            first = await kai.ask(session, "How many customers per country?")
        server.kill()
        server.start()
        run_id = first[-1].data["run_id"]
        async with client_of(server) as kai, kai.following(session, run_id, first[3].id) as stream:
            again = await stream.rest()
    assert [again[0].name, again[-1].name] == ["reset", "done"]
    for kind in ("sql", "results", "analysis", "chart", "suggestions"):
        assert chunks(again, kind) == chunks(first, kind)


async def test_a_server_that_stops_lets_its_streams_go_and_takes_the_run_up_again(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        model.say(Scripted("CHAT: never said", hold_after=0))
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            async with kai.asking(session, "one") as stream:
                await model.until(lambda: len(model.requests) == 1)
                await asyncio.to_thread(server.stop)
                assert "done" not in [event.name for event in await stream.rest()]
        model.say("CHAT: after all")
        server.start()
        async with client_of(server) as kai, kai.following(session, stream.run_id) as again:
            assert chunks(await again.rest(), "analysis") == ["after all"]
