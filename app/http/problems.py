"""Answers every error of the HTTP application with a problem object (RFC 9457)."""

from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.core.bus.port import BusUnavailable
from app.core.errors import Malformed, NotFound, Problem, Unauthenticated, problem_type
from app.core.german_problems import german_detail, german_title
from app.core.storage.port import InvalidCursor, StorageStarting, StorageUnavailable
from app.http.methods import MERGE_PATCH, methods_of, nearest_paths
from app.http.reader_language import reader_language
from app.http.routes import API_PREFIX, ResponseBody
from graph.errors import TurnError

PROBLEM_JSON = "application/problem+json"


class ProblemBody(ResponseBody):
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


class OtherMethod(Problem):
    """The path has no such method. `Allow` has those that it has."""

    problem = "method-not-allowed"
    title = "Method Not Allowed"
    status = 405
    cure = "Use one of the methods in `Allow`."


class RequestTooSlow(Problem):
    """The request did not arrive in time."""

    problem = "request-timeout"
    title = "The request is too slow"
    status = 408
    cure = "Send the request again, faster or in smaller parts."
    retryable = True


class BodyTooLarge(Problem):
    """The body is larger than the route takes."""

    problem = "body-too-large"
    title = "The body is too large"
    status = 413
    cure = "Send less at once; `detail` names the limit."


class NotValid(Problem):
    """Fields or parameters are missing, unknown or have wrong values. `errors` names each."""

    problem = "validation"
    title = "The request is not valid"
    status = 422
    cure = "Correct what `errors` names: each has the `field` and a `message`."


class CursorRefused(Problem):
    """The cursor was not made by this list."""

    problem = "invalid-cursor"
    title = "Invalid cursor"
    status = 422
    sentence = (
        "A cursor belongs to the list, order and filters that gave it: send it with these, or start again "
        "without one."
    )


class StoreUnavailable(Problem):
    """KAI's own store does not answer."""

    problem = "storage-unavailable"
    title = "The store is unavailable"
    status = 503
    sentence = "KAI's own store does not answer; nothing is lost, try again in a moment."
    cure = "Nothing is lost: send the request again after `Retry-After`."
    retryable = True


class StoreStarting(StoreUnavailable):
    """KAI's own store starts, and does not answer yet."""

    sentence = "{why} Nothing is lost."


class QueueUnavailable(Problem):
    """The queue of questions does not answer."""

    problem = "queue-unavailable"
    title = "The queue is unavailable"
    status = 503
    headers: Mapping[str, str] = {"Retry-After": "5"}
    sentence = "KAI's queue does not answer, so no question is taken in or stopped; try again in a moment."
    cure = "Send the request again after `Retry-After`."
    retryable = True


_KINDS: Mapping[int, type[Problem]] = {
    400: Malformed,
    404: NotFound,
    405: OtherMethod,
    408: RequestTooSlow,
    413: BodyTooLarge,
}


def help_path(kind: str) -> str:
    """Path of the page on a kind of problem."""
    return f"{API_PREFIX}/problems/{kind}"


def problem_response(
    kind: str,
    title: str,
    status: int,
    *,
    detail: str,
    facts: Mapping[str, JsonValue] | None = None,
    members: Mapping[str, JsonValue] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """The problem object, in the language of the reader. `facts` are those of the sentence of the kind."""
    language = {}
    if reader_language() == "de":
        title, detail = german_title(kind, title), german_detail(kind, detail, facts)
        language = {"Content-Language": "de"}
    body = {"type": problem_type(kind), "title": title, "status": status, "detail": detail, **(members or {})}
    link = {"Link": f'<{help_path(kind)}>; rel="help"'}
    return JSONResponse(
        body, status, media_type=PROBLEM_JSON, headers={**link, **language, **(headers or {})}
    )


def internal_problem(request_id: str) -> JSONResponse:
    """The answer to a defect; the log has the details under this request id."""
    return problem_answer(Problem(f"This is a defect in KAI. Its log tells more under request {request_id}."))


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
        error.problem,
        error.title,
        error.status,
        detail=error.detail,
        facts=error.facts,
        members=error.members,
        headers=headers,
    )


async def _validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    errors = error.errors()
    if any(each["type"] == "json_invalid" for each in errors):
        return problem_answer(Malformed("The body is not valid JSON."))
    listed: list[JsonValue] = [
        {"field": ".".join(map(str, each["loc"])), "message": str(each["msg"])} for each in errors
    ]
    detail = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in errors[:3])
    if "json" not in request.headers.get("content-type", "") and isinstance(error.body, bytes):
        detail = "The body was not read as JSON: send it with the header Content-Type: application/json."
    return problem_answer(NotValid(detail, errors=listed))


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
    found = _KINDS.get(error.status_code)
    kind = "http" if found is None else found.problem
    return problem_response(kind, error.detail, error.status_code, detail=error.detail, headers=error.headers)


def _other_method(method: str, allowed: Sequence[str]) -> Response:
    headers = {"Allow": ", ".join(allowed)}
    if "PATCH" in allowed:
        headers["Accept-Patch"] = f"{MERGE_PATCH}, application/json"
    if method == "OPTIONS":
        return Response(status_code=204, headers=headers)
    detail = f"This path has no {method}. It has {headers['Allow']}."
    problem = OtherMethod(detail)
    problem.headers = headers
    return problem_answer(problem)


def _unknown_path(path: str, nearest: Sequence[str]) -> JSONResponse:
    detail = "There is nothing at this path."
    if nearest:
        detail += f" Near it are {', '.join(nearest)}."
    return problem_answer(NotFound(detail, nearest=[*nearest]))


async def _cursor(_: Request, error: Exception) -> JSONResponse:
    return problem_answer(CursorRefused())


async def storage_unavailable(_: Request, error: Exception) -> JSONResponse:
    """Answer for an unavailable store. The application registers it for checkpoints, too."""
    retry_after = 5
    problem = StoreUnavailable()
    if isinstance(error, StorageStarting):
        problem = StoreStarting(why=str(error))
        retry_after = error.retry_after_seconds or retry_after
    problem.headers = {"Retry-After": str(retry_after)}
    return problem_answer(problem)


async def turn_problem(_: Request, error: Exception) -> JSONResponse:
    """Answer for an error of a turn that a route meets outside of a run."""
    assert isinstance(error, TurnError)  # noqa: S101 - the handler is registered for such classes
    return problem_response(error.problem, error.title, error.status, detail=error.detail)


async def _bus_unavailable(_: Request, error: Exception) -> JSONResponse:
    return problem_answer(QueueUnavailable())
