"""The part of the API that a process serves: all of it, or the requests or the streams alone."""

import re
from typing import Literal, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.errors import Problem
from app.http.access_log import QUIET
from app.http.problems import problem_answer

Part: TypeAlias = Literal["requests", "streams", "all"]

STREAM_PATHS = (
    r"^/(api/stream/.+"
    r"|api/v1/(ask(/stream)?|sessions/[^/]+/(query(/stream)?|runs/[^/]+/(stream|answer)))"
    r"|langgraph/((threads/[^/]+/)?runs/(stream|wait)|threads/[^/]+/(runs/[^/]+/(stream|join)|stream(/events)?))"
    r"|ag-ui/.+|openai/v1/chat/completions|mcp)$"
)
"""Paths whose connections stay open until a question is answered. In the common syntax of Python, RE2 and
PCRE: proxies route by it, too.
"""

_IS_STREAM = re.compile(STREAM_PATHS).search


class ServedElsewhere(Problem):
    """Another process serves the path: a proxy has sent the request to the wrong one (RFC 9110, 15.5.20)."""

    problem = "served-elsewhere"
    title = "Another process serves this path"
    cure = "Send the request to the address of KAI, and let its proxy choose the process."
    status = 421


class ServedPart:
    """ASGI middleware: refuses what a process of one part does not serve. Health and metrics are in both."""

    def __init__(self, app: ASGIApp, part: Literal["requests", "streams"]) -> None:
        self._app = app
        self._part = part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in QUIET or _part_of(scope["path"]) == self._part:
            await self._app(scope, receive, send)
            return
        wanted = _part_of(scope["path"])
        problem = ServedElsewhere(
            f"This process serves {self._part} only, and the path is one of the {wanted}. Let the proxy send "
            f"it to a process of `kai api --serve {wanted}`, or start this one with `--serve all`."
        )
        await problem_answer(problem)(scope, receive, send)


def _part_of(path: str) -> Literal["requests", "streams"]:
    return "streams" if _IS_STREAM(path) else "requests"
