"""Submission of questions: a run is durable before its client gets an answer."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from app.core.auth.caller import current_attributes, current_database_claim
from app.core.bus.port import BusUnavailable, EventLogs, JobQueue
from app.core.clock import now_ms
from app.core.ids import id_of, new_id
from app.core.pairs import pair_keys
from app.core.storage.port import DocumentExists, StorageUnavailable
from app.core.tasks import end_tasks
from app.core.tracing.spans import current_traceparent
from app.modules.records.model import MAX_WAITING, Message, NewQuestion, Run, Session
from app.modules.records.repository import SessionRepository
from app.modules.run.errors import (
    KeyReused,
    NotKeptYet,
    QueueFull,
    SessionBusy,
    SessionClosed,
    StillStopping,
    WorkersBusy,
)
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.messages import (
    WAITING_FROM,
    next_run_id,
    question_id,
    question_message,
    question_sequence,
    turn_of,
    waiting_event,
    waiting_sequence,
    wire,
)
from app.modules.run.pending_submissions import Turnstiles
from app.modules.usage.service import Allowances, CountedRuns

logger = logging.getLogger(__name__)

_STOPPING_SECONDS = 30
_LOOK_AGAIN_SECONDS = (0.005, 0.25)
_AGAIN_SECONDS = 0.5
_FAREWELL_SECONDS = 2


def _nothing() -> asyncio.Future[None]:
    """In place of a read. It needs no task."""
    nothing = asyncio.get_running_loop().create_future()
    nothing.set_result(None)
    return nothing


@dataclass(frozen=True, kw_only=True)
class _Submission:
    """A question on its way into the store: `asked` is its message. `transcript` is the one that the session
    has to have; None if any will do. `ahead` are the runs that waited for a worker, less the questions that
    this process had stored by then.
    """

    session: Session
    run: Run
    asked: Message
    transcript: str | None
    ahead: int

    @property
    def is_first(self) -> bool:
        """The session was free as it was read."""
        return self.asked.sequence < WAITING_FROM


class Submissions:
    """Starts, queues and stops runs, in whichever process they are answered."""

    def __init__(
        self,
        lifecycle: RunLifecycle,
        repository: SessionRepository,
        queue: JobQueue,
        *,
        logs: EventLogs,
        allowances: Allowances,
        max_waiting: int,
        turnstiles: Turnstiles,
    ) -> None:
        self._lifecycle = lifecycle
        self._repository = repository
        self._queue = queue
        self._logs = logs
        self._allowances = allowances
        self._max_waiting = max_waiting
        self._keeping: set[asyncio.Task[Run]] = set()
        """The tasks that store questions for which the store has not answered yet."""
        self._stored = 0
        """Number of questions that this process has stored."""
        self._turnstiles = turnstiles

    async def submit(
        self,
        owner: str,
        session_id: str,
        question: NewQuestion,
        *,
        transcript: str | None = None,
        read: Callable[[], Awaitable[Session]],
    ) -> tuple[Session, Run]:
        """Make a question a run; it is durable when this returns.

        `read` reads the session, together with the other first reads; what it raises refuses the question.
        `transcript` is the one that the session has to have until the question holds it, if that matters:
        else `SessionBusy`.

        The same idempotency key gives the same run again. Raises `SessionClosed`, `SessionBusy`,
        `QueueFull`, `WorkersBusy`, `KeyReused`, `TokensSpent` or `TooManyRuns`; or `BusUnavailable` or
        `StorageUnavailable`: then nothing is kept. Raises `NotKeptYet`, which names the run, when the store
        fails later than that and for too long: then this process goes on storing it.
        """
        keyed = _keyed(session_id, question)
        async with self._turnstiles.enter(session_id) as seconds_left:
            stored_before = self._stored
            waiting, found, others, known, counted = await asyncio.gather(
                self._queue.waiting(),
                read(),
                self._repository.open_runs(session_id),
                _nothing() if keyed is None else self._repository.find_run(keyed),
                self._allowances.count_runs(owner),
            )
            session = found
            run = _new_run(session, question, others)
            if known is not None:
                return found, _same(known, run)
            if waiting >= self._max_waiting:
                raise WorkersBusy
            if session.active_run_id is None and others:  # as one run has ended and the next has not begun
                await self._lifecycle.start_next(session.id)
                session = await self._repository.get(session.owner, session.id)
            if session.active_run_id is not None:
                session = await self.without_ghost(session)
                await self._check_room(session, run, others)
            expected = waiting_sequence(run) if others else _expected_sequence(session, run)
            if expected < WAITING_FROM:
                run = replace(run, question_turn=session.turns + 1)
            asked = question_message(run, run.question_id, expected)
            ahead = waiting - stored_before
            submission = _Submission(
                session=session, run=run, asked=asked, transcript=transcript, ahead=ahead
            )
            run = await self._outlasting_store(submission, counted, seconds=seconds_left)
        return found, run

    async def _outlasting_store(
        self, submission: _Submission, counted: CountedRuns | None, *, seconds: float
    ) -> Run:
        """Keep and start the run, whatever becomes of the request; the store may fail for a while."""
        run = submission.run
        keeping = asyncio.create_task(
            self._keep_until_known(submission, counted), name=f"run {run.id}: store the question"
        )
        self._keeping.add(keeping)
        keeping.add_done_callback(self._kept)
        await asyncio.wait({keeping}, timeout=max(0, seconds))
        if not keeping.done():
            raise NotKeptYet(run.session_id, run.id)
        return keeping.result()

    def _kept(self, keeping: "asyncio.Task[Run]") -> None:
        self._keeping.discard(keeping)
        if not keeping.cancelled() and (error := keeping.exception()) is not None:
            logger.info("a question was not kept: %r", error)  # the caller gets 202 or 503 if it still waits

    async def _keep_until_known(self, submission: _Submission, counted: CountedRuns | None) -> Run:
        try:
            return await self._keep(submission, counted)
        except (StorageUnavailable, BusUnavailable):
            while True:  # what they have done of it is not known
                await asyncio.sleep(_AGAIN_SECONDS)
                with suppress(StorageUnavailable, BusUnavailable):
                    return await self._keep_again(submission)

    async def _keep(self, submission: _Submission, counted: CountedRuns | None = None) -> Run:
        session, run, asked = submission.session, submission.run, submission.asked

        def place() -> int:
            self._stored += 1
            return submission.ahead + self._stored

        try:
            async with self._allowances.new_run(session.owner, counted):
                if submission.is_first:
                    if await self._lifecycle.start_new(session, run, asked, place=place):
                        return run
                    if (known := await self._find_started(run)) is not None:
                        return _same(known, run)
                await self._repository.add_run(run, asked)
        except DocumentExists:
            return _same(await self._repository.get_run(session, run.id), run)
        await self._line_up(submission)
        return run

    async def _find_started(self, run: Run) -> Run | None:
        """Returns the run if it holds its session: another process was asked the same with the same key."""
        held = await self._repository.find(run.session_id)
        is_held = held is not None and held.active_run_id == run.id
        return await self._repository.find_run(run.id) if is_held else None

    async def _keep_again(self, submission: _Submission) -> Run:
        """Repeat what may have been done. The run may even be over by now: others start what is kept."""
        run = submission.run
        known = await self._repository.find_run(run.id)
        if known is None:
            return await self._keep(submission)
        if known.message_id != run.message_id:
            return _same(known, run)
        await self._repository.add_missing_message(submission.asked)
        if known.status == "open" and known.attempt == 1:
            # A session that others hold or wait for is theirs, also if it has become idle by now.
            session, sequence = submission.session, submission.asked.sequence
            if not submission.is_first or not await self._lifecycle.start(session, known, sequence):
                await self._line_up(replace(submission, run=known))
        return known

    async def aclose(self) -> None:
        """Give questions that are being stored a moment, and stop."""
        if self._keeping:
            await asyncio.wait(self._keeping, timeout=_FAREWELL_SECONDS)
        await end_tasks(self._keeping)

    async def cancel(self, session: Session, run: Run) -> None:
        """Request that a run stops; its log ends soon after. A run that has ended stays as it is.

        If the run has ended because calls wait for people, the calls are withdrawn, which ends the turn.
        """
        run = await self.latest_of_turn(run)
        if run.status == "awaiting_approval":
            following = await self._lifecycle.withdraw(session, run)
            if following is None:
                return
            run = following
        while await self._repository.change_run(run, {"cancel_requested": True}) is None:
            latest = await self._repository.find_run(run.id)
            if latest is not None and latest.status == "awaiting_approval":  # it waits since a moment ago
                await self.cancel(session, latest)
                return
            if latest is None or latest.status != "open":
                return
            run = latest  # another attempt has begun
        now = await self._repository.get(session.owner, session.id)
        if run.resumes is not None:
            # It does not wait for its session, but who has begun it may have died before it was handed on.
            await self._lifecycle.go_on(now)
            await self._queue.cancel(run.id)
        elif now.active_run_id == run.id:
            await self._queue.cancel(run.id)
        else:
            await self._lifecycle.drop(session, run)

    async def withdraw(self, session: Session) -> None:
        """Withdraw the calls that wait in a session, which ends their turn."""
        for run in await self._awaiting(session):
            await self.cancel(session, run)

    async def latest_of_turn(self, run: Run) -> Run:
        """Returns the latest run of a run's turn, without one that only ended it."""
        while run.status == "awaiting_approval":
            following = await self._repository.find_run(next_run_id(run.id))
            if following is None or following.is_withdrawn:
                return run
            run = following
        return run

    @asynccontextmanager
    async def stopped(self, session: Session) -> AsyncGenerator[None]:
        """Close a session and stop its runs. Within the block no run is open, and none can begin.

        Raises `StillStopping` if a run does not end in time.
        """
        closed = await self._repository.change(session, {"status": "closed"}) or session
        held = await self._repository.find_run(closed.active_run_id) if closed.active_run_id else None
        if held is not None and held.status != "awaiting_approval":
            # If the queue has lost it, no sweep finds it: the session is closed. One that has ended holds the
            # session if its process has died before it was released.
            await self._lifecycle.put(held, closed)
        pause, longest = _LOOK_AGAIN_SECONDS
        try:
            async with asyncio.timeout(_STOPPING_SECONDS):
                while runs := await self._left(session):
                    for run in runs:
                        await self.cancel(session, run)
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, longest)
        except TimeoutError as error:
            raise StillStopping from error
        yield

    async def without_ghost(self, session: Session) -> Session:
        """Returns the session, released if the run that holds it no longer exists."""
        held_by = session.active_run_id
        if held_by is None or await self._repository.find_run(held_by) is not None:
            return session
        await self._repository.release(session, held_by)
        return await self._repository.get(session.owner, session.id)

    async def _check_room(self, session: Session, run: Run, others: Sequence[Run]) -> None:
        """Refuse a question that could not even wait; of many at a moment, `_line_up` tells which cannot."""
        if session.status == "closed":
            raise SessionClosed
        if session.active_run_id is not None and run.on_busy == "reject":
            raise await self._busy(session)
        if run.on_busy == "enqueue" and len(others) > MAX_WAITING:
            raise QueueFull(limit=MAX_WAITING)

    async def _line_up(self, submission: _Submission) -> None:
        """Queue the run behind the one that holds the session, unless it may not wait or already holds it."""
        session, run, asked = submission.session, submission.run, submission.asked
        now = await self._repository.find(session.id)
        if now is not None and now.active_run_id == run.id:  # started already: the store's response was lost
            await self._lifecycle.put(run, now)
            return
        if now is not None:
            now = await self.without_ghost(now)  # read as idle while the bus was out of reach
        others = [each for each in await self._repository.open_runs(session.id) if each.id != run.id]
        is_busy = now is not None and (now.active_run_id is not None or bool(others))
        # A whole run may have come and gone since the session was read.
        is_another = now is not None and submission.transcript not in (None, now.transcript)
        is_refused = is_another or (is_busy and run.on_busy == "reject")
        before = sum(each.place < run.place for each in others)
        if now is None or now.status == "closed" or is_refused:
            await self._repository.withdraw(run)
            now = await self._repository.get(session.owner, session.id)
            raise SessionClosed if now.status == "closed" else await self._busy(now)
        if run.on_busy == "interrupt":
            with suppress(BusUnavailable):  # the run is stored by now, and waits for those that continue
                for other in [*await self._awaiting(now), *others]:
                    await self.cancel(now, other)
        elif before > MAX_WAITING:
            await self._repository.withdraw(run)
            raise QueueFull(limit=MAX_WAITING)
        if submission.is_first:
            # Noted before, so that the process that ends the run places its question again.
            if await self._repository.change_run(run, {"question_turn": None}) is not None:
                await self._repository.move(asked, waiting_sequence(run))
            await self._place_if_over(session, run)
        notice = waiting_event(run, before or 1, is_session_busy=True)
        await self._logs.say(run.id, 0, [wire(notice)], ended=False)
        await self._lifecycle.line_up(session.id)

    async def _busy(self, session: Session) -> SessionBusy:
        """Returns the refusal of a question, with what waits for the user."""
        is_waiting = session.status == "awaiting_approval"
        calls = await self._lifecycle.find_waiting_calls(session) if is_waiting else []
        return SessionBusy(session.active_run_id, calls)

    async def _awaiting(self, session: Session) -> list[Run]:
        """Returns the run that has ended and keeps the session while people decide, if there is one."""
        held_by = session.active_run_id if session.status == "awaiting_approval" else None
        run = None if held_by is None else await self._repository.find_run(held_by)
        return [] if run is None else [run]

    async def _place_if_over(self, session: Session, run: Run) -> None:
        """Others may have started the run, and even ended it, before its question was moved."""
        latest = await self._repository.find_run(run.id)
        if latest is not None and latest.status != "open":
            answer = await self._repository.find_answer(session, run.message_id)
            if answer is not None:
                await self._repository.place_question(run, question_sequence(turn_of(answer)))

    async def _left(self, session: Session) -> list[Run]:
        """Returns the open runs, and the ended one that still holds the session."""
        now = await self.without_ghost(await self._repository.get(session.owner, session.id))
        holding = await self._repository.find_run(now.active_run_id) if now.active_run_id else None
        return [*await self._repository.open_runs(session.id), *([holding] if holding else [])]


def run_id_of(session_id: str, idempotency_key: str) -> str:
    """Returns the id that a run with this key has, whether it exists or not."""
    return id_of(session_id, f"idempotency-key {idempotency_key}")


def _keyed(session_id: str, question: NewQuestion) -> str | None:
    """Returns the id of the run of a question with a key, and None for another question."""
    return None if question.idempotency_key is None else run_id_of(session_id, question.idempotency_key)


def _new_run(session: Session, question: NewQuestion, others: Sequence[Run]) -> Run:
    """Asked after the others of its session, also where the clock of this process is behind."""
    origin = question.origin
    run = Run(
        id=_keyed(session.id, question) or new_id(),
        owner=session.owner,
        session_id=session.id,
        message_id=new_id(),
        question=question.text,
        created_at=max([now_ms(), *(each.created_at + 1 for each in others)]),
        idempotency_key=question.idempotency_key,
        traceparent=current_traceparent(),
        sql=question.sql,
        rules=tuple(question.rules),
        about=question.about,
        database_claim=current_database_claim(),
        attributes=None if (known := current_attributes()) is None else dict(known),
        protocol=origin.protocol,
        client_message_id=origin.client_message_id,
        metadata=origin.metadata,
        metadata_keys=(*pair_keys(origin.metadata),),
        branch=origin.branch,
        context=origin.context,
        ignored=origin.ignored,
        expires_at=session.expires_at,
        mode=question.mode or session.mode,
        has_own_mode=question.mode is not None,
        tool_sources=tuple(question.tool_sources),
        on_busy=question.multitask_strategy,
    )
    return replace(run, question_id=question_id(run))


def _expected_sequence(session: Session, run: Run) -> int:
    """Returns the sequence of the question of a run that is about to claim the session, if the
    session is free.
    """
    is_free = session.active_run_id is None and session.status != "closed"
    return question_sequence(session.turns + 1) if is_free else waiting_sequence(run)


def _same(known: Run, asked: Run) -> Run:
    if _asked(known) != _asked(asked):
        raise KeyReused
    return known


def _asked(run: Run) -> tuple[object, ...]:
    """Returns what two requests with the same key have to have in common."""
    own_mode = run.mode if run.has_own_mode else None
    return run.question, run.sql, run.rules, run.about, own_mode, run.tool_sources
