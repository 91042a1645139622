"""Serves the chat page: hashed assets are cached forever, the page itself is always revalidated.

The page is built once for each language; its index says which files a reader loads.
"""

from collections.abc import Sequence
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.language import Language, language_of

STATIC = Path(__file__).parent / "static"
"""Written by `make ui`."""

_SOURCES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",  # charts and the SQL editor style what they draw
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
POLICY = "; ".join(f"{what} {whence}" for what, whence in _SOURCES.items())
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_INDEXES: dict[Language, str] = {"en": "index.html", "de": "index.de.html"}
_IMMUTABLE = "public, max-age=31536000, immutable"
NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>KAI</title>
<body style="font: 1rem/1.5 system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>The page is not built yet</h1><p>Run <code>make ui</code> beside the source and load this page again.
The API works meanwhile: it describes itself at
<a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p></body></html>"""

_PATHS = (
    "/",
    "/favicon.svg",
    "/boards",
    "/connections",
    "/links",
    "/memory",
    "/rules",
    "/schedules",
    "/settings",
    "/tools",
)
_OF_PROGRAMS = ("/api", "/assets", "/docs")
"""A path below these that does not exist is answered with a problem."""
_FOLDERS = ("/assets/", "/boards/", "/sessions/", "/shared/", "/connections/")

_page = APIRouter(include_in_schema=False)


def serve_page(app: FastAPI) -> None:
    """Serve the page at `/` and at its deep links. The API answers all other paths."""
    app.include_router(_page)
    app.mount("/assets", GZipMiddleware(_Assets(directory=STATIC / "assets", check_dir=False)))


class UnknownAddresses:
    """Shows the page, which says so, to a browser that asks for an address under no route of the app.

    It needs no login: the page holds no data, and every such address is answered alike.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if asks and "text/html" in Headers(scope=scope).get("accept", "") and self._is_unknown(scope):
            await page(Request(scope), status=404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_unknown(self, scope: Scope) -> bool:
        if scope["path"].startswith(_OF_PROGRAMS):
            return False
        return all(route.matches(dict(scope))[0] is Match.NONE for route in self._routes)


def is_of_page(path: str) -> bool:
    """True if the page serves this path."""
    return path in _PATHS or path.startswith(_FOLDERS)


class UnbuiltFiles(StaticFiles):
    """Files that answer 404 when the page is not built."""

    async def check_config(self) -> None:
        """Accepts a folder that does not exist."""


class _Assets(UnbuiltFiles):
    """Files whose names contain a hash of their contents."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = _IMMUTABLE
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


@_page.api_route("/", methods=["GET", "HEAD"])
@_page.api_route("/sessions/{session_id}", methods=["GET", "HEAD"])
@_page.api_route("/boards", methods=["GET", "HEAD"])
@_page.api_route("/boards/{board_id}", methods=["GET", "HEAD"])
@_page.api_route("/connections", methods=["GET", "HEAD"])
@_page.api_route("/connections/{rest:path}", methods=["GET", "HEAD"])
@_page.api_route("/links", methods=["GET", "HEAD"])
@_page.api_route("/memory", methods=["GET", "HEAD"])
@_page.api_route("/rules", methods=["GET", "HEAD"])
@_page.api_route("/schedules", methods=["GET", "HEAD"])
@_page.api_route("/settings", methods=["GET", "HEAD"])
@_page.api_route("/tools", methods=["GET", "HEAD"])
async def shown(request: Request) -> Response:
    return page(request)


def page(request: Request, *, status: int = 200, head: str = "") -> Response:
    """The page in the reader's language. `head` are further elements of its head, as HTML."""
    language = language_of(request)
    index = STATIC / _INDEXES[language]
    if not index.is_file():
        return HTMLResponse(_add_to_head(NOT_BUILT, head), 503, headers=HEADERS)
    chosen = {"Content-Language": language, "Vary": "Accept-Language, Cookie"}
    if head:
        return HTMLResponse(_add_to_head(index.read_text(), head), status, headers={**HEADERS, **chosen})
    return FileResponse(index, status, headers={**HEADERS, **chosen})


def _add_to_head(html: str, head: str) -> str:
    return html.replace("<title>", f"{head}<title>", 1)


@_page.api_route("/favicon.svg", methods=["GET", "HEAD"])
async def favicon() -> Response:
    return FileResponse(STATIC / "favicon.svg", headers={"Cache-Control": "public, max-age=86400"})
