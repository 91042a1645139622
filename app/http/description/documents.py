"""OpenAPI documents, one for each API: what FastAPI makes of the routes, as generators of clients take it.

Problems are references to shared responses, values that answers may have besides those of today are open, and
a stream is text.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import RouteContext, iter_route_contexts

from app.http.description.kinds import problem_kinds
from app.http.problems import PROBLEM_JSON, ProblemBody

JsonObject = dict[str, Any]

SCHEMAS = "#/components/schemas/"
PROBLEM: JsonObject = {"$ref": f"{SCHEMAS}ProblemBody"}
"""The schema of problems, for answers that a route describes by itself."""
_RESPONSES = "#/components/responses/"
_PROBLEMS = {
    400: "The request cannot be read",
    401: "The credential is missing or unknown",
    403: "The caller may not do this",
    404: "There is no such thing",
    408: "The body did not arrive in time",
    409: "The request conflicts with the present state",
    412: "The record has another version than `If-Match` names",
    413: "The body is too large",
    422: "It cannot be carried out as it is",
    429: "A limit is reached",
    503: "A dependency is unavailable",
}
FAILED_RUN: dict[int | str, dict[str, Any]] = {
    status: {"$ref": f"{_RESPONSES}RunFailed"} for status in (500, 502, 504)
}
"""Statuses of runs that have failed, beside those of problems that every route has."""
_LINE_END = re.compile(r"(?<!\n)\n(?![\n*-])")
_STRING = re.compile(r'"[^"]*"')
_CREDENTIALS: list[dict[str, list[str]]] = [{"HTTPBearer": []}, {"APIKeyHeader": []}]
_LATER = (409, 429, 503)
_STREAM = "text/event-stream"
_KEY = "idempotency-key"


@dataclass(frozen=True, kw_only=True)
class Api:
    """An API with a document of its own at `{prefix}/openapi.json`. `paths` match whole paths."""

    prefix: str
    title: str
    summary: str
    paths: str
    tags: Mapping[str, str]
    """Descriptions by tag, in the order in which they are shown."""
    answers_problems: bool = True
    """False for an API that describes its errors by itself."""


def route_document(app: FastAPI, api: Api) -> JsonObject:
    """Returns FastAPI's description of the routes of an API."""
    found: JsonObject = get_openapi(
        title=api.title,
        version=app.version,
        summary=api.summary,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        servers=[{"url": "/", "description": "The server that answers this document"}],
        tags=[{"name": name, "description": text} for name, text in api.tags.items()],
        routes=_routes(app, api),
        webhooks=app.webhooks.routes if "webhooks" in api.tags else None,
    )
    if api.answers_problems:
        found["components"]["schemas"] |= _problem_schemas()
        found["components"]["responses"] = _shared_responses()
    return found


def document(app: FastAPI, api: Api) -> JsonObject:
    """Returns the OpenAPI document of an API."""
    found = route_document(app, api)
    schemas: JsonObject = found["components"]["schemas"]
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            if api.answers_problems:
                _add_problems(path, method, operation)
            if operation.setdefault("security", []) == _CREDENTIALS:
                del operation["security"]
            _send_streams_as_text(operation)
            for parameter in operation.get("parameters", ()):
                _shorten(parameter)
            for answer in operation["responses"].values():
                if answer.get("description") == "Successful Response":
                    answer["description"] = "Success"
    for methods in found.get("webhooks", {}).values():
        methods["post"]["responses"].pop("422")
        methods["post"]["security"] = []
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    _take_keys(found)
    _share_parameters(found)
    _require_discriminators(schemas)
    for schema in schemas.values():
        schema.pop("title", None)
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
    for name in _answered(found):
        _open_enums(schemas[name])
    _write_null_as_type(schemas)
    if api.answers_problems:
        used = set(_references(found["paths"], _RESPONSES))
        shared = found["components"]["responses"]
        found["components"]["responses"] = {name: shared[name] for name in shared if name in used}
    found["security"] = _CREDENTIALS
    _join_lines(found)
    found["components"]["schemas"] = {name: schemas[name] for name in _similar_order(schemas)}
    return found


def _routes(app: FastAPI, api: Api) -> Sequence[RouteContext]:
    pattern = re.compile(api.paths)
    return [each for each in iter_route_contexts(app.routes) if pattern.fullmatch(each.path or "")]


def _add_problems(path: str, method: str, operation: JsonObject) -> None:
    responses: JsonObject = operation["responses"]
    for known, answer in responses.items():
        if "$ref" in answer:
            responses[known] = {"$ref": answer["$ref"]}
    responses.pop("422", None)
    responses.setdefault("400", _problem(400))  # HTTP that is ambiguous
    for status in sorted(_statuses(path, method, operation)):
        responses.setdefault(f"{status}", _problem(status))


def _statuses(path: str, method: str, operation: JsonObject) -> set[int]:
    """Statuses of problems that a route with these parameters and this body can answer."""
    parameters = operation.get("parameters", ())
    if not operation.get("security"):
        return {404, 422} if "{" in path else set()
    found = {401, 403, 404, 429, 503}  # 404, too, for what is switched off
    if "requestBody" in operation:
        found |= {408, 413}
    if method != "get" or "{" in path or any(each["name"].endswith("_id") for each in parameters):
        found |= {409}
    if method == "patch":
        found |= {412}
    if parameters or method != "get":
        found |= {422}
    return found


def _problem(status: int) -> JsonObject:
    # A short name: the document refers to each more than a hundred times.
    return {"$ref": f"{_RESPONSES}P{status}"}


def _shorten(parameter: JsonObject) -> None:
    """Leave out what a parameter says twice, and null: a parameter is left out instead."""
    schema: JsonObject = parameter["schema"]
    if not parameter["required"]:
        del parameter["required"]
    schema.pop("title", None)
    schema.pop("description", None)
    some = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(some) == 1:
        del schema["anyOf"]
        parameter["schema"] = {**some[0], **schema}
    if schema.get("type") == "object":
        parameter |= {"style": "deepObject", "explode": True}


def _take_keys(found: JsonObject) -> None:
    """Describe the key of a repeated request, which the edge takes on every POST, as the routes do that read
    it themselves.
    """
    posts = [methods["post"] for methods in found["paths"].values() if "post" in methods]
    of_post = [each for post in posts for each in post.get("parameters", ()) if each["name"] == _KEY]
    for post in posts:
        if of_post and not any(each in of_post for each in post.get("parameters", ())):
            post.setdefault("parameters", []).append(of_post[0])


def _share_parameters(found: JsonObject) -> None:
    """Describe once what several operations take. Others of the same name have a number behind it."""
    operations = [each for methods in found["paths"].values() for each in methods.values()]
    uses = Counter(json.dumps(each) for operation in operations for each in operation.get("parameters", ()))
    shared: dict[str, JsonObject] = {}
    names: dict[str, str] = {}
    for text, number in uses.most_common():
        if number > 1:
            parameter = json.loads(text)
            others = sum(each["name"] == parameter["name"] for each in shared.values())
            names[text] = f"{parameter['name']}_{others + 1}" if others else parameter["name"]
            shared[names[text]] = parameter
    for operation in operations:
        if parameters := operation.get("parameters"):
            texts = [json.dumps(each) for each in parameters]
            operation["parameters"] = [
                {"$ref": f"#/components/parameters/{names[text]}"} if text in names else each
                for text, each in zip(texts, parameters, strict=True)
            ]
    found["components"]["parameters"] = shared


def _require_discriminators(schemas: JsonObject) -> None:
    """Name what tells the kinds of a union apart as required: what lacks it is refused."""
    for each in _objects(schemas):
        match each.get("discriminator"):
            case {"propertyName": str() as name, "mapping": dict() as kinds}:
                for target in kinds.values():
                    required = schemas[target.removeprefix(SCHEMAS)].setdefault("required", [])
                    if name not in required:
                        required.append(name)


def _send_streams_as_text(operation: JsonObject) -> None:
    for answer in operation["responses"].values():
        if _STREAM in answer.get("content", {}):
            events = answer["content"][_STREAM].get("schema", {})
            link = {"contentSchema": {"$ref": events["$ref"]}} if "$ref" in events else {}
            answer["content"][_STREAM] = {"schema": {"type": "string", **link}}


def _answered(found: JsonObject) -> set[str]:
    """Names of the schemas that answers have, at any depth."""
    schemas = found["components"]["schemas"]
    waiting = {
        name
        for methods in found["paths"].values()
        for operation in methods.values()
        for name in _references(operation["responses"])
    }
    answered: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in schemas:
            answered.add(name)
            waiting |= set(_references(schemas[name])) - answered
    return answered


def _references(part: object, prefix: str = SCHEMAS) -> Iterator[str]:
    for each in _objects(part):
        target = each.get("$ref")
        if isinstance(target, str) and target.startswith(prefix):
            yield target.removeprefix(prefix)


def _objects(part: object) -> Iterator[JsonObject]:
    """Yields the objects in a part of a document, the outer ones first."""
    if isinstance(part, dict):
        yield part
        for each in part.values():
            yield from _objects(each)
    elif isinstance(part, list):
        for each in part:
            yield from _objects(each)


def _similar_order(schemas: JsonObject) -> list[str]:
    """Returns the names of the schemas, each behind those whose names and texts it shares: compressed, the
    document is an eighth smaller than by name.
    """
    left = {name: {*_STRING.findall(json.dumps(schema))} for name, schema in sorted(schemas.items())}
    order: dict[str, set[str]] = {}
    while left:
        near = set().union(*[*order.values()][-10:])
        shares = {name: sum(map(len, texts & near)) / sqrt(1 + len(texts)) for name, texts in left.items()}
        name = max(shares, key=lambda name: shares[name])
        order[name] = left.pop(name)
    return [*order]


def _join_lines(found: JsonObject) -> None:
    """Write each paragraph of a description in one line, behind what it describes; docstrings are wrapped."""
    for each in _objects(found):
        if isinstance(text := each.get("description"), str):
            del each["description"]
            each["description"] = _LINE_END.sub(" ", text)


def _write_null_as_type(schemas: JsonObject) -> None:
    """Write a type or null as two types, which is shorter than a choice."""
    for each in _objects(schemas):
        match each.get("anyOf"):
            case [{"type": str() as kind} as schema, {"type": "null"}] if "enum" not in schema:
                del each["anyOf"]
                each |= {**schema, "type": [kind, "null"]}


def _open_enums(schema: MutableMapping[str, Any]) -> None:
    """Let each enum of strings have any string besides: a new value must not break a generated client."""
    for part in ("properties", "$defs"):
        for each in schema.get(part, {}).values():
            _open_enums(each)
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            _open_enums(schema[part])
    if "enum" in schema:
        described = {key: schema.pop(key) for key in ("enum", "type") if key in schema}
        schema["anyOf"] = [described, {"type": "string"}]
    for part in ("anyOf", "oneOf"):
        found = schema.get(part, [])
        if part in schema and any("enum" in each for each in found) and {"type": "string"} not in found:
            found.append({"type": "string"})
        for each in found:
            if "enum" not in each:
                _open_enums(each)


def _problem_schemas() -> JsonObject:
    kinds = [each.type for each in problem_kinds()]
    body = ProblemBody.model_json_schema()
    for field in body["properties"].values():
        field.pop("title", None)
    text = body["properties"]["type"]["description"]
    body["properties"]["type"] = {"$ref": f"{SCHEMAS}ProblemType", "description": text}
    kind = {"anyOf": [{"type": "string", "enum": kinds}, {"type": "string"}]}
    return {"ProblemBody": body, "ProblemType": {**kind, "description": "Kind of a problem."}}


def _shared_responses() -> JsonObject:
    shared = {
        f"P{status}": _response(text, may_repeat=status in _LATER) for status, text in _PROBLEMS.items()
    }
    return {**shared, "RunFailed": _response("The run has failed", may_repeat=False)}


def _response(text: str, *, may_repeat: bool) -> JsonObject:
    link = {"description": "The page on this kind of problem, with `rel=help`", "schema": {"type": "string"}}
    headers: JsonObject = {"Link": link}
    if may_repeat:
        seconds = {"type": "integer", "minimum": 0}
        headers["Retry-After"] = {"description": "Seconds to wait, where they are known", "schema": seconds}
    return {"description": text, "headers": headers, "content": {PROBLEM_JSON: {"schema": PROBLEM}}}
