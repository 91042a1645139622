"""Refuses request bodies above the limit."""

from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import problem_response

MAX_BODY_BYTES = 1024 * 1024
_TOO_LARGE = f"The body is larger than {MAX_BODY_BYTES} bytes."


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
