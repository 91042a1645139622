"""Methods of paths: HEAD wherever GET is, and what OPTIONS and 405 answer."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.routes import API_PREFIX
from app.http.send_bypass import offer_direct_send

MERGE_PATCH = "application/merge-patch+json"
_ORDER = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_COMPARED_CHARACTERS = 200
_PARAMETER = re.compile(r"\{[^{}]*\}")
_NEAREST = 3


class Head:
    """ASGI middleware outside the log: routes answer HEAD as GET, and the body is left out.

    A stream ends after its head, as if the client had left.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        scope["method"] = "GET"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["method"] = "HEAD"
                await send(message)

        async def leaving() -> Message:
            return {"type": "http.disconnect"}

        offer_direct_send(scope, sending)
        await self._app(scope, leaving, sending)
        await send({"type": "http.response.body", "body": b""})


@lru_cache(maxsize=4)
def _paths(app: FastAPI) -> Sequence[tuple[str, re.Pattern[str], frozenset[str]]]:
    """Templates of the paths of an application, with their patterns and methods."""
    return [
        (context.path, compile_path(context.path)[0], frozenset(context.methods))
        for context in iter_route_contexts(app.routes)
        if context.path is not None and context.methods
    ]


def methods_of(app: FastAPI, path: str) -> list[str]:
    """The methods that routes of a path have, in a usual order. Empty for an unknown path.

    Of templates that fit it, the one with the most text of its own counts: `/assistants/search` is no id.
    """
    fitting = [(template, methods) for template, pattern, methods in _paths(app) if pattern.fullmatch(path)]
    if not fitting:
        return []
    most = max(_text_length(template) for template, _ in fitting)
    found = {each for template, methods in fitting if _text_length(template) == most for each in methods}
    if "GET" in found:
        found.add("HEAD")
    return [*(each for each in _ORDER if each in found), "OPTIONS"]


def _text_length(template: str) -> int:
    """Number of the characters of a template outside of its parameters."""
    return len(_PARAMETER.sub("", template))


def nearest_paths(app: FastAPI, path: str) -> list[str]:
    """Templates of described paths that are written much like an unknown one, nearest first."""
    templates = {template for template, _, _ in _paths(app) if template.startswith(API_PREFIX)}
    return get_close_matches(path[:_COMPARED_CHARACTERS], sorted(templates), n=_NEAREST, cutoff=0.7)
