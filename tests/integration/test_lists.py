"""Lists: order, filters of times and metadata, totals, and the cursors that belong to them."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel

from app.core.clock import as_datetime, now_ms
from app.http.parameters import MOST_METADATA_FILTERS, ListQuery
from app.http.routes import API_PREFIX, PageOf
from app.main import describe_api
from tests.support.boards import BoardKai, kai_with_boards, store_settings

IN_THEIR_OWN_ORDER = {
    "/sessions/{session_id}/checkpoints": "turns",
    "/rules": "priority",
}
"""Lists of records with a time of creation that have one order, and why."""


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards(store_settings(request), tmp_path) as opened:
        yield opened


def lists() -> Iterator[tuple[str, APIRoute, type[BaseModel]]]:
    """Yields the path, the route and the body of the items of every list."""
    for context in iter_route_contexts(describe_api().routes):
        route, path = context.original_route, str(context.path).removeprefix(API_PREFIX)
        model = route.response_model if isinstance(route, APIRoute) else None
        if isinstance(model, type) and issubclass(model, PageOf) and path != str(context.path):
            assert isinstance(route, APIRoute)
            yield path, route, get_args(model.model_fields["items"].annotation)[0]


def test_every_list_of_records_is_sorted_filtered_and_counted_as_its_caller_wants() -> None:
    found, one_order = set(), set()
    for path, route, item in lists():
        if "created_at" not in item.model_fields:
            continue
        queries = [each.field_info.annotation for each in route.dependant.query_params]
        if any(isinstance(each, type) and issubclass(each, ListQuery) for each in queries):
            found.add(path)
        else:
            one_order.add(path)
    assert len(found) >= 12
    assert one_order == set(IN_THEIR_OWN_ORDER)


async def boards(kai: BoardKai, query: str) -> dict[str, Any]:
    answer = await kai.http.get(f"/boards?{query}")
    assert answer.status_code == 200, answer.text
    return {**answer.json(), "titles": [each["title"] for each in answer.json()["items"]]}


async def test_a_list_has_the_order_and_the_times_that_its_caller_wants(kai: BoardKai) -> None:
    made = [(await kai.http.post("/boards", json={"title": title})).json() for title in "ABC"]
    await kai.http.patch(f"/boards/{made[0]['id']}", json={"title": "A2"})
    assert (await boards(kai, ""))["titles"] == ["A2", "C", "B"]
    assert (await boards(kai, "sort=created_at"))["titles"] == ["A2", "B", "C"]
    assert (await boards(kai, "sort=-created_at"))["titles"] == ["C", "B", "A2"]
    assert (await boards(kai, "sort=updated_at"))["titles"] == ["B", "C", "A2"]
    second = made[1]["created_at"]
    assert "B" not in (await boards(kai, f"created_after={second}"))["titles"]
    assert (await boards(kai, f"created_before={second}"))["titles"] in (["A2"], [])
    later = (as_datetime(now_ms()) + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    assert (await boards(kai, f"updated_after={later}&total=true"))["total"] == 0
    assert (await boards(kai, f"updated_before={later}&total=true&limit=1"))["total"] == 3
    assert (await boards(kai, "limit=1"))["total"] is None


async def test_a_cursor_belongs_to_its_list_order_and_filters(kai: BoardKai) -> None:
    for title in "ABC":
        await kai.http.post("/boards", json={"title": title})
    first = await boards(kai, "sort=created_at&created_after=2026-01-01T00:00:00Z&limit=2")
    cursor = first["next_cursor"]
    same = f"sort=created_at&created_after=2026-01-01T00:00:00Z&cursor={cursor}"
    rest = await boards(kai, f"{same}&limit=1&total=true")
    assert (first["titles"], rest["titles"], rest["next_cursor"], rest["total"]) == (
        ["A", "B"],
        ["C"],
        None,
        3,
    )
    others = [
        f"/boards?sort=-created_at&created_after=2026-01-01T00:00:00Z&cursor={cursor}",
        f"/boards?sort=created_at&created_after=2026-01-02T00:00:00Z&cursor={cursor}",
        f"/boards?sort=created_at&cursor={cursor}",
        f"/boards?cursor={cursor}",
        f"/sessions?sort=created_at&created_after=2026-01-01T00:00:00Z&cursor={cursor}",
        f"/boards?sort=created_at&cursor={cursor.partition('.')[0]}",
        "/boards?cursor=nonsense",
    ]
    for path in others:
        refused = await kai.http.get(path)
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:invalid-cursor"), path
        assert "start again" in refused.json()["detail"]


async def test_sessions_are_found_by_the_pairs_of_their_metadata(kai: BoardKai) -> None:
    pairs: list[dict[str, object]] = [
        {"order": 17, "paid": True},
        {"order": "17"},
        {"order": 18, "paid": None},
    ]
    for number, metadata in enumerate(pairs):
        body = {"db_connection_id": kai.connection_id, "title": f"S{number}", "metadata": metadata}
        assert (await kai.http.post("/sessions", json=body)).status_code == 201

    async def found(query: str) -> list[str]:
        answer = await kai.http.get(f"/sessions?sort=created_at&{query}")
        assert answer.status_code == 200, answer.text
        return [each["title"] for each in answer.json()["items"]]

    assert await found("metadata[order]=17") == ["S0", "S1"]
    assert await found("metadata[order]=17&metadata[paid]=true") == ["S0"]
    assert await found("metadata[paid]=null") == ["S2"]
    assert await found("metadata[order]=19") == []
    assert await found("metadata[order]=%22%20OR%20true") == []
    most = "&".join(f"metadata[k{number}]=1" for number in range(MOST_METADATA_FILTERS))
    assert await found(most) == []


REFUSED = {
    "/sessions?" + "&".join(f"metadata[k{number}]=1" for number in range(10)): "these are 10: send fewer",
    "/sessions?metadata[a]=1&metadata[a]=2": "sent twice",
    "/sessions?metadata=x": "metadata[key]=value",
    "/boards?sort=created_at&sort=-created_at": "query.sort: it is sent twice",
    "/runs?status=complete&limit=1&status=failed": "query.status: it is sent twice",
    "/boards?metadata[a]=1": "Extra inputs",
    "/boards?sort=title": "'-updated_at'",
    "/boards?created_after=yesterday": "datetime",
    "/boards?created_after=2026-01-01T00:00:00": "timezone",
    "/boards?limit=101": "100",
    "/boards?total=perhaps": "boolean",
    "/glossary?q=churn&sort=created_at": "leave `sort` out",
    "/runs?sort=updated_at": "'-ended_at'",
}


async def test_a_list_that_cannot_be_is_refused_with_a_sentence(kai: BoardKai) -> None:
    for path, sentence in REFUSED.items():
        refused = await kai.http.get(path)
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:validation"), path
        assert sentence in refused.json()["detail"], path


async def test_runs_are_found_by_the_metadata_of_their_question(kai: BoardKai) -> None:
    session = await kai.call("POST", "/sessions", 201, db_connection_id=kai.connection_id)
    for order in (17, 18):
        body = {"query": "How many?", "sql": "SELECT 1 AS one", "metadata": {"order": order}}
        asked = await kai.http.post(f"/sessions/{session['id']}/query", json=body)
        assert asked.status_code == 200, asked.text
    (found,) = (await kai.call("GET", "/runs?metadata[order]=18"))["items"]
    assert found["metadata"] == {"order": 18}
    page = await kai.call("GET", "/runs?sort=ended_at&status=complete&total=true&limit=1")
    assert (page["total"], page["items"][0]["metadata"]) == (2, {"order": 17})
