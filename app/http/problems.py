"""Answers every error of the HTTP application with a problem object (RFC 9457)."""

from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.core.bus.port import BusUnavailable
from app.core.errors import Problem, Unauthenticated, problem_type
from app.core.storage.port import InvalidCursor, StorageStarting, StorageUnavailable
from app.http.methods import MERGE_PATCH, methods_of, nearest_paths
from graph.errors import TurnError

_KINDS = {
    400: "malformed",
    404: "not-found",
    405: "method-not-allowed",
    408: "request-timeout",
    413: "body-too-large",
}
PROBLEM_JSON = "application/problem+json"


class ProblemBody(BaseModel):
    """A problem object (RFC 9457). Some types have further members, such as `errors`, `limit` or
    `resets_at`.
    """

    type: str
    """Kind of the error, such as `urn:kai:not-found`. Stable: branch on it."""
    title: str
    """Short name of the error, for users."""
    status: int
    """The HTTP status."""
    detail: str
    """The cause in a sentence, and the cure if there is one. For users; the wording may change."""


PROBLEM_RESPONSES: dict[int | str, dict[str, object]] = {
    status: {"description": title, "content": {PROBLEM_JSON: {"schema": ProblemBody.model_json_schema()}}}
    for status, title in {
        400: "The request cannot be read",
        401: "The credential is missing or unknown",
        403: "The caller may not do this",
        404: "There is no such thing",
        409: "The request conflicts with the present state",
        413: "The body is too large",
        422: "It cannot be carried out as it is",
        429: "A limit is reached",
        503: "A dependency is unavailable",
    }.items()
}


def problem_response(
    kind: str,
    title: str,
    status: int,
    *,
    detail: str,
    members: Mapping[str, JsonValue] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    body = {"type": problem_type(kind), "title": title, "status": status, "detail": detail, **(members or {})}
    return JSONResponse(body, status, media_type=PROBLEM_JSON, headers=dict(headers or {}))


def internal_problem(request_id: str) -> JSONResponse:
    """The answer to a defect; the log has the details under this request id."""
    detail = f"This is a defect in KAI. Its log tells more under request {request_id}."
    return problem_response("internal", "Something went wrong", 500, detail=detail)


def answer_problems(app: FastAPI) -> None:
    """Answer every error of the application with a problem object."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(InvalidCursor, _cursor)
    app.add_exception_handler(StorageUnavailable, storage_unavailable)
    app.add_exception_handler(BusUnavailable, _bus_unavailable)


async def _problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)  # noqa: S101 - the handler is registered for this class
    return problem_answer(error)


def problem_answer(error: Problem) -> JSONResponse:
    headers = dict(error.headers)
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return problem_response(
        error.problem, error.title, error.status, detail=error.detail, members=error.members, headers=headers
    )


async def _validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    errors = error.errors()
    if any(each["type"] == "json_invalid" for each in errors):
        return problem_response("malformed", "Malformed request", 400, detail="The body is not valid JSON.")
    listed: list[JsonValue] = [
        {"field": ".".join(map(str, each["loc"])), "message": str(each["msg"])} for each in errors
    ]
    detail = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in errors[:3])
    if "json" not in request.headers.get("content-type", "") and isinstance(error.body, bytes):
        detail = "The body was not read as JSON: send it with the header Content-Type: application/json."
    return problem_response(
        "validation", "The request is not valid", 422, detail=detail, members={"errors": listed}
    )


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    path: str = request.scope["path"]
    methods = methods_of(request.app, path)
    if error.status_code == 405:
        return _other_method(request.method, methods)
    if error.status_code == 404 and not methods:
        return _unknown_path(path, nearest_paths(request.app, path))
    return http_problem(error)


def http_problem(error: HTTPException) -> JSONResponse:
    kind = _KINDS.get(error.status_code, "http")
    return problem_response(kind, error.detail, error.status_code, detail=error.detail, headers=error.headers)


def _other_method(method: str, allowed: Sequence[str]) -> Response:
    headers = {"Allow": ", ".join(allowed)}
    if "PATCH" in allowed:
        headers["Accept-Patch"] = f"{MERGE_PATCH}, application/json"
    if method == "OPTIONS":
        return Response(status_code=204, headers=headers)
    detail = f"This path has no {method}. It has {headers['Allow']}."
    return problem_response("method-not-allowed", "Method Not Allowed", 405, detail=detail, headers=headers)


def _unknown_path(path: str, nearest: Sequence[str]) -> JSONResponse:
    detail = "There is nothing at this path."
    if nearest:
        detail += f" Near it are {', '.join(nearest)}."
    return problem_response("not-found", "Not Found", 404, detail=detail, members={"nearest": [*nearest]})


async def _cursor(_: Request, error: Exception) -> JSONResponse:
    detail = "The cursor does not belong to this list; start again without one."
    return problem_response("invalid-cursor", "Invalid cursor", 422, detail=detail)


async def storage_unavailable(_: Request, error: Exception) -> JSONResponse:
    """Answer for an unavailable store. The application registers it for checkpoints, too."""
    detail = "KAI's own store does not answer; nothing is lost, try again in a moment."
    retry_after = 5
    if isinstance(error, StorageStarting):
        detail = f"{error} Nothing is lost."
        retry_after = error.retry_after_seconds or retry_after
    headers = {"Retry-After": str(retry_after)}
    return problem_response(
        "storage-unavailable", "The store is unavailable", 503, detail=detail, headers=headers
    )


async def turn_problem(_: Request, error: Exception) -> JSONResponse:
    """Answer for an error of a turn that a route meets outside of a run."""
    assert isinstance(error, TurnError)  # noqa: S101 - the handler is registered for such classes
    return problem_response(error.problem, error.title, error.status, detail=error.detail)


async def _bus_unavailable(_: Request, error: Exception) -> JSONResponse:
    detail = "KAI's queue does not answer, so no question is taken in or stopped; try again in a moment."
    return problem_response(
        "queue-unavailable", "The queue is unavailable", 503, detail=detail, headers={"Retry-After": "5"}
    )
