"""Routes that follow threads: event streaming (v3), and the older streams of all runs of a thread."""

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends
from pydantic import JsonValue, ValidationError

from app.core.auth.caller import Caller
from app.core.errors import Malformed, Problem
from app.http.callers import ASK, READ, CurrentCaller, Owner
from app.http.open_streams import STREAM
from app.http.parameters import LastEventId
from app.http.rate_limits import count_question
from app.http.router import Router
from app.modules.database_connection.lookup import ONLY_DATABASE
from app.modules.protocols.frame_stream import START, Frame, Position
from app.modules.protocols.langgraph.conversations import Conversations, Started
from app.modules.protocols.langgraph.dependencies import (
    PREFIX,
    CurrentConversations,
    StreamModes,
    ThreadIdPath,
)
from app.modules.protocols.langgraph.errors import ValueUnsupported
from app.modules.protocols.langgraph.fold import MODES, WHOLE, Mode, RunFold, ThreadRun
from app.modules.protocols.langgraph.schemas import (
    Command,
    EventSelection,
    InterruptResponse,
    NewRun,
    ThreadCommand,
)
from app.modules.protocols.langgraph.thread_events import (
    CHANNELS,
    CUSTOM,
    Place,
    ThreadFold,
    event_frame,
    place_of,
)
from app.modules.protocols.langgraph.thread_following import ThreadFollower
from app.modules.records.model import Run
from app.modules.run.sse import EventStream
from app.modules.session.dependencies import CurrentSessions

router = Router(prefix=f"{PREFIX}/threads/{{thread_id}}", tags=["threads"])

_START = "run.start"
_RESPOND = "input.respond"
_WATCHED = {"lifecycle", "input"}
_CURSOR = re.compile(r"([0-9]{1,7})-([0-9]{1,15})-([0-9]{1,6})")


async def _follower(conversations: CurrentConversations, sessions: CurrentSessions) -> ThreadFollower:
    return ThreadFollower(sessions, conversations)


CurrentFollower = Annotated[ThreadFollower, Depends(_follower)]


@router.post("/commands", summary="Send a command to a thread", dependencies=[ASK, Depends(count_question)])
async def send_command(
    thread_id: ThreadIdPath,
    body: ThreadCommand,
    caller: CurrentCaller,
    conversations: CurrentConversations,
    follower: CurrentFollower,
) -> dict[str, JsonValue]:
    """Starts a run (`run.start`; the thread is made if there is none), or answers an interrupt
    (`input.respond`). A refusal is an answer of type `error`. Needs scope `ask`.
    """
    if body.method not in (_START, _RESPOND):
        detail = f"KAI has no command {body.method!r}. It offers {_START} and {_RESPOND}."
        return _refusal(body, "unknown_command", detail)
    try:
        started = await _started(conversations, caller, thread_id, body)
    except ValidationError as error:
        return _refusal(body, "invalid_argument", _described(error))
    except Problem as problem:
        return _refusal(body, problem.problem, problem.detail)
    first = await follower.first_open(started.session, started.run)
    return {
        "type": "success",
        "id": body.id,
        "result": {"run_id": started.run.id},
        "meta": {"applied_through_seq": Place(first, START).seq},
    }


async def _started(
    conversations: Conversations, caller: Caller, thread_id: str, body: ThreadCommand
) -> Started:
    if body.method == _START:
        run = NewRun.model_validate({**body.params, "if_not_exists": "create"})
    else:
        answer = InterruptResponse.model_validate(body.params)
        resume: JsonValue = {answer.interrupt_id: answer.response}
        run = NewRun(assistant_id=ONLY_DATABASE, command=Command(resume=resume))
    return await conversations.start(caller, thread_id, run)


def _refusal(body: ThreadCommand, error: str, message: str) -> dict[str, JsonValue]:
    return {"type": "error", "id": body.id, "error": error, "message": message}


def _described(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)[:5]
    )


@router.post(
    "/stream/events",
    summary="Stream the events of a thread",
    dependencies=[READ, STREAM],
    response_class=EventStream,
)
async def stream_events(
    thread_id: ThreadIdPath,
    body: EventSelection,
    owner: Owner,
    conversations: CurrentConversations,
    follower: CurrentFollower,
) -> EventStream:
    """Streams the events of a thread's runs, behind `since` or from the run that is open, and stays open
    between runs. If none is open, a run that has ended within a minute is sent again, unless only `lifecycle`
    and `input` are selected. Needs scope `read`.
    """
    for channel in body.channels:
        if channel not in CHANNELS and not channel.startswith(CUSTOM):
            raise ValueUnsupported(f"KAI has no channel {channel[:100]!r}. It offers {', '.join(CHANNELS)}.")
    session = await conversations.find(owner, thread_id)
    channels = body.channels if body.is_root else []

    def fold_of(turn: ThreadRun, run: Run) -> ThreadFold:
        return ThreadFold(turn, channels, asked_at=run.created_at)

    def frame_of(run_id: str, place: Place, frame: Frame) -> tuple[str, Frame]:
        return str(place.seq), event_frame(run_id, place, frame)

    return await follower.stream(
        session,
        None if body.since is None else place_of(body.since),
        fold_of,
        frame_of=frame_of,
        is_complete="values" in channels,
        # The JavaScript SDK names no place when it comes back, or when its user reads more of a run. The
        # Python SDK does; of the thread it only watches, it takes the end of any run for that of its next.
        takes_ended=not _WATCHED.issuperset(channels),
    )


class _Runs(RunFold):
    """The fold of a run, as one of a thread."""

    @property
    def run_fold(self) -> RunFold:
        return self


@router.get(
    "/stream",
    summary="Stream the runs of a thread",
    dependencies=[READ, STREAM],
    response_class=EventStream,
)
async def join_thread_stream(
    thread_id: ThreadIdPath,
    owner: Owner,
    conversations: CurrentConversations,
    follower: CurrentFollower,
    stream_mode: StreamModes = None,
    last_event: LastEventId = None,
) -> EventStream:
    """Streams the runs of a thread as they come, after `Last-Event-ID` or from the run that is open, with the
    events of runs in all modes; with `stream_mode` `lifecycle`, only their starts and ends. Needs scope
    `read`.
    """
    modes = _modes_of(stream_mode or [])
    session = await conversations.find(owner, thread_id)

    def fold_of(turn: ThreadRun, _: Run) -> _Runs:
        return _Runs(turn, modes)

    def frame_of(_: str, place: Place, frame: Frame) -> tuple[str, Frame]:
        return f"{place.run}-{place.position}", frame

    return await follower.stream(
        session,
        _place_of(last_event),
        fold_of,
        frame_of=frame_of,
        is_complete=any(mode in WHOLE for mode in modes),
    )


def _modes_of(given: Sequence[str]) -> Sequence[Mode]:
    modes: Sequence[Mode] = ()
    for name in [name for name in given if name] or ["run_modes"]:
        match name:
            case "run_modes":
                modes = MODES
            case "lifecycle":
                pass
            case _:
                raise ValueUnsupported(
                    f"KAI has no mode {name[:100]!r} of a thread's stream. It offers run_modes and lifecycle."
                )
    return modes


def _place_of(last_event_id: str | None) -> Place | None:
    if not last_event_id:
        return None
    if last_event_id == "-1":
        return Place(0, START)
    found = _CURSOR.fullmatch(last_event_id)
    if found is None:
        raise Malformed("Last-Event-ID must be the id of a frame of this stream, or -1 for its start.")
    return Place(int(found[1]), Position(int(found[2]), int(found[3])))
