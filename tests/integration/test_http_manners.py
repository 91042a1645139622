"""Manners of HTTP: versions, entity tags, conditional requests, locations, methods."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from pydantic import BaseModel, ValidationError

from app.core.storage.edits import ChangedMeanwhile, RecordEdit, edited_by
from app.http.entity_tags import Located
from app.http.routes import API_PREFIX
from app.main import describe_api
from app.modules.rules.files import RuleFiles
from app.modules.rules.model import RuleText
from app.modules.rules.service import Rules
from tests.support.boards import BoardKai, kai_with_boards, store_settings
from tests.support.callers import admin


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards(store_settings(request), tmp_path) as opened:
        yield opened


def routes(method: str) -> Iterator[tuple[RouteContext, APIRoute]]:
    for route in iter_route_contexts(describe_api().routes):
        declared = route.original_route
        own = isinstance(declared, APIRoute) and str(route.path).startswith(f"{API_PREFIX}/")
        if own and method in (route.methods or ()):
            assert isinstance(declared, APIRoute)
            yield route, declared


def test_every_record_that_patch_changes_begins_with_its_version() -> None:
    patched = list(routes("PATCH"))
    assert len(patched) >= 15
    for route, declared in patched:
        model = declared.response_model
        assert issubclass(model, BaseModel)
        assert next(iter(model.model_fields)) == "version", route.path
        assert model.model_fields["version"].annotation is int


def test_every_route_that_creates_says_where() -> None:
    created = [route for route, declared in routes("POST") if declared.status_code == 201]
    assert len(created) >= 15
    paths = {str(route.path).removeprefix(API_PREFIX) for route in iter_route_contexts(describe_api().routes)}
    shapes = {shape(path) for path in paths}
    for route in created:
        (found,) = [each.dependency for each in route.dependencies if isinstance(each.dependency, Located)]
        assert shape(found.path) in shapes, found.path


def shape(path: str) -> str:
    """A path without the names of its parameters."""
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))


async def test_the_version_of_a_record_counts_edits_and_guards_them(kai: BoardKai) -> None:
    created = await kai.http.post("/boards", json={"title": "Sales"})
    assert (created.status_code, created.json()["version"], created.headers["ETag"]) == (201, 0, '"0"')
    path = f"/boards/{created.json()['id']}"
    assert created.headers["Location"] == f"{API_PREFIX}{path}"
    first = await kai.http.patch(path, json={"title": "Ann"}, headers={"If-Match": '"0"'})
    assert (first.status_code, first.json()["version"], first.headers["ETag"]) == (200, 1, '"1"')
    second = await kai.http.patch(path, json={"title": "Bob"}, headers={"If-Match": '"0"'})
    assert second.status_code == 412
    assert (second.json()["type"], second.json()["version"]) == ("urn:kai:changed-meanwhile", 1)
    assert "Get it again" in second.json()["detail"]
    nothing = await kai.http.patch(path, json={}, headers={"If-Match": '"0"'})
    assert nothing.status_code == 412
    read = await kai.http.get(path)
    assert (read.json()["title"], read.json()["version"]) == ("Ann", 1)
    by_tag = await kai.http.patch(path, json={"title": "Cy"}, headers={"If-Match": read.headers["ETag"]})
    assert (by_tag.status_code, by_tag.json()["version"]) == (200, 2)
    listed = await kai.call("GET", "/boards")
    assert [each["version"] for each in listed["items"]] == [2]


async def test_of_editors_at_one_moment_one_wins_and_the_others_hear_of_it(kai: BoardKai) -> None:
    path = f"/boards/{await kai.board()}"
    answers = await asyncio.gather(
        *(
            kai.http.patch(path, json={"title": f"Title {number}"}, headers={"If-Match": '"0"'})
            for number in range(8)
        )
    )
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, *[412] * 7]
    (won,) = [answer.json()["title"] for answer in answers if answer.status_code == 200]
    assert (await kai.call("GET", path))["title"] == won
    free = await asyncio.gather(*(kai.http.patch(path, json={"title": "Free"}) for _ in range(8)))
    assert {answer.status_code for answer in free} == {200}
    assert (await kai.call("GET", path))["version"] == 9


@pytest.mark.parametrize(
    ("if_match", "status"),
    [
        ("*", 200),
        ('"7", "0"', 200),
        ('W/"7", "0"', 200),
        ('"0.0123456789abcdef01"', 200),
        ('"7"', 412),
        ('"other"', 412),
        ('""', 412),
        ('W/"0"', 412),
        ("0", 400),
        ('"0', 400),
        ('"0" "1"', 400),
        ('"0",', 400),
        ("", 400),
    ],
)
async def test_if_match_is_read_as_the_standard_says(kai: BoardKai, if_match: str, status: int) -> None:
    path = f"/boards/{await kai.board()}"
    answer = await kai.http.patch(path, json={"title": "New"}, headers={"If-Match": if_match})
    assert answer.status_code == status, answer.text
    if status == 200:
        assert answer.headers["ETag"] == '"1"'
    else:
        assert len(answer.json()["detail"]) > 40
        assert (await kai.call("GET", path))["version"] == 0


async def test_if_match_of_anything_but_a_change_is_refused(kai: BoardKai) -> None:
    path = f"/boards/{await kai.board()}"
    refused = await kai.http.delete(path, headers={"If-Match": '"0"'})
    assert (refused.status_code, refused.json()["type"]) == (400, "urn:kai:malformed")
    assert (await kai.http.get(path, headers={"If-Match": '"3"'})).status_code == 200
    unknown = await kai.http.patch(f"{path}0", json={"title": "No"}, headers={"If-Match": "*"})
    assert unknown.status_code == 404


async def test_the_tag_of_what_get_answers_changes_with_it(kai: BoardKai) -> None:
    board = await kai.board()
    pin = await kai.pinned(board, await kai.answer())
    for path in (f"/boards/{board}", f"/boards/{board}/pins/{pin['id']}", "/boards", "/sessions"):
        first = await kai.http.get(path)
        tag = first.headers["ETag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await kai.http.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    path = f"/boards/{board}"
    tag = (await kai.http.get(path)).headers["ETag"]
    await kai.refreshed(board)
    newer = await kai.http.get(path, headers={"If-None-Match": tag})
    assert newer.status_code == 200
    assert newer.headers["ETag"] != tag
    assert newer.json()["version"] == 0  # a refresh is no edit
    edited = await kai.http.patch(path, json={"title": "Mine"}, headers={"If-Match": tag})
    assert edited.status_code == 200


RECORDS: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "session": ("/sessions", {}, {"title": "New"}),
    "example": ("/examples", {"question": "How many?", "sql": "SELECT count(*) FROM customers"}, {}),
    "term": ("/glossary", {"term": "churn", "meaning": "who left"}, {"meaning": "who has left"}),
    "instruction": ("/instructions", {"text": "Count people."}, {"text": "Count persons."}),
    "fact": (
        "/memory/facts",
        {"text": "It begins in April.", "kind": "preference", "scope": "user"},
        {},
    ),
    "connection": ("/database-connections", {}, {"description": "A shop"}),
}
CHANGES: dict[str, dict[str, object]] = {
    "example": {"question": "How many customers?"},
    "fact": {"text": "The year begins in May."},
}


@pytest.mark.parametrize("kind", RECORDS)
async def test_every_kind_of_record_refuses_an_edit_of_an_earlier_version(kai: BoardKai, kind: str) -> None:
    path, change = await a_record(kai, kind)
    read = await kai.http.get(path)
    assert read.status_code == 200, read.text
    version = read.json()["version"]
    missed = await kai.http.patch(path, json=change, headers={"If-Match": f'"{version + 1}"'})
    assert (missed.status_code, missed.json()["version"]) == (412, version)
    assert (await kai.http.get(path)).json() == read.json()
    changed = await kai.http.patch(path, json=change, headers={"If-Match": read.headers["ETag"]})
    assert changed.status_code == 200, changed.text
    assert (await kai.http.get(path)).json()["version"] == version + 1
    late = await kai.http.patch(path, json=change, headers={"If-Match": read.headers["ETag"]})
    assert late.status_code == 412


async def a_record(kai: BoardKai, kind: str) -> tuple[str, dict[str, object]]:
    """Returns the path of a new record, and a change of it."""
    collection, fields, change = RECORDS[kind]
    change = change or CHANGES[kind]
    if kind == "connection":
        return f"{collection}/{kai.connection_id}", change
    if kind in ("session", "example", "term", "instruction"):
        fields = {**fields, "db_connection_id": kai.connection_id}
    created = await kai.http.post(collection, json=fields)
    assert created.status_code == 201, created.text
    assert created.headers["ETag"] == '"0"'
    location = created.headers["Location"].removeprefix(API_PREFIX)
    return location, change


async def test_a_rule_and_its_toggle_have_one_version(kai: BoardKai) -> None:
    rules = kai.services.rules or Rules(
        kai.services.storage, kai.services.database_connections, RuleFiles(None)
    )
    caller = admin("ann")
    added = await rules.add(caller, "short", RuleText(text="Be short.", apply="always"))
    assert added.rule.version == 0
    with edited_by(RecordEdit({0})):
        both = RuleText(text="Be brief.", apply="always")
        assert (await rules.change(caller, "short", both, active=False)).rule.version == 2
    with edited_by(RecordEdit({1})), pytest.raises(ChangedMeanwhile):
        await rules.change(caller, "short", None, active=True)
    assert not (await rules.get("ann", "short")).rule.active


async def test_a_table_an_answer_and_a_comment_have_versions(kai: BoardKai) -> None:
    await kai.services.database_connections.scan("ann", kai.connection_id)
    table = f"/database-connections/{kai.connection_id}/tables/customers"
    await guarded(kai, table, {"description": "People who buy"})
    await kai.services.database_connections.scan("ann", kai.connection_id)
    tables = (await kai.call("GET", f"/database-connections/{kai.connection_id}/tables"))["items"]
    assert {each["name"]: each["version"] for each in tables}["customers"] == 1
    await kai.answer()
    (session,) = (await kai.call("GET", "/sessions"))["items"]
    message = (await kai.call("GET", f"/sessions/{session['id']}"))["messages"]["items"][-1]
    await guarded(kai, f"/sessions/{session['id']}/messages/{message['id']}", {"chart_choice": None})
    board = await kai.board()
    written = await kai.http.post("/comments", json={"kind": "board", "target_id": board, "text": "Why?"})
    path = written.headers["Location"].removeprefix(API_PREFIX)
    assert (await kai.call("GET", path))["text"] == "Why?"
    await guarded(kai, path, {"text": "How?", "resolved": True}, edits=2)


async def guarded(kai: BoardKai, path: str, change: dict[str, Any], edits: int = 1) -> None:
    changed = await kai.http.patch(path, json=change, headers={"If-Match": '"0"'})
    assert (changed.status_code, changed.json()["version"]) == (200, edits), changed.text
    late = await kai.http.patch(path, json=change, headers={"If-Match": '"0"'})
    assert (late.status_code, late.json()["version"]) == (412, edits)


async def test_405_and_options_name_all_methods_of_a_path(kai: BoardKai) -> None:
    board = await kai.board()
    for path, allowed in {
        f"/boards/{board}": "GET, HEAD, PATCH, DELETE, OPTIONS",
        "/boards": "GET, HEAD, POST, OPTIONS",
        "/memory/consents": "GET, HEAD, PUT, DELETE, OPTIONS",
        "/database-connections/test": "POST, OPTIONS",
    }.items():
        refused = await kai.http.request("PUT" if "PUT" not in allowed else "PATCH", path, json={})
        assert (refused.status_code, refused.headers["Allow"]) == (405, allowed)
        assert allowed in refused.json()["detail"]
        options = await kai.http.options(path)
        assert (options.status_code, options.content, options.headers["Allow"]) == (204, b"", allowed)
        assert ("Accept-Patch" in options.headers) == ("PATCH" in allowed)
    unknown = await kai.http.get("/bords")
    assert unknown.json()["nearest"][0] == f"{API_PREFIX}/boards"
    assert "/boards" in unknown.json()["detail"]
    assert (await kai.http.options("/bords")).status_code == 404


async def test_a_patch_in_the_media_type_of_merge_patches_is_taken(kai: BoardKai) -> None:
    path = f"/boards/{await kai.board()}"
    headers = {"Content-Type": "application/merge-patch+json"}
    changed = await kai.http.patch(path, content='{"title": "Merged"}', headers=headers)
    assert (changed.status_code, changed.json()["title"]) == (200, "Merged")


async def test_a_patch_merges_metadata_and_null_removes_a_key(kai: BoardKai) -> None:
    metadata = {"team": "sales", "deep": {"a": 1, "b": [1, {"c": None}]}, "note": "x" * 9_000}
    created = await kai.http.post(
        "/sessions", json={"db_connection_id": kai.connection_id, "metadata": metadata}
    )
    path = created.headers["Location"].removeprefix(API_PREFIX)
    patch = {"team": None, "unknown": None, "deep": {"a": None, "z": {"y": None}}, "year": 2026}
    changed = await kai.http.patch(path, json={"metadata": patch})
    merged = {"deep": {"b": [1, {"c": None}], "z": {}}, "note": "x" * 9_000, "year": 2026}
    assert (changed.status_code, changed.json()["metadata"]) == (200, merged)
    assert [each["metadata"] for each in (await kai.call("GET", "/sessions?metadata[year]=2026"))["items"]]
    assert (await kai.call("GET", "/sessions?metadata[team]=sales"))["items"] == []
    large = await kai.http.patch(path, json={"metadata": {"more": "y" * 9_000}})
    assert (large.status_code, large.json()["type"]) == (422, "urn:kai:metadata-too-large")
    assert "null" in large.json()["detail"]
    assert (await kai.call("GET", path))["metadata"] == merged
    at_once = [kai.http.patch(path, json={"metadata": {f"k{number}": number}}) for number in range(5)]
    assert {answer.status_code for answer in await asyncio.gather(*at_once)} == {200}
    assert (await kai.call("GET", path))["metadata"] == {**merged, **{f"k{n}": n for n in range(5)}}


def test_null_of_a_required_field_is_refused_by_every_patch() -> None:
    """Null removes a field, so that it is for fields that a record may lack."""
    found = []
    for route, declared in routes("PATCH"):
        assert declared.body_field is not None
        body, record = declared.body_field.field_info.annotation, declared.response_model
        assert isinstance(body, type)
        assert issubclass(body, BaseModel)
        for name in body.model_fields:
            try:
                body.model_validate({name: None})
            except ValidationError:
                continue
            answered = record.model_fields.get(name)
            if answered is not None and not is_nullable(answered.annotation):
                found.append(f"{route.path}: {name}")
    assert found == []


def is_nullable(annotation: object) -> bool:
    return annotation is None or type(None) in get_args(annotation)


async def test_head_answers_wherever_get_does(kai: BoardKai) -> None:
    board = await kai.board()
    for path in (f"/boards/{board}", "/sessions", "/openapi.json", f"/boards/{board}0"):
        got, headed = await kai.http.get(path), await kai.http.head(path)
        assert (headed.status_code, headed.content) == (got.status_code, b"")
        for name in ("Content-Type", "Content-Length", "ETag"):
            assert headed.headers.get(name) == got.headers.get(name)
    await kai.answer()
    (session,) = (await kai.call("GET", "/sessions"))["items"]
    found = await kai.services.sessions.repository.latest("ann", [], 1)
    run_id = (await kai.call("GET", f"/sessions/{session['id']}"))["messages"]["items"][0]["run_id"]
    assert found
    async with asyncio.timeout(10):
        stream = await kai.http.head(f"/sessions/{session['id']}/runs/{run_id}/stream")
    assert (stream.status_code, stream.content) == (200, b"")
    assert stream.headers["Content-Type"].startswith("text/event-stream")
