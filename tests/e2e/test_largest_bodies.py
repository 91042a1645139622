"""Every route, sent the largest body that it takes: it costs at most two seconds of processor, and others are
answered meanwhile."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import TypeAdapter

from app.http.body_limit import MAX_BODY_BYTES
from app.main import describe_api
from tests.e2e.conftest import model_settings
from tests.support.processor import slowness
from tests.support.scripted_model import ScriptedModel
from tests.support.server import STREAM_SECONDS, Server, running_server

PROCESSOR_SECONDS = 2.0
LATE_SECONDS = 0.25
"""Both of the reference machine."""
OWNER = "local"
UPLOADED_BYTES = 2 * MAX_BODY_BYTES
SPARE_BYTES = 4_000
LONGEST_STATEMENT = 65_000
UNBOUNDED = 1_000
"""Entries of a list or a map, and characters of a text, to which the description gives no limit."""

BODILESS = {
    "/api/v1/sessions/{session_id}/runs/{run_id}/cancel",
    "/api/v1/sessions/{session_id}/checkpoints/{checkpoint_id}/fork",
    "/api/v1/boards/{board_id}/refresh",
    "/api/v1/boards/{board_id}/pins/{pin_id}/refresh",
    "/api/v1/schedules/{schedule_id}/test",
    "/api/v1/webhooks/{webhook_id}/test",
    "/api/v1/webhooks/{webhook_id}/rotate-secret",
    "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    "/api/v1/shared/{link_id}/continue",
    "/api/v1/database-connections/{db_connection_id}/scan",
    "/api/v1/sign-in",
    "/langgraph/threads/{thread_id}/runs/{run_id}/cancel",
    "/langgraph/threads/{thread_id}/copy",
    "/openai/v1/{path}",
}
FILE = "/api/v1/database-connections/files"
MCP = "/mcp"
RECEIVER = "https://192.0.2.1"
Values = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """A route and the JSON schema of its body; no schema where it reads the body by itself."""

    method: str
    path: str
    schema: Values | None

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Cost:
    """What a request took of the server: seconds of processor, and seconds for which /healthz was late."""

    name: str
    sent_bytes: int
    answer: httpx.Response
    processor: float
    late: float

    def __str__(self) -> str:
        status = self.answer.status_code
        return (
            f"{self.processor:6.2f} s  {self.late:5.2f} s late  {self.sent_bytes:9,} B  {status}  {self.name}"
        )


def operations() -> list[Operation]:
    """Every operation that takes a body."""
    found = []
    for route in iter_route_contexts(describe_api().routes):
        original, path = route.original_route, re.sub(r":\w+}", "}", route.path or "")
        if isinstance(original, APIRoute):
            for method in sorted((original.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}):
                if original.body_field is not None:
                    body: Any = original.body_field.field_info.annotation
                    schema = TypeAdapter(body).json_schema()
                    found.append(Operation(method, path, schema))
                elif method != "DELETE" and path not in BODILESS:
                    found.append(Operation(method, path, None))
    return sorted(found, key=lambda each: each.name == f"PATCH {POLICIES}")  # it limits what others read


def words(length: int) -> str:
    return ("customers orders amount month " * (length // 30 + 1))[: length - 1] + "s"


def many_values(length: int) -> str:
    """A statement of a long list."""
    return "SELECT id FROM orders WHERE id IN (" + ", ".join(map(str, range(min(length // 8, 4_500)))) + ")"


def receiving(_: Values) -> Values:
    """A webhook of an event that does not come."""
    return {"url": f"{RECEIVER}/{'a' * 1_900}", "events": ["schedule.missed"] * 50}


class Bodies:
    """Makes the largest body of a schema, with the ids of what exists."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known

    def largest(self, operation: Operation) -> Any:
        """Its texts are cut alike until all of it fits the limit of every body."""
        assert operation.schema is not None
        share = 1.0
        while True:
            body = self._value(operation.schema, operation.schema, operation.name, "", share)
            if len(json.dumps(body)) <= MAX_BODY_BYTES - SPARE_BYTES:
                return body
            share *= 0.8
            assert share > 0.001, operation.name

    def _value(self, schema: Values, whole: Values, operation: str, name: str, share: float) -> Any:
        if name == "metadata":
            return METADATA
        if name in self._known:
            return self._known[name]
        if "$ref" in schema:
            schema = whole["$defs"][schema["$ref"].rsplit("/", 1)[1]]
        one_of = [
            each for each in (schema.get("anyOf") or schema.get("oneOf") or []) if each.get("type") != "null"
        ]
        if one_of:
            return self._value(one_of[0], whole, operation, name, share)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]

        def inner(part: Values, part_name: str) -> Any:
            return self._value(part, whole, operation, part_name, share)

        match schema.get("type"):
            case "object" if "properties" in schema:
                properties = {k: v for k, v in schema["properties"].items() if k not in LEFT_OUT}
                return {key: inner(part, key) for key, part in properties.items()}
            case "object":
                values = schema.get("additionalProperties")
                most = schema.get("maxProperties", UNBOUNDED)
                part = values if isinstance(values, dict) else {}
                return {f"key{number}": inner(part, "") for number in range(most)}
            case "array":
                return [
                    inner(schema.get("items", {}), f"{name}[]")
                    for _ in range(schema.get("maxItems", UNBOUNDED))
                ]
            case "string":
                length = max(1, int(schema.get("maxLength", UNBOUNDED) * share))
                return (
                    many_values(min(length, LONGEST_STATEMENT))
                    if name in {"sql", "statements[]"}
                    else words(length)
                )
            case "integer" | "number":
                return schema.get("maximum", schema.get("default", 1))
            case "boolean":
                return True
            case _:
                return words(20)


def runs(known: Values, tags: int = 9_000) -> Values:
    return {
        "assistant_id": known["db_connection_id"],
        "input": {"messages": [{"role": "user", "content": words(7_999)}]},
        "config": {"tags": [words(95)] * tags},
        "metadata": METADATA,
        "on_completion": "delete",
    }


def messages() -> list[Values]:
    """A long chat, at whose end stands a question."""
    chat = [
        {"id": f"m{number}", "role": ("user", "assistant")[number % 2], "content": words(150)}
        for number in range(4_500)
    ]
    return [*chat, {"id": "last", "role": "user", "content": words(7_999)}]


def knowledge(known: Values) -> Values:
    lines = "".join(f"term,term {number},{words(700)}\n" for number in range(1_200))
    return {
        "db_connection_id": known["db_connection_id"],
        "format": "csv",
        "text": f"kind,name,text\n{lines}",
        "dry_run": False,
    }


def facts(known: Values) -> Values:
    return {
        "facts": [
            {"text": f"{number} {words(480)}", "kind": "procedure", "scope": "workspace"}
            for number in range(1_000)
        ],
        "db_connection_id": known["db_connection_id"],
        "scope": "workspace",
    }


def facts_of_markdown(known: Values) -> Values:
    return {
        "markdown": "".join(f"- {number} {words(480)}\n" for number in range(1_000)),
        "db_connection_id": known["db_connection_id"],
        "scope": "workspace",
        "kind": "procedure",
    }


def report(known: Values) -> Values:
    text = {"kind": "text", "markdown": words(10_000)}
    answer = {"kind": "answer", "message_id": known["message_id"]}
    return {"session_id": known["session_id"], "parts": [answer, *[text] * 99], "rows": 1_000}


def matches(known: Values) -> Values:
    statements = [f"SELECT {number} FROM orders WHERE {words(600)!r} = id" for number in range(100)]
    return {"db_connection_id": known["db_connection_id"], "statements": statements}


def alternatives(known: Values) -> Values:
    conditions = " OR ".join(f"id = {number}" for number in range(900))
    return {"sql": f"SELECT id FROM orders WHERE {conditions}"}


def instruction(known: Values) -> Values:
    return {"db_connection_id": known["db_connection_id"], "text": words(2_000), "scope": "orders"}


def one_statement(known: Values) -> Values:
    return {"sql": many_values(LONGEST_STATEMENT)}


def policies(_: Values) -> Values:
    condition = "id = 1 OR " * 190 + "id = 1"
    orders = {"rows": [condition], "columns": {"amount": "null"}}
    rows = [{"name": f"rows {number}", "tables": {"orders": orders}} for number in range(10)]
    masks = {"orders": {"columns": {"amount": "null"}}}
    columns = [{"name": f"columns {number}", "tables": masks} for number in range(190)]
    return {"default": "allow", "policies": [*rows, *columns]}


METADATA = {"note": words(16_000)}
POLICIES = "/api/v1/database-connections/{db_connection_id}/policies"
STATEMENTS = "POST /api/v1/database-connections/{db_connection_id}/statements"
WHOLE: dict[str, list[Callable[[Values], Any]]] = {
    STATEMENTS: [one_statement, alternatives],
    f"{STATEMENTS}/counts": [one_statement, alternatives],
    f"PATCH {POLICIES}": [lambda known: {"policies": policies(known)}],
    f"POST {POLICIES}/check": [policies],
    f"POST {POLICIES}/test": [
        lambda known: {**one_statement(known), "owner": "a", "policies": policies(known)}
    ],
    "POST /api/v1/examples/matches": [matches],
    "POST /api/v1/knowledge/file": [knowledge],
    "POST /api/v1/memory/facts/import": [facts, facts_of_markdown],
    "POST /api/v1/reports": [report],
    "PATCH /api/v1/database-connections/{db_connection_id}/tables/{table_name}": [
        lambda _: {
            "description": words(2_000),
            "columns": {name: {"description": words(2_000)} for name in ("id", "customer_id", "amount")},
        }
    ],
    "PATCH /api/v1/database-connections/{db_connection_id}/file": [
        lambda _: {
            "tables": [
                {"name": f"t{number}", "columns": [{"name": words(200), "type": "text"}] * 70}
                for number in range(50)
            ]
        }
    ],
    "POST /api/v1/generate/documentation": [
        lambda known: {
            "db_connection_id": known["db_connection_id"],
            "tables": ["orders", "customers"],
            "accept_estimate": True,
        }
    ],
    "POST /langgraph/runs/batch": [lambda known: [runs(known, 700)] * 10],
    "POST /langgraph/threads/{thread_id}/commands": [
        lambda known: {"id": 1, "method": "run.start", "params": runs(known)}
    ],
    "POST /api/v1/sessions/{session_id}/confirmations/{confirmation_id}": [
        lambda known: {
            "decision": "edit",
            "call_hash": known["call_hash"],
            "arguments": {"text": words(30_000)},
        }
    ],
    "POST /api/v1/instructions": [instruction],
    "PATCH /api/v1/instructions/{instruction_id}": [lambda _: {"text": words(2_000), "scope": "orders"}],
    "PATCH /api/v1/memory/facts/{fact_id}": [lambda _: {"text": words(500)}],
    "POST /api/v1/api-keys": [
        lambda _: {"owner": "someone", "name": words(200), "scopes": ["read"] * UNBOUNDED, "days": 1}
    ],
    "PATCH /api/v1/memory/profile/{attribute}": [lambda _: {"items": [words(160)] * 8}],
    "POST /api/v1/ask": [lambda known: {"query": words(8_000), "database": known["db_connection_id"]}],
    "POST /api/v1/webhooks": [receiving],
    "PATCH /api/v1/webhooks/{webhook_id}": [receiving],
    "POST /api/v1/ask/stream": [lambda known: {"query": words(8_000), "database": known["db_connection_id"]}],
    "POST /api/chat": [
        lambda known: {"question": words(8_000), "sessionId": known["session_id"], "chatMessageId": "m" * 128}
    ],
    "POST /langgraph/threads": [lambda _: {"metadata": METADATA}],
    "POST /langgraph/threads/{thread_id}/state/checkpoint": [lambda _: {"select": ["values"] * 80_000}],
    "POST /langgraph/threads/{thread_id}/history": [lambda _: {"limit": 100, "select": ["values"] * 80_000}],
    "POST /langgraph/threads/prune": [lambda known: {"thread_ids": [UNKNOWN] * 100}],
    "POST /langgraph/runs/cancel": [
        lambda known: {"thread_id": known["thread_id"], "run_ids": [UNKNOWN] * 50}
    ],
    "PUT /langgraph/store/items": [
        lambda _: {"namespace": ["n" * 100] * 8, "key": "k" * 500, "value": {"text": words(65_000)}}
    ],
    "DELETE /langgraph/store/items": [lambda _: {"namespace": ["n" * 100] * 8, "key": "k" * 500}],
    "POST /ag-ui/{assistant}": [
        lambda known: {"threadId": "large", "runId": "large", "messages": messages()}
    ],
    "POST /openai/v1/chat/completions": [
        lambda known: {
            "model": known["db_connection_id"],
            "messages": [{"role": each["role"], "content": each["content"]} for each in messages()],
        }
    ],
    **{
        f"POST /langgraph/{path}": [runs]
        for path in (
            "runs",
            "runs/stream",
            "runs/wait",
            "threads/{thread_id}/runs",
            "threads/{thread_id}/runs/stream",
            "threads/{thread_id}/runs/wait",
        )
    },
}
"""Bodies that the description alone does not lead to."""
UNKNOWN = "01970000-0000-7000-8000-000000000000"
REFUSED = {
    # No call waits for an approval, no notice exists, and no MCP server, graph or consent is configured.
    "POST /api/v1/sessions/{session_id}/confirmations/{confirmation_id}": 404,
    "POST /api/v1/notices/read": 404,
    "POST /api/v1/mcp/servers/{name}/tools/{tool}/approve": 404,
    "POST /api/v1/memory/graph/test": 404,
    "PUT /api/v1/memory/consents": 404,
    # The uploaded file has one table, and the body changes fifty.
    "PATCH /api/v1/database-connections/{db_connection_id}/file": 422,
    # The runs to cancel are unknown.
    "POST /langgraph/runs/cancel": 404,
    # The stream has no channels of these names. With those it has it would stay open.
    "POST /langgraph/threads/{thread_id}/stream/events": 422,
}
"""Here the body is read whole, and then refused."""
LEFT_OUT = {
    "rules",
    "supersedes",
    "chart_choice",
    "checkpoint_id",
    "supersteps",
    "ttl",
    "extract",
    "ids",
    "also_db_connection_ids",
    "schemas",
    "ask_above_rows",
    "refuse_above_rows",
    "select",
    "before",
    "values",
    "index",
    "refresh_ttl",
    "roles",
    "external_memory",
    "webhook_url",
    "targets",
    "language",
    "link_id",
    "condition",
    "pin_id",
    "order",
    "since",
    "period_by",
    "period_days",
    "offset",
    "default",
}
"""Small, or of another kind than the description says."""


class Walker:
    """Sends requests and measures them."""

    def __init__(self, server: Server, http: httpx.Client) -> None:
        self._server = server
        self._http = http
        self._late = 0.0
        self._ended = threading.Event()
        self._health = threading.Thread(target=self._watch)

    def __enter__(self) -> "Walker":
        self._health.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._health.join()

    def _watch(self) -> None:
        """A server that is not given the processor is not late: its own work during the wait counts."""
        with httpx.Client(base_url=self._server.address, timeout=STREAM_SECONDS) as client:
            while not self._ended.wait(0.01):
                began, used = time.monotonic(), self._server.cpu_seconds()
                client.get("/healthz").raise_for_status()
                late = min(time.monotonic() - began, self._server.cpu_seconds() - used)
                self._late = max(self._late, late)

    def cost(self, operation: Operation, path: str, content: bytes, headers: Mapping[str, str]) -> Cost:
        self._late, began = 0.0, self._server.cpu_seconds(has_children=True)
        answer = self._http.request(operation.method, path, content=content, headers=headers)
        self._wait_until_idle()
        used = self._server.cpu_seconds(has_children=True) - began
        return Cost(operation.name, len(content), answer, used, self._late)

    def _wait_until_idle(self) -> None:
        until = time.monotonic() + STREAM_SECONDS
        while self._http.get("/api/v1/sessions", params={"status": "processing"}).json()["items"]:
            assert time.monotonic() < until, "a run did not end"


def made(http: httpx.Client, path: str, **body: object) -> str:
    answer = http.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def one_of_everything(http: httpx.Client, shop: str) -> dict[str, Any]:
    connection = made(http, "database-connections", url=shop, name="shop")
    session = made(http, "sessions", db_connection_id=connection)
    asked = http.post(f"/api/v1/sessions/{session}/query/stream", json={"query": "How many orders?"})
    messages = http.get(f"/api/v1/sessions/{session}").json()["messages"]["items"]
    board = made(http, "boards", title="Weekly")
    of = {"db_connection_id": connection}
    example = made(http, "examples", **of, question="Orders?", sql="SELECT id FROM orders")
    uploaded = http.post(FILE, params={"file_name": "a.csv"}, content=b"a,b\n1,2\n")
    return {
        "db_connection_id": connection,
        "dbConnectionId": connection,
        "session_id": session,
        "sessionId": session,
        "thread_id": session,
        "assistant_id": connection,
        "assistant": connection,
        "run_id": asked.headers["X-Run-Id"],
        "message_id": messages[-1]["id"],
        "target_id": messages[-1]["id"],
        "board_id": board,
        "pin_id": made(http, f"boards/{board}/pins", message_id=messages[-1]["id"]),
        "comment_id": made(http, "comments", kind="board", target_id=board, text="Why?"),
        "schedule_id": made(http, "schedules", board_id=board, cron="0 8 1 1 *"),
        "webhook_id": made(http, "webhooks", url=RECEIVER, events=["schedule.missed"]),
        "example_id": example,
        "term_id": made(http, "glossary", **of, term="order", meaning="a sale"),
        "instruction_id": made(http, "instructions", **of, text="Count all."),
        "fact_id": made(http, "memory/facts", **of, kind="preference", text="Months as 2026-03."),
        "userId": OWNER,
        "table_name": "orders",
        "url": shop,
        "uploaded": uploaded.json()["connection"]["id"],
        "cron": "0 8 1 1 *",
        "time_zone": "Europe/Berlin",
        "call_hash": "0" * 64,
        "name": "large",
        "connections[]": connection,
        "attribute": "goals",
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model_of_all: ScriptedModel) -> Iterator[Server]:
    settings = {
        **model_settings(model_of_all),
        "KAI_MEMORY__PROFILE": "true",
        "KAI_UPLOADS__MAX_BYTES": str(UPLOADED_BYTES),
        "KAI_SCHEDULES__WEBHOOK_NETWORKS": '["192.0.2.0/24"]',
    }
    with running_server(tmp_path_factory.mktemp("large"), settings) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.address, timeout=STREAM_SECONDS) as client:
        yield client


def requests(operation: Operation, known: Values) -> Iterator[tuple[bytes, dict[str, str]]]:
    """Its bodies, with the header fields that go with each."""
    if operation.path == FILE:
        line = b"2026-01-31,12.50," + b"north" * 20 + b"\n"
        yield b"day,amount,region\n" + line * (UPLOADED_BYTES // len(line) - 1), {}
    elif operation.path == MCP:
        call = {"name": "list_databases", "arguments": {}, "_meta": {"note": words(1_000_000)}}
        content = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
        yield content, {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    else:
        assert operation.schema is not None, f"{operation.name} needs a body here, or a place in BODILESS"
        for body in WHOLE.get(operation.name, [lambda known: Bodies(known).largest(operation)]):
            yield json.dumps(body(known)).encode(), {"Content-Type": "application/json"}


def address(operation: Operation, known: Values) -> str:
    if operation.path == FILE:
        return f"{FILE}?file_name=large.csv"
    if operation.path.endswith("/file"):
        known = {**known, "db_connection_id": known["uploaded"]}
    return re.sub(r"{(\w+)}", lambda found: str(known.get(found[1], "unknown")), operation.path)


def test_the_largest_body_of_every_route_costs_two_seconds_and_delays_no_health_check(
    server: Server, http: httpx.Client, shop: str, model: ScriptedModel
) -> None:
    known = one_of_everything(http, shop)
    costs, slow, unserved = [], [], []
    with Walker(server, http) as walker:
        for operation in operations():
            for content, headers in requests(operation, known):
                cost = walker.cost(operation, address(operation, known), content, headers)
                costs.append(cost)
                over = max(cost.processor / PROCESSOR_SECONDS, cost.late / LATE_SECONDS)
                if over > 1 and over > slowness():
                    slow.append(cost)
                status = cost.answer.status_code
                if not cost.answer.is_success and status != REFUSED.get(operation.name):
                    unserved.append(f"{cost} {cost.answer.text[:300]}")
    report = "\n".join(map(str, costs))
    assert not unserved, "\n".join(unserved) + f"\nof\n{report}"
    assert not slow, "\n".join(map(str, slow)) + f"\nof\n{report}"
