"""Methods of paths: HEAD wherever GET is, and what OPTIONS and 405 answer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.send_bypass import offer_direct_send

MERGE_PATCH = "application/merge-patch+json"
_ORDER = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_COMPARED_CHARACTERS = 200
_PARAMETER = re.compile(r"\{[^{}]*\}")
_CONVERTER = re.compile(r":\w+\}")
_NEAREST = 3
_HEAD = "kai.head"


class Head:
    """ASGI middleware outside the log: routes answer HEAD as GET, and the body is left out.

    Streams send nothing but their head (`is_head`); another response ends as if the client had left.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        scope["method"] = "GET"
        scope[_HEAD] = True

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["method"] = "HEAD"
                await send(message)

        async def leaving() -> Message:
            return {"type": "http.disconnect"}

        offer_direct_send(scope, sending)
        await self._app(scope, leaving, sending)
        await send({"type": "http.response.body", "body": b""})


def is_head(scope: Scope) -> bool:
    """True for a request whose response is its head alone."""
    return bool(scope.get(_HEAD))


async def send_head(response: Response, send: Send) -> None:
    """Send the head of a response, whose body is then neither made nor followed."""
    await send(
        {
            "type": "http.response.start",
            "status": response.status_code,
            "headers": response.raw_headers,
        }
    )


@dataclass(frozen=True, kw_only=True)
class _Path:
    """A route, by the template of its path."""

    template: str
    pattern: re.Pattern[str]
    methods: frozenset[str]
    is_described: bool
    """False for the page, and for what is refused whatever the request holds."""


def _text_length(template: str) -> int:
    """Number of the characters outside of parameters."""
    return len(_PARAMETER.sub("", template))


@lru_cache(maxsize=4)
def _paths(app: FastAPI) -> Sequence[_Path]:
    return [
        _Path(
            template=_CONVERTER.sub("}", context.path),
            pattern=compile_path(context.path)[0],
            methods=frozenset(context.methods),
            is_described=getattr(context.original_route, "include_in_schema", False),
        )
        for context in iter_route_contexts(app.routes)
        if context.path is not None and context.methods
    ]


def methods_of(app: FastAPI, path: str) -> list[str]:
    """The methods that routes of a path have, in a usual order. Empty for an unknown path.

    Of templates that fit it, the one with the most text of its own counts: `/assistants/search` is no id.
    What routes without a description refuse counts only where there are no others.
    """
    fitting = [each for each in _paths(app) if each.pattern.fullmatch(path)]
    if not fitting:
        return []
    most = max(_text_length(each.template) for each in fitting)
    nearest = [each for each in fitting if _text_length(each.template) == most]
    described = [each for each in nearest if each.is_described]
    found = {method for each in described or nearest for method in each.methods}
    if "GET" in found:
        found.add("HEAD")
    return [*(each for each in _ORDER if each in found), "OPTIONS"]


def refuse_other_methods(routers: Iterable[APIRouter]) -> APIRouter:
    """Returns routes to include before these routers: they refuse a method that a path has not, where its
    last part would be taken for an id, as in `GET /database-connections/test`.
    """
    described = [
        each
        for router in routers
        for each in router.routes
        if isinstance(each, APIRoute) and each.include_in_schema
    ]
    methods: dict[str, set[str]] = defaultdict(set)
    for each in described:
        methods[each.path] |= each.methods or set()
    refused: dict[str, set[str]] = defaultdict(set)
    for outer in described:
        if not outer.path.endswith("}"):
            continue
        for path, own in methods.items():
            if outer.path_regex.fullmatch(path) and _text_length(path) > _text_length(outer.path):
                refused[path] |= (outer.methods or set()) - own
    return APIRouter(
        routes=[
            Route(path, _refuse_method, methods=[*others], include_in_schema=False)
            for path, others in refused.items()
            if others
        ]
    )


async def _refuse_method(_: Request) -> Response:
    raise HTTPException(405)


def nearest_paths(app: FastAPI, path: str) -> list[str]:
    """Templates of described paths that are written much like an unknown one, nearest first."""
    parts = path[:_COMPARED_CHARACTERS].split("/")
    filled = {
        "/".join(_fill(each.template.split("/"), parts)): each.template
        for each in _paths(app)
        if each.is_described
    }
    nearest = get_close_matches("/".join(parts), sorted(filled), n=_NEAREST, cutoff=0.7)
    return [filled[each] for each in nearest]


def _fill(template: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Returns the parts of a template, with those of a path in place of its parameters."""
    return [
        parts[at] if _PARAMETER.fullmatch(part) and at < len(parts) else part
        for at, part in enumerate(template)
    ]
