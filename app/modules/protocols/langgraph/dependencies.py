"""Dependencies of the routes: the services that they translate for."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from app.http.callers import CurrentCaller
from app.modules.items.service import ClientItems
from app.modules.protocols.langgraph.conversations import Conversations

PREFIX = "/langgraph"
"""Begins every path. Routers have it themselves, because access logs name routes as their routers do."""


async def _conversations(request: Request, caller: CurrentCaller) -> Conversations:
    services = request.app.state.services
    return Conversations(
        services.sessions, services.confirmations, services.threads, client=caller.credential
    )


async def _items(request: Request) -> ClientItems:
    items: ClientItems = request.app.state.services.items
    return items


CurrentConversations = Annotated[Conversations, Depends(_conversations)]
CurrentItems = Annotated[ClientItems, Depends(_items)]

ThreadIdPath = Annotated[str, Path(description="Id of the thread.")]
AssistantId = Annotated[str, Path(description="Id or name of a database.")]
RunIdPath = Annotated[str, Path(description="Id of the run.")]
StreamModes = Annotated[
    list[str] | None,
    Query(max_length=20, description="Kinds of frames, such as `values` and `messages-tuple`."),
]
CancelOnDisconnect = Annotated[bool, Query(description="Cancel the run when the client leaves.")]
CancelAction = Annotated[str, Query(description="`interrupt`: the question stays in the record.")]
