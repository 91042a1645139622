"""`/ag-ui`: each database as an agent of AG-UI."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from fastapi import Depends, Path

from app.core.auth.caller import Caller, ScopeMissing
from app.core.errors import Invalid
from app.http.callers import ASK, CurrentCaller
from app.http.open_streams import STREAM
from app.http.rate_limits import count_question
from app.http.router import Router
from app.modules.database_connection.model import Connection
from app.modules.protocols.agui.decisions import ResumeMismatch, decisions_of
from app.modules.protocols.agui.schemas import InterruptAnswer, RunInput, ThreadMessage
from app.modules.protocols.dependencies import CurrentDepartures, CurrentThreads
from app.modules.protocols.frame_stream import folded_stream
from app.modules.protocols.options import QuestionOptions, options_in, question_headers
from app.modules.protocols.questions import question_of
from app.modules.protocols.threads import ask, strategy_of
from app.modules.records.model import (
    MAX_CLIENT_ID_CHARACTERS,
    NewQuestion,
    Origin,
    Run,
    Session,
)
from app.modules.run.sse import EventStream
from app.modules.session.confirmations import Confirmations
from app.modules.session.dependencies import CurrentConfirmations, CurrentSessions
from app.modules.session.errors import ConfirmationUnknown
from app.modules.session.service import SessionService

_MAX_WAITING_CALLS = 100

router = Router(prefix="/ag-ui", tags=["ag-ui"])


class NotHonoured(Invalid):
    """A field of the input asks for something that KAI does not do."""

    problem = "unsupported"
    title = "Not supported"


@router.post(
    "/{assistant}",
    summary="Run an agent of AG-UI",
    responses={
        200: {
            "description": "Server-sent events of AG-UI 1.0, from RUN_STARTED to RUN_FINISHED or RUN_ERROR.",
            "content": {"text/event-stream": {}},
            "headers": {"X-Run-Id": {"description": "Id of KAI's run", "schema": {"type": "string"}}},
        }
    },
    response_class=EventStream,
    dependencies=[ASK, Depends(count_question), STREAM],
)
async def run_agent(
    assistant: Annotated[
        str,
        Path(
            description="Id or name of a database; `kai` is the caller's only database. With `@agent` behind "
            "it, it is asked in agent mode."
        ),
    ],
    body: RunInput,
    caller: CurrentCaller,
    sessions: CurrentSessions,
    confirmations: CurrentConfirmations,
    threads: CurrentThreads,
    departures: CurrentDepartures,
) -> EventStream:
    """Answers the last message of the user in a thread, or goes on with a run that has asked for approvals,
    as a stream of AG-UI events. Needs scope `ask`.

    A thread is a session of the caller's: the one with this id, or the one that stands for the text. A
    `resume` answers all open interrupts and needs the scope to approve, too. The same `runId` with the same
    question follows the same run from its start.

    `forwardedProps.kai` chooses mode, rules and tools of the question.

    A client that closes the stream cancels the run after 5 seconds, unless `forwardedProps.on_disconnect` is
    `continue`. Answers 404 for an unknown database, 409 for a thread about another database or one that waits
    for approvals, 422 for `tools`, `state` and messages without text, and 429 for limits.
    """
    # AG-UI's models are slow to import.
    from app.modules.protocols.agui.fold import EventFold  # noqa: PLC0415

    _refuse_unsupported(body)
    asked = await threads.assistant(caller.owner, assistant)
    options = options_in(asked.mode, body.forwarded_props.kai)
    threads.check_mode(options.mode)
    known_calls = [call for message in body.messages for call in message.call_ids] if body.resume else []
    if body.resume:
        session = await threads.named(caller.owner, body.thread_id, {})
        session, run = await _resume(caller, session, body.resume, sessions=sessions, waiting=confirmations)
    else:
        message, question = _question(body.messages)
        session = await threads.named(caller.owner, body.thread_id, {})
        session, run = await _ask(
            sessions,
            session,
            asked.connection,
            body.run_id,
            message=message,
            question=question,
            options=options,
        )
    departures.keep(run.id)
    goes_on = body.forwarded_props.on_disconnect == "continue"
    return folded_stream(
        run.id,
        sessions.follower.follow(run),
        EventFold(run, body.thread_id, body.run_id, known_calls=known_calls),
        headers=question_headers(session, run),
        on_close=None if goes_on else departures.cancel_unread(session, run),
    )


def _refuse_unsupported(body: RunInput) -> None:
    """Raises `NotHonoured`."""
    if body.tools:
        raise NotHonoured(
            "`tools` must be empty: KAI calls its own tools, and none of the client's. Do not register "
            "front-end tools for this agent."
        )
    if body.state:
        raise NotHonoured("`state` must be empty: KAI shares no state with its clients.")


def _question(messages: Sequence[ThreadMessage]) -> tuple[ThreadMessage, str]:
    """Returns the last message of the user. Raises `NotHonoured` or `ContentUnsupported`."""
    last = next((each for each in reversed(messages) if each.role == "user"), None)
    if last is None:
        raise NotHonoured("`messages` must have a message of role `user`: the last one is the question.")
    return last, question_of(last.content)


async def _ask(
    sessions: SessionService,
    session: Session,
    connection: Connection,
    run_id: str,
    *,
    message: ThreadMessage,
    question: str,
    options: QuestionOptions,
) -> tuple[Session, Run]:
    client_id = message.id if len(message.id) <= MAX_CLIENT_ID_CHARACTERS else None
    asked = NewQuestion(
        question,
        multitask_strategy=strategy_of(session),
        idempotency_key=run_id,
        db_connection_id=connection.id,
        mode=options.mode,
        tool_sources=options.tool_sources,
        rules=options.rules,
        origin=Origin(protocol="ag-ui", client_message_id=client_id),
    )
    return await ask(sessions, session, asked)


async def _resume(
    caller: Caller,
    session: Session,
    answers: Sequence[InterruptAnswer],
    *,
    sessions: SessionService,
    waiting: Confirmations,
) -> tuple[Session, Run]:
    """Decide about all calls that wait. Returns the run that goes on. If none waits, the answers may be those
    that were given before: a client repeats them if it has lost the stream.

    Raises `ResumeMismatch`, `PayloadUnsupported`, or what `Confirmations.decide` raises.
    """
    if not caller.may("approve"):
        raise ScopeMissing(caller, "approve")
    calls, _ = await waiting.page(caller.owner, session.id, "waiting", limit=_MAX_WAITING_CALLS, cursor=None)
    if not calls:
        with suppress(ConfirmationUnknown):
            named = [each.interrupt_id for each in answers]
            calls = await waiting.named(caller.owner, session.id, named)
    following: str | None = None
    decisions = decisions_of(answers, calls)
    for each in decisions:  # an edit that is refused leaves all calls waiting
        if each.edited is not None:
            await waiting.read_edit(each.call, each.edited)
    for each in decisions:
        decided = await waiting.decide(
            caller,
            session.id,
            each.call.id,
            verdict=each.verdict,
            call_hash=each.call_hash,
            reason=each.reason,
            edited=each.edited,
        )
        following = decided.run_id or following
    if following is None:
        raise ResumeMismatch([])
    return await sessions.run(caller.owner, session.id, following)
