"""What owners meet at their limits: a clear refusal, and before it the way there in every answer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import http_sf
import httpx

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.cluster import cache, running_cluster, shared
from tests.support.redis_server import RedisServer
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, client_of, running_server

SESSIONS = "/sessions"


@asynccontextmanager
async def limited(folder: Path, model: ScriptedModel | None = None, **quotas: int) -> AsyncGenerator[Client]:
    """A client of a KAI with these limits."""
    settings = {f"KAI_QUOTAS__{name.upper()}": str(quota) for name, quota in quotas.items()}
    modelled = {} if model is None else model_settings(model)
    with running_server(folder, {**modelled, **settings}) as server:
        async with client_of(server) as client:
            yield client


def said(answer: httpx.Response, field: str) -> Any:
    return http_sf.parse(answer.headers[field].encode(), tltype="list")


def left(answer: httpx.Response) -> dict[str, int]:
    """How many requests remain, by policy."""
    return {name: values["r"] for name, values in said(answer, "RateLimit")}


async def refused(answer: httpx.Response, kind: str) -> dict[str, Any]:
    await answer.aread()
    assert answer.status_code == 429, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert (problem["type"], problem["status"]) == (f"urn:kai:{kind}", 429)
    return problem


async def ask(kai: Client, session: str, **headers: str) -> httpx.Response:
    url, body = f"{SESSIONS}/{session}/query/stream", {"query": "How many customers?"}
    return await kai.http.post(url, json=body, headers=headers)


async def usage(kai: Client) -> dict[str, Any]:
    body: dict[str, Any] = (await kai.http.get("/usage")).json()
    return body


async def test_every_counted_answer_says_how_many_requests_are_left_refusals_too(tmp_path: Path) -> None:
    async with limited(tmp_path, requests_per_minute=4) as kai:
        answers = [
            await kai.http.get(SESSIONS),
            await kai.http.get(f"{SESSIONS}/unknown"),
            await kai.http.post(SESSIONS, json={"unknown": 1}),
            await kai.http.delete("/glossary/unknown"),
            await kai.http.get(SESSIONS),
        ]
    assert [each.status_code for each in answers] == [200, 404, 422, 404, 429]
    assert [left(each)["requests"] for each in answers] == [3, 2, 1, 0, 0]
    assert all(said(each, "RateLimit-Policy") == [("requests", {"q": 4, "w": 60})] for each in answers)
    problem = await refused(answers[-1], "rate-limit")
    assert (problem["limit"], problem["size"]) == ("requests", 4)
    seconds = said(answers[-1], "RateLimit")[0][1]["t"]
    assert answers[-1].headers["Retry-After"] == str(seconds)
    assert f"in {seconds} seconds" in problem["detail"]


async def test_a_stream_says_at_its_head_what_is_left_and_questions_have_a_limit_of_their_own(
    shop: str, tmp_path: Path
) -> None:
    async with limited(tmp_path, requests_per_minute=100, questions_per_minute=1) as kai:
        session = await kai.open_session(await kai.connect(shop))
        stream = await ask(kai, session)
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert "event: done" in stream.text
        assert left(stream) == {"requests": 97, "questions": 0}
        problem = await refused(await ask(kai, session), "rate-limit")
        assert problem["limit"] == "questions"
        assert (await kai.http.get(f"{SESSIONS}/{session}")).status_code == 200


async def test_pages_and_health_are_not_counted(tmp_path: Path) -> None:
    async with limited(tmp_path, requests_per_minute=1) as kai:
        for path in ("/healthz", "/readyz", "/metrics", "/docs", "/api/v1/openapi.json"):
            answer = await kai.http.get(kai.http.base_url.copy_with(path=path))
            assert answer.status_code == 200
            assert "RateLimit" not in answer.headers
        assert (await kai.http.get(SESSIONS)).status_code == 200


async def test_one_question_or_stream_too_many_at_once_is_refused(
    shop: str, tmp_path: Path, model: ScriptedModel
) -> None:
    async with limited(tmp_path, model, runs=2, streams=3) as kai:
        connection = await kai.connect(shop)
        one, other = [await kai.open_session(connection) for _ in range(2)]
        model.say(Scripted("CHAT: first", hold_after=0), "CHAT: second", "CHAT: third")
        async with (
            kai.asking(one, "Hello?", "key") as first,
            kai.asking(one, "More?", multitask_strategy="enqueue"),
        ):
            await model.until(lambda: model.on_hold == 1)
            problem = await refused(await ask(kai, other), "too-many-runs")
            assert (problem["size"], problem["resets_at"]) == (2, None)
            assert (await usage(kai))["runs"] == {"used": 2, "limit": 2}
            async with kai.asking(one, "Hello?", "key") as again:
                assert again.run_id == first.run_id
                followed = await kai.http.get(f"{SESSIONS}/{one}/runs/{first.run_id}/stream")
                problem = await refused(followed, "too-many-streams")
                assert (problem["limit"], problem["size"]) == ("streams", 3)
            model.release()
            await first.rest()
        assert (await ask(kai, other)).status_code == 200


async def test_a_run_that_a_killed_process_left_takes_no_place_for_ever(
    shop: str, tmp_path: Path, model: ScriptedModel
) -> None:
    settings = {**model_settings(model), "KAI_QUOTAS__RUNS": "1"}
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            model.say(Scripted("CHAT: never said", hold_after=0), "CHAT: said", "CHAT: free")
            async with kai.asking(session, "Hello?") as stream:
                await model.until(lambda: model.on_hold == 1)
                server.kill()
        model.release()
        server.start()
        async with client_of(server) as kai, kai.following(session, stream.run_id) as taken_up:
            assert (await taken_up.rest())[-1].data["status"] == "complete"
            assert (await ask(kai, session)).status_code == 200


async def test_spent_tokens_refuse_the_next_question_and_survive_a_restart_and_a_deletion(
    shop: str, tmp_path: Path, model: ScriptedModel
) -> None:
    settings = {**model_settings(model), "KAI_QUOTAS__TOKENS_PER_DAY": "150"}
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            model.say(sql(PER_COUNTRY), FIRST)
            done = (await kai.ask(session, "How many customers per country?"))[-1].data
            assert (await usage(kai))["tokens_today"]["used"] == done["tokens_used"] > 150
            await kai.http.delete(f"{SESSIONS}/{session}")
        server.kill()
        server.start()
        async with client_of(server) as kai:
            answer = await ask(kai, await kai.open_session((await connections(kai))[0]))
            problem = await refused(answer, "token-budget")
            assert problem["size"] == 150
            resets_at = (await usage(kai))["tokens_today"]["resets_at"]
            assert datetime.fromisoformat(problem["resets_at"]) == datetime.fromisoformat(resets_at)
            assert 0 < int(answer.headers["Retry-After"]) <= 86_400


async def connections(kai: Client) -> list[str]:
    return [each["id"] for each in (await kai.http.get("/database-connections")).json()["items"]]


async def test_a_session_too_many_is_refused_forks_too_until_one_is_deleted(
    shop: str, tmp_path: Path
) -> None:
    async with limited(tmp_path, sessions=1) as kai:
        connection = await kai.connect(shop)
        session = await kai.open_session(connection)
        await ask(kai, session)
        past = (await kai.http.get(f"{SESSIONS}/{session}/checkpoints")).json()["items"]
        for url, body in (
            (SESSIONS, {"db_connection_id": connection}),
            (f"{SESSIONS}/{session}/checkpoints/{past[0]['id']}/fork", None),
        ):
            problem = await refused(await kai.http.post(url, json=body), "too-many-sessions")
            assert (problem["size"], problem["resets_at"]) == (1, None)
        await kai.http.delete(f"{SESSIONS}/{session}")
        await kai.open_session(connection)


async def test_usage_names_every_limit_and_null_is_none(tmp_path: Path) -> None:
    async with limited(tmp_path, requests_per_minute=9, runs=2) as kai:
        body = await usage(kai)
    for counted in ("tokens_today", "bytes_today"):
        assert body[counted].pop("resets_at").endswith("T00:00:00Z")
    assert body == {
        "tokens_today": {"used": 0, "limit": None},
        "bytes_today": {"used": 0, "limit": None},
        "runs": {"used": 0, "limit": 2},
        "sessions": {"used": 0, "limit": None},
        "rates": [{"name": "requests", "limit": 9, "window_seconds": 60}],
    }


async def test_two_processes_with_one_redis_count_together_and_go_on_without_it(
    tmp_path: Path, typesense_server: TypesenseServer, nats_server: NatsServer, fragile_redis: RedisServer
) -> None:
    settings = shared(typesense_server, nats_server) | cache(fragile_redis)
    settings |= {"KAI_QUOTAS__REQUESTS_PER_MINUTE": "3"}
    with running_cluster(tmp_path, settings, workers=0) as cluster:
        async with client_of(cluster.apis[0]) as one, client_of(cluster.apis[1]) as other:
            counted = [await each.http.get(SESSIONS) for each in (one, other, one)]
            assert [left(each)["requests"] for each in counted] == [2, 1, 0]
            await refused(await other.http.get(SESSIONS), "rate-limit")
            fragile_redis.kill()
            for each in (one, other):
                answer = await each.http.get(SESSIONS)
                assert answer.status_code == 200
                assert "RateLimit" not in answer.headers
