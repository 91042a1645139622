"""Routes of facts: written, reworded, promoted, accepted, forgotten, exported and imported."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from app.core.auth.caller import SCOPES_OF_ROLE, Caller
from app.core.storage.measured import MeasuredStorage
from app.core.storage.sqlite import SqliteStorage
from app.http.problems import answer_problems
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.export import MemoryExports
from app.modules.memory.fact_guard import Objection
from app.modules.memory.fact_router import router
from app.modules.memory.facts import MAX_FACTS, Facts, SourceMessage
from app.modules.memory.model import NewFact
from tests.support.callers import admin, call_as
from tests.support.facts import connection_of, facts_over, source
from tests.support.shop import make_shop


class Suspicious:
    """A guard that refuses passwords and warns of addresses."""

    def check(self, text: str) -> Objection | None:
        if "password" in text:
            return Objection("It holds a credential.", is_final=True)
        return Objection("It names an address.", is_final=False) if "http" in text else None


def user(owner: str) -> Caller:
    return Caller(owner=owner, role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="api_key")


@pytest.fixture
def facts(storage: SqliteStorage, connections: DatabaseConnections) -> Facts:
    async def find_message(owner: str, message_id: str) -> SourceMessage | None:
        return SourceMessage("s1", "c1", is_tainted=True) if (owner, message_id) == ("ann", "m1") else None

    made = facts_over(storage, connections, guard=Suspicious(), find_message=find_message)
    connections.when_deleted(made.forget_connection)
    return made


@pytest.fixture
async def shop(connections: DatabaseConnections, tmp_path: Path) -> Connection:
    path = make_shop(tmp_path / "shop.db")
    return await connections.register("ann", f"sqlite:///{path}", "Shop", description="", shared=True)


@pytest.fixture
def app(storage: SqliteStorage, facts: Facts) -> FastAPI:
    made = FastAPI()
    made.state.services = SimpleNamespace(facts=facts, memory_exports=MemoryExports(storage, facts))
    made.include_router(router)
    call_as(made, lambda _: admin("ann"))
    answer_problems(made)
    return made


def become(app: FastAPI, caller: Caller) -> None:
    call_as(app, lambda _: caller)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai") as opened:
        yield opened


TERM = {"kind": "terminology", "text": "Churn means no order for 90 days", "scope": "user"}


async def test_a_fact_is_written_read_reworded_and_forgotten(client: httpx.AsyncClient) -> None:
    made = await client.post("/memory/facts", json={**TERM, "message_id": "m1"})
    assert made.status_code == 201, made.text
    fact = made.json()
    assert (fact["scope"], fact["mine"], fact["stale"], fact["source"]["origin"]) == (
        "user",
        True,
        False,
        "promotion",
    )
    again = await client.post("/memory/facts", json={**TERM, "text": TERM["text"].upper()})
    assert (again.status_code, again.json()["id"], again.json()["is_new"]) == (200, fact["id"], False)
    changed = await client.patch(f"/memory/facts/{fact['id']}", json={"text": "Churn is 60 days"})
    assert changed.json()["supersedes"] == fact["id"]
    assert changed.json()["source"]["message_id"] == "m1"
    listed = (await client.get("/memory/facts", params={"message_id": "m1"})).json()["items"]
    assert [each["text"] for each in listed] == ["Churn is 60 days"]
    undone = await client.patch(f"/memory/facts/{fact['id']}", json={"status": "active"})
    assert undone.json()["text"] == TERM["text"]
    assert (await client.delete(f"/memory/facts/{fact['id']}")).status_code == 204
    assert (await client.get(f"/memory/facts/{fact['id']}")).status_code == 404
    assert (await client.get("/memory/facts")).json() == {"items": [], "next_cursor": None, "total": None}


async def test_a_fact_names_only_a_message_of_its_owner(client: httpx.AsyncClient) -> None:
    made = await client.post("/memory/facts", json={**TERM, "message_id": "m1"})
    source_of = made.json()["source"]
    assert (source_of["message_id"], source_of["session_id"], source_of["tainted"]) == ("m1", "s1", True)
    for foreign in ({"message_id": "m2"}, {"message_id": "m1", "session_id": "s2"}):
        refused = await client.post("/memory/facts", json={**TERM, "text": "Another", **foreign})
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:fact-place-unclear")


async def test_a_fact_says_which_one_it_replaces(client: httpx.AsyncClient) -> None:
    old = (await client.post("/memory/facts", json=TERM)).json()
    new = (await client.post("/memory/facts", json={**TERM, "text": "Churn is 60 days"})).json()
    changed = await client.patch(f"/memory/facts/{new['id']}", json={"supersedes": old["id"]})
    assert changed.json()["supersedes"] == old["id"]
    assert (await client.get(f"/memory/facts/{old['id']}")).json()["status"] == "superseded"
    other = (await client.post("/memory/facts", json={**TERM, "text": "Churn is 30 days"})).json()
    refused = await client.patch(f"/memory/facts/{other['id']}", json={"supersedes": old["id"]})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:kai:fact-changed")


@pytest.mark.parametrize(
    "change", [{}, {"text": "a", "scope": "user"}, {"text": None}, {"status": "waiting"}]
)
async def test_one_change_is_made_at_a_time(client: httpx.AsyncClient, change: dict[str, str | None]) -> None:
    fact = (await client.post("/memory/facts", json=TERM)).json()
    assert (await client.patch(f"/memory/facts/{fact['id']}", json=change)).status_code == 422


async def test_a_guard_refuses_or_asks_for_a_confirmation(client: httpx.AsyncClient) -> None:
    refused = await client.post("/memory/facts", json={**TERM, "text": "My password", "confirm": True})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:fact-refused")
    warned = await client.post("/memory/facts", json={**TERM, "text": "See http://kai"})
    assert (warned.status_code, warned.json()["type"]) == (409, "urn:kai:fact-needs-confirmation")
    kept = await client.post("/memory/facts", json={**TERM, "text": "See http://kai", "confirm": True})
    assert kept.status_code == 201
    reworded = await client.patch(f"/memory/facts/{kept.json()['id']}", json={"text": "A password"})
    assert reworded.status_code == 422


async def test_shared_facts_need_the_scope_manage_and_the_owner(
    client: httpx.AsyncClient, app: FastAPI, shop: Connection
) -> None:
    body = {**TERM, "scope": "shared", "db_connection_id": shop.id}
    become(app, user("ann"))
    assert (await client.post("/memory/facts", json=body)).json()["missing_scope"] == "manage"
    become(app, admin("bob"))
    assert (await client.post("/memory/facts", json=body)).status_code == 403
    become(app, admin("ann"))
    one = f"/memory/facts/{(await client.post('/memory/facts', json=body)).json()['id']}"
    become(app, user("bob"))
    assert (await client.get(one)).json()["mine"] is False
    assert (await client.get("/memory/export")).json()["facts"] == []
    for caller in (user("bob"), user("ann"), admin("bob")):
        become(app, caller)
        assert (await client.delete(one)).status_code == 403
        assert (await client.patch(one, json={"text": "Other"})).status_code == 403
    become(app, user("ann"))
    mine = (await client.post("/memory/facts", json=TERM)).json()["id"]
    become(app, user("bob"))
    assert (await client.delete(f"/memory/facts/{mine}")).status_code == 404


async def test_a_fact_is_stale_without_its_column_and_goes_with_its_connection(
    client: httpx.AsyncClient, connections: DatabaseConnections, shop: Connection
) -> None:
    body = {**TERM, "scope": "workspace", "db_connection_id": shop.id}
    new = await client.post("/memory/facts", json={**body, "about": ["orders", "gone.column"]})
    assert new.json()["stale"] is False  # nothing is known before a scan
    await connections.scan("ann", shop.id)
    (listed,) = (await client.get("/memory/facts")).json()["items"]
    assert listed["stale"] is True
    other = await client.post("/memory/facts", json={**body, "text": "Of orders", "about": ["ORDERS"]})
    assert other.json()["stale"] is False
    await connections.delete("ann", shop.id)
    assert (await client.get("/memory/facts")).json()["items"] == []


async def test_a_fact_about_tables_needs_their_connection(client: httpx.AsyncClient) -> None:
    refused = await client.post("/memory/facts", json={**TERM, "about": ["orders"]})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:fact-place-unclear")
    refused = await client.post("/memory/facts", json={**TERM, "scope": "workspace"})
    assert "database connection" in refused.json()["detail"]


async def test_what_is_exported_can_be_imported_again(
    client: httpx.AsyncClient, app: FastAPI, facts: Facts, shop: Connection
) -> None:
    workspace = {"scope": "workspace", "db_connection_id": shop.id}
    await client.post("/memory/facts", json=TERM)
    body = {**TERM, **workspace, "text": "Of the shop", "about": ["orders"]}
    old = (await client.post("/memory/facts", json=body)).json()
    await client.patch(f"/memory/facts/{old['id']}", json={"text": "Of this shop"})
    waiting = NewFact(
        owner="ann",
        scope="workspace",
        kind="lesson_learned",
        text="Waits",
        source=source("feedback"),
        connection_id=shop.id,
        status="waiting",
    )
    await facts.keep(waiting)
    exported = (await client.get("/memory/export")).json()
    assert {each["text"] for each in exported["facts"]} == {
        str(TERM["text"]),
        "Of the shop",
        "Of this shop",
        "Waits",
    }
    again = await client.post("/memory/facts/import", json={"facts": exported["facts"]})
    assert again.json() == {"kept": 0, "known": 3, "left_out": 1, "refused": []}
    become(app, user("bob"))
    bobs = await client.post("/memory/facts/import", json={"facts": exported["facts"]})
    assert bobs.json()["kept"] == 3
    listed = (await client.get("/memory/facts")).json()["items"]
    assert {each["text"]: each["status"] for each in listed} == {
        str(TERM["text"]): "active",
        "Of this shop": "active",
        "Waits": "waiting",
    }


async def test_facts_of_another_kai_get_a_connection_that_is_known(
    client: httpx.AsyncClient, shop: Connection
) -> None:
    fact = {**TERM, "scope": "workspace", "db_connection_id": connection_of("ann").id}
    body: dict[str, object] = {"facts": [fact, {"text": "no kind"}, {**fact, "text": "My password"}]}
    refused = (await client.post("/memory/facts/import", json=body)).json()
    assert [each["number"] for each in refused["refused"]] == [1, 2, 3]
    kept = (await client.post("/memory/facts/import", json={**body, "db_connection_id": shop.id})).json()
    assert kept["kept"] == 1
    assert [each["reason"] for each in kept["refused"]] == [
        "kind: Field required",
        "It holds a credential.",
    ]


async def test_an_import_asks_the_store_a_few_times_for_dozens_of_facts(
    storage: SqliteStorage, app: FastAPI, client: httpx.AsyncClient
) -> None:
    registry = CollectorRegistry()
    app.state.services.facts = facts_over(MeasuredStorage(storage, registry), guard=Suspicious())
    texts = [f"Product {number} is sold in region {number % 7}" for number in range(400)]
    body = {"facts": [{**TERM, "text": text} for text in (*texts, texts[0].upper())]}
    assert (await client.post("/memory/facts/import", json=body)).json() == {
        "kept": 400,
        "known": 1,
        "left_out": 0,
        "refused": [],
    }
    asked = sum(
        sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name.endswith("_seconds_count")
    )
    assert 0 < asked < 60


async def test_an_import_fills_a_scope_and_says_what_does_not_fit(
    client: httpx.AsyncClient, shop: Connection
) -> None:
    workspace = {**TERM, "scope": "workspace", "db_connection_id": shop.id}
    facts = [{**TERM, "text": f"Mine {number}"} for number in range(MAX_FACTS["user"] + 2)]
    facts.insert(3, {**workspace, "text": "Of the shop"})
    answer = (await client.post("/memory/facts/import", json={"facts": facts})).json()
    assert answer["kept"] == MAX_FACTS["user"] + 1
    assert [each["number"] for each in answer["refused"]] == [len(facts) - 1, len(facts)]
    assert "Forget some" in answer["refused"][0]["reason"]


async def test_an_import_of_too_many_items_is_refused_whole(client: httpx.AsyncClient) -> None:
    refused = await client.post("/memory/facts/import", json={"markdown": "- ab\n" * 1_001})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:too-many-facts")
    assert (await client.get("/memory/facts")).json()["items"] == []


async def test_an_import_accepts_what_waits_with_the_same_text(
    client: httpx.AsyncClient, facts: Facts
) -> None:
    waiting = NewFact(
        owner="ann",
        scope="user",
        kind="terminology",
        text="Churn means no order for 90 days",
        source=source("directive"),
        status="waiting",
    )
    await facts.keep(waiting)
    assert (await client.post("/memory/facts/import", json={"facts": [TERM]})).json()["known"] == 1
    (listed,) = (await client.get("/memory/facts")).json()["items"]
    assert listed["status"] == "active"


MARKDOWN = """# What we know

- Months as 2026-03
* **decision:** Net of returns

## Lessons learned
1. Orders of 2019 are incomplete
2) [x] Procedure: Filter first
   Not an item

```
- not this one
```
## Others
+ Weeks: they begin on Monday
"""


async def test_items_of_markdown_lists_become_facts(client: httpx.AsyncClient) -> None:
    body = {"markdown": MARKDOWN, "kind": "preference", "scope": "user"}
    assert (await client.post("/memory/facts/import", json=body)).json()["kept"] == 5
    listed = (await client.get("/memory/facts")).json()["items"]
    assert {each["text"]: each["kind"] for each in listed} == {
        "Months as 2026-03": "preference",
        "Net of returns": "decision",
        "Orders of 2019 are incomplete": "lesson_learned",
        "Filter first": "procedure",
        "Weeks: they begin on Monday": "preference",
    }
    assert (await client.post("/memory/facts/import", json=body)).json()["known"] == 5
