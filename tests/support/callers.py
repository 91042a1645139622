"""Callers of routes that are tested without the door."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.auth.caller import SCOPES_OF_ROLE, Caller
from app.http.authentication import Authentication


def admin(owner: str) -> Caller:
    return Caller(owner=owner, role="admin", scopes=SCOPES_OF_ROLE["admin"], signed_in_by="api_key")


def call_as(app: FastAPI, caller: Callable[[Request], Caller]) -> None:
    """Let requests come from the caller that `caller` returns, not from the one that the door has found."""
    if not hasattr(app.state, "caller_of"):
        classes: list[object] = [each.cls for each in app.user_middleware]
        behind_login = classes.index(Authentication) + 1 if Authentication in classes else 0
        app.user_middleware.insert(behind_login, Middleware(_CalledAs))
    app.state.caller_of = caller


class _CalledAs:
    """The middleware behind the login."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            request.state.caller = scope["app"].state.caller_of(request)
        await self._app(scope, receive, send)
