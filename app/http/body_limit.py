"""Refuses request bodies above the limit, and those that arrive too slowly."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import BodyTooLarge, problem_answer

MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True)
class LargestBody:
    """Limits of a body: its bytes, and the seconds until it is complete."""

    bytes: int
    seconds: float

    @property
    def too_large(self) -> str:
        return f"The body is larger than {self.bytes} bytes. Send less at once, or the latest part alone."


class BodyLimit:
    """ASGI middleware that refuses bodies over the limit, whether they declare their length or not, and those
    that are not complete within `seconds`. `files` are the limits of paths to which files are sent."""

    def __init__(self, app: ASGIApp, seconds: float, files: Mapping[str, LargestBody] | None = None) -> None:
        self._app = app
        self._usual = LargestBody(MAX_BODY_BYTES, seconds)
        self._files = files or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._files.get(scope.get("path", ""), self._usual)
        headers = dict(scope.get("headers", ()))
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > limit.bytes:
            await _too_large(limit)(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + limit.seconds
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
                detail = f"The body did not arrive within {limit.seconds:g} seconds."
                raise HTTPException(408, detail, {"Connection": "close"}) from None
            received += len(message.get("body", b""))
            if received > limit.bytes:
                raise HTTPException(413, limit.too_large)
            is_complete = not message.get("more_body", False)
            return message

        await self._app(scope, counted, send)


def _too_large(limit: LargestBody) -> JSONResponse:
    return problem_answer(BodyTooLarge(limit.too_large))
