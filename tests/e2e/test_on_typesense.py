"""KAI with everything in Typesense: a whole turn, a killed process, and a store that is unavailable."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from uuid import uuid4

import pytest

from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.e2e.test_investigations import PLAN, finish, per_year
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.command_line import kai
from tests.support.fault_proxy import FaultProxy, fault_proxy
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server, chunks, client_of, running_server, steps
from tests.support.waiting import until

QUESTION = "How many customers per country?"
ROWS = [["Brazil", 2], ["Norway", 1]]
IMPATIENT = {
    "KAI_TUNING__WORKER__STORE_PATIENCE_SECONDS": "2",
    "KAI_TUNING__TYPESENSE__TIMEOUT_SECONDS": "2",
    "KAI_TUNING__TYPESENSE__MAX_RETRIES": "1",
}


def on_typesense(server: TypesenseServer, url: str) -> dict[str, str]:
    return {
        "KAI_STORE": "typesense",
        "KAI_TYPESENSE__NODES": f'["{url}"]',
        "KAI_TYPESENSE__API_KEY": server.api_key,
        "KAI_TYPESENSE__PREFIX": f"t{uuid4().hex}_",
    }


@pytest.fixture
async def proxy(typesense_server: TypesenseServer) -> AsyncGenerator[FaultProxy]:
    async with fault_proxy(typesense_server.port) as opened:
        yield opened


async def start(server: Server) -> None:
    """Without holding up the proxy, which lives in this event loop."""
    await asyncio.to_thread(server.start)


async def followed(kai: Client, session: str, run_id: str) -> int:
    """The status of an answer to a request for the run's stream."""
    async with kai.http.stream("GET", f"/sessions/{session}/runs/{run_id}/stream") as answer:
        return answer.status_code


async def test_a_conversation_outlives_its_process_and_encrypts_what_it_remembers(
    typesense_server: TypesenseServer, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    settings = {
        **model_settings(model),
        **on_typesense(typesense_server, typesense_server.url),
        "KAI_ENCRYPT_CHECKPOINTS": "true",
    }
    with running_server(tmp_path, settings) as server:
        model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            async with kai.asking(session, QUESTION) as stream:
                before = await stream.until("status", step="analyzing")
                await model.until(lambda: model.on_hold == 1)
                server.kill()
        model.say(FIRST, sql("SELECT count(*) AS n FROM customers"), FIRST)
        server.start()
        async with client_of(server) as kai:
            async with kai.following(session, stream.run_id, before[-1].id) as resumed:
                after = await resumed.rest()
            again = await kai.ask(session, "And in all?")
            found = (await kai.http.get("/sessions", params={"q": "customers countr"})).json()["items"]
    assert "executing_sql" not in steps(after)
    assert chunks(after, "results")[0]["rows"] == ROWS
    assert chunks(again, "results")[0]["rows"] == [[3]]
    assert QUESTION in model.requests[-2].text
    assert [each["id"] for each in found] == [session]


async def test_a_store_that_goes_away_in_a_turn_ends_it_retryably_and_the_session_goes_on_later(
    typesense_server: TypesenseServer, proxy: FaultProxy, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    settings = {**model_settings(model), **on_typesense(typesense_server, proxy.url), **IMPATIENT}
    server = Server(tmp_path, settings)
    await start(server)
    try:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
            async with kai.asking(session, QUESTION) as stream:
                await stream.until("status", step="analyzing")
                await model.until(lambda: model.on_hold == 1)
                proxy.refusing = True
                proxy.reset_all()
                model.release()
                rest = await stream.rest()
            assert [event.name for event in rest].count("done") == 1
            assert rest[-1].data["status"] == "failed"
            errors = [event.data for event in rest if event.name == "error"]
            assert {(error["status"], error["retryable"]) for error in errors} == {(503, True)}
            unready = await kai.http.get(f"{server.address}/readyz")
            refused = await kai.http.get(f"/sessions/{session}")
            assert (unready.status_code, refused.status_code) == (503, 503)
            proxy.refusing = False
            model.say(sql(PER_COUNTRY), FIRST)
            events = await kai.ask(session, QUESTION, multitask_strategy="enqueue")
            assert events[-1].data["status"] == "complete"
            assert chunks(events, "results")[0]["rows"] == ROWS
            history = (await kai.session(session))["messages"]["items"]
            assert [each["query"] for each in history if each["role"] == "human"] == [QUESTION, QUESTION]
    finally:
        server.kill()


@pytest.mark.parametrize("fault", ["unheard", "unanswered"])
async def test_a_question_that_a_failing_store_may_hold_is_named_by_its_run_and_asked_once(
    typesense_server: TypesenseServer,
    proxy: FaultProxy,
    model: ScriptedModel,
    shop: str,
    tmp_path: Path,
    fault: str,
) -> None:
    settings = {**model_settings(model), **on_typesense(typesense_server, proxy.url), **IMPATIENT}
    server = Server(tmp_path, settings)
    await start(server)
    try:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            url, key = f"/sessions/{session}/query/stream", {"Idempotency-Key": str(uuid4())}
            setattr(proxy, fault, b"/documents/import")
            answer = await kai.http.post(url, json={"query": QUESTION}, headers=key)
            named = answer.json()
            assert (answer.status_code, named["type"]) == (202, "urn:kai:not-kept-yet")
            assert named["run_id"] == answer.headers["X-Run-Id"]
            model.say(sql(PER_COUNTRY), FIRST)
            if fault == "unheard":
                assert await followed(kai, session, named["run_id"]) == 503
            setattr(proxy, fault, None)

            async def known() -> bool:
                return await followed(kai, session, named["run_id"]) == 200

            await until(known)
            async with kai.following(session, named["run_id"]) as stream:
                events = await stream.rest()
            async with kai.asking(session, QUESTION, key["Idempotency-Key"]) as again:
                assert again.run_id == named["run_id"]
                assert (await again.rest())[-1].data == events[-1].data
            assert events[-1].data["status"] == "complete"
            history = (await kai.session(session))["messages"]["items"]
            assert [(each["role"], each["query"]) for each in history] == [
                ("human", QUESTION),
                ("assistant", QUESTION),
            ]
    finally:
        server.kill()


async def test_a_store_that_is_unavailable_at_the_start_is_said_and_waited_for(
    typesense_server: TypesenseServer, proxy: FaultProxy, tmp_path: Path
) -> None:
    proxy.refusing = True
    server = Server(tmp_path, on_typesense(typesense_server, proxy.url))
    try:
        with pytest.raises(AssertionError, match=r"Typesense does not answer.*Trying again in 2 s"):
            await start(server)
        proxy.refusing = False
        line = await asyncio.to_thread(server.next_line)
        while "Trying again" in line:
            line = await asyncio.to_thread(server.next_line)
        assert line.startswith("KAI is ready at ")
    finally:
        server.kill()


def test_a_wrong_key_is_said_at_once(typesense_server: TypesenseServer, tmp_path: Path) -> None:
    settings = on_typesense(typesense_server, typesense_server.url) | {"KAI_TYPESENSE__API_KEY": "wrong"}
    ended = kai("serve", data=tmp_path, KAI_PORT="0", **settings)
    assert ended.returncode == 1
    assert re.fullmatch(r"kai: Typesense refuses the key\. .*KAI_TYPESENSE__API_KEY.*\n", ended.stderr)


async def test_an_investigation_outlives_its_process_and_repeats_no_stored_step(
    typesense_server: TypesenseServer, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    settings = {**model_settings(model), **on_typesense(typesense_server, typesense_server.url)}
    with running_server(tmp_path, settings) as server:
        model.say(PLAN, per_year("First."), Scripted("Thinking it over.", hold_after=1))
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            async with kai.asking(session, "Why did revenue change?") as stream:
                await stream.until("tool_result")
                await model.until(lambda: model.on_hold == 1)
                server.kill()
        model.say(finish("It rose.", main_result="r1.1"))
        asked = len(model.requests)
        await start(server)
        async with client_of(server) as kai, kai.following(session, stream.run_id) as again:
            done = (await again.rest())[-1].data
            path = f"/sessions/{session}/messages/{done['message_id']}"
            taken = (await kai.http.get(f"{path}/steps")).json()["items"]
            rows = (await kai.http.get(f"{path}/rows")).json()["items"]
    assert (done["status"], done["steps"], done["tool_calls"]) == ("complete", 2, 1)
    assert [each["kind"] for each in taken] == ["calls", "answer"]
    assert rows == [["2024", 10], ["2025", 55.5]]
    assert len(model.requests) == asked + 1
