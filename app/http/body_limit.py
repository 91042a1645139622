"""Refuses request bodies above the limit, and those that arrive too slowly."""

import asyncio

from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import problem_response

MAX_BODY_BYTES = 1024 * 1024
_TOO_LARGE = f"The body is larger than {MAX_BODY_BYTES} bytes."


class BodyLimit:
    """ASGI middleware that refuses bodies over the limit, whether they declare their length or not, and those
    that are not complete within `seconds`."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
            await _too_large()(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + self._seconds
        received = 0
        is_complete = declared == b"0" and b"transfer-encoding" not in headers

        async def counted() -> Message:
            nonlocal received, is_complete
            if is_complete:  # what is received then is the client's disconnect
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                detail = f"The body did not arrive within {self._seconds:g} seconds."
                raise HTTPException(408, detail, {"Connection": "close"}) from None
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                raise HTTPException(413, _TOO_LARGE)
            is_complete = not message.get("more_body", False)
            return message

        await self._app(scope, counted, send)


def _too_large() -> JSONResponse:
    return problem_response("body-too-large", "The body is too large", 413, detail=_TOO_LARGE)
