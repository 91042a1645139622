"""The typed client is held to KAI's OpenAPI description: every model, parameter and route."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from inspect import Parameter, signature
from typing import Any, cast

import jsonschema
import pytest
from pydantic import JsonValue

from app.bootstrap.application import describe_api
from app.core.errors import Problem, problem_type
from app.http.description.apis import API_V1
from app.http.description.documents import route_document
from graph.errors import TurnError
from kai_analyst_client import Answer, errors, routes
from kai_analyst_client import schema as models
from kai_analyst_client.flows import Endpoint, Flow, Listing, Request
from kai_analyst_client.following import event_of
from kai_analyst_client.schema import OtherChunk, Status
from tests.support import client_schema
from tests.support.wire import first_difference, recorded_runs

API = "/api/v1"


@cache
def schemas() -> dict[str, Any]:
    found: dict[str, Any] = _description()["components"]["schemas"]
    return found


@cache
def operations() -> dict[tuple[str, str], dict[str, Any]]:
    """The operations by method and path."""
    return {
        (method.upper(), path.removeprefix(API)): operation
        for path, methods in _description()["paths"].items()
        if path.startswith(API)
        for method, operation in methods.items()
    }


@cache
def _description() -> dict[str, Any]:
    """Not made while tests are collected, which each worker does."""
    found: dict[str, Any] = json.loads(json.dumps(route_document(describe_api(), API_V1)))
    return found


def test_the_models_of_the_client_are_those_of_the_description() -> None:
    """`make client` writes them again."""
    difference = first_difference(client_schema.PATH.read_text(), client_schema.client_schema())
    assert difference == ""


def recorded_events() -> Iterator[dict[str, JsonValue]]:
    for events in recorded_runs().values():
        for _, event in events:
            yield event.model_dump(mode="json")


def test_an_event_is_read_with_each_field_missing_and_with_one_more() -> None:
    """Ids, times and what names the kind of an event are always there."""
    for event in recorded_events():
        model = event_of(event)
        assert model is not None
        assert model.model_dump(mode="json", exclude_unset=True) == event
        assert event_of({**event, "newer": 1}) == model
        for name in event:
            if name not in ("event", "type", "at", "expires_at") and not name.endswith("_id"):
                less = event_of({key: value for key, value in event.items() if key != name})
                assert isinstance(less, type(model)), (event["event"], name)


def test_a_chunk_of_a_new_kind_and_a_new_step_are_read_and_a_new_event_is_left_out() -> None:
    chunk = event_of({"event": "chunk", "type": "hologram", "content": [1], "size": 3})
    assert chunk == OtherChunk(event="chunk", type="hologram", content=[1])
    status = next(each for each in recorded_events() if each["event"] == "status")
    newer = event_of({**status, "step": "dreaming"})
    assert isinstance(newer, Status)
    assert newer.step == "dreaming"
    assert event_of({"event": "dream"}) is None


def test_a_model_is_passed_where_its_base_is_expected() -> None:
    assert issubclass(models.ListedSession, models.Session)
    assert set(models.Session.model_fields) < set(models.SessionWithMessages.model_fields)


def test_the_secret_of_a_webhook_is_in_no_log() -> None:
    at = datetime.now(UTC)
    schedule = models.Schedule(
        id="1", board_id="2", webhook_secret="never-shown", created_at=at, updated_at=at
    )
    webhook = models.Webhook(id="1", secret="never-shown", created_at=at, updated_at=at)
    assert "never-shown" not in f"{schedule!r} {schedule} {webhook!r} {webhook}"


# Requests: every flow is run up to its first request


_KNOWN: dict[str, Any] = {"id": "db", "name": "Shop"}
CREATED = Listing(
    sort="created_at", created_after="2026-01-31T08:00:00Z", created_before="2026-02-28T08:00:00Z"
)
CHANGED = replace(CREATED, updated_after="2026-01-31T08:00:00Z", updated_before="2026-02-28T08:00:00Z")
DATABASE = models.Database.model_construct(**_KNOWN)
ARGUMENTS: dict[str, object] = {
    "attributes": {"region": "EMEA"},
    "policies": {"default": "allow", "policies": [], "trusted_views": []},
    "arguments": {"text": "Mine."},
    "version": 2,
    "key": "order-17",
    "about": ["orders.amount"],
    "add": ["Short answers"],
    "active": True,
    "also_db_connection_ids": ["db-2"],
    "answer": Answer(session_id="session", message_id="message", row_count=3),
    "apply": "auto",
    "board": "board",
    "cron": "0 8 * * 1",
    "time_zone": "Europe/Berlin",
    "paused": True,
    "condition": models.ScheduleCondition(kind="above", column="orders", value=3),
    "webhook_url": "https://hooks.example.com",
    "keep": [models.ScheduleTarget(id="target", kind="mail", label="ada@example.com")],
    "mail": ["ada@example.com"],
    "chats": ["discord://123456789/abcdef"],
    "language": "de",
    "resolved": True,
    "schedule_id": "schedule",
    "notice_id": "notice",
    "parts": [{"kind": "text", "markdown": "Revenue grew."}],
    "report_format": "html",
    "rows": 20,
    "ended_after": "2026-01-31T08:00:00Z",
    "call_hash": "0" * 64,
    "chart": "as an area",
    "chart_of": ["revenue"],
    "chart_choice": models.ChartChoice(mark="line"),
    "period_days": 90,
    "period_by": "orders.order_date",
    "number": 2,
    "checkpoint_id": "checkpoint",
    "comment": "Right",
    "comment_id": "comment",
    "confirm": True,
    "confirmation_id": "confirmation",
    "content": b"a,b\n1,2\n",
    "consent": True,
    "corrected_sql": "SELECT 1",
    "cursor": "cursor",
    "database": DATABASE,
    "days": 3,
    "dry_run": False,
    "decision": "edit",
    "columns": {"total": {"unit": "EUR"}},
    "description": "Orders",
    "endpoint": "http://127.0.0.1:8010",
    "erase": True,
    "height": 1,
    "example_id": "example",
    "external_memory": True,
    "fact_id": "fact",
    "facts": [{"text": "Churn means no order"}],
    "file_format": "csv",
    "file_name": "sales.csv",
    "fingerprint": "f" * 64,
    "instruction_id": "instruction",
    "items": ["Short answers"],
    "key_id": "key",
    "kind": "terminology",
    "limit": 10,
    "link_id": "link",
    "markdown": "- Churn",
    "meaning": "No order",
    "message_id": "message",
    "metadata": {"team": "sales"},
    "mode": "ask",
    "name": "revenue",
    "order": ["pin"],
    "owner": "ann",
    "pin_id": "pin",
    "preview": True,
    "priority": 1,
    "query": "How many orders?",
    "question": "How many orders?",
    "rating": "up",
    "reason": "Looks right",
    "remove": ["Long answers"],
    "result_id": "result",
    "role": "user",
    "roles": {"by": "owner", "names": {"ann": "north"}, "default": "south"},
    "schemas": ["sales_*", "!sales_old"],
    "run": True,
    "run_id": "run",
    "scope": "workspace",
    "scopes": ["read"],
    "server": "tickets",
    "session": "session",
    "shared": True,
    "sql": "SELECT 1",
    "stale_after_hours": 12,
    "statements": ["select 1"],
    "starters": ["Revenue per month"],
    "ask_above_rows": 1_000,
    "refuse_above_rows": 2_000,
    "status": None,
    "supersedes": "fact-2",
    "table": "orders",
    "tables": [{"name": "sales", "columns": [{"name": "day", "type": "date"}]}],
    "term": "Churn",
    "term_id": "term",
    "text": "Net of tax",
    "target_id": "thing",
    "text_version": 1,
    "theme": "dark",
    "webhook_id": "webhook",
    "delivery_id": "delivery",
    "events": ["run.complete"],
    "enabled": True,
    "state": "waiting",
    "title": "Orders",
    "tool": "search",
    "url": "sqlite:///shop.db",
    "width": 12,
    "listing": CHANGED,
    "pinned": True,
    "words": "orders",
}
SPECIAL: dict[tuple[type, str], dict[str, object]] = {
    (routes.Sessions, "chart"): {"file_format": "svg"},
    (routes.Boards, "chart"): {"file_format": "png"},
    (routes.Sessions, "change"): {"status": "idle"},
    (routes.Sessions, "list"): {"status": "idle", "listing": replace(CHANGED, metadata={"team": "sales"})},
    (routes.Runs, "list"): {"status": "running", "listing": replace(CREATED, metadata={"team": "sales"})},
    (routes.Databases, "list"): {"listing": CREATED},
    (routes.Webhooks, "deliveries"): {"listing": CREATED},
    (routes.Links, "list"): {"listing": CREATED},
    (routes.ApiKeys, "list"): {"listing": CREATED},
    (routes.Sessions, "confirmations"): {"status": "waiting"},
    (routes.Examples, "list"): {"status": "verified"},
    (routes.Examples, "add"): {"status": "verified"},
    (routes.Examples, "change"): {"status": "verified"},
    (routes.Facts, "list"): {"status": "active"},
    (routes.Facts, "change"): {"status": "active"},
    (routes.Links, "add"): {"kind": "board"},
    **{(routes.Webhooks, each): {"content": "answer"} for each in ("add", "change")},
    **{(routes.Comments, each): {"kind": "board"} for each in ("add", "people")},
    (routes.Comments, "list"): {"kind": "board", "listing": CREATED},
    (routes.Rules, "add"): {"scope": models.RuleScope(connections=["db"])},
    (routes.Rules, "change"): {"scope": models.RuleScope(connections=["db"])},
    (routes.Memory, "attribute"): {"name": "goals"},
    (routes.Memory, "change_attribute"): {"name": "goals"},
    (routes.Memory, "delete_attribute"): {"name": "goals"},
    (routes.Memory, "test_graph"): {"mode": "basic"},
}
OPTIONS: routes.Options = {
    "multitask_strategy": "enqueue",
    "mode": "ask",
    "tools": {"builtin": True, "mcp": True, "extensions": True},
    "sql": "SELECT 1",
    "rules": ["revenue"],
    "about": {"kind": "table", "id": "orders"},
    "metadata": {"ticket": 7},
}
GROUPS: Sequence[type] = [
    routes.Databases,
    routes.Sessions,
    routes.Runs,
    routes.Boards,
    routes.Reports,
    routes.Schedules,
    routes.Webhooks,
    routes.Comments,
    routes.Notices,
    routes.Links,
    routes.Rules,
    routes.Examples,
    routes.Knowledge,
    routes.Glossary,
    routes.Instructions,
    routes.Facts,
    routes.Memory,
    routes.ApiKeys,
    routes.Server,
]


def endpoints() -> Iterator[tuple[type, str, Endpoint[..., object]]]:
    for group in GROUPS:
        for name, value in vars(group).items():
            if isinstance(value, Endpoint):
                yield group, name, value


def request_of(flow: Flow[object]) -> Request:
    """The first request of a flow."""
    request = next(flow)
    flow.close()
    return request


def arguments_of(group: type, name: str, flow: Callable[..., object]) -> dict[str, object]:
    special = SPECIAL.get((group, name), {})
    wanted = list(signature(flow).parameters.values())[1:]
    options = OPTIONS if any(each.kind is Parameter.VAR_KEYWORD for each in wanted) else {}
    names = [each.name for each in wanted if each.kind is not Parameter.VAR_KEYWORD]
    return {**{each: special.get(each, ARGUMENTS[each]) for each in names}, **options}


def export(*arguments: str) -> Flow[object]:
    """The rows of an answer, not of a call."""
    return cast("Endpoint[..., object]", vars(routes.Sessions)["export"]).flow(None, *arguments)


def requests() -> Iterator[Request]:
    for group, name, each in endpoints():
        flow = each.flow(None, **arguments_of(group, name, each.flow))
        yield request_of(flow)
    yield request_of(export("session", "message", "parquet"))
    ask = cast("Endpoint[..., object]", vars(routes.Runs)["ask"]).flow
    for database in (DATABASE, "Shop"):
        yield request_of(ask(None, "How many?", database=database, keep=True, **OPTIONS))
        yield following_request(routes.ask_in("How many?", database, None, key=None, options=OPTIONS))
    runs = cast("Endpoint[..., object]", vars(routes.Runs)["list"]).flow
    found = replace(CREATED, metadata={"team": "sales"})
    yield request_of(runs(None, status="running", ended_after="2026-01-31T08:00:00Z", listing=found))
    for starting in (
        routes.ask_in("How many?", DATABASE, "session", key=None, options=OPTIONS),
        routes.follow_in("session", "run", 7),
    ):
        yield following_request(starting)
    yield request_of(routes.document_in(DATABASE, ["orders"], accept_estimate=True))


def following_request(starting: Flow[Any]) -> Request:
    with pytest.raises(StopIteration) as begun:
        next(starting)
    return cast("Request", begun.value.value.next_request())


def operation_of(request: Request) -> tuple[str, str]:
    """The route that a request is for."""
    parts = request.path.split("/")
    found = [
        (method, path)
        for method, path in operations()
        if method == request.method
        and len(path.split("/")) == len(parts)
        and all(
            re.fullmatch(re.sub(r"\{\w+\}", ".+", one), other)
            for one, other in zip(path.split("/"), parts, strict=True)
        )
    ]
    exact = [each for each in found if "{" not in each[1]]
    assert found, f"{request.method} {request.path} is no route of KAI"
    return (exact or sorted(found, key=lambda each: each[1].count("{")))[0]


ALL_REQUESTS = list(requests())


def test_a_request_of_the_client_is_one_that_kai_takes() -> None:
    refused: dict[str, str] = {}
    for request in ALL_REQUESTS:
        try:
            is_taken(request)
        except (AssertionError, jsonschema.ValidationError) as error:
            refused[f"{request.method} {request.path}"] = str(error)
    assert refused == {}


def is_taken(request: Request) -> None:
    operation = operations()[operation_of(request)]
    parameters = operation.get("parameters", [])
    assert names_of(request.query) <= {each["name"] for each in parameters if each["in"] == "query"}
    known_headers = {each["name"].lower() for each in parameters if each["in"] == "header"}
    known_headers |= {"POST": {"idempotency-key"}, "PATCH": {"if-match"}}.get(request.method, set())
    assert {name.lower() for name in request.headers} <= known_headers
    body = operation.get("requestBody")
    if body is None:
        assert not request.body
    elif request.content is not None:
        assert "application/octet-stream" in body["content"]
    else:
        schema = body["content"]["application/json"]["schema"]
        jsonschema.validate(request.body, {**schema, "components": {"schemas": schemas()}})


def names_of(query: Mapping[str, object]) -> set[str]:
    """Names of parameters, without the key of a pair: `metadata[team]` is of `metadata`."""
    return {name.partition("[")[0] for name in query}


def test_what_creates_a_record_has_a_key_and_what_changes_one_a_version() -> None:
    created = {key for key, each in operations().items() if "201" in each["responses"]}
    for each in ALL_REQUESTS:
        if operation_of(each) in created:
            assert "Idempotency-Key" in each.headers, each.path
            assert each.may_repeat
        if each.method == "PATCH":
            assert each.headers["If-Match"] == '"2"', each.path
    assert len(created) >= 15


def test_every_route_and_each_of_its_fields_can_be_sent() -> None:
    sent: dict[tuple[str, str], set[str]] = {}
    for each in ALL_REQUESTS:
        fields = each.body if isinstance(each.body, dict) else {}
        sent.setdefault(operation_of(each), set()).update(names_of(each.query), fields)
    wanted = {key: fields_of(operation) for key, operation in operations().items()}
    wanted["POST", "/ask/stream"] -= {"rows"}  # which count for no stream
    # `limit` and `cursor` of lists are sent by `flows.pages`, which the routes share; who has all items of a
    # list has no need of their number.
    paging = {"limit", "cursor", "total"}
    assert {key: fields - paging for key, fields in sent.items()} == {
        key: fields - paging for key, fields in wanted.items()
    }


def fields_of(operation: Mapping[str, Any]) -> set[str]:
    names = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
    body = operation.get("requestBody")
    if body is not None and "application/json" in body["content"]:
        reference = body["content"]["application/json"]["schema"]["$ref"]
        names |= set(schemas()[reference.rpartition("/")[2]]["properties"])
    return names


def test_every_error_of_a_single_type_is_one_of_kai() -> None:
    def all_of(base: type) -> Iterator[Any]:
        subclasses: list[type] = base.__subclasses__()
        for each in subclasses:
            yield each
            yield from all_of(each)

    bases: list[type] = [Problem, TurnError]
    known: set[str] = {problem_type(each.problem) for base in bases for each in all_of(base)}
    assert set(errors.BY_TYPE) <= known


def test_an_answer_of_a_proxy_is_an_error_too() -> None:
    error = errors.error_of_reply(502, {}, b"<html>Bad gateway</html>")
    assert isinstance(error, errors.Unavailable)
    assert error.status == 502


def test_a_problem_keeps_what_its_type_adds() -> None:
    problem: dict[str, JsonValue] = {
        "type": "urn:kai:session-busy",
        "title": "Busy",
        "status": 409,
        "detail": "Another run holds the session.",
        "active_run_id": "run-1",
    }
    error = errors.error_of_reply(409, {}, json.dumps(problem).encode())
    assert isinstance(error, errors.SessionBusy)
    assert error.members == {"active_run_id": "run-1"}
    assert str(error) == "Busy: Another run holds the session."
