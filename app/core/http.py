"""Shared parts of routes: caller, pages, times, storable text, and problem objects (RFC 9457)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, FastAPI, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, JsonValue
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.auth.caller import Caller, ScopeMissing
from app.core.auth.caller import Scope as AuthScope
from app.core.bus.port import BusUnavailable
from app.core.clock import as_datetime
from app.core.errors import Problem, Unauthenticated, problem_type
from app.core.storage.port import InvalidCursor, StorageUnavailable

MAX_BODY_BYTES = 1024 * 1024
_KINDS = {400: "malformed", 404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}
_TOO_LARGE = f"The body is larger than {MAX_BODY_BYTES} bytes."
PROBLEM_JSON = "application/problem+json"
API_PREFIX = "/api/v1"
_BEARER = HTTPBearer(auto_error=False, description="An API key, or a token of the configured issuer")
_API_KEY = APIKeyHeader(name="X-API-Key", auto_error=False, description="An API key")


def current_caller(
    request: Request,
    _bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
    _key: Annotated[str | None, Security(_API_KEY)],
) -> Caller:
    """The authenticated caller. The credentials are parameters only so that OpenAPI describes them."""
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(current_caller)]


def current_owner(caller: CurrentCaller) -> str:
    return caller.owner


@dataclass(frozen=True)
class Requires:
    """Dependency of a route: the scope that its caller needs, or None if any caller may use it."""

    scope: AuthScope | None

    async def __call__(self, caller: CurrentCaller) -> None:
        """Raises `ScopeMissing`."""
        if self.scope is not None and not caller.may(self.scope):
            raise ScopeMissing(caller, self.scope)


READ = Depends(Requires("read"))
ASK = Depends(Requires("ask"))
MANAGE = Depends(Requires("manage"))
ADMIN = Depends(Requires("admin"))
ANYBODY = Depends(Requires(None))


def storable(text: str) -> str:
    """Returns the text. Raises `ValueError` for text that a store or a database cannot hold."""
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("the text holds a character that cannot be kept (NUL or half a surrogate pair)")
    return text


def not_null(value: object) -> object:
    """Returns the value of a field that may be left out. Raises `ValueError` for null."""
    if value is None:
        raise ValueError("null is no value of this field; leave it out to keep what is there")
    return value


Owner = Annotated[str, Depends(current_owner)]
Text = Annotated[str, AfterValidator(storable)]
"""Text that every store and database can hold."""
Time = Annotated[datetime, BeforeValidator(as_datetime)]
"""Epoch milliseconds in the store, RFC 3339 in UTC on the wire."""


class Body(BaseModel):
    """A request body; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class PageQuery(Body):
    """Which page of a list."""

    limit: Annotated[int, Query(ge=1, le=100)] = 20
    cursor: Annotated[Text | None, Query(max_length=1_000)] = None


Item = TypeVar("Item")


class PageOf(BaseModel, Generic[Item]):
    """A page of a list; `next_cursor` asks for what follows and is null at the end."""

    items: Sequence[Item]
    next_cursor: str | None


class ProblemBody(BaseModel):
    """What went wrong (RFC 9457); further members depend on `type`."""

    type: str
    title: str
    status: int
    detail: str


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
    detail: str,
    members: Mapping[str, JsonValue] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    body = {"type": problem_type(kind), "title": title, "status": status, "detail": detail, **(members or {})}
    return JSONResponse(body, status, media_type=PROBLEM_JSON, headers=dict(headers or {}))


def internal_problem(request_id: str) -> JSONResponse:
    """The answer to a defect; the log has the details under this request id."""
    detail = f"This is a defect in KAI. Its log tells more under request {request_id}."
    return problem_response("internal", "Something went wrong", 500, detail)


def answer_problems(app: FastAPI) -> None:
    """Answer every error of the application with a problem object."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(InvalidCursor, _cursor)
    app.add_exception_handler(StorageUnavailable, storage_away)
    app.add_exception_handler(BusUnavailable, _bus_away)


async def _problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)  # noqa: S101 - the handler is registered for this class
    return problem_answer(error)


def problem_answer(error: Problem) -> JSONResponse:
    headers = dict(error.headers)
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return problem_response(error.problem, error.title, error.status, error.detail, error.members, headers)


async def _validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    errors = error.errors()
    if any(each["type"] == "json_invalid" for each in errors):
        return problem_response("malformed", "Malformed request", 400, "The body is not valid JSON.")
    listed: list[JsonValue] = [
        {"field": ".".join(map(str, each["loc"])), "message": str(each["msg"])} for each in errors
    ]
    detail = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in errors[:3])
    return problem_response("validation", "The request is not valid", 422, detail, {"errors": listed})


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101
    kind = _KINDS.get(error.status_code, "http")
    return problem_response(kind, error.detail, error.status_code, error.detail, headers=error.headers)


async def _cursor(_: Request, error: Exception) -> JSONResponse:
    detail = "The cursor does not belong to this list; start again without one."
    return problem_response("invalid-cursor", "Invalid cursor", 422, detail)


async def storage_away(_: Request, error: Exception) -> JSONResponse:
    """Answer for an unavailable store. The application registers it for checkpoints, too."""
    detail = "KAI's own store does not answer; nothing is lost, try again in a moment."
    return problem_response(
        "storage-unavailable", "The store is unavailable", 503, detail, headers={"Retry-After": "5"}
    )


async def _bus_away(_: Request, error: Exception) -> JSONResponse:
    detail = "KAI's queue does not answer, so no question is taken in or stopped; try again in a moment."
    return problem_response(
        "queue-unavailable", "The queue is unavailable", 503, detail, headers={"Retry-After": "5"}
    )


class BodyLimit:
    """ASGI middleware that refuses bodies over the limit, whether they declare their length or not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = dict(scope.get("headers", ())).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
            await _too_large()(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                raise HTTPException(413, _TOO_LARGE)
            return message

        await self._app(scope, counted, send)


def _too_large() -> JSONResponse:
    return problem_response("body-too-large", "The body is too large", 413, _TOO_LARGE)
