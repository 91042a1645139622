"""The description of the API is the API, and the documents name each of its routes."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from inspect import isasyncgenfunction, iscoroutinefunction, isroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from app.bootstrap import open_services
from app.core.settings import Settings
from app.http.callers import Requires
from app.http.description.kinds import PROBLEMS
from app.main import create_app, describe_api
from app.modules.identity.provider_router import OPEN_PATHS
from app.modules.webhooks.model import WEBHOOK_EVENTS
from tests.support.documents import documents, parameters_of

OPEN = {"/healthz", "/readyz", "/metrics", PROBLEMS, f"{PROBLEMS}/{{kind}}", *OPEN_PATHS}
API = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


@pytest.fixture
def description() -> dict[str, dict[str, Any]]:
    return {path: methods for found in documents().values() for path, methods in found["paths"].items()}


def test_every_route_is_documented(description: dict[str, dict[str, Any]]) -> None:
    written = re.sub(r"\{[a-z_]+\}", "{}", API)
    own = [path for path in description if not path.startswith("/langgraph/")]  # docs/connect has these
    assert len(own) < len(description)
    for path in own:
        methods = description[path]
        shown = re.sub(r"\{[a-z_:]+\}", "{}", path.removeprefix("/api/v1"))
        assert shown in written, path
        assert all(method.upper() in API or path in OPEN for method in methods)


def test_every_answer_that_can_fail_says_so_once(description: dict[str, dict[str, Any]]) -> None:
    for prefix, found in documents().items():
        for path, methods in found["paths"].items():
            for method, operation in methods.items():
                responses = operation["responses"]
                if path in OPEN:
                    continue
                assert {"401", "403", "404", "429", "503"} <= set(responses), path
                assert "{" not in path or {"409", "422"} <= set(responses), path
                assert "requestBody" not in operation or {"400", "408", "413", "422"} <= set(responses), path
                assert method != "patch" or prefix != "/api/v1" or "412" in responses, path
                failing = {status: each for status, each in responses.items() if status >= "4"}
                if prefix != "/openai/v1":  # it has errors of its own
                    assert all(set(each) == {"$ref"} for each in failing.values()), path
    problem = {"$ref": "#/components/schemas/ProblemBody"}
    shared = documents()["/api/v1"]["components"]["responses"]
    assert all(each["content"]["application/problem+json"]["schema"] == problem for each in shared.values())


def test_operations_have_short_names_of_a_verb_and_a_noun() -> None:
    for found in documents().values():
        names = [each["operationId"] for methods in found["paths"].values() for each in methods.values()]
        assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name) or len(name) > 40] == []
        assert len(set(names)) == len(names)


def test_the_document_is_small() -> None:
    text = json.dumps(documents()["/api/v1"], separators=(",", ":")).encode()
    assert len(text) <= 450_000
    assert len(gzip.compress(text)) <= 65_000


def test_every_post_takes_a_key_for_repeats() -> None:
    found = documents()["/api/v1"]
    posts = [methods["post"] for methods in found["paths"].values() if "post" in methods]
    keys = [
        [each for each in parameters_of(found, post) if each["name"].lower() == "idempotency-key"]
        for post in posts
    ]
    assert len(posts) >= 45
    assert all(len(each) == 1 and each[0]["in"] == "header" for each in keys)


def test_an_enum_of_an_answer_takes_later_values_and_one_of_a_request_does_not() -> None:
    found = documents()["/api/v1"]
    status = found["components"]["schemas"]["RunBody"]["properties"]["status"]
    assert [each.get("enum", "any") for each in status["anyOf"]][1:] == ["any"]
    wanted = next(
        each["schema"]
        for each in parameters_of(found, found["paths"]["/api/v1/runs"]["get"])
        if each["name"] == "status"
    )
    assert wanted["enum"] == status["anyOf"][0]["enum"]


def test_every_stream_is_text_beside_the_model_of_its_events() -> None:
    found = documents()["/api/v1"]
    streams = [
        answer["content"]
        for methods in found["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
        if "text/event-stream" in answer.get("content", {})
    ]
    event = {"$ref": "#/components/schemas/RunEvent"}
    assert len(streams) == 3
    assert all(
        each == {"text/event-stream": {"schema": {"type": "string", "contentSchema": event}}}
        for each in streams
    )


def test_every_event_for_webhooks_is_described() -> None:
    assert set(documents()["/api/v1"]["webhooks"]) == set(WEBHOOK_EVENTS)


async def test_a_document_is_that_of_its_api_and_needs_no_other(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, protocols=["langgraph"])
    async with open_services(settings) as services:
        http = httpx.AsyncClient(
            transport=httpx.ASGITransport(create_app(services, settings)), base_url="http://localhost"
        )
        for prefix in ("/api/v1", "/api", "/langgraph"):
            assert (await http.get(f"{prefix}/openapi.json")).json() == json.loads(
                json.dumps(documents()[prefix])
            )
        assert (await http.get("/ag-ui/openapi.json")).status_code == 404


def test_every_route_requires_a_scope_and_its_description_names_it() -> None:
    for route in iter_route_contexts(describe_api().routes):
        if isinstance(route.original_route, APIRoute) and route.path not in OPEN:
            (required,) = [
                each.dependency for each in route.dependencies if isinstance(each.dependency, Requires)
            ]
            named = re.findall(r"scope\s`(\w+)`", route.original_route.description)
            assert named == ([] if required.scope is None else [required.scope]), route.path


def test_no_dependency_of_a_route_is_called_in_a_thread() -> None:
    for route in iter_route_contexts(describe_api().routes):
        if isinstance(route.original_route, APIRoute):
            for each in dependencies(route.original_route.dependant):
                called = each.call if isroutine(each.call) else type(each.call).__call__
                assert iscoroutinefunction(called) or isasyncgenfunction(called), (route.path, each.call)


def dependencies(dependant: Dependant) -> Iterator[Dependant]:
    for each in dependant.dependencies:
        yield each
        yield from dependencies(each)


def test_every_operation_has_a_summary_and_a_description_of_its_own() -> None:
    routes = [
        each.original_route
        for each in iter_route_contexts(describe_api().routes)
        if isinstance(each.original_route, APIRoute)
    ]
    # Without a summary FastAPI makes one of the function's name.
    assert [route.path for route in routes if not route.summary or len(route.description) < 60] == []
    assert max(Counter(route.summary for route in routes).values()) == 1
    assert max(Counter(route.description for route in routes).values()) == 1


def test_every_parameter_is_described() -> None:
    assert [
        (path, parameter["name"])
        for found in documents().values()
        for path, methods in found["paths"].items()
        for operation in methods.values()
        for parameter in parameters_of(found, operation)
        if not parameter.get("description")
    ] == []


def test_every_route_is_described_with_the_credentials_it_takes(
    description: dict[str, dict[str, Any]],
) -> None:
    credentials: list[dict[str, list[str]]] = [{"HTTPBearer": []}, {"APIKeyHeader": []}]
    assert all(found["security"] == credentials for found in documents().values())
    for path, methods in description.items():
        for operation in methods.values():
            wanted = [] if path in OPEN else credentials
            assert operation.get("security", credentials) == wanted, path


def test_every_schema_and_every_field_of_one_is_described() -> None:
    """A page of a list is described by its fields alone: its schema is made from a generic class."""
    schemas = {
        name: schema
        for found in documents().values()
        for name, schema in found["components"]["schemas"].items()
    }
    without = [
        name
        for name, schema in schemas.items()
        if not schema.get("description") and not name.startswith(("PageOf_", "JsonValue", "Claim"))
    ]
    fields = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        if not described.get("description")
    ]
    assert (without, fields) == ([], [])
    assert sum(len(schema.get("properties", {})) for schema in schemas.values()) > 250


def test_every_request_body_has_an_example(description: dict[str, dict[str, Any]]) -> None:
    contents = [
        operation["requestBody"]["content"]
        for methods in description.values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    files = [content["application/octet-stream"] for content in contents if "application/json" not in content]
    assert all(each["example"] for each in files)
    # One that may be left out, and a list of one kind, have the example of their only model.
    bodies = [
        re.findall(r"#/components/schemas/(\w+)", json.dumps(content["application/json"]["schema"]))[0]
        for content in contents
        if "application/json" in content
    ]
    schemas = {
        name: schema
        for found in documents().values()
        for name, schema in found["components"]["schemas"].items()
    }
    assert [name for name in bodies if not schemas[name].get("examples")] == []
    assert len(bodies) > 10
