"""Errors in the form that OpenAI's clients read."""

import gzip
import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from pydantic import JsonValue, TypeAdapter
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import Malformed, NotFound, problem_kind
from app.http.problems import PROBLEM_JSON
from app.modules.protocols.openai.schemas import ErrorBody, ErrorDetails
from graph.events import RunError

PREFIX = "/openai/v1"
PATHS = f"{PREFIX}/"

_CODES = {"unauthenticated": "invalid_api_key", "rate-limit": "rate_limit_exceeded"}
"""OpenAI's own codes, by the kinds of KAI's problems."""

_PROBLEM = TypeAdapter(dict[str, JsonValue])


class Unsupported(Malformed):
    """A field of the request asks for something that KAI does not do."""

    problem = "unsupported-parameter"
    title = "Not supported"

    def __init__(self, param: str, detail: str) -> None:
        super().__init__(detail, param=param, code="unsupported_parameter")


class WrongMessages(Malformed):
    """The messages hold no question."""

    problem = "messages-invalid"
    title = "The messages hold no question"

    def __init__(self, detail: str, param: str = "messages") -> None:
        super().__init__(detail, param=param, code="invalid_value")


class ModelUnknown(NotFound):
    """The caller may ask no database of this name."""

    problem = "model-unknown"

    def __init__(self, model: str, known: Sequence[str]) -> None:
        cure = f"There are: {', '.join(known)}." if known else "No database is registered yet."
        super().__init__(
            f"The model {model[:100]!r} does not exist, or you may not use it. {cure}",
            param="model",
            code="model_not_found",
        )


class RouteNotOffered(NotFound):
    """A route of OpenAI's that KAI does not have."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"KAI does not offer {path}. Ask by POST {PREFIX}/chat/completions.", code="unknown_url"
        )


def error_type(status: int) -> str:
    """Returns OpenAI's type of error for an HTTP status."""
    match status:
        case 401:
            return "authentication_error"
        case 403:
            return "permission_error"
        case 429:
            return "rate_limit_error"
        case _ if status >= 500:
            return "server_error"
        case _:
            return "invalid_request_error"


def error_body(failure: RunError) -> ErrorBody:
    """Returns the error of a failed run."""
    details = ErrorDetails(message=failure.detail, type="server_error", param=None, code=failure.type)
    return ErrorBody(error=details)


class OpenAiErrors:
    """ASGI middleware that answers problems on OpenAI's paths in OpenAI's form.

    It is outside of everything that may refuse a request, the login included.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PATHS):
            send = _Translating(send).send
        await self._app(scope, receive, send)


class _Translating:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: MutableMapping[str, Any] | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_problem(Headers(raw=message["headers"])):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_translated(self._start, bytes(self._body))

    async def _send_translated(self, start: MutableMapping[str, Any], body: bytes) -> None:
        headers = MutableHeaders(raw=start["headers"])
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
            del headers["content-encoding"]
        status, error = translated(_PROBLEM.validate_json(body))
        sent = json.dumps(error.model_dump(mode="json")).encode()
        headers["Content-Type"] = "application/json"
        headers["Content-Length"] = str(len(sent))
        await self._send({**start, "status": status, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": sent})


def _is_problem(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0] == PROBLEM_JSON


def translated(problem: Mapping[str, JsonValue]) -> tuple[int, ErrorBody]:
    """Returns a problem object as OpenAI's status and error. A field that is not valid is 400 there."""
    found = problem.get("status")
    status = found if isinstance(found, int) else 500
    status = 400 if status == 422 else status
    kind = problem_kind(str(problem.get("type", "")))
    code = problem.get("code")
    details = ErrorDetails(
        message=str(problem.get("detail") or problem.get("title")),
        type=error_type(status),
        param=_param(problem),
        code=code if isinstance(code, str) else _CODES.get(kind) or str(problem.get("type")),
    )
    return status, ErrorBody(error=details)


def _param(problem: Mapping[str, JsonValue]) -> str | None:
    """Returns the field of the request that is wrong."""
    param = problem.get("param")
    if isinstance(param, str):
        return param
    errors = problem.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    field = first.get("field") if isinstance(first, dict) else None
    return field.removeprefix("body.") if isinstance(field, str) else None
