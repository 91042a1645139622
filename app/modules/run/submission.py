"""Submission of questions: a run is durable before its client gets an answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Literal

from app.core.auth.caller import current_database_claim
from app.core.bus.port import BusUnavailable, EventLogs, RunQueue
from app.core.clock import now_ms
from app.core.ids import id_of, new_id
from app.core.storage.port import DocumentExists
from app.core.tracing.spans import current_traceparent
from app.modules.run.errors import (
    KeyReused,
    QueueFull,
    SessionBusy,
    SessionClosed,
    StillStopping,
    WorkersBusy,
)
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.messages import question_message, question_sequence, waiting_sequence, wire
from app.modules.run.records import MAX_WAITING, SessionRecords
from app.modules.session.model import Message, Run, Session
from app.modules.usage.service import Allowances
from graph.events import Status

OnBusy = Literal["reject", "enqueue", "interrupt"]

_STOPPING_SECONDS = 30
_LOOK_AGAIN_SECONDS = (0.005, 0.25)


class Submissions:
    """Starts, queues and stops runs, in whichever process they are answered."""

    def __init__(
        self,
        lifecycle: RunLifecycle,
        repository: SessionRecords,
        queue: RunQueue,
        logs: EventLogs,
        allowances: Allowances,
        max_waiting: int,
    ) -> None:
        self._lifecycle = lifecycle
        self._repository = repository
        self._queue = queue
        self._logs = logs
        self._allowances = allowances
        self._max_waiting = max_waiting

    async def submit(
        self,
        session: Session,
        question: str,
        on_busy: OnBusy,
        idempotency_key: str | None,
        sql: str | None = None,
    ) -> Run:
        """Make a question a run; it is durable when this returns.

        The same idempotency key gives the same run again. Raises `SessionClosed`, `SessionBusy`,
        `QueueFull`, `WorkersBusy`, `KeyReused`, `TokensSpent`, `TooManyRuns`, or `BusUnavailable` if
        the queue cannot take it: then nothing is stored.
        """
        waiting = await self._queue.waiting()  # fails before a run is stored that no worker would get
        run = _new_run(session, question, idempotency_key, sql)
        if idempotency_key is not None and (known := await self._repository.find_run(run.id)) is not None:
            return _same(known, run)
        if waiting >= self._max_waiting:
            raise WorkersBusy
        if session.active_run_id is not None:
            session = await self.without_ghost(session)
            await self._check_room(session, on_busy)
        try:
            asked = question_message(run, new_id(), _expected_sequence(session, run))
            async with self._allowances.new_run(session.owner):
                await self._repository.add_run(run, asked)
        except DocumentExists:
            return _same(await self._repository.get_run(session, run.id), run)
        if not await self._lifecycle.start(session, run, asked.sequence):
            await self._line_up(session, run, asked, on_busy)
        return run

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

    async def _check_room(self, session: Session, on_busy: OnBusy) -> None:
        """Refuse a question that could not even wait. `_line_up` decides among several questions of
        the same moment.
        """
        if session.status == "closed":
            raise SessionClosed
        if session.active_run_id is not None and on_busy == "reject":
            raise SessionBusy(session.active_run_id)
        if on_busy == "enqueue" and len(await self._repository.open_runs(session.id)) > MAX_WAITING:
            raise QueueFull(MAX_WAITING)

    async def _line_up(self, session: Session, run: Run, asked: Message, on_busy: OnBusy) -> None:
        """Queue the run behind the one that holds the session, unless it may not wait or already holds it."""
        now = await self._repository.find(session.id)
        if now is None or now.status == "closed" or on_busy == "reject":
            if now is not None and now.active_run_id == run.id:
                return
            await self._repository.withdraw(run)
            now = await self._repository.get(session.owner, session.id)
            raise SessionClosed if now.status == "closed" else SessionBusy(now.active_run_id)
        others = [each for each in await self._repository.open_runs(now.id) if each.id != run.id]
        if on_busy == "interrupt":
            with suppress(BusUnavailable):  # the run is stored by now, and waits for those that continue
                for other in others:
                    await self.cancel(now, other)
        elif sum(each.place < run.place for each in others) > MAX_WAITING:
            await self._repository.withdraw(run)
            raise QueueFull(MAX_WAITING)
        await self._repository.move(asked, waiting_sequence(run))
        notice = Status(
            step="loading_context", message="Waiting for the question before this one", run_id=run.id
        )
        await self._logs.say(run.id, 0, [wire(notice)], ended=False)
        await self._lifecycle.start_next(session.id)

    async def _left(self, session: Session) -> list[Run]:
        """Returns the open runs, and the ended one that still holds the session."""
        now = await self.without_ghost(await self._repository.get(session.owner, session.id))
        holding = await self._repository.find_run(now.active_run_id) if now.active_run_id else None
        return [*await self._repository.open_runs(session.id), *([holding] if holding else [])]


def run_id_of(session_id: str, idempotency_key: str) -> str:
    """Returns the id that a run with this key has, whether it exists or not."""
    return id_of(session_id, f"idempotency-key {idempotency_key}")


def _new_run(session: Session, question: str, idempotency_key: str | None, sql: str | None) -> Run:
    return Run(
        id=new_id() if idempotency_key is None else run_id_of(session.id, idempotency_key),
        owner=session.owner,
        session_id=session.id,
        message_id=new_id(),
        question=question,
        created_at=now_ms(),
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


def _same(known: Run, asked: Run) -> Run:
    if (known.question, known.sql) != (asked.question, asked.sql):
        raise KeyReused
    return known
