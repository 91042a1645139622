"""Every route, asked what its description allows and what it does not, with ids that exist and such that do
not: no request is KAI's fault, and every answer is as the description says."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import APIOperation, Case
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.main import describe_api
from tests.support.keys import made_key
from tests.support.server import Server, running_server

SCHEMA = schemathesis.openapi.from_dict(describe_api().openapi())
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance]
OWNER = "fuzz"
AnyCase: TypeAlias = Case[APIOperation[Any, Any, Any, Any]]
EXAMPLES = 10
"""Of each route, by the same seed every time."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzzed")


@pytest.fixture(scope="module")
def key(data: Path) -> str:
    return made_key(data, OWNER, "--role", "admin")


@pytest.fixture(scope="module")
def server(data: Path, key: str) -> Iterator[Server]:
    with running_server(data, {"KAI_AUTH__REQUIRED": "true"}) as running:
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
def known(http: httpx.Client, shop: str) -> dict[str, str]:
    """What exists, by the names of the parameters that ask for it; a test may delete it."""
    connection = made(http, "database-connections", {"url": shop, "name": "shop"})
    session = made(http, "sessions", {"db_connection_id": connection})
    asked = http.post(f"/api/v1/sessions/{session}/query/stream", json={"query": "How many orders?"})
    run = asked.headers["X-Run-Id"]
    message = http.get(f"/api/v1/sessions/{session}").json()["messages"]["items"][-1]["id"]
    checkpoint = http.get(f"/api/v1/sessions/{session}/checkpoints").json()["items"][0]["id"]
    of = {"db_connection_id": connection}
    return {
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


def with_what_exists(case: AnyCase, known: Mapping[str, str]) -> None:
    case.path_parameters = {name: known[name] for name in case.path_parameters}
    if isinstance(case.body, dict):
        case.body = {name: known.get(name, value) for name, value in case.body.items()}


def checks_of(case: AnyCase) -> list[CheckFunction]:
    """The description of a stream is one of its events put together, which is not how they travel."""
    if case.operation.path.endswith(("/stream", "/{chatMessageId}", "/{assistant}", "/completions")):
        return CHECKS
    if case.operation.path.endswith("/rows"):  # as files, too, which its clients take by a link
        return [not_a_server_error, status_code_conformance]
    return [*CHECKS, response_schema_conformance]


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_request_breaks_a_route(case: AnyCase, server: Server, key: str, known: dict[str, str]) -> None:
    headers, checks = {"Authorization": f"Bearer {key}"}, checks_of(case)
    case.call_and_validate(base_url=server.address, headers=headers, checks=checks)
    with_what_exists(case, known)
    case.call_and_validate(base_url=server.address, headers=headers, checks=checks)
