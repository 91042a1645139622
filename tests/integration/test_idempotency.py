"""Idempotency-Key: one record for a key, whatever happens between its creation and its response."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi.routing import APIRoute, iter_route_contexts

from app.bootstrap.encryption import encrypt_again
from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.kept_responses import LEASE_MS, KeptResponses, KeyedRequest, KeyInUse, KeyOfAnother
from app.core.keyed_ids import KeyedIds
from app.core.secrets import SecretBox, load_or_create_keys
from app.core.storage.port import Query
from app.http.idempotency import takes_key
from app.http.routes import API_PREFIX
from app.main import describe_api
from tests.support.boards import BoardKai, kai_with_boards, store_settings

KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324"
KEYED = {"Idempotency-Key": KEY}
DAY_MS = 24 * 60 * 60 * 1000


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards(store_settings(request), tmp_path) as opened:
        yield opened


async def post(kai: BoardKai, path: str, body: object, headers: Mapping[str, str] = KEYED) -> httpx.Response:
    return await kai.http.post(path, json=body, headers=headers)


async def kept_requests(kai: BoardKai) -> list[dict[str, Any]]:
    return list((await kai.services.storage.query("keyed_requests", Query())).items)


async def test_a_repeated_request_creates_nothing_and_gets_the_first_response(kai: BoardKai) -> None:
    first = await post(kai, "/boards", {"title": "Sales"})
    again = await post(kai, "/boards", {"title": "Sales"})
    quoted = await post(kai, "/boards", {"title": "Sales"}, {"Idempotency-Key": f'"{KEY}"'})
    for each in (again, quoted):
        assert (each.status_code, each.content) == (201, first.content)
        assert each.headers["Idempotent-Replayed"] == "true"
        for name in ("Location", "ETag", "Content-Type", "Content-Length"):
            assert each.headers[name] == first.headers[name]
    assert "Idempotent-Replayed" not in first.headers
    assert len((await kai.call("GET", "/boards"))["items"]) == 1


async def test_a_key_belongs_to_its_body_route_and_owner(kai: BoardKai) -> None:
    first = await post(kai, "/boards", {"title": "Sales"})
    other = await post(kai, "/boards", {"title": "Costs"})
    assert (other.status_code, other.json()["type"]) == (422, "urn:kai:idempotency-key-reused")
    assert "new key" in other.json()["detail"]
    session = await post(kai, "/sessions", {"db_connection_id": kai.connection_id})
    assert session.status_code == 201
    kai.become("bob")
    of_bob = await post(kai, "/boards", {"title": "Costs"})
    assert of_bob.status_code == 201
    assert of_bob.json()["id"] != first.json()["id"]
    assert "Sales" not in of_bob.text
    for attributes, status in (({"region": ["EMEA"]}, 422), ({}, 201)):  # other rights show other rows
        kai.become("bob", attributes)
        assert (await post(kai, "/boards", {"title": "Costs"})).status_code == status


@pytest.mark.parametrize("key", [b"", b"k" * 256, b'""', "käse".encode("latin-1")])
async def test_a_key_that_cannot_be_one_is_refused_with_a_sentence(kai: BoardKai, key: bytes) -> None:
    headers = [(b"Idempotency-Key", key)]
    answer = await kai.http.post("/boards", json={"title": "No"}, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:kai:idempotency-key-malformed")
    assert "255" in answer.json()["detail"]
    two = [(b"Idempotency-Key", b"a"), (b"Idempotency-Key", b"b")]
    assert (await kai.http.post("/boards", json={"title": "No"}, headers=two)).status_code == 422
    assert (await kai.call("GET", "/boards"))["items"] == []
    longest = await post(kai, "/boards", {"title": "Yes"}, {"Idempotency-Key": "k" * 255})
    assert longest.status_code == 201


async def test_requests_at_one_moment_create_one_record(kai: BoardKai) -> None:
    answers = await asyncio.gather(*(post(kai, "/boards", {"title": "Sales"}) for _ in range(6)))
    created = [answer for answer in answers if answer.status_code == 201]
    waiting = [answer for answer in answers if answer.status_code == 409]
    assert created
    assert len(created) + len(waiting) == 6
    for each in waiting:
        assert each.json()["type"] == "urn:kai:idempotency-key-in-use"
        assert each.headers["Retry-After"] == "1"
    assert len({each.json()["id"] for each in created}) == 1
    assert len((await kai.call("GET", "/boards"))["items"]) == 1


async def test_a_refusal_is_repeated(kai: BoardKai) -> None:
    refused = await post(kai, "/boards", {"name": "Sales"})
    again = await post(kai, "/boards", {"name": "Sales"})
    assert (refused.status_code, again.status_code, again.content) == (422, 422, refused.content)
    assert again.headers["Idempotent-Replayed"] == "true"


async def test_kept_responses_hold_no_text_in_clear(kai: BoardKai) -> None:
    wanted = {"owner": "ann", "name": "reporting", "role": "user", "days": 9}
    made = await post(kai, "/api-keys", wanted)
    assert made.status_code == 201, made.text
    assert (await post(kai, "/api-keys", wanted)).json()["key"] == made.json()["key"]
    text = json.dumps(await kept_requests(kai))
    for secret in (made.json()["key"], "reporting", KEY):
        assert secret not in text
    await kai.call("DELETE", "/me/data", 202)
    assert await kept_requests(kai) == []


CREATES: dict[str, tuple[str, dict[str, Any]]] = {
    "board": ("/boards", {"title": "Sales"}),
    "session": ("/sessions", {"title": "Talk"}),
    "example": ("/examples", {"question": "How many?", "sql": "SELECT count(*) FROM customers"}),
    "term": ("/glossary", {"term": "churn", "meaning": "who left"}),
    "instruction": ("/instructions", {"text": "Count people."}),
    "api key": ("/api-keys", {"owner": "ann", "name": "reporting", "role": "user", "days": 9}),
}


@pytest.mark.parametrize("kind", CREATES)
async def test_a_try_that_died_before_its_response_was_kept_is_completed(kai: BoardKai, kind: str) -> None:
    """The first process has created the record, and has kept no response."""
    path, body = CREATES[kind]
    if kind not in ("board", "api key"):
        body = {**body, "db_connection_id": kai.connection_id}
    first = await post(kai, path, body)
    assert first.status_code == 201, first.text
    (kept,) = await kept_requests(kai)
    died = {**kept, "response": None, "leased_until": kept["created_at"] + 600_000}
    await kai.services.storage.put("keyed_requests", [died])
    assert (await post(kai, path, body)).status_code == 409
    await kai.services.storage.put("keyed_requests", [{**died, "leased_until": kept["created_at"]}])
    second = await post(kai, path, body)
    assert second.status_code == 201, second.text
    assert "Idempotent-Replayed" not in second.headers
    assert second.json()["id"] == first.json()["id"]
    if kind in ("board", "session"):
        assert second.json() == first.json()
    if kind != "api key":
        assert len((await kai.call("GET", path))["items"]) == 1
    assert (await post(kai, path, body)).content == second.content


async def test_an_uploaded_file_is_compared_by_its_content(kai: BoardKai) -> None:
    async def upload(content: bytes) -> httpx.Response:
        headers = {**KEYED, "Content-Type": "application/octet-stream"}
        path = "/database-connections/files?file_name=sales.csv"
        return await kai.http.post(path, content=content, headers=headers)

    first = await upload(b"day,amount\n2026-01-31,12\n")
    assert first.status_code == 201, first.text
    other = await upload(b"day,amount\n2026-01-31,13\n")
    assert (other.status_code, other.json()["type"]) == (422, "urn:kai:idempotency-key-reused")
    again = await upload(b"day,amount\n2026-01-31,12\n")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    connections = (await kai.call("GET", "/database-connections?total=true"))["total"]
    assert connections == 2  # the shop, and the file


async def test_a_refusal_of_an_unread_file_is_not_repeated_to_another_file(kai: BoardKai) -> None:
    async def refuse(content: bytes) -> httpx.Response:
        headers = {**KEYED, "Content-Type": "application/octet-stream"}
        return await kai.http.post("/database-connections/files?file_name=", content=content, headers=headers)

    for content in (b"day,amount\n2026-01-31,12\n", b"day,amount\n2026-01-31,13\n"):
        refused = await refuse(content)
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:validation")
        assert "Idempotent-Replayed" not in refused.headers
    assert await kept_requests(kai) == []


async def test_kept_responses_are_encrypted_again_with_a_new_key(kai: BoardKai, tmp_path: Path) -> None:
    first = await post(kai, "/boards", {"title": "Sales"})
    new = Fernet.generate_key()
    old = load_or_create_keys(tmp_path / "data" / "secret.key")
    assert (await encrypt_again(kai.services.storage, SecretBox(new, *old))).unreadable == 0
    (kept,) = await kept_requests(kai)
    read = KeptResponses(kai.services.storage, SecretBox(new)).read(KeyedRequest(**kept))
    assert base64.b64decode(json.loads(read)[2]) == first.content


async def test_of_two_processes_one_makes_a_request(kai: BoardKai) -> None:
    """Each process has its own `KeptResponses` over the one store."""
    made, others = (KeptResponses(kai.services.storage, SecretBox(Fernet.generate_key())) for _ in range(2))
    begun: dict[str, Any] = {
        "owner": "ann",
        "request_hash": "h",
        "created_at": now_ms(),
        "leased_until": now_ms() + LEASE_MS,
    }
    request = KeyedRequest(id=new_id(), **begun)
    assert await made.begin(request) == (request, True)
    with pytest.raises(KeyInUse):
        await others.begin(replace(request, created_at=now_ms()))
    with pytest.raises(KeyOfAnother):
        await others.begin(replace(request, request_hash="other"))
    await made.renew(request)
    late = replace(request, created_at=now_ms() + LEASE_MS + 1_000, leased_until=now_ms() + 3 * LEASE_MS)
    taken, is_try = await others.begin(late)
    assert (taken.id, taken.created_at, is_try) == (request.id, request.created_at, True)
    await others.keep(taken, "its response", file_hash=None)
    overtaken = replace(request, leased_until=now_ms())
    await made.renew(overtaken)
    await made.keep(overtaken, "a late response", file_hash=None)
    await made.release(overtaken)
    held, is_try = await others.begin(replace(request, created_at=now_ms()))
    assert (others.read(held), is_try) == ("its response", False)


async def test_a_try_that_fails_leaves_its_ids_to_the_next_one(kai: BoardKai) -> None:
    """It may have created the record: the store did what it was asked to, and its answer did not come."""
    kept, begun = kai.services.kept_responses, now_ms()
    request = KeyedRequest(
        id=new_id(), owner="ann", request_hash="h", created_at=begun, leased_until=begun + LEASE_MS
    )
    await kept.begin(request)
    await kept.release(request)
    again, is_try = await kept.begin(replace(request, created_at=begun + 5))
    assert (again.created_at, is_try) == (begun, True)


async def test_a_key_is_free_again_after_a_day(kai: BoardKai) -> None:
    first = await post(kai, "/boards", {"title": "Sales"})
    (kept,) = await kept_requests(kai)
    await kai.services.storage.put(
        "keyed_requests", [{**kept, "created_at": kept["created_at"] - DAY_MS - 1}]
    )
    second = await post(kai, "/boards", {"title": "Other"})
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]
    assert await kai.services.kept_responses.delete_old(kept["created_at"]) == 0
    assert await kai.services.kept_responses.delete_old(kept["created_at"] + DAY_MS) == 1


async def test_a_request_without_a_key_costs_nothing_and_one_with_a_key_two_writes(kai: BoardKai) -> None:
    def writes() -> float:
        return sum(
            sample.value
            for metric in kai.services.metrics.collect()
            if metric.name == "kai_store_operation_duration_seconds"
            for sample in metric.samples
            if sample.name.endswith("_count") and sample.labels["operation"] in ("create", "put", "patch")
        )

    began = writes()
    await kai.http.post("/boards", json={"title": "Sales"})
    unkeyed = writes() - began
    assert unkeyed == 1
    await post(kai, "/boards", {"title": "Sales"})
    assert writes() - began - unkeyed == unkeyed + 2


def test_only_the_routes_that_start_runs_find_their_keys_themselves() -> None:
    own = {
        str(route.path).removeprefix(API_PREFIX)
        for route in iter_route_contexts(describe_api().routes)
        if isinstance(route.original_route, APIRoute) and takes_key(route.original_route)
    }
    asking = {"/ask", "/ask/stream", "/sessions/{session_id}/query", "/sessions/{session_id}/query/stream"}
    assert own == asking


def test_ids_of_a_key_are_uuids_of_the_time_of_its_first_try() -> None:
    ids, again = (KeyedIds("seed", 1_700_000_000_000, is_repeat=False) for _ in range(2))
    made = [ids.next() for _ in range(3)]
    assert made == [again.next() for _ in range(3)]
    assert len(set(made)) == 3
    assert all(each[14] == "7" and each[19] in "89ab" for each in made)
    assert made[0].startswith("018bcfe5-6800-7")
    assert KeyedIds("other", 1_700_000_000_000, is_repeat=False).next() not in made
