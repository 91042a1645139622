"""No user sees another's records: every route of the API's description, those of tomorrow included, answers
to an id of another owner with the very bytes of an unknown id."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.keys import made_key
from tests.support.server import running_server

UNKNOWN = "01970000-0000-7000-8000-000000000000"
NOT_OWNED = {"/api/v1/api-keys/{key_id}"}
LISTED_WHOLE = {"/api/v1/api-keys"}
"""Keys are administered by every caller with that scope."""


@dataclass(frozen=True)
class House:
    """A server in which Ann has one of everything; `ann` and `bob` are clients of two administrators."""

    ann: httpx.Client
    bob: httpx.Client
    things: dict[str, str]
    description: dict[str, Any]
    address: str


def _make(client: httpx.Client, path: str, **body: object) -> str:
    answer = client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _one_of_everything(ann: httpx.Client, shop: str) -> dict[str, str]:
    connection = _make(ann, "/database-connections", url=shop, name="Ann's")
    session = _make(ann, "/sessions", db_connection_id=connection)
    asked = ann.post(f"/sessions/{session}/query/stream", json={"query": "How many customers?"})
    messages = ann.get(f"/sessions/{session}").json()["messages"]["items"]
    checkpoints = ann.get(f"/sessions/{session}/checkpoints").json()["items"]
    mine = {"db_connection_id": connection}
    return {
        "connection_id": connection,
        "session_id": session,
        "sessionId": session,
        "userId": "ann",
        "run_id": asked.headers["X-Run-Id"],
        "chatMessageId": asked.headers["X-Run-Id"],
        "message_id": messages[-1]["id"],
        "checkpoint_id": checkpoints[0]["id"],
        "result_id": messages[-1]["id"],
        "table_name": "customers",
        "example_id": _make(ann, "/examples", **mine, question="How many?", sql="SELECT 1 FROM customers"),
        "term_id": _make(ann, "/glossary", **mine, term="client", meaning="a customer"),
        "instruction_id": _make(ann, "/instructions", **mine, text="Round."),
    }


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, shop: str) -> Iterator[House]:
    data = tmp_path_factory.mktemp("owners")
    keys = [made_key(data, owner, "--role", "admin") for owner in ("ann", "bob")]
    with running_server(data, {"KAI_AUTH__REQUIRED": "true"}) as server:
        address = f"{server.address}/api/v1"
        ann, bob = (httpx.Client(base_url=address, timeout=30, headers={"X-API-Key": key}) for key in keys)
        with ann, bob:
            things = _one_of_everything(ann, shop)
            yield House(ann, bob, things, bob.get("/openapi.json").json(), server.address)


def routes(house: House) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path, and description of every operation that is owned."""
    for path, methods in house.description["paths"].items():
        if path.startswith("/api/") and path not in NOT_OWNED:
            for method, operation in methods.items():
                yield method.upper(), path, operation


def example_body(house: House, operation: dict[str, Any]) -> dict[str, Any] | None:
    if "requestBody" not in operation:
        return None
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = house.description["components"]["schemas"][reference.rsplit("/", 1)[1]]
    example: dict[str, Any] = schema["examples"][0]
    return example


def test_ids_of_others_are_unknown_on_every_route(house: House) -> None:
    asked = 0
    for method, path, operation in routes(house):
        if "{" in path:
            body = example_body(house, operation)
            unknown = dict.fromkeys(house.things, UNKNOWN)
            answers = [
                house.bob.request(method, house.address + path.format_map(ids), json=body)
                for ids in (house.things, unknown)
            ]
            assert [each.status_code for each in answers] == [404, 404], (method, path, answers[0].text)
            assert answers[0].content == answers[1].content, (method, path)
            asked += 1
    assert asked > 20


def test_databases_of_others_are_unknown_in_every_body(house: House) -> None:
    for method, path, operation in routes(house):
        body = example_body(house, operation) or {}
        if "db_connection_id" in body:
            answers = [
                house.bob.request(method, house.address + path, json={**body, "db_connection_id": each})
                for each in (house.things["connection_id"], UNKNOWN)
            ]
            assert [each.status_code for each in answers] == [404, 404], (method, path)
            assert answers[0].content == answers[1].content


def test_lists_hold_nothing_of_others_whatever_they_are_asked_for(house: House) -> None:
    for method, path, operation in routes(house):
        names = {each["name"] for each in operation.get("parameters", ())}
        if method == "GET" and "{" not in path and "cursor" in names and path not in LISTED_WHOLE:
            for query in ({}, {"db_connection_id": house.things["connection_id"]}, {"q": "client"}):
                wanted = {name: value for name, value in query.items() if name in names}
                assert house.bob.get(house.address + path, params=wanted).json()["items"] == [], (path, query)


def test_a_shared_database_is_asked_by_all_and_changed_by_its_owner_alone(house: House) -> None:
    shop, bob = house.things["connection_id"], house.bob
    one = f"/database-connections/{shop}"
    assert house.ann.patch(one, json={"shared": True}).json()["shared"] is True
    assert [each["owner"] for each in bob.get("/database-connections").json()["items"]] == ["ann"]
    for path in (one, f"{one}/tables", f"{one}/scan", f"{one}/tables/customers/sample"):
        assert bob.get(path).status_code == 200, path
    session = _make(bob, "/sessions", db_connection_id=shop)
    assert '"status":"complete"' in bob.post(
        f"/sessions/{session}/query/stream", json={"query": "How many customers?"}
    ).text.replace(" ", "")
    for method, path, body in [
        ("DELETE", one, None),
        ("PATCH", one, {"shared": False}),
        ("POST", f"{one}/scan", None),
        ("PATCH", f"{one}/tables/customers", {"description": "mine"}),
        ("POST", "/glossary", {"db_connection_id": shop, "term": "x", "meaning": "y"}),
        ("DELETE", f"/examples/{house.things['example_id']}", None),
    ]:
        assert bob.request(method, path, json=body).status_code == 403, (method, path)
    house.ann.patch(one, json={"shared": False})
    assert bob.get(one).status_code == 404
    assert bob.post(f"/sessions/{session}/query/stream", json={"query": "How many?"}).status_code == 409


def test_of_a_shared_database_all_users_read_what_is_verified_and_not_what_others_asked(
    house: House,
) -> None:
    shop, bob = house.things["connection_id"], house.bob
    mine = {"db_connection_id": shop, "question": "Secret?", "sql": "SELECT 2 FROM customers"}
    proposed = _make(house.ann, "/examples", **mine, status="proposed")
    house.ann.patch(f"/database-connections/{shop}", json={"shared": True})
    listed = bob.get("/examples", params={"db_connection_id": shop}).json()["items"]
    assert [each["id"] for each in listed] == [house.things["example_id"]]
    assert bob.get(f"/examples/{house.things['example_id']}").status_code == 200
    hidden, unknown = bob.get(f"/examples/{proposed}"), bob.get(f"/examples/{UNKNOWN}")
    assert (hidden.status_code, hidden.content) == (404, unknown.content)
    assert bob.get(f"/glossary/{house.things['term_id']}").json()["term"] == "client"
    house.ann.patch(f"/database-connections/{shop}", json={"shared": False})


def test_feedback_on_a_shared_database_is_its_owners_to_review(house: House) -> None:
    shop, bob = house.things["connection_id"], house.bob
    house.ann.patch(f"/database-connections/{shop}", json={"shared": True})
    session = _make(bob, "/sessions", db_connection_id=shop)
    bob.post(f"/sessions/{session}/query/stream", json={"query": "How many customers?"})
    answer = bob.get(f"/sessions/{session}").json()["messages"]["items"][-1]["id"]
    liked = f"/sessions/{session}/messages/{answer}/feedback"

    def waiting() -> list[str]:
        found = house.ann.get("/examples", params={"status": "proposed"}).json()["items"]
        return [each["message_id"] for each in found if each["message_id"]]

    assert bob.post(liked, json={"rating": "up"}).status_code == 201
    assert waiting() == [answer]
    bob.post(liked, json={"rating": "down"})
    assert waiting() == []
    house.ann.patch(f"/database-connections/{shop}", json={"shared": False})
