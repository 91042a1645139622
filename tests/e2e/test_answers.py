"""One request, one answer: questions that wait, runs and messages as resources."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import model_settings
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, client_of, running_server
from tests.support.waiting import until

SQL = "SELECT name, country FROM customers ORDER BY id"


@pytest.fixture
async def shop_id(plain: Client, shop: str) -> str:
    return await plain.connect(shop)


async def ask(kai: Client, query: str = "Who?", *, wait: str | None = None, **body: object) -> httpx.Response:
    headers = {} if wait is None else {"Prefer": wait}
    return await kai.http.post("/ask", json={"query": query, **body}, headers=headers)


async def listed(kai: Client) -> tuple[list[str], list[str], list[str]]:
    """The ids of all sessions in the lists of sessions and of runs, and of those that a search finds."""
    sessions = (await kai.http.get("/sessions", params={"limit": 100})).json()["items"]
    runs = (await kai.http.get("/runs", params={"limit": 100})).json()["items"]
    found = (await kai.http.get("/sessions", params={"q": "Uncommonly", "limit": 100})).json()["items"]
    return [each["id"] for each in sessions], [each["session_id"] for each in runs], [e["id"] for e in found]


async def test_one_request_has_the_answer_with_its_rows(plain: Client, shop_id: str) -> None:
    answer = await ask(plain, "Who are the customers?", database=shop_id, sql=SQL, rows=2)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["status"] == "complete"
    assert body["sql"] == SQL
    assert [column["name"] for column in body["columns"]] == ["name", "country"]
    assert body["rows"] == [["Ada", "Norway"], ["Ben", "Brazil"]]
    assert body["row_count"] == 3
    assert body["analysis"]
    assert body["confirmations"] == []
    assert "Preference-Applied" not in answer.headers
    assert answer.headers["X-Run-Id"] == body["run_id"]
    again = await plain.http.get(f"/sessions/{body['session_id']}/runs/{body['run_id']}/answer?rows=2")
    assert again.json() == body
    none = await plain.http.get(f"/sessions/{body['session_id']}/runs/{body['run_id']}/answer?rows=0")
    assert none.json()["rows"] == []


async def test_a_session_that_is_not_kept_is_in_no_list_and_can_be_asked_on(
    plain: Client, shop_id: str
) -> None:
    first = (await ask(plain, "Uncommonly asked", database=shop_id, sql=SQL)).json()
    assert all(first["session_id"] not in ids for ids in await listed(plain))
    path = f"/sessions/{first['session_id']}"
    second = await plain.http.post(f"{path}/query", json={"query": "And how many?", "sql": "SELECT 3 AS n"})
    assert second.json()["rows"] == [[3]]
    assert all(first["session_id"] not in ids for ids in await listed(plain))
    session = (await plain.http.get(path)).json()
    assert session["title"] is None
    assert session["turns"] == 2
    runs = (await plain.http.get(f"{path}/runs")).json()["items"]
    assert [run["run_id"] for run in runs] == [second.json()["run_id"], first["run_id"]]
    kept = (await ask(plain, "Uncommonly kept", database=shop_id, sql=SQL, keep=True)).json()
    assert all(kept["session_id"] in ids for ids in await listed(plain))


async def test_messages_are_read_by_themselves(plain: Client, shop_id: str) -> None:
    answer = (await ask(plain, "Who?", database=shop_id, sql=SQL)).json()
    path = f"/sessions/{answer['session_id']}/messages"
    page = (await plain.http.get(path)).json()
    assert [each["role"] for each in page["items"]] == ["human", "assistant"]
    assert page["next_cursor"] is None
    for each in page["items"]:
        assert (await plain.http.get(f"{path}/{each['id']}")).json() == each
    assert (await plain.http.get(f"{path}/{answer['run_id']}")).status_code == 404


async def test_the_answer_of_a_slow_run_is_read_later(kai: Client, model: ScriptedModel, shop: str) -> None:
    database = await kai.connect(shop)
    model.say(Scripted("CHAT: at last", hold_after=0))
    answer = await ask(kai, database=database, wait="wait=0", metadata={"ticket": 7})
    assert answer.status_code == 202
    assert answer.headers["Retry-After"] == "2"
    run = answer.json()
    assert run["status"] in ("queued", "running")
    assert run["metadata"] == {"ticket": 7}
    assert run["ended_at"] is None
    assert run["ignored"] == []
    assert answer.headers["Preference-Applied"] == "wait=0"
    await model.until(lambda: model.on_hold == 1)
    path = f"/sessions/{run['session_id']}/runs"
    running = await kai.http.get(f"{path}/{run['run_id']}")
    assert running.json()["status"] == "running"
    assert running.headers["Retry-After"] == "2"
    open_runs = (await kai.http.get(path, params={"status": "running"})).json()["items"]
    assert [each["run_id"] for each in open_runs] == [run["run_id"]]
    assert (await kai.http.get(path, params={"status": "queued"})).json()["items"] == []
    location = httpx.URL(kai.http.base_url).join(answer.headers["Location"])
    began = time.monotonic()
    assert (await kai.http.get(location, headers={"Prefer": "wait=1"})).status_code == 202
    assert 0.9 < time.monotonic() - began < 10
    at_once = await kai.http.get(location, headers={"Prefer": "respond-async"})
    assert (at_once.status_code, at_once.headers["Preference-Applied"]) == (202, "respond-async")
    waiting = asyncio.create_task(kai.http.get(location))
    model.release()
    done = await waiting
    assert done.status_code == 200
    assert done.json()["analysis"] == "at last"
    ended = (await kai.http.get(path, params={"status": "complete"})).json()["items"]
    assert [each["ended_at"] is None for each in ended] == [False]


async def test_runs_are_polled_by_state_and_end(plain: Client, shop_id: str) -> None:
    ids = []
    for number in range(3):
        body = (await ask(plain, f"Number {number}", database=shop_id, sql=SQL, keep=True)).json()
        ids.append(body["run_id"])
    page = (await plain.http.get("/runs", params={"limit": 2})).json()
    assert [each["run_id"] for each in page["items"]] == [ids[2], ids[1]]
    older = (await plain.http.get("/runs", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert older["items"][0]["run_id"] == ids[0]
    ended_at = older["items"][0]["ended_at"]
    later = (await plain.http.get("/runs", params={"ended_after": ended_at, "status": "complete"})).json()
    assert [each["run_id"] for each in later["items"]] == [ids[2], ids[1]]
    assert (await plain.http.get("/runs", params={"ended_after": "yesterday"})).status_code == 422
    assert (await plain.http.get("/runs", params={"status": "dreaming"})).status_code == 422


async def test_a_failed_run_answers_its_problem_and_names_itself(plain: Client, shop_id: str) -> None:
    answer = await ask(plain, database=shop_id, sql="SELECT nothing_known FROM customers")
    problem = answer.json()
    assert answer.status_code == problem["status"] >= 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"].startswith("urn:kai:")
    path = f"/sessions/{problem['session_id']}/runs/{problem['run_id']}"
    assert (await plain.http.get(f"{path}/answer")).json() == problem
    run = (await plain.http.get(path)).json()
    assert run["status"] == "failed"
    assert run["error"]["type"] == problem["type"]


async def test_a_cancelled_run_answers_that_it_was(kai: Client, model: ScriptedModel, shop: str) -> None:
    database = await kai.connect(shop)
    model.say(Scripted("CHAT: never", hold_after=0))
    run = (await ask(kai, database=database, wait="wait=0")).json()
    await model.until(lambda: model.on_hold == 1)
    await kai.cancel(run["session_id"], run["run_id"])
    answer = await kai.http.get(f"/sessions/{run['session_id']}/runs/{run['run_id']}/answer")
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")


async def test_the_same_key_asks_once_also_without_a_session(plain: Client, shop_id: str) -> None:
    body = {"query": "Who?", "sql": SQL, "database": shop_id}
    key = {"Idempotency-Key": "ask-once"}
    answers = [await plain.http.post("/ask", json=body, headers=key) for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    other = await plain.http.post("/ask", json={**body, "query": "How many?"}, headers=key)
    assert (other.status_code, other.json()["type"]) == (422, "urn:kai:idempotency-key-reused")


@pytest.mark.parametrize(
    ("prefer", "cure"),
    [
        (["wait=-1"], "from 0 to 300"),
        (["wait=1e9"], "from 0 to 300"),
        (["wait=301"], "from 0 to 300"),
        (["wait="], "from 0 to 300"),
        (["wait=5", "wait=9"], "twice"),
        (["wait=5, wait=5"], "twice"),
    ],
)
async def test_a_wait_that_cannot_be_used_is_refused_before_the_question_is_asked(
    plain: Client, shop_id: str, prefer: list[str], cure: str
) -> None:
    before = (await plain.http.get("/usage")).json()
    answer = await plain.http.post(
        "/ask",
        json={"query": "Who?", "sql": SQL, "database": shop_id, "keep": True},
        headers=[("Prefer", each) for each in prefer],
    )
    assert answer.status_code == 400
    assert cure in answer.json()["detail"]
    assert "Prefer: wait=55" in answer.json()["detail"]
    assert (await plain.http.get("/usage")).json() == before


async def test_other_preferences_are_ignored_and_two_of_them_combine(plain: Client, shop_id: str) -> None:
    for prefer in (["return=minimal", 'wait="30"'], ["respond-async, wait=30;strict", 'x="a, wait=b"']):
        answer = await plain.http.post(
            "/ask",
            json={"query": "Who?", "sql": SQL, "database": shop_id},
            headers=[("Prefer", each) for each in prefer],
        )
        assert answer.status_code == 200, answer.text
        assert answer.headers["Preference-Applied"] == "wait=30"


async def test_a_question_that_is_refused_leaves_no_session(plain: Client, shop_id: str) -> None:
    before = await listed(plain)
    unknown = await ask(plain, database="No such shop", keep=True)
    assert unknown.status_code == 404
    named = re.findall(r"[0-9a-f]{8}-[-0-9a-f]{27}", unknown.json()["detail"])
    known = (await plain.http.get("/database-connections", params={"limit": 100})).json()["items"]
    assert named == [each["id"] for each in known][: len(named)]
    assert named
    ruled = await ask(plain, database=shop_id, keep=True, sql="SELECT 1" + " " * 70_000)
    assert ruled.status_code == 422
    twice = await ask(plain, database=shop_id, db_connection_id=shop_id)
    assert "once" in twice.text
    assert await listed(plain) == before


@pytest.mark.parametrize("path", ["query", "query/stream"])
async def test_a_keyed_question_to_what_is_no_id_of_a_session_is_not_found(plain: Client, path: str) -> None:
    answer = await plain.http.post(
        f"/sessions/0/{path}", json={"query": "Who?"}, headers={"Idempotency-Key": "key"}
    )
    assert answer.status_code == 404


async def test_the_stream_of_a_question_without_a_session_names_it(plain: Client, shop_id: str) -> None:
    sent = {"query": "Who?", "sql": SQL, "database": shop_id}
    async with plain.http.stream("POST", "/ask/stream", json=sent) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        text = (await response.aread()).decode()
    assert text.rstrip().rpartition("event: ")[2].startswith("done")
    answer = await plain.http.get(
        f"/sessions/{response.headers['X-Kai-Session']}/runs/{response.headers['X-Run-Id']}/answer"
    )
    assert answer.json()["row_count"] == 3


@asynccontextmanager
async def held_question(
    server_folder: Path, model: ScriptedModel, shop: str
) -> AsyncGenerator[tuple[Any, Client, dict[str, Any]]]:
    """A server with a run that the model holds."""
    with running_server(server_folder, model_settings(model)) as server:
        async with client_of(server) as kai:
            database = await kai.connect(shop)
            model.say(Scripted("CHAT: lost", hold_after=0), "CHAT: found")
            run = (await ask(kai, database=database, wait="wait=0")).json()
            await model.until(lambda: model.on_hold == 1)
            yield server, kai, run


async def test_an_answer_is_there_after_the_process_was_killed_while_a_client_waited(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    async with held_question(tmp_path, model, shop) as (server, kai, run):
        path = f"/sessions/{run['session_id']}/runs/{run['run_id']}/answer"
        waiting = asyncio.create_task(kai.http.get(path))
        await asyncio.sleep(0)
        server.kill()
        with pytest.raises(httpx.TransportError):
            await waiting
        model.release()
        server.start()
        async with client_of(server) as again:
            answer = await again.http.get(path)
            assert (answer.status_code, answer.json()["analysis"]) == (200, "found")


async def test_a_stop_of_the_server_ends_the_waiting_and_not_the_run(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    async with held_question(tmp_path, model, shop) as (server, kai, run):
        path = f"/sessions/{run['session_id']}/runs/{run['run_id']}/answer"
        waiting = asyncio.create_task(kai.http.get(path, headers={"Prefer": "wait=300"}))
        await asyncio.sleep(0.5)
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        assert (await waiting).status_code == 202
        await stopping
        model.release()
        server.start()
        async with client_of(server) as again:

            async def is_answered() -> bool:
                return (await again.http.get(path)).status_code == 200

            await until(is_answered)
