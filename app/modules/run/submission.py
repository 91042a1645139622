"""Submission of questions: a run is durable before its client gets an answer."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal
from weakref import WeakValueDictionary

from app.core.auth.caller import current_database_claim
from app.core.bus.port import BusUnavailable, EventLogs, JobQueue
from app.core.clock import now_ms
from app.core.ids import id_of, new_id
from app.core.storage.port import DocumentExists, StorageUnavailable
from app.core.tasks import end_tasks
from app.core.tracing.spans import current_traceparent
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
    question_message,
    question_sequence,
    turn_of,
    waiting_event,
    waiting_sequence,
    wire,
)
from app.modules.run.records import MAX_WAITING, SessionRecords
from app.modules.session.model import Message, Run, Session
from app.modules.usage.service import Allowances

logger = logging.getLogger(__name__)

OnBusy = Literal["reject", "enqueue", "interrupt"]

_STOPPING_SECONDS = 30
_LOOK_AGAIN_SECONDS = (0.005, 0.25)
_AGAIN_SECONDS = 0.5
_FAREWELL_SECONDS = 2


async def _pass() -> None:
    """A check that refuses nothing."""


class Submissions:
    """Starts, queues and stops runs, in whichever process they are answered."""

    def __init__(
        self,
        lifecycle: RunLifecycle,
        repository: SessionRecords,
        queue: JobQueue,
        *,
        logs: EventLogs,
        allowances: Allowances,
        max_waiting: int,
        store_patience_seconds: float,
    ) -> None:
        self._lifecycle = lifecycle
        self._repository = repository
        self._queue = queue
        self._logs = logs
        self._allowances = allowances
        self._max_waiting = max_waiting
        self._store_patience_seconds = store_patience_seconds
        self._keeping: set[asyncio.Task[Run]] = set()
        """The tasks that store questions for which the store has not answered yet."""
        self._turnstiles: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def submit(
        self,
        session: Session,
        question: str,
        on_busy: OnBusy,
        *,
        idempotency_key: str | None,
        sql: str | None = None,
        check: Callable[[], Awaitable[None]] = _pass,
    ) -> Run:
        """Make a question a run; it is durable when this returns.

        `check` is awaited together with the first reads; what it raises refuses the question.

        The same idempotency key gives the same run again. Raises `SessionClosed`, `SessionBusy`,
        `QueueFull`, `WorkersBusy`, `KeyReused`, `TokensSpent` or `TooManyRuns`; or `BusUnavailable` or
        `StorageUnavailable`: then nothing is kept. Raises `NotKeptYet`, which names the run, when the store
        fails later than that and for too long: then this process goes on storing it.
        """
        async with self._turnstile(session.id) as seconds_left:
            waiting, others, _ = await asyncio.gather(
                self._queue.waiting(), self._repository.open_runs(session.id), check()
            )
            run = _new_run(session, question, idempotency_key, sql=sql, others=others)
            if idempotency_key is not None and (known := await self._repository.find_run(run.id)) is not None:
                return _same(known, run)
            if waiting >= self._max_waiting:
                raise WorkersBusy
            if session.active_run_id is None and others:  # as one run has ended and the next has not begun
                await self._lifecycle.start_next(session.id)
                session = await self._repository.get(session.owner, session.id)
            if session.active_run_id is not None:
                session = await self.without_ghost(session)
                self._check_room(session, on_busy, others)
            expected = waiting_sequence(run) if others else _expected_sequence(session, run)
            asked = question_message(run, _question_id(run), expected)
            run = await self._outlasting_store(session, run, asked, on_busy=on_busy, seconds=seconds_left)
        if waiting and expected < WAITING_FROM:
            # Before any worker is free. Dropped if one has begun the run.
            await self._logs.say(run.id, 0, [wire(waiting_event(run, waiting + 1))], ended=False)
        return run

    @asynccontextmanager
    async def _turnstile(self, session_id: str) -> AsyncGenerator[float]:
        """Have this process store the questions of a session in the order of their places. A check of the
        waiting line then sees all that are before it.

        Yields the seconds left to wait for the store. Raises `StorageUnavailable` if there are none, because
        the questions before this one are still being stored.
        """
        lock = self._turnstiles.setdefault(session_id, asyncio.Lock())
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._store_patience_seconds or None):
                await lock.acquire()
        except TimeoutError as error:
            raise StorageUnavailable(
                "An earlier question of this session is still being stored. Nothing of this one is stored: "
                "ask again."
            ) from error
        try:
            yield self._store_patience_seconds - (asyncio.get_running_loop().time() - began)
        finally:
            lock.release()

    async def _outlasting_store(
        self, session: Session, run: Run, asked: Message, *, on_busy: OnBusy, seconds: float
    ) -> Run:
        """Keep and start the run, whatever becomes of the request; the store may fail for a while."""
        keeping = asyncio.create_task(
            self._keep_until_known(session, run, asked, on_busy=on_busy),
            name=f"run {run.id}: store the question",
        )
        self._keeping.add(keeping)
        keeping.add_done_callback(self._kept)
        await asyncio.wait({keeping}, timeout=max(0, seconds))
        if not keeping.done():
            raise NotKeptYet(session.id, run.id)
        return keeping.result()

    def _kept(self, keeping: "asyncio.Task[Run]") -> None:
        self._keeping.discard(keeping)
        if not keeping.cancelled() and (error := keeping.exception()) is not None:
            logger.info("a question was not kept: %r", error)  # the caller gets 202 or 503 if it still waits

    async def _keep_until_known(self, session: Session, run: Run, asked: Message, *, on_busy: OnBusy) -> Run:
        try:
            return await self._keep(session, run, asked, on_busy=on_busy)
        except StorageUnavailable:
            while True:  # what the store has done of it is not known
                await asyncio.sleep(_AGAIN_SECONDS)
                with suppress(StorageUnavailable):
                    return await self._keep_again(session, run, asked, on_busy=on_busy)

    async def _keep(self, session: Session, run: Run, asked: Message, *, on_busy: OnBusy) -> Run:
        try:
            async with self._allowances.new_run(session.owner):
                await self._repository.add_run(run, asked)
        except DocumentExists:
            return _same(await self._repository.get_run(session, run.id), run)
        await self._start(session, run, asked, on_busy=on_busy)
        return run

    async def _keep_again(self, session: Session, run: Run, asked: Message, *, on_busy: OnBusy) -> Run:
        """Repeat what may have been done. The run may even be over by now: others start what is kept."""
        known = await self._repository.find_run(run.id)
        if known is None:
            return await self._keep(session, run, asked, on_busy=on_busy)
        if known.message_id != run.message_id:
            return _same(known, run)
        await self._repository.add_missing_message(asked)
        if known.status == "open" and known.attempt == 1:
            await self._start(session, known, asked, on_busy=on_busy)
        return known

    async def _start(self, session: Session, run: Run, asked: Message, *, on_busy: OnBusy) -> None:
        """A session that others hold or wait for is theirs, also if it has become idle by now."""
        is_free = asked.sequence < WAITING_FROM
        if not is_free or not await self._lifecycle.start(session, run, asked.sequence):
            await self._line_up(session, run, asked, on_busy=on_busy)

    async def aclose(self) -> None:
        """Give questions that are being stored a moment, and stop."""
        if self._keeping:
            await asyncio.wait(self._keeping, timeout=_FAREWELL_SECONDS)
        await end_tasks(self._keeping)

    async def cancel(self, session: Session, run: Run) -> None:
        """Request that a run stops; its log ends soon after. A run that has ended stays as it is."""
        while await self._repository.change_run(run, {"cancel_requested": True}) is None:
            latest = await self._repository.find_run(run.id)
            if latest is None or latest.status != "open":
                return
            run = latest  # another attempt has begun
        now = await self._repository.get(session.owner, session.id)
        if now.active_run_id == run.id:
            await self._queue.cancel(run.id)
        else:
            await self._lifecycle.drop(session, run)

    @asynccontextmanager
    async def stopped(self, session: Session) -> AsyncGenerator[None]:
        """Close a session and stop its runs. Within the block no run is open, and none can begin.

        Raises `StillStopping` if a run does not end in time.
        """
        await self._repository.change(session, {"status": "closed"})
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

    def _check_room(self, session: Session, on_busy: OnBusy, others: Sequence[Run]) -> None:
        """Refuse a question that could not even wait; of many at a moment, `_line_up` tells which cannot."""
        if session.status == "closed":
            raise SessionClosed
        if session.active_run_id is not None and on_busy == "reject":
            raise SessionBusy(session.active_run_id)
        if on_busy == "enqueue" and len(others) > MAX_WAITING:
            raise QueueFull(MAX_WAITING)

    async def _line_up(self, session: Session, run: Run, asked: Message, *, on_busy: OnBusy) -> None:
        """Queue the run behind the one that holds the session, unless it may not wait or already holds it."""
        now = await self._repository.find(session.id)
        if now is not None and now.active_run_id == run.id:  # started already: the store's response was lost
            await self._lifecycle.put(run, now)
            return
        others = [each for each in await self._repository.open_runs(session.id) if each.id != run.id]
        is_busy = now is not None and (now.active_run_id is not None or bool(others))
        if now is None or now.status == "closed" or (is_busy and on_busy == "reject"):
            await self._repository.withdraw(run)
            now = await self._repository.get(session.owner, session.id)
            raise SessionClosed if now.status == "closed" else SessionBusy(now.active_run_id)
        if on_busy == "interrupt":
            with suppress(BusUnavailable):  # the run is stored by now, and waits for those that continue
                for other in others:
                    await self.cancel(now, other)
        elif sum(each.place < run.place for each in others) > MAX_WAITING:
            await self._repository.withdraw(run)
            raise QueueFull(MAX_WAITING)
        if asked.sequence < WAITING_FROM:
            await self._repository.move(asked, waiting_sequence(run))
            await self._place_if_over(session, run)
        place = sum(each.place < run.place for each in others) or 1
        notice = waiting_event(run, place, is_session_busy=True)
        await self._logs.say(run.id, 0, [wire(notice)], ended=False)
        await self._lifecycle.start_next(session.id)

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


def _new_run(
    session: Session, question: str, idempotency_key: str | None, *, sql: str | None, others: Sequence[Run]
) -> Run:
    """Asked after the others of its session, also where the clock of this process is behind."""
    return Run(
        id=new_id() if idempotency_key is None else run_id_of(session.id, idempotency_key),
        owner=session.owner,
        session_id=session.id,
        message_id=new_id(),
        question=question,
        created_at=max([now_ms(), *(each.created_at + 1 for each in others)]),
        idempotency_key=idempotency_key,
        traceparent=current_traceparent(),
        sql=sql,
        database_claim=current_database_claim(),
    )


def _expected_sequence(session: Session, run: Run) -> int:
    """Returns the sequence of the question of a run that is about to claim the session, if the
    session is free.
    """
    is_free = session.active_run_id is None and session.status != "closed"
    return question_sequence(session.turns + 1) if is_free else waiting_sequence(run)


def _question_id(run: Run) -> str:
    """Returns one id for the same question and key, so that a late write makes no second message."""
    return id_of(run.id, f"question {run.question}")


def _same(known: Run, asked: Run) -> Run:
    if (known.question, known.sql) != (asked.question, asked.sql):
        raise KeyReused
    return known
