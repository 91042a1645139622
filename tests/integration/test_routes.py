"""Walks over all routes of all documents: a new route without what HTTP promises of each fails."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import compile_path

from app.core.settings import MemorySettings
from app.http.methods import methods_of
from app.http.routes import API_PREFIX
from tests.support.boards import PER_COUNTRY, BoardKai, Json, kai_with_boards
from tests.support.documents import documents, parameters_of

ROOT = "http://127.0.0.1"
METHODS = ("PUT", "PATCH", "DELETE", "POST", "GET")
SLOW = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000) "
    "SELECT count(*) AS numbers FROM n"
)
STREAM = "text/event-stream"
SAME_OF_HEAD = ("Content-Type", "ETag", "Location", "X-Run-Id")
MOVES = ("/metrics", "/readyz", f"{API_PREFIX}/usage", f"{API_PREFIX}/memory/export")
"""Paths whose answers differ from one request to the next."""
CREATION = {"sort", "created_after", "created_before", "total"}
CHANGE = CREATION | {"updated_after", "updated_before"}
LISTS = {
    "/sessions": CHANGE | {"metadata"},
    "/sessions/{session_id}/runs": CREATION | {"metadata", "ended_after"},
    "/runs": CREATION | {"metadata", "ended_after"},
    "/boards": CHANGE,
    "/schedules": CHANGE,
    "/webhooks": CHANGE,
    "/webhooks/{webhook_id}/deliveries": CREATION,
    "/comments": CREATION,
    "/links": CREATION,
    "/database-connections": CREATION,
    "/examples": CHANGE,
    "/glossary": CHANGE,
    "/instructions": CHANGE,
    "/memory/facts": CHANGE,
    "/api-keys": CREATION,
}
"""Parameters of the lists of records, besides `limit` and `cursor`."""
IN_AN_ORDER_OF_THEIR_OWN = {
    "/sessions/{session_id}",
    "/sessions/{session_id}/questions",
    "/sessions/{session_id}/messages",
    "/sessions/{session_id}/confirmations",
    "/sessions/{session_id}/checkpoints",
    "/shared/{link_id}",
    "/notices",
    "/models",
    "/rules",
    "/memory/consents",
    "/database-connections/{db_connection_id}/tables",
}
"""Lists by name, by priority, or of the turns of a session; and those of rows, by their path."""


CHANGES: dict[str, Json] = {
    "/sessions/{session_id}": {"title": "Talk"},
    "/sessions/{session_id}/messages/{message_id}": {"chart_choice": None},
    "/boards/{board_id}": {"title": "Monthly"},
    "/boards/{board_id}/pins/{pin_id}": {"title": "People"},
    "/schedules/{schedule_id}": {"cron": "0 9 1 1 *"},
    "/webhooks/{webhook_id}": {"enabled": False},
    "/comments/{comment_id}": {"text": "How?"},
    "/database-connections/{db_connection_id}": {"description": "A shop"},
    "/database-connections/{db_connection_id}/tables/{table_name}": {"description": "Who buys"},
    "/database-connections/{file_id}/file": {
        "tables": [{"name": "sales", "columns": [{"name": "amount", "type": "text"}]}]
    },
    "/database-connections/{db_connection_id}/policies": {"policies": None},
    "/examples/{example_id}": {"question": "How many customers?"},
    "/glossary/{term_id}": {"meaning": "who has left"},
    "/instructions/{instruction_id}": {"text": "Count persons."},
    "/memory/facts/{fact_id}": {"text": "Months as 03.2026."},
    "/memory/profile": {"consent": True},
    "/memory/profile/{attribute}": {"add": ["Tables"]},
}
"""A change of each kind of record. `file_id` is the database of an uploaded file."""
NEED_A_MODEL = {"/rules/{name}"}
"""`test_http_manners` changes these below their routes."""


@pytest.fixture
async def kai(tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards({"memory": MemorySettings(profile=True)}, tmp_path) as opened:
        yield opened


def paths() -> Mapping[str, Json]:
    return {path: methods for found in documents().values() for path, methods in found["paths"].items()}


def filled(path: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\{([^}]*)\}", lambda name: known.get(name[1], "x1"), path)


def raise_all(faults: list[object]) -> None:
    assert faults == [], "\n".join(map(str, faults))


async def test_every_path_names_its_methods_and_refuses_the_others(kai: BoardKai) -> None:
    """Of others, one that is new to the path, and those of paths whose parameter would take its end."""
    faults: list[object] = []
    patterns = [(compile_path(path)[0], found) for path, found in paths().items()]
    for path, described in paths().items():
        url = ROOT + filled(path, {})
        methods = {each.upper() for each in described}
        allowed = methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
        options = await kai.http.options(url)
        accepts = options.headers.get("Accept-Patch", "").startswith("application/merge-patch+json")
        answered = (options.status_code, options.content, allow(options), accepts)
        if answered != (204, b"", allowed, "PATCH" in methods):
            faults.append(("OPTIONS", path, answered))
        others = [method for method in METHODS if method not in methods]
        of_others = [each.upper() for pattern, found in patterns if pattern.fullmatch(path) for each in found]
        for method in {others[0], *of_others} & {*others}:
            refused = await kai.http.request(method, url, json={})
            if refused.status_code != 405 or allow(refused) != allowed:
                faults.append((method, path, refused.status_code, refused.headers.get("Allow")))
    raise_all(faults)


def allow(answer: httpx.Response) -> set[str]:
    return set(answer.headers.get("Allow", "").split(", "))


async def test_a_path_with_a_slip_is_unknown_and_the_meant_one_is_named(kai: BoardKai) -> None:
    faults: list[object] = []
    tried = 0
    for path in paths():
        slip = f"{filled(path, {'session_id': '01a228d7-4dc4-7179-8ae3-a5dff7841176'})}x"
        if path.endswith("}") or methods_of(kai.app, slip):
            continue  # it is an id, or of an API that answers every path itself
        tried += 1
        answer = await kai.http.get(ROOT + slip)
        if answer.status_code != 404 or path not in answer.json().get("nearest", []):
            faults.append((slip, answer.status_code, answer.text))
    raise_all(faults)
    assert tried > 90


async def test_every_get_has_its_head(kai: BoardKai) -> None:
    known = await records(kai)
    faults: list[object] = []
    statuses = []
    for path, described in paths().items():
        if "get" not in described:
            continue
        url = ROOT + filled(path, known) + ("?kind=board&target_id=x" if path.endswith("s/people") else "")
        async with asyncio.timeout(10):
            headed = await kai.http.head(url)
        if STREAM in described["get"]["responses"].get("200", {}).get("content", {}):
            got_status, same = 200, headed.headers["Content-Type"].startswith(STREAM)
        else:
            got = await kai.http.get(url)
            same = all(got.headers.get(name) == headed.headers.get(name) for name in SAME_OF_HEAD)
            got_status, same = got.status_code, same or path in MOVES
        if headed.status_code != got_status or headed.content or not same:
            faults.append((path, got_status, headed.status_code, headed.headers))
        statuses.append(headed.status_code)
    raise_all(faults)
    assert statuses.count(200) > 70


async def test_head_of_a_stream_begins_and_ends_nothing(kai: BoardKai) -> None:
    session = (await kai.call("POST", "/sessions", 201, db_connection_id=kai.connection_id))["id"]
    asked = await kai.http.post(
        f"/sessions/{session}/query",
        json={"query": "How many numbers?", "sql": SLOW},
        headers={"Prefer": "respond-async"},
    )
    run = asked.json()["run_id"]
    assert asked.status_code == 202
    cancels = f"{ROOT}/langgraph/threads/{session}/runs/{run}/%s?cancel_on_disconnect=1"
    for url in (f"/sessions/{session}/runs/{run}/stream", cancels % "stream", cancels % "join"):
        answer = await kai.http.head(url)
        assert (answer.status_code, answer.content) == (200, b"")
    assert (await kai.call("GET", f"/sessions/{session}/runs/{run}"))["status"] in ("queued", "running")
    assert (await kai.call("GET", f"/sessions/{session}/runs/{run}/answer"))["status"] == "complete"


async def test_every_post_reads_its_idempotency_key(kai: BoardKai) -> None:
    faults: list[object] = []
    posts = [path for path, methods in documents()[API_PREFIX]["paths"].items() if "post" in methods]
    for path in posts:
        answer = await kai.http.post(ROOT + filled(path, {}), json={}, headers={"Idempotency-Key": "k" * 256})
        if answer.status_code != 422 or "dempotency" not in answer.text.replace("idempotency_key", ""):
            faults.append((path, answer.status_code, answer.text))
    raise_all(faults)
    assert len(posts) >= 45


def test_every_list_of_records_is_sorted_and_selected() -> None:
    found = documents()[API_PREFIX]
    lists = {
        path.removeprefix(API_PREFIX): {each["name"] for each in parameters_of(found, methods["get"])}
        for path, methods in found["paths"].items()
        if "get" in methods
    }
    lists = {path: names for path, names in lists.items() if "cursor" in names}
    assert {path for path in lists if not path.endswith("/rows")} == LISTS.keys() | IN_AN_ORDER_OF_THEIR_OWN
    raise_all([(path, wanted - lists[path]) for path, wanted in LISTS.items() if not wanted <= lists[path]])


async def test_every_record_that_patch_changes_is_guarded_by_its_version(kai: BoardKai) -> None:
    known = await records(kai)
    patched = {
        path.removeprefix(API_PREFIX)
        for path, methods in documents()[API_PREFIX]["paths"].items()
        if "patch" in methods
    }
    assert {path.replace("{file_id}", "{db_connection_id}") for path in CHANGES} == patched - NEED_A_MODEL
    faults: list[object] = []
    for path, change in CHANGES.items():
        url = filled(path, known)
        read = await read_record(kai, path, url)
        version = read["version"]
        late = await kai.http.patch(url, json=change, headers={"If-Match": f'"{version + 1}"'})
        if (late.status_code, late.json().get("version")) != (412, version):
            faults.append((path, "late", late.status_code, late.text))
        if await read_record(kai, path, url) != read:
            faults.append((path, "changed by a refused edit"))
        made = await kai.http.patch(url, json=change, headers={"If-Match": f'"{version}"'})
        edited = await read_record(kai, path, url)
        tag = f'"{made.json().get("version")}"'
        if (made.status_code, made.headers.get("ETag")) != (200, tag) or edited["version"] <= version:
            faults.append((path, "made", made.status_code, made.text))
        if "{table_name}" not in path:
            tag = (await kai.http.get(url)).headers["ETag"]
            again = await kai.http.get(url, headers={"If-None-Match": tag})
            known_again = (again.status_code, again.content) == (304, b"")
            if not known_again or not tag.startswith(f'"{edited["version"]}.'):
                faults.append((path, "read", again.status_code, tag))
    raise_all(faults)


async def read_record(kai: BoardKai, path: str, url: str) -> Json:
    """Returns the record as GET answers it; that of a table as its list does."""
    if "{table_name}" not in path:
        return await kai.call("GET", url)
    listed, _, name = url.rpartition("/")
    found: list[Json] = (await kai.call("GET", listed))["items"]
    return next(each for each in found if each["name"] == name)


async def records(kai: BoardKai) -> dict[str, str]:
    """Returns the ids of a record of each kind, by the names of the parameters of paths."""

    async def create(path: str, **body: object) -> str:
        return str((await kai.call("POST", path, 201, **body))["id"])

    of: dict[str, Any] = {"db_connection_id": kai.connection_id}
    await kai.services.database_connections.scan("ann", kai.connection_id)
    session = await create("/sessions", **of)
    asked = await kai.call(
        "POST", f"/sessions/{session}/query", query="Customers per country", sql=PER_COUNTRY
    )
    message = asked["id"]
    board = await create("/boards", title="Weekly")
    webhook = await create("/webhooks", url="http://127.0.0.1:9/", events=["run.failed"])
    delivery = (await kai.call("POST", f"/webhooks/{webhook}/test"))["id"]
    file = await kai.http.post(
        "/database-connections/files?file_name=sales.csv",
        content=b"day,amount\n2026-01-31,12\n",
        headers={"Content-Type": "application/octet-stream"},
    )
    return {
        "kind": "not-found",
        "board_id": board,
        "pin_id": (await kai.pinned(board, message))["id"],
        "schedule_id": await create("/schedules", board_id=board, cron="0 8 1 1 *"),
        "webhook_id": webhook,
        "delivery_id": delivery,
        "link_id": await create("/links", kind="board", target_id=board),
        "comment_id": await create("/comments", kind="board", target_id=board, text="Why?"),
        "fact_id": await create(
            "/memory/facts", **of, kind="preference", scope="user", text="Months as 2026-03."
        ),
        "ending": "svg",
        "number": "1",
        "db_connection_id": kai.connection_id,
        "dbConnectionId": kai.connection_id,
        "file_id": file.headers["Location"].split("/")[-2],
        "session_id": session,
        "sessionId": session,
        "thread_id": session,
        "run_id": asked["run_id"],
        "chatMessageId": asked["run_id"],
        "message_id": message,
        "checkpoint_id": (await kai.call("GET", f"/sessions/{session}/checkpoints"))["items"][0]["id"],
        "table_name": "customers",
        "userId": "ann",
        "example_id": await create(
            "/examples", **of, question="How many?", sql="SELECT count(*) FROM customers"
        ),
        "term_id": await create("/glossary", **of, term="churn", meaning="who left"),
        "instruction_id": await create("/instructions", **of, text="Count people."),
        "attribute": "goals",
        "assistant_id": kai.connection_id,
        "assistant": kai.connection_id,
        "model": "kai/shop",
    }
