"""Cross-origin requests: which pages of other sites may call KAI from a browser."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

ANY_ORIGIN = "*"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_OF_OPENAI = (
    "OpenAI-Beta",
    "OpenAI-Organization",
    "OpenAI-Project",
    "X-Stainless-Arch",
    "X-Stainless-Helper-Method",
    "X-Stainless-Lang",
    "X-Stainless-OS",
    "X-Stainless-Package-Version",
    "X-Stainless-Retry-Count",
    "X-Stainless-Runtime",
    "X-Stainless-Runtime-Version",
    "X-Stainless-Timeout",
)
"""What OpenAI's JavaScript client sends with every request, also from a browser. KAI reads none of it."""
_REQUEST_HEADERS = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Prefer",
    "X-Api-Key",
    "X-Kai-Session",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
    *_OF_OPENAI,
)
_RESPONSE_HEADERS = (
    "Allow",
    "Content-Location",
    "ETag",
    "Idempotent-Replayed",
    "Link",
    "Location",
    "Preference-Applied",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
    "X-Kai-Ignored",
    "X-Kai-Session",
    "X-Pagination-Next",
    "X-Pagination-Total",
    "X-Run-Id",
)
"""Of a run's stream, `Content-Location` and `Location` tell a client what to reconnect to."""


class CrossOrigin(CORSMiddleware):
    """ASGI middleware outside the login: a preflight brings no credential.

    Listed origins may send credentials and reach KAI in a private network. Where any origin may call, neither
    is allowed.
    """

    def __init__(self, app: ASGIApp, *, origins: Sequence[str]) -> None:
        are_listed = ANY_ORIGIN not in origins
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=_METHODS,
            allow_headers=_REQUEST_HEADERS,
            expose_headers=_RESPONSE_HEADERS,
            allow_credentials=are_listed,
            allow_private_network=are_listed,
        )
