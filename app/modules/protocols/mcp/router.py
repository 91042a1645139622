"""`/mcp`: MCP over Streamable HTTP, stateless, behind KAI's own authentication."""

from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from pydantic import JsonValue
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.errors import Forbidden, NotFound
from app.http.callers import ANYBODY
from app.http.cross_origin import ANY_ORIGIN
from app.http.own_address import own_address
from app.http.rate_limits import count_request
from app.http.router import Router
from app.modules.protocols.mcp.endpoint import McpEndpoint

PATH = "/mcp"
_METADATA = "/.well-known/oauth-protected-resource"
METADATA_PATHS = frozenset({_METADATA, _METADATA + PATH})
"""Where clients look up which issuer's tokens are accepted (RFC 9728). Open to all."""

router = Router(include_in_schema=False)


class _Handed(Response):
    """A response that the SDK makes."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The SDK compares `Mcp-Name` with the body; httptools keeps the spaces after a value (RFC 9110, 5.5).
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await self._app({**scope, "headers": headers}, receive, send)


@router.post(PATH, summary="Answer a message of MCP", dependencies=[ANYBODY, Depends(count_request)])
async def serve_mcp(request: Request) -> Response:
    """Answers a message of the Model Context Protocol; each tool asks for its own scope. Answers 403 to a
    page of another site.
    """
    endpoint: McpEndpoint = request.app.state.services.mcp_endpoint
    _check_origin(request, endpoint.origins)
    return _Handed(await endpoint.app())


async def read_metadata(request: Request) -> Response:
    """Returns the issuer whose tokens are accepted. Raises `NotFound` if there is none."""
    issuer: str | None = request.app.state.services.identity.issuer
    if issuer is None:
        raise NotFound("KAI accepts API keys only: no issuer of tokens is configured.")
    metadata: dict[str, JsonValue] = {
        "resource": own_address(request.scope) + PATH,
        "resource_name": "KAI",
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
    }
    return JSONResponse(metadata)


for path in METADATA_PATHS:
    router.add_route(path, read_metadata, include_in_schema=False)


def challenge(scope: Scope, issuer: str | None) -> str:
    """Returns the `WWW-Authenticate` of an answer to a caller without a valid credential."""
    if issuer is None or scope["path"] != PATH:
        return "Bearer"
    return f'Bearer resource_metadata="{own_address(scope)}{_METADATA}{PATH}"'


def _check_origin(request: Request, allowed: frozenset[str]) -> None:
    """A browser names the site of the page that sends a request. Others have no Origin."""
    origin = request.headers.get("origin")
    if origin is None or origin in allowed or ANY_ORIGIN in allowed:
        return
    if urlsplit(origin).netloc.casefold() != request.headers.get("host", "").casefold():
        raise Forbidden(
            "Pages of other sites may not use KAI's MCP server. KAI_CORS_ORIGINS can allow the origin."
        )
