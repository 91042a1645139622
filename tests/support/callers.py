"""Callers of routes that are tested without the door."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.auth.caller import SCOPES_OF_ROLE, Caller


def admin(owner: str) -> Caller:
    return Caller(owner=owner, role="admin", scopes=SCOPES_OF_ROLE["admin"], signed_in_by="api_key")


def call_as(app: FastAPI, caller: Callable[[Request], Caller]) -> None:
    """Let requests come from the caller that `caller` returns, not from the one that the door has found."""
    if not hasattr(app.state, "caller_of"):
        app.user_middleware.append(Middleware(_CalledAs))
    app.state.caller_of = caller


class _CalledAs:
    """The innermost middleware, behind KAI's own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            request.state.caller = scope["app"].state.caller_of(request)
        await self._app(scope, receive, send)
