"""Routes of threads, their states and their history."""

import asyncio
from typing import Annotated

from fastapi import Path, Query, Request, Response, status
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from app.http.callers import ASK, READ, Owner
from app.http.router import Router
from app.modules.protocols.langgraph.assistants import page_headers, selected
from app.modules.protocols.langgraph.conversations import Conversations
from app.modules.protocols.langgraph.dependencies import PREFIX, CurrentConversations, ThreadIdPath
from app.modules.protocols.langgraph.errors import ThreadUnknown
from app.modules.protocols.langgraph.schemas import (
    HistoryQuery,
    NewThread,
    StateAt,
    StateField,
    ThreadChange,
    ThreadSearch,
    ThreadsPruned,
)
from app.modules.protocols.langgraph.state import State, selected_of_state
from app.modules.session.dependencies import CurrentSessions

router = Router(prefix=f"{PREFIX}/threads", tags=["threads"])

Select = Annotated[list[StateField] | None, Query(description="Only these fields.")]


@router.post("", summary="Create a thread", dependencies=[ASK])
async def create_thread(body: NewThread, owner: Owner, conversations: CurrentConversations) -> JSONResponse:
    """Creates a thread. Its first run names the database, unless `metadata.assistant_id` does. Needs scope
    `ask`.
    """
    session = await conversations.create(
        owner,
        body.metadata,
        thread_id=body.thread_id,
        is_repeatable=body.if_exists == "do_nothing",
    )
    return JSONResponse(conversations.thread(session))


@router.post("/search", summary="Search threads", dependencies=[READ])
async def search_threads(
    body: ThreadSearch, owner: Owner, conversations: CurrentConversations
) -> JSONResponse:
    """Lists the caller's threads, last changed first, each with its title. Needs scope `read`."""
    found, total = await asyncio.gather(conversations.search(owner, body), conversations.count(owner, body))
    threads = [selected(conversations.listed_thread(each), body.select) for each in found]
    return JSONResponse(threads, headers=page_headers(total, body.offset + len(found)))


@router.post("/count", summary="Count threads", dependencies=[READ])
async def count_threads(body: ThreadSearch, owner: Owner, conversations: CurrentConversations) -> int:
    """Returns the number of threads that a search would find in all. Needs scope `read`."""
    return await conversations.count(owner, body)


@router.post("/prune", summary="Prune threads", dependencies=[ASK])
async def prune_threads(
    body: ThreadsPruned, owner: Owner, conversations: CurrentConversations, sessions: CurrentSessions
) -> dict[str, int]:
    """Deletes threads, or all but their latest checkpoint. Unknown threads are skipped. Needs scope `ask`."""
    pruned = 0
    for thread_id in dict.fromkeys(body.thread_ids):
        try:
            session = await conversations.find(owner, thread_id)
        except ThreadUnknown:
            continue
        if body.strategy == "delete":
            await conversations.delete(session)
        else:
            await sessions.copies.prune(owner, session.id)
        pruned += 1
    return {"pruned_count": pruned}


@router.get("/{thread_id}", summary="Get a thread", dependencies=[READ])
async def get_thread(
    thread_id: ThreadIdPath, owner: Owner, conversations: CurrentConversations
) -> dict[str, JsonValue]:
    """Returns a thread with its values and the calls that wait for an approval. Needs scope `read`."""
    return await _read(conversations, owner, thread_id)


async def _read(conversations: Conversations, owner: str, thread_id: str) -> dict[str, JsonValue]:
    session = await conversations.find(owner, thread_id)
    record = await conversations.record(session)
    values = record.values(record.branch) if record.messages else None
    await conversations.note_record(record)
    return conversations.thread(session, values=values, waiting=record.waiting)


@router.patch("/{thread_id}", summary="Change a thread", dependencies=[ASK], response_model=None)
async def patch_thread(
    thread_id: ThreadIdPath,
    body: ThreadChange,
    owner: Owner,
    conversations: CurrentConversations,
    request: Request,
) -> Response:
    """Sets keys of the thread's metadata. Other keys stay. Needs scope `ask`."""
    session = await conversations.change_metadata(owner, thread_id, body.metadata)
    if "return=minimal" in request.headers.get("prefer", ""):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return JSONResponse(conversations.thread(session))


@router.delete(
    "/{thread_id}", summary="Delete a thread", dependencies=[ASK], status_code=status.HTTP_204_NO_CONTENT
)
async def delete_thread(thread_id: ThreadIdPath, owner: Owner, conversations: CurrentConversations) -> None:
    """Stops the runs of a thread and deletes it with its messages. Needs scope `ask`."""
    await conversations.delete(await conversations.find(owner, thread_id))


@router.post("/{thread_id}/copy", summary="Copy a thread", dependencies=[ASK])
async def copy_thread_post(
    thread_id: ThreadIdPath, owner: Owner, conversations: CurrentConversations
) -> dict[str, JsonValue]:
    """Creates a thread with the history of another, up to its latest answer. Needs scope `ask`."""
    copied = await conversations.copy(owner, thread_id)
    return await _read(conversations, owner, copied.id)


@router.patch("/{thread_id}/state", summary="Change the metadata of a thread", dependencies=[ASK])
async def patch_thread_state(
    thread_id: ThreadIdPath, body: ThreadChange, owner: Owner, conversations: CurrentConversations
) -> dict[str, JsonValue]:
    """Sets keys of the thread's metadata, as older clients ask for it. Needs scope `ask`."""
    return conversations.thread(await conversations.change_metadata(owner, thread_id, body.metadata))


@router.get("/{thread_id}/state", summary="Get the state of a thread", dependencies=[READ])
async def get_latest_thread_state(
    thread_id: ThreadIdPath, owner: Owner, conversations: CurrentConversations, select: Select = None
) -> State:
    """Returns the latest state, with the calls that wait for an approval. Needs scope `read`."""
    session = await conversations.find(owner, thread_id)
    return selected_of_state(await conversations.state(session), select)


@router.post(
    "/{thread_id}/state/checkpoint", summary="Get the state of a checkpoint in the body", dependencies=[READ]
)
async def post_thread_state_at_checkpoint(
    thread_id: ThreadIdPath, body: StateAt, owner: Owner, conversations: CurrentConversations
) -> State:
    """Returns the state at the end of a turn, or the latest one. Needs scope `read`."""
    session = await conversations.find(owner, thread_id)
    state = await conversations.state(session, body.checkpoint.checkpoint_id)
    return selected_of_state(state, body.select)


@router.get(
    "/{thread_id}/state/{checkpoint_id}",
    summary="Get the state of a checkpoint in the path",
    dependencies=[READ],
)
async def get_thread_state_at_checkpoint(
    thread_id: ThreadIdPath,
    checkpoint_id: Annotated[str, Path(description="Id of the checkpoint.")],
    owner: Owner,
    conversations: CurrentConversations,
    select: Select = None,
) -> State:
    """Returns the state at the end of a turn, by the id of its checkpoint. Needs scope `read`."""
    session = await conversations.find(owner, thread_id)
    return selected_of_state(await conversations.state(session, checkpoint_id), select)


@router.post("/{thread_id}/history", summary="List the states of a thread", dependencies=[READ])
async def get_thread_history_post(
    thread_id: ThreadIdPath, body: HistoryQuery, owner: Owner, conversations: CurrentConversations
) -> list[State]:
    """Returns the states of a thread, newest first: one for each finished turn. Needs scope `read`."""
    session = await conversations.find(owner, thread_id)
    start = body.checkpoint.checkpoint_id if body.checkpoint else None
    states = await conversations.states(session, body.limit, before=body.before_id, start=start)
    return [selected_of_state(state, body.select) for state in states]


@router.get("/{thread_id}/history", summary="List the states of a thread by query", dependencies=[READ])
async def get_thread_history(
    thread_id: ThreadIdPath,
    owner: Owner,
    conversations: CurrentConversations,
    limit: Annotated[int, Query(ge=1, le=100, description="The most states.")] = 10,
    before: Annotated[str | None, Query(description="Id of a checkpoint: only earlier states.")] = None,
) -> list[State]:
    """Returns the states of a thread, as older clients ask for them. Needs scope `read`."""
    session = await conversations.find(owner, thread_id)
    return await conversations.states(session, limit, before=before)
