"""The routes of database connections."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import duckdb
import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from limits.aio.storage import MemoryStorage

from app.core.rates import Policy, Rates
from app.core.secrets import SecretBox
from app.core.storage.sqlite import open_sqlite
from app.http.problems import answer_problems
from app.http.rate_limit_fields import RateLimitFields
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.router import router
from app.modules.database_connection.service import DatabaseConnections
from migrations.runner import migrate
from tests.support.callers import admin, call_as
from tests.support.records import no_records
from tests.support.shop import make_shop

ROUTE = "/api/v1/database-connections"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with open_sqlite(tmp_path / "kai.db") as storage:
        await migrate(storage)
        connections = DatabaseConnections(
            storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
        )
        app = FastAPI()
        rates = Rates(MemoryStorage(), [Policy("questions", 5, 60)])
        app.state.services = SimpleNamespace(database_connections=connections, rates=rates)
        app.add_middleware(RateLimitFields)
        app.include_router(router, prefix="/api/v1")
        call_as(app, lambda _: admin("ann"))
        answer_problems(app)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://kai") as opened:
            yield opened
        await connections.close()


@pytest.fixture
def body(tmp_path: Path) -> dict[str, str]:
    return {"url": f"sqlite:///{make_shop(tmp_path / 'shop.db')}", "name": " Shop ", "description": "Pens"}


async def scanned(client: httpx.AsyncClient, one: str) -> dict[str, object]:
    """The progress of a new scan when it is over."""
    begun = await client.post(f"{one}/scan")
    assert (begun.status_code, begun.json()["state"]) == (202, "running")
    answered = begun.json()
    async with asyncio.timeout(60):
        while answered["state"] == "running":
            answered = (await client.get(f"{one}/scan")).json()
    return dict(answered)


async def test_a_scan_in_the_background_tells_how_far_it_is(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    assert (await client.get(f"{one}/scan")).json()["state"] == "never"
    answered = await scanned(client, one)
    assert (answered["state"], answered["tables_total"], answered["tables_done"]) == ("complete", 6, 6)
    assert (str(answered["started_at"])[-1], answered["error"]) == ("Z", None)


async def test_a_scan_of_a_database_that_is_gone_says_why(
    client: httpx.AsyncClient, body: dict[str, str], tmp_path: Path
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    (tmp_path / "shop.db").unlink()
    refused = await client.post(f"{one}/scan")
    assert (refused.status_code, "no existing file" in refused.json()["detail"]) == (503, True)


async def test_a_database_is_registered_scanned_described_and_deleted(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    made = await client.post(ROUTE, json=body)
    assert made.status_code == 201
    one = f"{ROUTE}/{made.json()['id']}"
    assert made.json() == (await client.get(one)).json()
    assert (made.json()["name"], made.json()["scanned_at"], made.json()["table_count"]) == (
        "Shop",
        None,
        None,
    )

    await scanned(client, one)
    known = (await client.get(one)).json()
    assert (known["scanned_at"][-1], known["table_count"]) == ("Z", 6)
    described = await client.patch(f"{one}/tables/order%20lines", json={"description": "What was bought"})
    assert (described.status_code, described.json()["description"]) == (200, "What was bought")

    assert (await client.delete(one)).status_code == 204
    assert (await client.get(one)).status_code == 404
    assert (await client.get(ROUTE)).json() == {"items": [], "next_cursor": None, "total": None}


async def test_a_url_is_never_in_an_answer(client: httpx.AsyncClient, tmp_path: Path) -> None:
    make_shop(tmp_path / "shop.db")
    made = await client.post(ROUTE, json={"url": f"sqlite:///{tmp_path}/shop.db", "name": "Shop"})
    assert made.json()["masked_url"] == "shop.db"
    assert str(tmp_path) not in made.text + (await client.get(ROUTE)).text


async def test_tables_come_in_pages_by_name(client: httpx.AsyncClient, body: dict[str, str]) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    await scanned(client, one)
    first = (await client.get(f"{one}/tables", params={"limit": 4})).json()
    rest = (await client.get(f"{one}/tables", params={"limit": 4, "cursor": first["next_cursor"]})).json()
    names = [table["name"] for table in first["items"] + rest["items"]]
    assert names == ["categories", "customers", "files", "order lines", "orders", "spending"]
    assert rest["next_cursor"] is None
    assert first["items"][1]["columns"][2]["values"] == ["Japan", "Norway"]


@pytest.mark.parametrize(
    "change",
    [
        {"url": ""},
        {"url": "mysql://ann:hunter2@db/shop"},
        {"url": "postgresql://ann:hunter2@127.0.0.1:1/shop"},
        {"url": "sqlite:///hunter2\0.db"},
        {"url": "hunter2" * 300},
        {"url": None},
        {"name": ""},
        {"name": "  "},
        {"name": "x" * 201},
        {"name": "a\0b"},
        {"name": "\ud800"},
        {"description": "x" * 2_001},
        {"owner": "bob"},
    ],
)
async def test_a_body_that_cannot_be_taken_is_a_problem_without_its_secrets(
    client: httpx.AsyncClient, body: dict[str, str], change: dict[str, str | None]
) -> None:
    answer = await client.post(ROUTE, content=json.dumps(body | change))
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in answer.text


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "cursor=nonsense", "offset=1"])
async def test_a_page_that_cannot_be_is_refused(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"{ROUTE}?{query}")).status_code == 422


@pytest.mark.parametrize(
    "connection_id", ["x", "0198c0de-0000-7000-8000-000000000000", "%00", "%2e%2e", "a b"]
)
async def test_an_id_that_is_not_ours_is_not_found(client: httpx.AsyncClient, connection_id: str) -> None:
    one = f"{ROUTE}/{connection_id}"
    answers = [await client.get(one), await client.delete(one), await client.post(f"{one}/scan")]
    answers.append(await client.patch(f"{one}/tables/orders", json={"description": ""}))
    assert {answer.status_code for answer in answers} == {404}


async def test_a_table_shows_its_first_rows(client: httpx.AsyncClient, body: dict[str, str]) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    sample = (await client.get(f"{one}/tables/order%20lines/sample")).json()
    assert sample["columns"][0] == {"name": "order_id", "type": "integer"}
    assert len(sample["rows"]) == 2
    missing = await client.get(f"{one}/tables/nope/sample")
    assert (missing.status_code, missing.json()["title"]) == (404, "No such table")


async def test_a_statement_is_formatted_and_inspected_without_being_run(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    statement = (
        'select o.id, sum(l.quantity) from orders o join "order lines" l on l.order_id = o.id group by 1'
    )
    answered = (await client.post(f"{one}/statements", json={"sql": statement})).json()
    assert answered["sql"].startswith("SELECT\n  o.id,\n")
    assert answered["tables"] == [
        {"name": "order lines", "columns": ["order_id", "quantity"]},
        {"name": "orders", "columns": ["id"]},
    ]


@pytest.mark.parametrize(
    "statement", ["DROP TABLE orders", "SELEC 1", "SELECT * FROM nope", "SELECT 1; SELECT 2"]
)
async def test_a_statement_that_would_not_run_is_refused_with_the_reason(
    client: httpx.AsyncClient, body: dict[str, str], statement: str
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    refused = await client.post(f"{one}/statements", json={"sql": statement})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:statement-failed")


async def test_a_statement_above_the_limit_is_refused_by_its_length(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    refused = await client.post(f"{one}/statements", json={"sql": "(" * 65_537})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:statement-failed")
    assert "65,536 characters" in refused.json()["detail"]


async def test_looking_at_a_statement_counts_as_a_question(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    for _ in range(5):
        assert (await client.post(f"{one}/statements", json={"sql": "select 1"})).status_code == 200
    refused = await client.post(f"{one}/statements", json={"sql": "select 1"})
    assert (refused.status_code, refused.json()["limit"]) == (429, "questions")


async def test_what_may_not_run_is_not_counted_either(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    refused = await client.post(f"{one}/statements/counts", json={"sql": "DELETE FROM orders"})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:statement-failed")
    uncounted = await client.post(f"{one}/statements/counts", json={"sql": "SELECT 1"})
    assert uncounted.json() == {"items": [], "is_complete": True}


async def test_the_owner_writes_the_questions_to_begin_with(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    one = f"{ROUTE}/{(await client.post(ROUTE, json=body)).json()['id']}"
    assert (await client.get(one)).json()["starters"] == []
    written = await client.patch(one, json={"starters": [" Revenue per month ", "Who left?"]})
    assert (written.status_code, written.json()["starters"]) == (200, ["Revenue per month", "Who left?"])
    assert (await client.patch(one, json={"name": "Shop 2"})).json()["starters"][1] == "Who left?"
    for refused in ([""], ["x" * 201], ["?"] * 9, "Who?"):
        assert (await client.patch(one, json={"starters": refused})).status_code == 422
    assert (await client.patch(one, json={"starters": []})).json()["starters"] == []


@pytest.fixture
def company(tmp_path: Path) -> str:
    with duckdb.connect(str(tmp_path / "company.duckdb")) as made:
        for name in ("sales", "archive", "raw"):
            made.execute(f"create schema {name}; create table {name}.orders (id integer)")
        made.execute("create table raw.events (id integer)")
    return f"duckdb:///{tmp_path}/company.duckdb"


async def names_of(client: httpx.AsyncClient, one: str) -> list[str]:
    await scanned(client, one)
    return [each["name"] for each in (await client.get(f"{one}/tables")).json()["items"]]


async def test_schemas_are_narrowed_at_registration_and_later(
    client: httpx.AsyncClient, company: str
) -> None:
    body = {"url": company, "name": "Company", "schemas": ["sales", "r*"]}
    registered = (await client.post(ROUTE, json=body)).json()
    assert registered["schemas"] == ["sales", "r*"]
    one = f"{ROUTE}/{registered['id']}"
    assert await names_of(client, one) == ["events", "raw.orders", "sales.orders"]
    listed = (await client.get(f"{one}/schemas")).json()["items"]
    assert [(each["name"], each["is_read"], each["table_count"]) for each in listed] == [
        ("archive", False, None),
        ("main", False, None),
        ("raw", True, 2),
        ("sales", True, 1),
    ]
    described = await client.patch(f"{one}/tables/sales.orders", json={"description": "Kept"})
    assert described.status_code == 200
    changed = await client.patch(one, json={"schemas": ["!raw", "!archive"]})
    assert changed.json()["schemas"] == ["!raw", "!archive"]
    at_once = await client.post(f"{one}/statements", json={"sql": "select * from raw.events"})
    assert at_once.status_code == 422  # before the scan has ended
    assert await names_of(client, one) == ["orders"]
    (table,) = (await client.get(f"{one}/tables")).json()["items"]
    assert table["description"] == "Kept"
    sent = {"sql": "select * from raw.events"}
    refused = await client.post(f"{one}/statements", json=sent)
    assert refused.status_code == 422
    assert "only the tables of sales are read" in refused.json()["detail"]


async def test_a_pattern_that_fits_no_schema_changes_nothing(client: httpx.AsyncClient, company: str) -> None:
    body = {"url": company, "name": "Company", "schemas": ["wares"]}
    refused = await client.post(ROUTE, json=body)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:database-unreachable")
    assert "It may use: archive, main, raw, sales" in refused.json()["detail"]
    registered = (await client.post(ROUTE, json={"url": company, "name": "Company"})).json()
    one = f"{ROUTE}/{registered['id']}"
    assert (await client.patch(one, json={"schemas": ["wares"]})).status_code == 422
    assert (await client.get(one)).json()["schemas"] == []


async def test_a_database_is_tested_step_by_step_and_a_scan_can_be_stopped(
    client: httpx.AsyncClient, body: dict[str, str]
) -> None:
    tried = await client.post(f"{ROUTE}/test/steps", json={"url": body["url"]})
    assert (tried.status_code, tried.json()["is_usable"]) == (200, True)
    assert [each["name"] for each in tried.json()["items"]] == ["address", "open", "list", "read"]
    refused = (await client.post(f"{ROUTE}/test/steps", json={"url": "oracle://ann:s3cret@host/db"})).json()
    assert (refused["is_usable"], refused["items"][0]["state"]) == (False, "failed")
    assert "s3cret" not in json.dumps(refused)
    registered = (await client.post(ROUTE, json=body)).json()
    assert (await client.delete(f"{ROUTE}/{registered['id']}/scan")).status_code == 204
