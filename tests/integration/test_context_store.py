"""Verified examples, glossary and instructions: their routes, their review, and whose they are."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI

from app.core.ids import new_id
from app.http.problems import answer_problems
from app.modules.context_store.router import router
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndexes
from graph.ports import Question
from tests.support.callers import admin, call_as

COUNT = "select count(*) from customers"


@pytest.fixture
def app(store: ContextStore) -> FastAPI:
    made = FastAPI()
    made.state.services = SimpleNamespace(context_store=store)
    made.include_router(router)
    call_as(made, lambda _: admin("ann"))
    answer_problems(made)
    return made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai") as opened:
        yield opened


BODIES: dict[str, dict[str, str]] = {
    "/examples": {"question": "How many customers?", "sql": COUNT},
    "/glossary": {"term": "vip", "meaning": "A customer who is called first", "sql": "vip = 1"},
    "/instructions": {"text": "Leave out test orders.", "scope": "orders"},
}
CHANGES: dict[str, dict[str, str | None]] = {
    "/examples": {"question": "How many buyers?"},
    "/glossary": {"sql": None},
    "/instructions": {"scope": None},
}


@pytest.mark.parametrize("route", BODIES)
async def test_an_entry_is_made_read_changed_and_deleted_with_a_line_of_audit_for_each_change(
    client: httpx.AsyncClient, shop: Connection, route: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kai.audit")
    made = await client.post(route, json={"db_connection_id": shop.id, **BODIES[route]})
    assert made.status_code == 201, made.text
    one = f"{route}/{made.json()['id']}"
    assert made.json().items() >= BODIES[route].items()
    changed = (await client.patch(one, json=CHANGES[route])).json()
    assert changed == (await client.get(one)).json()
    assert changed.items() >= CHANGES[route].items()
    assert (await client.delete(one)).status_code == 204
    assert (await client.get(one)).status_code == 404
    lines = [vars(each) for each in caplog.records if each.message == "knowledge"]
    assert [each["action"] for each in lines] == ["added", "changed", "deleted"]
    assert {(each["owner"], each["entry_id"]) for each in lines} == {("ann", made.json()["id"])}


@pytest.mark.parametrize("route", BODIES)
async def test_entries_of_others_are_unknown(
    client: httpx.AsyncClient, app: FastAPI, shop: Connection, route: str
) -> None:
    body = {"db_connection_id": shop.id, **BODIES[route]}
    one = f"{route}/{(await client.post(route, json=body)).json()['id']}"
    call_as(app, lambda _: admin("bob"))
    answers = [await client.get(one), await client.delete(one), await client.patch(one, json={})]
    answers.append(await client.post(route, json=body))
    assert {each.status_code for each in answers} == {404}
    assert (await client.get(route)).json() == {"items": [], "next_cursor": None, "total": None}


@pytest.mark.parametrize("route", BODIES)
async def test_entries_are_listed_in_pages_and_searched(
    client: httpx.AsyncClient, shop: Connection, route: str
) -> None:
    field = next(iter(BODIES[route]))
    for words in ("red apples", "green pears", "red pears"):
        body = {"db_connection_id": shop.id, **BODIES[route], field: words}
        assert (await client.post(route, json=body)).status_code == 201
    first = (await client.get(route, params={"limit": 2, "db_connection_id": shop.id})).json()
    same = {"limit": 2, "db_connection_id": shop.id, "cursor": first["next_cursor"]}
    rest = (await client.get(route, params=same)).json()
    found = (await client.get(route, params={"q": "PEARS red"})).json()
    assert [each[field] for each in first["items"] + rest["items"]] == [
        "red apples",
        "green pears",
        "red pears",
    ]
    assert [each[field] for each in found["items"]] == ["red pears"]
    assert (await client.get(route, params={"db_connection_id": "other"})).json()["items"] == []


@pytest.mark.parametrize(
    ("route", "change"),
    [
        ("/examples", {"sql": "delete from customers"}),
        ("/examples", {"sql": "select * from custmers"}),
        ("/examples", {"sql": "  "}),
        ("/examples", {"status": "perfect"}),
        ("/examples", {"question": "x" * 2_001}),
        ("/glossary", {"term": ""}),
        ("/glossary", {"owner": "bob"}),
        ("/instructions", {"text": "a\0b"}),
        ("/instructions", {"text": None}),
        ("/instructions", {"scope": "ordrs"}),
    ],
)
async def test_what_cannot_be_kept_is_refused_with_the_reason(
    client: httpx.AsyncClient, shop: Connection, route: str, change: dict[str, str | None]
) -> None:
    refused = await client.post(route, json={"db_connection_id": shop.id, **BODIES[route], **change})
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert refused.json()["detail"]


async def test_an_instruction_cannot_move_to_a_table_that_is_not_there(
    client: httpx.AsyncClient, shop: Connection
) -> None:
    made = await client.post("/instructions", json={"db_connection_id": shop.id, "text": "No tests."})
    refused = await client.patch(f"/instructions/{made.json()['id']}", json={"scope": "ordrs"})
    assert (refused.status_code, "leave the scope out" in refused.json()["detail"]) == (422, True)


async def test_an_example_is_verified_only_with_sql_that_may_run(
    client: httpx.AsyncClient, shop: Connection
) -> None:
    wrong = {"question": "All?", "sql": "select * from custmers", "status": "proposed"}
    made = await client.post("/examples", json={"db_connection_id": shop.id, **wrong})
    one = f"/examples/{made.json()['id']}"
    refused = await client.patch(one, json={"status": "verified"})
    assert (refused.status_code, "customers" in refused.json()["detail"]) == (422, True)
    assert (await client.patch(one, json={"status": "verified", "sql": COUNT})).status_code == 200


async def test_an_example_says_who_verified_it_and_when_for_as_long_as_it_is_verified(
    client: httpx.AsyncClient, shop: Connection
) -> None:
    body = {"db_connection_id": shop.id, "question": "How many?", "sql": COUNT}
    added = (await client.post("/examples", json=body)).json()
    assert (added["verified_by"], added["verified_at"]) == ("ann", added["created_at"])
    made = (await client.post("/examples", json={**body, "status": "proposed"})).json()
    assert (made["verified_by"], made["verified_at"]) == (None, None)
    verified = (await client.patch(f"/examples/{made['id']}", json={"status": "verified"})).json()
    assert (verified["verified_by"], verified["verified_at"]) == ("ann", verified["updated_at"])
    edited = (await client.patch(f"/examples/{made['id']}", json={"sql": f"{COUNT} where vip"})).json()
    assert (edited["verified_by"], edited["verified_at"]) == ("ann", edited["updated_at"])
    assert (await client.patch(f"/examples/{made['id']}", json={})).json()["verified_at"] == edited[
        "verified_at"
    ]
    rejected = (await client.patch(f"/examples/{made['id']}", json={"status": "rejected"})).json()
    assert (rejected["verified_by"], rejected["verified_at"]) == (None, None)
    assert (await client.get(f"/examples/{made['id']}")).json() == rejected


async def test_a_statement_is_matched_with_the_latest_verified_example_whatever_its_layout(
    client: httpx.AsyncClient, app: FastAPI, shop: Connection
) -> None:
    body = {"db_connection_id": shop.id, "question": "How many?", "sql": COUNT}
    latest: dict[str, str] = {}
    for status in ("verified", "verified", "proposed"):
        added = (await client.post("/examples", json={**body, "status": status})).json()
        latest = added if status == "verified" else latest
    statements = ["SELECT 1", "SELECT COUNT(*)\n  FROM customers;", COUNT + " where 1 = 1", "not SQL"]
    wanted = {"db_connection_id": shop.id, "statements": statements}
    (match,) = (await client.post("/examples/matches", json=wanted)).json()["items"]
    assert (match["index"], match["example_id"]) == (1, latest["id"])
    assert (match["verified_by"], match["verified_at"]) == ("ann", latest["verified_at"])
    call_as(app, lambda _: admin("bob"))
    assert (await client.post("/examples/matches", json=wanted)).status_code == 404


async def test_statements_that_are_long_together_are_not_compared(
    client: httpx.AsyncClient, shop: Connection
) -> None:
    long = "SELECT " + ", ".join(f"{number} AS c{number}" for number in range(4_000))
    wanted = {"db_connection_id": shop.id, "statements": [f"{long}, {number}" for number in range(90)]}
    refused = await client.post("/examples/matches", json=wanted)
    assert refused.status_code == 422
    assert "send fewer at once" in refused.text
    wanted["statements"] = [long]
    assert (await client.post("/examples/matches", json=wanted)).status_code == 200


async def test_an_example_whose_column_a_scan_finds_gone_is_not_used_until_it_is_repaired(
    client: httpx.AsyncClient,
    store: ContextStore,
    connections: DatabaseConnections,
    shop: Connection,
    tmp_path: Path,
) -> None:
    question = "What are the names of our customers?"
    body = {"db_connection_id": shop.id, "question": question, "sql": "select c.name from customers c"}
    made = (await client.post("/examples", json=body)).json()
    assert made["fault"] is None
    one = f"/examples/{made['id']}"
    _rename(tmp_path / "shop.db", "name", "full_name")
    await connections.scan("ann", shop.id)
    known = SchemaContext(connections, store, SchemaIndexes(1), connection=shop)
    assert await known.verified_answer(question) is None
    context = await known.context(Question(text=f"{question} All of them."), 8_000)
    assert context["precedents"] == []
    (listed,) = (await client.get("/examples")).json()["items"]
    assert listed == (await client.get(one)).json()
    assert listed["fault"].startswith("Unknown column c.name at line 1, column 10; nearest: c.full_name. ")
    assert "Change the SQL, or scan again" in listed["fault"]
    refused = await client.patch(one, json={"question": question})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:example-not-runnable")

    repaired = await client.patch(one, json={"sql": "select full_name from customers"})
    assert (repaired.status_code, repaired.json()["fault"]) == (200, None)
    again = SchemaContext(connections, store, SchemaIndexes(1), connection=shop)
    assert (found := await again.verified_answer(question)) is not None
    assert found.id == made["id"]
    _rename(tmp_path / "shop.db", "full_name", "name")
    await connections.scan("ann", shop.id)
    assert (await client.get(one)).json()["fault"] is not None


def _rename(path: Path, column: str, name: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"alter table customers rename column {column} to {name}")


async def test_the_statement_of_an_example_is_run_for_its_reviewer(
    app: FastAPI, client: httpx.AsyncClient, shop: Connection
) -> None:
    sql = "select id from customers"
    body = {"db_connection_id": shop.id, "question": "Who?", "sql": sql, "status": "proposed"}
    example = f"/examples/{(await client.post('/examples', json=body)).json()['id']}"
    ran = await client.post(f"{example}/test", json={})
    assert ran.status_code == 200
    assert (ran.json()["row_count"], len(ran.json()["rows"]), ran.json()["truncated"]) == (3, 3, False)
    counted = await client.post(f"{example}/test", json={"sql": COUNT})
    assert counted.json()["rows"] == [[3]]
    assert (await client.get(example)).json()["sql"] == sql
    refused = await client.post(f"{example}/test", json={"sql": "delete from customers"})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:statement-failed")
    call_as(app, lambda _: admin("bob"))
    assert (await client.post(f"{example}/test", json={})).status_code == 404


async def test_the_same_question_is_recognised_whatever_its_case_and_marks(
    store: ContextStore, shop: Connection
) -> None:
    kept = await store.add_example("ann", shop.id, "How many  customers?", sql=COUNT, status="verified")
    await store.add_example("ann", shop.id, "How many orders?", sql=COUNT, status="proposed")
    assert await store.verified_answer(shop, "how many customers ") == kept
    assert await store.verified_answer(shop, "How many vip customers?") is None
    assert await store.verified_answer(shop, "How many orders?") is None


async def propose(store: ContextStore, shop: Connection, sql: str, by: str = "ann") -> None:
    answer = {"answer": "All.", "message_id": "message", "session_id": "session"}
    await store.proposals.propose(by, shop.id, "How many?", sql=sql, **answer)


async def test_later_feedback_takes_the_place_of_an_earlier_proposal(
    client: httpx.AsyncClient, store: ContextStore, shop: Connection
) -> None:
    for sql in (COUNT, f"{COUNT} where vip"):
        await propose(store, shop, sql, by="ann")
    (proposal,) = (await client.get("/examples", params={"status": "proposed"})).json()["items"]
    assert (proposal["sql"], proposal["message_id"]) == (f"{COUNT} where vip", "message")
    await store.proposals.withdraw("message")
    assert (await client.get("/examples")).json()["items"] == []


async def test_a_proposal_shows_its_answer_and_who_asked_until_it_is_reviewed(
    app: FastAPI,
    client: httpx.AsyncClient,
    store: ContextStore,
    connections: DatabaseConnections,
    shop: Connection,
) -> None:
    await connections.repository.edit(shop, {"shared": True})
    await propose(store, shop, COUNT, by="bob")
    (waiting,) = (await client.get("/examples", params={"status": "proposed"})).json()["items"]
    assert (waiting["asked_by"], waiting["answer"], waiting["uses"]) == ("bob", "All.", 0)
    call_as(app, lambda _: admin("bob"))
    assert (await client.get(f"/examples/{waiting['id']}")).status_code == 404
    call_as(app, lambda _: admin("ann"))
    verified = (await client.patch(f"/examples/{waiting['id']}", json={"status": "verified"})).json()
    assert (verified["asked_by"], verified["answer"]) == ("bob", None)


async def test_the_answers_that_an_example_helped_are_counted_once(
    client: httpx.AsyncClient, store: ContextStore, shop: Connection
) -> None:
    kept = await store.add_example("ann", shop.id, "How many?", sql=COUNT, status="verified")
    hour = 3_600_000
    for uses in ({"a": hour}, {"a": hour, "b": hour + 1}, {"b": hour + 1, "c": hour - 1}, {"gone": 1}):
        await store.proposals.note_uses(kept.id, uses)
    await store.proposals.note_uses(new_id(), {"a": hour})
    assert (await client.get(f"/examples/{kept.id}")).json()["uses"] == 3


async def test_a_reviewed_proposal_is_left_alone(
    client: httpx.AsyncClient, store: ContextStore, shop: Connection
) -> None:
    await propose(store, shop, COUNT, by="ann")
    (proposal,) = (await client.get("/examples")).json()["items"]
    await client.patch(f"/examples/{proposal['id']}", json={"status": "rejected"})
    await propose(store, shop, COUNT, by="ann")
    await store.proposals.withdraw("message")
    assert [each["status"] for each in (await client.get("/examples")).json()["items"]] == ["rejected"]


async def test_a_deleted_connection_takes_its_context_store_along(
    client: httpx.AsyncClient, connections: DatabaseConnections, shop: Connection
) -> None:
    for route, body in BODIES.items():
        await client.post(route, json={"db_connection_id": shop.id, **body})
    await connections.delete("ann", shop.id)
    for route in BODIES:
        assert (await client.get(route)).json()["items"] == []
