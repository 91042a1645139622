"""The description of the API is the API, and the documents name each of its routes."""

import re
from collections import Counter
from collections.abc import Iterator
from inspect import isasyncgenfunction, iscoroutinefunction, isroutine
from pathlib import Path
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from app.bootstrap import open_services
from app.core.settings import Settings
from app.http.callers import Requires
from app.main import create_app, describe_api
from app.modules.identity.provider_router import OPEN_PATHS

OPEN = {"/healthz", "/readyz", "/metrics", *OPEN_PATHS}
API = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


@pytest.fixture
async def description(tmp_path: Path) -> dict[str, dict[str, object]]:
    settings = Settings(data_dir=tmp_path)
    async with open_services(settings) as services:
        paths: dict[str, dict[str, object]] = create_app(services, settings).openapi()["paths"]
        return paths


async def test_every_route_is_documented(description: dict[str, dict[str, object]]) -> None:
    written = re.sub(r"\{[a-z_]+\}", "{}", API)
    for path, methods in description.items():
        shown = re.sub(r"\{[a-z_:]+\}", "{}", path.removeprefix("/api/v1"))
        assert shown in written, path
        assert all(method.upper() in API or path in OPEN for method in methods)


async def test_every_answer_that_can_fail_says_so(description: dict[str, dict[str, object]]) -> None:
    for path, methods in description.items():
        if path.startswith("/api/"):
            for operation in methods.values():
                assert isinstance(operation, dict)
                assert {"401", "403", "404", "422", "429", "503"} <= set(operation["responses"])


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


async def test_every_parameter_is_described(description: dict[str, dict[str, Any]]) -> None:
    assert [
        (path, parameter["name"])
        for path, methods in description.items()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ] == []


async def test_every_route_is_described_with_the_credentials_it_takes(
    description: dict[str, dict[str, object]],
) -> None:
    for path, methods in description.items():
        for operation in methods.values():
            assert isinstance(operation, dict)
            wanted: list[dict[str, list[str]]] | None = (
                None if path in OPEN else [{"HTTPBearer": []}, {"APIKeyHeader": []}]
            )
            assert operation.get("security") == wanted, path


def test_every_schema_and_every_field_of_one_is_described() -> None:
    """A page of a list is described by its fields alone: its schema is made from a generic class."""
    schemas = describe_api().openapi()["components"]["schemas"]
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


def test_every_request_body_has_an_example() -> None:
    description = describe_api().openapi()
    contents = [
        operation["requestBody"]["content"]
        for methods in description["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    files = [content["application/octet-stream"] for content in contents if "application/json" not in content]
    assert all(each["example"] for each in files)
    bodies = [
        content["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for content in contents
        if "application/json" in content
    ]
    schemas = description["components"]["schemas"]
    assert [name for name in bodies if not schemas[name].get("examples")] == []
    assert len(bodies) > 10
