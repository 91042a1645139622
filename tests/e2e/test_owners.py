"""No user sees another's records: every route of the API's description, those of tomorrow included, answers
to an id of another owner with the very bytes of an unknown id."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from app.main import describe_api
from tests.support.keys import made_key
from tests.support.server import running_server

UNKNOWN = "01970000-0000-7000-8000-000000000000"
NOT_OWNED = {"/api/v1/api-keys/{key_id}", "/problems/{kind}", "/api/v1/problems/{kind}"}
OF_A_THING = "/api/v1/comments"
"""Lists what belongs to the thing that the query names."""
LISTED_WHOLE = {"/api/v1/api-keys", "/api/v1/models", "/api/v1/rules"}
"""Keys are administered by every caller with that scope; models are those of the whole KAI.
Rules are off in this one, which has no model; `test_rules.py` has their owners."""


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
    board = _make(ann, "/boards", title="Weekly")
    webhook = _make(ann, "/webhooks", url="http://127.0.0.1:9/", events=["run.failed"])
    delivery = ann.post(f"/webhooks/{webhook}/test").json()["id"]
    return {
        "db_connection_id": connection,
        "session_id": session,
        "sessionId": session,
        "userId": "ann",
        "run_id": asked.headers["X-Run-Id"],
        "chatMessageId": asked.headers["X-Run-Id"],
        "message_id": messages[-1]["id"],
        "board_id": board,
        "link_id": _make(ann, "/links", kind="board", target_id=board),
        "schedule_id": _make(ann, "/schedules", board_id=board, cron="0 8 1 1 *"),
        "webhook_id": webhook,
        "delivery_id": delivery,
        "pin_id": _make(ann, f"/boards/{board}/pins", message_id=messages[-1]["id"]),
        "checkpoint_id": checkpoints[0]["id"],
        "result_id": messages[-1]["id"],
        "comment_id": _make(ann, "/comments", kind="board", target_id=board, text="Why?"),
        "number": "2",
        "confirmation_id": messages[-1]["id"],
        "table_name": "customers",
        "example_id": _make(ann, "/examples", **mine, question="How many?", sql="SELECT 1 FROM customers"),
        "term_id": _make(ann, "/glossary", **mine, term="client", meaning="a customer"),
        "instruction_id": _make(ann, "/instructions", **mine, text="Round."),
        "fact_id": _make(ann, "/memory/facts", **mine, kind="preference", text="Months as 2026-03."),
        "name": "unknown",
        "tool": "unknown",
        "attribute": "unknown",
    }


ALL_SCOPES = [part for scope in ("admin", "approve") for part in ("--scope", scope)]
"""A key has the scope approve only if it was made with it."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, shop: str) -> Iterator[House]:
    data = tmp_path_factory.mktemp("owners")
    keys = [made_key(data, owner, "--role", "admin", *ALL_SCOPES) for owner in ("ann", "bob")]
    with running_server(
        data, {"KAI_AUTH__REQUIRED": "true", "KAI_SCHEDULES__WEBHOOK_NETWORKS": '["127.0.0.0/8"]'}
    ) as server:
        address = f"{server.address}/api/v1"
        ann, bob = (httpx.Client(base_url=address, timeout=60, headers={"X-API-Key": key}) for key in keys)
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
    if "application/json" not in operation.get("requestBody", {}).get("content", {}):
        return None  # no body, or a file
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = house.description["components"]["schemas"][reference.rsplit("/", 1)[1]]
    example: dict[str, Any] = schema["examples"][0]
    return example


def parameter(house: House, described: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in described:
        return described
    found: dict[str, Any] = house.description["components"]["parameters"][described["$ref"].rsplit("/", 1)[1]]
    return found


def test_ids_of_others_are_unknown_on_every_route(house: House) -> None:
    asked = 0
    for method, path, operation in routes(house):
        if "{" in path:
            body = example_body(house, operation)
            parts = {"number": "2", "ending": "svg"}  # of a version and a picture, which are no ids
            answers = [
                house.bob.request(method, house.address + path.format_map({**ids, **parts}), json=body)
                for ids in (house.things, dict.fromkeys(house.things, UNKNOWN))
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
                for each in (house.things["db_connection_id"], UNKNOWN)
            ]
            assert [each.status_code for each in answers] == [404, 404], (method, path)
            assert answers[0].content == answers[1].content


def test_no_report_is_made_of_what_others_have(house: House) -> None:
    part = {"kind": "answer", "message_id": house.things["message_id"]}
    foreign = {"session_id": house.things["session_id"], "parts": [part]}
    unknown = {"session_id": UNKNOWN, "parts": [{**part, "message_id": UNKNOWN}]}
    answers = [house.bob.post("/reports", json=each) for each in (foreign, unknown)]
    assert [each.status_code for each in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    made = house.ann.post("/reports", json=foreign)
    assert (made.status_code, made.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "How many customers?" in made.text
    boards = [
        house.bob.post("/reports", json={"board_id": each}) for each in (house.things["board_id"], UNKNOWN)
    ]
    assert [each.status_code for each in boards] == [404, 404]
    assert boards[0].content == boards[1].content
    of_board = house.ann.post("/reports", json={"board_id": house.things["board_id"], "format": "ipynb"})
    assert of_board.status_code == 200, of_board.text
    assert of_board.json()["nbformat"] == 4


def test_lists_hold_nothing_of_others_whatever_they_are_asked_for(house: House) -> None:
    for method, path, operation in routes(house):
        names = {parameter(house, each)["name"] for each in operation.get("parameters", ())}
        if (
            method == "GET"
            and "{" not in path
            and "cursor" in names
            and path not in {*LISTED_WHOLE, OF_A_THING}
        ):
            for query in ({}, {"db_connection_id": house.things["db_connection_id"]}, {"q": "client"}):
                wanted = {name: value for name, value in query.items() if name in names}
                assert house.bob.get(house.address + path, params=wanted).json()["items"] == [], (path, query)


def test_comments_on_things_of_others_are_as_unknown_as_the_things(house: House) -> None:
    board, message = house.things["board_id"], house.things["message_id"]
    for path in (OF_A_THING, f"{OF_A_THING}/people"):
        for kind, thing_id in (("board", board), ("answer", message)):
            answers = [
                house.bob.get(house.address + path, params={"kind": kind, "target_id": each})
                for each in (thing_id, UNKNOWN)
            ]
            assert [each.status_code for each in answers] == [404, 404], (path, kind)
            assert answers[0].content == answers[1].content, (path, kind)
    counts = house.bob.get(f"/comments/counts?session_id={house.things['session_id']}")
    assert counts.status_code == 404


def test_a_shared_database_is_asked_by_all_and_changed_by_its_owner_alone(house: House) -> None:
    shop, bob = house.things["db_connection_id"], house.bob
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
    shop, bob = house.things["db_connection_id"], house.bob
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
    shop, bob = house.things["db_connection_id"], house.bob
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


QUESTION = {"messages": [{"role": "user", "content": "How many customers?"}]}


def langgraph_routes() -> Iterator[tuple[str, str]]:
    """Methods and paths of the LangGraph API that name something."""
    for route in iter_route_contexts(describe_api().routes):
        path = (route.path or "").replace("{namespace:path}", "")
        named = path.startswith("/langgraph/") and "{" in path
        if isinstance(route.original_route, APIRoute) and named:
            yield from ((method, path) for method in sorted(route.original_route.methods or ()))


def test_threads_runs_and_assistants_of_others_are_unknown_to_langgraphs_clients(house: House) -> None:
    mine = {
        "thread_id": house.things["session_id"],
        "run_id": house.things["run_id"],
        "assistant_id": house.things["db_connection_id"],
        "checkpoint_id": house.things["checkpoint_id"],
    }
    unknown = dict.fromkeys(mine, UNKNOWN)
    asked = 0
    for method, path in langgraph_routes():
        if path.endswith("/commands"):  # a run of an unknown thread makes it: see the end
            continue
        is_run = method == "POST" and "/runs" in path and not path.endswith("/cancel")
        body: dict[str, object] = {"assistant_id": "kai", "input": QUESTION} if is_run else {}
        if path.endswith("/stream/events"):
            body = {"channels": ["values"]}
        foreign, none = (
            house.bob.request(method, house.address + path.format_map(ids), json=body)
            for ids in (mine, unknown)
        )
        assert [foreign.status_code, none.status_code] == [404, 404], (method, path, foreign.text)
        assert foreign.content.replace(mine["assistant_id"].encode(), UNKNOWN.encode()) == none.content
        asked += 1
    assert asked > 20
    for path in ("threads", "assistants"):
        found = house.bob.post(f"{house.address}/langgraph/{path}/search", json={"limit": 100}).json()
        assert not {mine["thread_id"], mine["assistant_id"]} & {
            str(each[f"{path[:-1]}_id"]) for each in found
        }
        assert house.ann.post(f"{house.address}/langgraph/{path}/search", json={}).json() != []
    commands = f"{house.address}/langgraph/threads/{mine['thread_id']}/commands"
    answered = {"interrupt_id": UNKNOWN, "response": {"decisions": [{"type": "approve"}]}}
    command = {"id": 1, "method": "input.respond", "params": answered}
    refused = house.bob.post(commands, json=command).json()
    assert refused["type"] == "error"
    assert "no thread" in refused["message"]


def test_a_thread_id_that_others_have_is_as_good_as_a_free_one(house: House) -> None:
    threads = f"{house.address}/langgraph/threads"
    named = str(uuid4())
    assert house.ann.post(threads, json={"thread_id": named}).status_code == 200
    mine = house.things["session_id"]
    for taken in (mine, named, str(uuid4())):
        made = house.bob.post(threads, json={"thread_id": taken, "metadata": {"of": "bob"}})
        assert (made.status_code, made.json()["thread_id"]) == (200, taken)
        assert house.bob.post(threads, json={"thread_id": taken}).status_code == 409
        again = house.bob.post(threads, json={"thread_id": taken, "if_exists": "do_nothing"})
        assert again.json() == made.json()
        found = house.bob.post(f"{threads}/search", json={"ids": [taken]}).json()
        assert [each["thread_id"] for each in found] == [taken]
        assert house.bob.get(f"{threads}/{taken}/state").json()["checkpoint"]["thread_id"] == taken
        assert house.bob.delete(f"{threads}/{taken}").status_code == 204
        assert house.bob.get(f"{threads}/{taken}").status_code == 404
    for kept in (mine, named):
        assert house.ann.get(f"{threads}/{kept}").json()["metadata"].get("of") is None


def test_items_of_others_are_as_none_to_langgraphs_clients(house: House) -> None:
    store = f"{house.address}/langgraph/store"
    name: dict[str, object] = {"namespace": ["team"], "key": "home"}
    for client, value in ((house.ann, 1), (house.bob, 2)):
        assert client.put(f"{store}/items", json={**name, "value": {"number": value}}).status_code == 204
    assert house.bob.request("DELETE", f"{store}/items", json=name).status_code == 204
    asked = {"namespace": "team", "key": "home"}
    assert house.bob.get(f"{store}/items", params=asked).json() is None
    assert house.bob.post(f"{store}/items/search", json={}).json() == {"items": []}
    assert house.bob.post(f"{store}/namespaces", json={}).json() == {"namespaces": []}
    assert house.ann.get(f"{store}/items", params=asked).json()["value"] == {"number": 1}
    assert len(house.ann.post(f"{store}/items/search", json={}).json()["items"]) == 1
    assert house.ann.post(f"{store}/namespaces", json={}).json() == {"namespaces": [["team"]]}


def test_langgraphs_clients_need_the_scopes_of_what_they_do(house: House) -> None:
    assert httpx.get(f"{house.address}/langgraph/ok", timeout=60).json() == {"ok": True}
    assert httpx.get(f"{house.address}/langgraph/info", timeout=60).status_code == 200
    for path in ("threads/search", "assistants/search", "runs/wait", "store/items/search"):
        assert httpx.post(f"{house.address}/langgraph/{path}", json={}, timeout=60).status_code == 401
