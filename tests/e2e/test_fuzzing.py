"""Every route, asked what its description allows and what it does not, with ids that exist and such that do
not: no request is KAI's fault, and every answer is as the description says."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest
import schemathesis
from hypothesis import Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.documents import documents
from tests.support.keys import made_key
from tests.support.server import Server, running_server
from tests.support.wire import FOLDER

NOT_ASKED = "/langgraph"
"""The API that other tests ask."""
LABELS = [
    f"{method.upper()} {path}"
    for prefix, found in json.loads((FOLDER / "openapi.json").read_text()).items()
    if prefix != NOT_ASKED
    for path, methods in found["paths"].items()
    for method in methods
]
"""Of the recorded description: to make it takes seconds, and each worker collects these tests."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance]
OWNER = "fuzz"
Operation: TypeAlias = APIOperation[Any, Any, Any, Any]
AnyCase: TypeAlias = Case[Operation]
EXAMPLES = 5
"""Of each route, by the same seed every time."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzzed")


@pytest.fixture(scope="module")
def key(data: Path) -> str:
    return made_key(data, OWNER, "--role", "admin")


@pytest.fixture(scope="module")
def server(data: Path, key: str) -> Iterator[Server]:
    with running_server(
        data, {"KAI_AUTH__REQUIRED": "true", "KAI_SCHEDULES__WEBHOOK_NETWORKS": '["127.0.0.0/8"]'}
    ) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Server, key: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=100) as client:
        yield client


def made(http: httpx.Client, path: str, body: Mapping[str, object]) -> str:
    answer = http.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
def known(http: httpx.Client, shop: str) -> Iterator[dict[str, str]]:
    """What exists, by the names of the parameters that ask for it; a test may delete it."""
    connection = made(http, "database-connections", {"url": shop, "name": "shop"})
    session = made(http, "sessions", {"db_connection_id": connection})
    asked = http.post(f"/api/v1/sessions/{session}/query/stream", json={"query": "How many orders?"})
    run = asked.headers["X-Run-Id"]
    message = http.get(f"/api/v1/sessions/{session}").json()["messages"]["items"][-1]["id"]
    checkpoint = http.get(f"/api/v1/sessions/{session}/checkpoints").json()["items"][0]["id"]
    of = {"db_connection_id": connection}
    board = made(http, "boards", {"title": "Orders"})
    schedule = made(http, "schedules", {"board_id": board, "cron": "0 8 1 1 *"})
    hook = {"url": "http://127.0.0.1:9/", "events": ["run.failed"]}
    webhook = made(http, "webhooks", hook)
    delivery = http.post(f"/api/v1/webhooks/{webhook}/test").json()["id"]
    fact = {**of, "kind": "preference", "text": "Months as 2026-03."}
    yield {
        "kind": "not-found",
        "board_id": board,
        "pin_id": made(http, f"boards/{board}/pins", {"message_id": message}),
        "schedule_id": schedule,
        "webhook_id": webhook,
        "delivery_id": delivery,
        "link_id": made(http, "links", {"kind": "board", "target_id": board}),
        "comment_id": made(http, "comments", {"kind": "board", "target_id": board, "text": "Why?"}),
        "fact_id": made(http, "memory/facts", fact),
        "ending": "svg",
        "number": "1",
        "tool": "count",
        "db_connection_id": connection,
        "dbConnectionId": connection,
        "session_id": session,
        "sessionId": session,
        "run_id": run,
        "chatMessageId": run,
        "message_id": message,
        "checkpoint_id": checkpoint,
        "result_id": message,
        "confirmation_id": message,
        "table_name": "orders",
        "userId": OWNER,
        "key_id": made(http, "api-keys", {"owner": "someone", "days": 1}),
        "example_id": made(http, "examples", {**of, "question": "Orders?", "sql": "SELECT id FROM orders"}),
        "term_id": made(http, "glossary", {**of, "term": "order", "meaning": "a sale"}),
        "instruction_id": made(http, "instructions", {**of, "text": "Count all."}),
        "name": "rule",
        "attribute": "goals",
        "assistant": connection,
        "model": connection,
    }
    http.delete(f"/api/v1/schedules/{schedule}")  # an owner has at most 50
    http.delete(f"/api/v1/webhooks/{webhook}")  # at most 20


def with_what_exists(case: AnyCase, known: Mapping[str, str]) -> None:
    case.path_parameters = {name: known[name] for name in case.path_parameters}
    case.body = replace_known(case.body, known)


def replace_known(value: Any, known: Mapping[str, str]) -> Any:
    """Returns the JSON value with what exists in place of each member of its name, at any depth."""
    if isinstance(value, dict):
        return {
            name: known[name] if name in known else replace_known(part, known) for name, part in value.items()
        }
    return [replace_known(part, known) for part in value] if isinstance(value, list) else value


def checks_of(case: AnyCase) -> list[CheckFunction]:
    """The description of a stream is one of its events put together, which is not how they travel."""
    if case.operation.path.endswith(("/stream", "/{chatMessageId}", "/{assistant}", "/completions")):
        return CHECKS
    if case.operation.path.endswith("/rows"):  # as files, too, which its clients take by a link
        return [not_a_server_error, status_code_conformance]
    return [*CHECKS, response_schema_conformance]


@pytest.fixture(scope="module")
def operations() -> dict[str, Operation]:
    """The operations of the present description by their label."""
    made: dict[str, Operation] = {}
    for prefix, found in documents().items():
        if prefix == NOT_ASKED:
            continue
        for operation in schemathesis.openapi.from_dict(found).get_all_operations():
            assert isinstance(operation, Ok), operation.err()
            made[operation.ok().label] = operation.ok()
    return made


def test_every_operation_is_asked(operations: dict[str, Operation]) -> None:
    assert sorted(operations) == sorted(LABELS)


def cases_of(operation: Operation) -> SearchStrategy[AnyCase]:
    """Requests that the description allows, and such that it does not."""
    allowed = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    if not operation.body and not any(operation.iter_parameters()):
        return allowed  # there is nothing to get wrong
    return allowed | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)


@pytest.mark.parametrize("label", LABELS)
def test_no_request_breaks_a_route(
    label: str, operations: dict[str, Operation], server: Server, key: str, known: dict[str, str]
) -> None:
    operation = operations[label]
    headers = {"Authorization": f"Bearer {key}"}

    @given(cases_of(operation))
    @settings(max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate])
    def send(case: AnyCase) -> None:
        checks = checks_of(case)
        case.call_and_validate(base_url=server.address, headers=headers, checks=checks)
        with_what_exists(case, known)
        case.call_and_validate(base_url=server.address, headers=headers, checks=checks)

    send()
