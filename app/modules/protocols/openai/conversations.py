"""The session in which a chat goes on, and the run of its question."""

from collections.abc import Sequence

from app.modules.protocols.options import QuestionOptions
from app.modules.protocols.threads import ask, strategy_of
from app.modules.records.model import MultitaskStrategy, NewQuestion, Origin, Run, Session
from app.modules.run.errors import SessionBusy
from app.modules.session.errors import CheckpointUnknown
from app.modules.session.service import SessionService

_TRIES = 5
_CHECKPOINTS = 100
_ORIGIN = Origin(protocol="openai")


async def ask_in(
    sessions: SessionService, session: Session, database: str, *, question: str, options: QuestionOptions
) -> tuple[Session, Run]:
    """Start or queue a run."""
    return await _ask(
        sessions,
        session,
        database,
        question=question,
        options=options,
        multitask_strategy=strategy_of(session),
    )


async def ask_after(
    sessions: SessionService,
    owner: str,
    database: str,
    *,
    earlier: Sequence[str],
    question: str,
    options: QuestionOptions,
) -> tuple[Session, Run]:
    """Ask in the conversation whose questions were exactly these.

    Of several chats that began alike, each goes on in one of their sessions: a session that another chat
    takes at the same moment is left to it. If the question was asked there already, its run is followed
    while it is open; later it is asked again in a copy of the conversation before it. If there is no such
    conversation, the question is asked in a new one.
    """
    for _ in range(_TRIES):
        found = await sessions.find_conversations(owner, database, earlier)
        session = next((each for each in found if each.status in ("idle", "error")), None)
        if session is None and found:
            return await ask_in(sessions, found[0], database, question=question, options=options)
        if session is None:
            break
        try:
            return await _ask(
                sessions,
                session,
                database,
                question=question,
                options=options,
                multitask_strategy="reject",
                after=earlier,
            )
        except SessionBusy:
            continue
    if earlier:
        for asked in await sessions.find_conversations(owner, database, [*earlier, question]):
            run = await _open_run(sessions, asked, question)
            if run is not None:
                return asked, run
            before = await _before_last(sessions, asked)
            if before is not None:
                return await ask_in(sessions, before, database, question=question, options=options)
    session = await sessions.create(owner, database, None, mode=None, metadata={})
    return await ask_in(sessions, session, database, question=question, options=options)


async def _ask(
    sessions: SessionService,
    session: Session,
    database: str,
    *,
    question: str,
    options: QuestionOptions,
    multitask_strategy: MultitaskStrategy,
    after: Sequence[str] | None = None,
) -> tuple[Session, Run]:
    asked = NewQuestion(
        question,
        multitask_strategy=multitask_strategy,
        db_connection_id=database,
        mode=options.mode,
        tool_sources=options.tool_sources,
        rules=options.rules,
        origin=_ORIGIN,
        after=after,
    )
    return await ask(sessions, session, asked)


async def _open_run(sessions: SessionService, session: Session, question: str) -> Run | None:
    """Returns the run under way of a question that a client repeats, as clients do after a timeout."""
    if session.status != "processing":
        return None
    runs = await sessions.runs(session, 1, status="open")
    return next((each for each in runs if each.question == question), None)


async def _before_last(sessions: SessionService, session: Session) -> Session | None:
    """Returns a copy of a conversation before its last question. None if that state is no longer kept."""
    history = await sessions.history(session, 1)
    last = history[-1].id if history else None
    checkpoints, _ = await sessions.copies.checkpoints(session.owner, session.id, _CHECKPOINTS, cursor=None)
    for each in checkpoints:
        if not each.next_steps and each.message_id not in (None, last):
            try:
                return await sessions.copies.fork(session.owner, session.id, each.id)
            except CheckpointUnknown:  # deleted meanwhile
                return None
    return None
