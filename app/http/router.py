"""Routers whose routes are built when they are first looked for.

FastAPI builds a route where it is declared, and once more for the router that includes it. To build what is
declared took a tenth of the start.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

_building = threading.RLock()
"""Held while a route is built: a thread that describes the API must not read one that is half built."""


class _LaterRoute(APIRoute):
    """Builds itself when anything but its path and name is first read."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.name = options.get("name") or endpoint.__name__
        self._declared: tuple[Callable[..., Any], dict[str, Any]] | None = (endpoint, options)

    def __getattr__(self, name: str) -> Any:
        with _building:
            declared = self.__dict__.get("_declared")
            if declared is not None:
                self._declared = None
                endpoint, options = declared
                super().__init__(self.path, endpoint, **options)
            return object.__getattribute__(self, name)


class Router(APIRouter):
    """FastAPI's router, with routes that are built later."""

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=_LaterRoute, **options)


async def build_routes(app: FastAPI) -> None:
    """Build all routes of an application, those of one router at a time. Otherwise a first request builds
    those that are tried before its own.
    """
    for route in app.routes:
        for _ in iter_route_contexts([route]):
            pass
        await asyncio.sleep(0)
