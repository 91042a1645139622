"""Security headers of responses that do not set their own: no caching, and no guessing of content types."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.send_bypass import offer_direct_send


class ResponseHeaders:
    """Outermost ASGI middleware, for all responses; the page sets the headers of its files itself.

    Offers streams the direct way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")
                headers.setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        offer_direct_send(scope, send)
        await self._app(scope, receive, sending)
