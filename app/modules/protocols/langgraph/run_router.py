"""Routes of runs: start, stream, wait, join and cancel."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Literal
from urllib.parse import quote, urlencode

from fastapi import Depends, Query, Request, Response, status
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import JsonValue, TypeAdapter, ValidationError
from starlette.types import Receive, Scope, Send

from app.http.callers import ASK, READ, CurrentCaller, Owner
from app.http.methods import is_head, send_head
from app.http.open_streams import STREAM
from app.http.parameters import LastEventId
from app.http.rate_limits import count_question
from app.http.router import Router
from app.modules.protocols.dependencies import CurrentDepartures
from app.modules.protocols.disconnects import Departures
from app.modules.protocols.frame_stream import (
    HEARTBEAT_SECONDS,
    StreamEnd,
    folded_stream,
    position_of,
)
from app.modules.protocols.langgraph.assistants import selected
from app.modules.protocols.langgraph.conversations import (
    Conversations,
    Started,
    run_body,
)
from app.modules.protocols.langgraph.dependencies import (
    PREFIX,
    CancelAction,
    CancelOnDisconnect,
    CurrentConversations,
    RunIdPath,
    StreamModes,
    ThreadIdPath,
)
from app.modules.protocols.langgraph.errors import ValueUnsupported
from app.modules.protocols.langgraph.fold import MODES, WHOLE, Mode, RunFold, RunStatus
from app.modules.protocols.langgraph.schemas import (
    MAX_BATCH,
    BatchedRun,
    Modes,
    NewRun,
    RunField,
    RunsCancelled,
)
from app.modules.protocols.options import question_headers
from app.modules.run.sse import EventStream
from app.modules.session.dependencies import CurrentSessions

router = Router(prefix=PREFIX, tags=["runs"])

_MODES: TypeAdapter[list[str]] = TypeAdapter(Modes)
_ASKING = [ASK, Depends(count_question)]


def _path(started: Started) -> str:
    """The path of a run. It has no prefix, because clients append it to their base URL."""
    return f"/threads/{quote(started.session.thread_id, safe='')}/runs/{started.run.id}"


class _Values(StreamingResponse):
    """A body that waits for the end of a run."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_head(scope):
            await send_head(self, send)
        else:
            await super().__call__(scope, receive, send)


class _Streams:
    """Answers with streams and final values of runs."""

    def __init__(self, conversations: Conversations, departures: Departures) -> None:
        self._conversations = conversations
        self._departures = departures

    async def stream(
        self,
        started: Started,
        modes: Sequence[Mode],
        *,
        last_event_id: str | None = None,
        cancels: bool,
    ) -> EventStream:
        """The events of a run. `cancels`: a client that leaves cancels it."""
        after = position_of(last_event_id)
        self._departures.keep(started.run.id)
        is_complete = any(mode in WHOLE for mode in modes)
        turn, is_waiting = await self._conversations.turn(started, is_complete=is_complete)
        fold = RunFold(turn, modes)
        following = self._conversations.following(started, fold, is_waiting=is_waiting)
        where = _path(started)
        query = urlencode({"stream_mode": json.dumps([*modes]), "cancel_on_disconnect": int(cancels)})
        return folded_stream(
            started.run.id,
            following,
            fold,
            after=after,
            before_sending=lambda: self._conversations.note_shown(fold),
            headers={
                "Content-Location": where,
                "Location": f"{where}/stream?{query}",
                **question_headers(started.session, started.run),
            },
            on_close=lambda end: self._leave(started, end, cancels=cancels),
        )

    async def wait(self, started: Started, *, cancels: bool) -> StreamingResponse:
        """The final values of a run. White space keeps the connection alive until then."""
        where = _path(started)
        return _Values(
            self._body(started, cancels=cancels),
            media_type="application/json",
            headers={
                "Content-Location": where,
                "Location": f"{where}/join",
                **question_headers(started.session, started.run),
            },
        )

    async def _body(self, started: Started, *, cancels: bool) -> AsyncGenerator[bytes]:
        end: StreamEnd = "left"
        reading = asyncio.create_task(
            self._conversations.finished_fold(started), name=f"run {started.run.id}: wait"
        )
        try:
            while not (await asyncio.wait({reading}, timeout=HEARTBEAT_SECONDS))[0]:
                yield b"\n"
            fold = reading.result()
            end = "ended"
            yield _final(fold).encode()
        finally:
            reading.cancel()
            self._leave(started, end, cancels=cancels)

    def _leave(self, started: Started, end: StreamEnd, *, cancels: bool) -> None:
        if end == "left" and cancels:
            self._departures.cancel_later(started.session, started.run)
        if end == "left":
            _hide_at_end(self._departures, started)


def _hide_at_end(departures: Departures, started: Started) -> None:
    if started.session.is_for_one_run:
        departures.hide_at_end(started.session, started.run)


def _final(fold: RunFold) -> str:
    failure = fold.failure
    if failure is None:
        return fold.values()
    return json.dumps({"__error__": {"error": failure.type, "message": failure.detail}})


async def _streams(conversations: CurrentConversations, departures: CurrentDepartures) -> _Streams:
    return _Streams(conversations, departures)


CurrentStreams = Annotated[_Streams, Depends(_streams)]


@router.post(
    "/threads/{thread_id}/runs/stream",
    summary="Start a run and stream it",
    dependencies=[*_ASKING, STREAM],
    response_class=EventStream,
)
async def stream_run(
    thread_id: ThreadIdPath,
    body: NewRun,
    caller: CurrentCaller,
    conversations: CurrentConversations,
    streams: CurrentStreams,
) -> EventStream:
    """Starts a run, or answers an interrupt, and streams its events to the end. Needs scope `ask`."""
    started = await conversations.start(caller, thread_id, body)
    return await streams.stream(started, body.modes, cancels=body.on_disconnect == "cancel")


@router.post(
    "/runs/stream",
    summary="Start a run without a thread and stream it",
    dependencies=[*_ASKING, STREAM],
    response_class=EventStream,
)
async def stream_run_stateless(
    body: NewRun, caller: CurrentCaller, conversations: CurrentConversations, streams: CurrentStreams
) -> EventStream:
    """Starts a run in a thread of its own, which is gone when its stream has ended. For a
    minute, `Location` still brings the rest to a client whose connection was cut. Needs scope `ask`.
    """
    started = await conversations.start(caller, None, body)
    return await streams.stream(started, body.modes, cancels=body.on_disconnect == "cancel")


@router.post("/threads/{thread_id}/runs/wait", summary="Start a run and wait for it", dependencies=_ASKING)
async def wait_run(
    thread_id: ThreadIdPath,
    body: NewRun,
    caller: CurrentCaller,
    conversations: CurrentConversations,
    streams: CurrentStreams,
) -> StreamingResponse:
    """Starts a run, or answers an interrupt, and returns the final values. Needs scope `ask`."""
    started = await conversations.start(caller, thread_id, body)
    return await streams.wait(started, cancels=body.on_disconnect == "cancel")


@router.post("/runs/wait", summary="Start a run without a thread and wait for it", dependencies=_ASKING)
async def wait_run_stateless(
    body: NewRun, caller: CurrentCaller, conversations: CurrentConversations, streams: CurrentStreams
) -> StreamingResponse:
    """Starts a run in a thread of its own, which is gone when the answer ends. For a minute,
    `Location` still brings it to a client whose connection was cut. Needs scope `ask`.
    """
    started = await conversations.start(caller, None, body)
    return await streams.wait(started, cancels=body.on_disconnect == "cancel")


async def _created(conversations: Conversations, started: Started) -> JSONResponse:
    headers = {"Content-Location": _path(started), **question_headers(started.session, started.run)}
    return JSONResponse(await conversations.run_now(started), headers=headers)


@router.post("/threads/{thread_id}/runs", summary="Start a run", dependencies=_ASKING)
async def create_run(
    thread_id: ThreadIdPath, body: NewRun, caller: CurrentCaller, conversations: CurrentConversations
) -> JSONResponse:
    """Starts a run, or answers an interrupt, and returns at once. Needs scope `ask`."""
    return await _created(conversations, await conversations.start(caller, thread_id, body))


@router.post("/runs", summary="Start a run without a thread", dependencies=_ASKING)
async def run_stateless(
    body: NewRun,
    caller: CurrentCaller,
    conversations: CurrentConversations,
    departures: CurrentDepartures,
) -> JSONResponse:
    """Starts a run in a thread of its own, which is gone when the run has ended. For a minute,
    the run can still be joined. Needs scope `ask`.
    """
    started = await conversations.start(caller, None, body)
    created = await _created(conversations, started)
    _hide_at_end(departures, started)
    return created


@router.post("/runs/batch", summary="Start several runs without a thread", dependencies=[ASK])
async def run_batch_stateless(
    bodies: list[BatchedRun],
    owner: Owner,
    conversations: CurrentConversations,
    departures: CurrentDepartures,
    request: Request,
) -> list[dict[str, JsonValue]]:
    """Starts up to ten runs, each in a thread of its own. If one of them is refused, none starts. Needs scope
    `ask`.
    """
    if not 0 < len(bodies) <= MAX_BATCH:
        raise ValueUnsupported(f"A batch has 1 to {MAX_BATCH} runs.")
    for _ in bodies:
        await count_question(request)
    batch = await conversations.start_batch(owner, bodies)
    runs = [await conversations.run_now(started) for started in batch]
    for started in batch:
        _hide_at_end(departures, started)
    return runs


@router.post(
    "/runs/cancel", summary="Cancel several runs", dependencies=[ASK], status_code=status.HTTP_204_NO_CONTENT
)
async def cancel_runs(
    body: RunsCancelled,
    owner: Owner,
    conversations: CurrentConversations,
    sessions: CurrentSessions,
    action: CancelAction = "interrupt",
) -> None:
    """Requests that runs of a thread stop, or all of the caller's in a status. Those that have ended stay as
    they are. Needs scope `ask`.
    """
    _check_action(action)
    for started in await conversations.cancelled_by(owner, body):
        await sessions.submissions.cancel(started.session, started.run)


@router.get("/threads/{thread_id}/runs", summary="List the runs of a thread", dependencies=[READ])
async def list_runs_http(
    thread_id: ThreadIdPath,
    owner: Owner,
    conversations: CurrentConversations,
    limit: Annotated[int, Query(ge=1, le=1_000, description="The most runs.")] = 10,
    offset: Annotated[int, Query(ge=0, le=1_000, description="Runs to leave out.")] = 0,
    status: Annotated[
        RunStatus | Literal["timeout"] | None, Query(description="Only runs in this state.")
    ] = None,
    select: Annotated[list[RunField] | None, Query(description="Only these fields.")] = None,
) -> list[dict[str, JsonValue]]:
    """Lists the runs of a thread, newest first, in all states or in one. None ends as `timeout`: a run that
    took too long is an `error`. Needs scope `read`.
    """
    runs = await conversations.runs(owner, thread_id, limit=limit, offset=offset, status=status)
    return [selected(run, select) for run in runs]


@router.get("/threads/{thread_id}/runs/{run_id}", summary="Get a run of a thread", dependencies=[READ])
async def get_run_http(
    thread_id: ThreadIdPath, run_id: RunIdPath, owner: Owner, conversations: CurrentConversations
) -> dict[str, JsonValue]:
    """Returns a run of a thread with its state and its metadata. Needs scope `read`."""
    started = await conversations.run(owner, thread_id, run_id)
    return run_body(started.session, started.run)


@router.get(
    "/threads/{thread_id}/runs/{run_id}/join", summary="Wait for a run that was started", dependencies=[READ]
)
async def join_run_http(
    thread_id: ThreadIdPath,
    run_id: RunIdPath,
    caller: CurrentCaller,
    conversations: CurrentConversations,
    streams: CurrentStreams,
    cancel_on_disconnect: CancelOnDisconnect = False,
) -> StreamingResponse:
    """Waits for the end of a run, and returns the values or its error. `cancel_on_disconnect` counts if the
    caller may ask, too. Needs scope `read`.
    """
    started = await conversations.followed(caller.owner, thread_id, run_id)
    return await streams.wait(started, cancels=cancel_on_disconnect and caller.may("ask"))


@router.get(
    "/threads/{thread_id}/runs/{run_id}/stream",
    summary="Stream the events of a run again",
    dependencies=[READ, STREAM],
    response_class=EventStream,
)
async def stream_run_http(
    thread_id: ThreadIdPath,
    run_id: RunIdPath,
    caller: CurrentCaller,
    conversations: CurrentConversations,
    streams: CurrentStreams,
    stream_mode: StreamModes = None,
    cancel_on_disconnect: CancelOnDisconnect = False,
    last_event: LastEventId = None,
) -> EventStream:
    """Streams the events of a run, from its start or after `Last-Event-ID`. Without modes, the stream has all
    of them. `cancel_on_disconnect` counts if the caller may ask, too. Needs scope `read`.
    """
    started = await conversations.followed(caller.owner, thread_id, run_id)
    cancels = cancel_on_disconnect and caller.may("ask")
    return await streams.stream(started, _modes_of(stream_mode), last_event_id=last_event, cancels=cancels)


def _modes_of(given: list[str] | None) -> Sequence[Mode]:
    named = [name for name in given or [] if name]
    if not named:
        return MODES
    try:
        known = _MODES.validate_python(named[0] if len(named) == 1 else named)
    except ValidationError as error:
        raise ValueUnsupported(str(error.errors()[0]["msg"])) from error
    return [mode for mode in MODES if mode in known]


@router.post("/threads/{thread_id}/runs/{run_id}/cancel", summary="Cancel one run", dependencies=[ASK])
async def cancel_run_http(
    thread_id: ThreadIdPath,
    run_id: RunIdPath,
    owner: Owner,
    conversations: CurrentConversations,
    sessions: CurrentSessions,
    wait: Annotated[bool, Query(description="Answer when the run has ended.")] = False,
    action: CancelAction = "interrupt",
) -> Response:
    """Requests that a run stops; with `wait`, answers when it has stopped. Needs scope `ask`."""
    _check_action(action)
    started = await conversations.run(owner, thread_id, run_id)
    await sessions.submissions.cancel(started.session, started.run)
    if not wait:
        return Response(status_code=status.HTTP_202_ACCEPTED)
    await conversations.finished_fold(started)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


def _check_action(action: str) -> None:
    if action != "interrupt":
        raise ValueUnsupported(
            "Only action interrupt is offered: a question is part of the record, and is not rolled back."
        )
