"""The language of the reader of an answer: the one that their page is in, or that their client asks for."""

from contextvars import ContextVar

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.language import Language, language_of

_current: ContextVar[Language] = ContextVar("reader_language", default="en")


def reader_language() -> Language:
    """The language of the request that is being answered; English outside of requests."""
    return _current.get()


class ReaderLanguage:
    """ASGI middleware that reads the language of the reader from the page's cookie and `Accept-Language`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _current.set(language_of(Request(scope)))
        await self._app(scope, receive, send)
