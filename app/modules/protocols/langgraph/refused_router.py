"""Paths of the reference server that KAI does not serve: each refusal names the cure.

They come first: an unlisted path would look like a thread or a run of that name, or reach the page.
"""

from collections.abc import Mapping, Sequence

from fastapi import Request, Response

from app.core.errors import Problem
from app.http.methods import methods_of
from app.http.router import Router
from app.modules.protocols.langgraph.dependencies import PREFIX
from app.modules.protocols.langgraph.errors import (
    NoWebSockets,
    ReadOnly,
    ThreadPartNotOffered,
)

_ASSISTANTS = ReadOnly(
    "Assistants are the connected databases, and are not changed here. POST /api/v1/database-connections "
    "connects one."
)
_CRONS = ThreadPartNotOffered(
    "KAI asks no question by schedule. Let a scheduler of your own start the runs; pins of boards are "
    "refreshed by POST /api/v1/schedules."
)
_WEB_SOCKETS = NoWebSockets(
    "KAI has no WebSockets: POST /threads/{thread_id}/stream/events streams the events of a thread."
)
_RUN = ReadOnly("A run is part of the record of its thread. DELETE /threads/{thread_id} deletes both.")
_STATE = ReadOnly(
    "The state of a thread is not written from outside. Ask a question, answer an interrupt with "
    "`command.resume`, or copy the thread: POST /threads/{thread_id}/copy."
)
_STORAGE = ThreadPartNotOffered("KAI does not measure threads. GET /api/v1/usage tells what you have used.")
_UI = ThreadPartNotOffered("KAI's graph brings no components for pages. Show its messages and values.")
_MCP = ThreadPartNotOffered("KAI's MCP server is at /mcp.")
_A2A = ThreadPartNotOffered("KAI does not speak A2A. Use /langgraph, /ag-ui, /openai or /mcp.")

REFUSED: Mapping[str, tuple[Sequence[str], Problem]] = {
    "/assistants": (["POST"], _ASSISTANTS),
    "/assistants/{assistant_id}": (["PATCH", "DELETE"], _ASSISTANTS),
    "/assistants/{assistant_id}/latest": (["POST"], _ASSISTANTS),
    "/runs/crons": (["POST"], _CRONS),
    "/runs/crons/search": (["POST"], _CRONS),
    "/runs/crons/count": (["POST"], _CRONS),
    "/runs/crons/{cron_id}": (["GET", "PATCH", "DELETE"], _CRONS),
    "/threads/{thread_id}/runs/crons": (["GET", "POST"], _CRONS),
    "/threads/{thread_id}/stream/events": (["GET"], _WEB_SOCKETS),
    "/threads/{thread_id}/runs/{run_id}": (["DELETE"], _RUN),
    "/threads/{thread_id}/runs/{run_id}/protocol": (["GET"], _WEB_SOCKETS),
    "/threads/{thread_id}/state": (["POST"], _STATE),
    "/threads/{thread_id}/storage": (["GET"], _STORAGE),
    "/ui/{assistant_id}": (["POST"], _UI),
    "/mcp": (["GET", "POST", "DELETE"], _MCP),
    "/a2a/{assistant_id}": (["GET", "POST", "DELETE"], _A2A),
}
"""Methods and refusals, by path."""

router = Router(prefix=PREFIX)


def _refuse(path: str, methods: Sequence[str], refusal: Problem) -> None:
    async def answer(request: Request) -> Response:
        refused = type(refusal)(refusal.detail)
        if refused.status == ReadOnly.status:
            others = [each for each in methods_of(request.app, request.scope["path"]) if each not in methods]
            refused.headers = {"Allow": ", ".join(others)}
        raise refused

    router.add_route(PREFIX + path, answer, methods=[*methods], include_in_schema=False)


for each, (allowed, problem) in REFUSED.items():
    _refuse(each, allowed, problem)
