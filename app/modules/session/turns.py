"""Runs: a question answered in a task of its own, one at a time per session.

A run goes on when its client leaves. Whatever happens in it ends its log with exactly one `done`,
said after everything else is durable. A run that the process did not live to finish is taken up
again at the next start, from the last completed step.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal
from weakref import WeakValueDictionary

from app.core.bus.event_log import EventLog, EventLogs
from app.core.clock import now_ms, rfc3339
from app.core.ids import new_id
from app.core.tracing.spans import current_traceparent
from app.modules.session.errors import KeyReused, QueueFull, SessionBusy, SessionClosed
from app.modules.session.model import Outcome, Run, Session
from app.modules.session.record import answer_message, failure_of, question_message
from app.modules.session.repository import SessionRepository
from app.modules.session.watch import RunWatch
from graph import Ports, SessionEvent, SessionGraph, Turn
from graph.answer import Answer
from graph.errors import TurnError
from graph.events import Done, Failure, Status, TextChunk

OnBusy = Literal["reject", "enqueue", "interrupt"]
Bind = Callable[[Session, Run], Awaitable[Ports]]

MAX_WAITING = 10
MAX_ATTEMPTS = 3
MAX_EVENTS = 10_000
"""Of one run; token deltas beyond are left out, for the whole text follows them anyway."""


class TooManyAttempts(TurnError):
    """The run broke the process off each time it was tried."""

    problem = "too-many-attempts"


@dataclass(frozen=True)
class _Execution:
    """A run under way: `answering` may be stopped by its owner; `task` sees it through to its `done`."""

    run: Run
    answering: asyncio.Task[None]
    task: asyncio.Task[None]


class Turns:
    """Starts, queues, stops and takes up runs in this process."""

    def __init__(
        self, graph: SessionGraph, repository: SessionRepository, logs: EventLogs, bind: Bind, watch: RunWatch
    ) -> None:
        self._graph = graph
        self._repository = repository
        self._logs = logs
        self._bind = bind
        self._watch = watch
        self._executions: dict[str, _Execution] = {}
        self._waiting: defaultdict[str, deque[Run]] = defaultdict(deque)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def submit(
        self,
        session: Session,
        question: str,
        on_busy: OnBusy,
        idempotency_key: str | None,
        sql: str | None = None,
    ) -> Run:
        """Make a question a run, with a log; it is durable when this returns.

        The same idempotency key gives the same run again. Raises `SessionClosed`, `SessionBusy`,
        `QueueFull` or `KeyReused`.
        """
        async with self._lock(session.id):
            if idempotency_key is not None:
                known = await self._repository.run_of_key(session, idempotency_key)
                if known is not None:
                    return _same(known, question, sql)
            question_id, run = new_id(), _new_run(session, question, idempotency_key, sql)
            if await self._claim(session, run):
                await self._repository.add_run(run, question_message(run, question_id))
                self._start(session, run, current_traceparent())
            else:
                run = replace(run, status="queued")
                await self._make_way(session, on_busy)
                await self._repository.add_run(run, question_message(run, question_id))
                self._wait(run)
            return run

    async def cancel(self, run: Run) -> None:
        """Ask a run to stop; its log ends soon after. A run that is over stays as it is."""
        async with self._lock(run.session_id):
            if run.id in self._executions:
                self._executions[run.id].answering.cancel()
            elif any(each.id == run.id for each in self._waiting.get(run.session_id, ())):
                await self._drop(run)

    @asynccontextmanager
    async def stopped(self, session: Session) -> AsyncGenerator[None]:
        """Stops every run of a session; within the block none is left, and none begins."""
        while True:
            async with self._lock(session.id):
                await self._drop_waiting(session.id)
                running = [each for each in self._executions.values() if each.run.session_id == session.id]
                if not running:
                    yield
                    return
                for execution in running:
                    execution.answering.cancel()
            await asyncio.gather(*(each.task for each in running))

    async def release(self, session: Session) -> None:
        """Take away a hold without its run: the store was away when the run ended."""
        async with self._lock(session.id):
            await self._release(session)

    async def recover(self) -> None:
        """Take up the runs an earlier process did not live to finish. Called once, before any submit."""
        held = await self._repository.held()
        active = {session.active_run_id for session in held}
        for run in await self._repository.queued_runs():
            if run.id not in active:
                self._wait(run)
        for session in held:
            held_by = await self._repository.find_run(session.active_run_id or "")
            if held_by is not None and held_by.status in ("queued", "running"):
                again = replace(held_by, status="running", attempt=held_by.attempt + 1)
                await self._repository.save_run(again)
                self._start(session, again)
            else:
                await self._hand_over(session, session.active_run_id or "")

    async def close(self) -> None:
        """Break all runs off; the next process takes them up again."""
        tasks = [execution.task for execution in self._executions.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _lock(self, session_id: str) -> asyncio.Lock:
        return self._locks.setdefault(session_id, asyncio.Lock())

    async def _claim(self, session: Session, run: Run) -> bool:
        if await self._repository.claim(session, run):
            return True
        return await self._release(session) and await self._repository.claim(session, run)

    async def _release(self, session: Session) -> bool:
        """Whether there was a hold to take away; the session's lock is held."""
        now = await self._repository.get(session.owner, session.id)
        if now.active_run_id is None or now.active_run_id in self._executions:
            return False
        await self._repository.hand_over(session.id, now.active_run_id, None)
        return True

    async def _make_way(self, session: Session, on_busy: OnBusy) -> None:
        """Refuse the question, or let it wait for the run that holds the session."""
        now = await self._repository.get(session.owner, session.id)
        if now.status == "closed":
            raise SessionClosed
        if on_busy == "reject":
            raise SessionBusy(now.active_run_id)
        if on_busy == "interrupt":
            await self._drop_waiting(session.id)
            if now.active_run_id in self._executions:
                self._executions[now.active_run_id].answering.cancel()
        if len(self._waiting.get(session.id, ())) >= MAX_WAITING:
            raise QueueFull(MAX_WAITING)

    def _wait(self, run: Run) -> None:
        log = self._logs.open(run.id, run.attempt)
        message = "Waiting for the question before this one"
        say(log, Status(step="loading_context", message=message, run_id=run.id))
        self._waiting[run.session_id].append(run)

    def _start(self, session: Session, run: Run, traceparent: str | None = None) -> None:
        log = self._logs.get(run.id) or self._logs.open(run.id, run.attempt)
        with self._watch.over(run, traceparent):
            answering = asyncio.create_task(self._answer(session, run, log))
            task = asyncio.create_task(self._see_through(session, run, log, answering))
        self._executions[run.id] = _Execution(run, answering, task)

    async def _answer(self, session: Session, run: Run, log: EventLog) -> None:
        if run.attempt > MAX_ATTEMPTS:
            raise TooManyAttempts(f"It broke off {MAX_ATTEMPTS} times and is not tried again.")
        turn = _turn(session, run)
        ports = await self._bind(session, run)
        events = self._graph.ask(turn, ports) if run.attempt == 1 else self._graph.resume(turn, ports)
        async with aclosing(events):
            async for event in events:
                if log.size < MAX_EVENTS or not isinstance(event, TextChunk):
                    self._say(run, log, event)

    async def _see_through(
        self, session: Session, run: Run, log: EventLog, answering: asyncio.Task[None]
    ) -> None:
        try:
            try:
                await asyncio.wait({answering})
            except asyncio.CancelledError:
                answering.cancel()
                await asyncio.wait({answering})
                raise
            if answering.cancelled():
                await self._end(session, run, log, "cancelled")
            elif (error := answering.exception()) is not None:
                await self._end(session, run, log, "failed", failure_of(error, run))
            else:
                await self._end(session, run, log, "complete")
        finally:
            del self._executions[run.id]

    async def _end(
        self, session: Session, run: Run, log: EventLog, outcome: Outcome, failure: Failure | None = None
    ) -> None:
        """Keep what the run gave, let the next one have the session, and say so: always one `done`."""
        if failure is not None:
            self._say(run, log, failure)
        self._say(run, log, Status(step="saving", message="Saving the answer", run_id=run.id))
        answer = Answer()
        try:
            answer = await self._graph.answer(_turn(session, run))
            await self._keep(run, answer, outcome, failure)
            await self._hand_over(session, run.id)
        except Exception as error:  # noqa: BLE001 - the turn's boundary: whatever happens ends the log
            outcome = "failed"
            self._say(run, log, failure_of(error, run))
        self._say_done(run, log, outcome, answer.tokens_used)

    def _say(self, run: Run, log: EventLog, event: SessionEvent) -> None:
        say(log, event)
        self._watch.heard(run, event)

    def _say_done(self, run: Run, log: EventLog, outcome: Outcome, tokens_used: int) -> None:
        done = say_done(log, run, outcome, tokens_used, now_ms() - run.created_at)
        self._watch.heard(run, done)

    async def _keep(self, run: Run, answer: Answer, outcome: Outcome, failure: Failure | None) -> None:
        await self._repository.add_message(answer_message(run, answer, outcome, failure, now_ms()))
        await self._repository.save_run(replace(run, status=outcome))

    async def _hand_over(self, session: Session, run_id: str) -> None:
        """Give the session to the question that waits longest, or make it idle."""
        async with self._lock(session.id):
            waiting = self._waiting.get(session.id, deque())
            following = replace(waiting.popleft(), status="running") if waiting else None
            if not waiting:
                self._waiting.pop(session.id, None)
            await self._repository.hand_over(session.id, run_id, following.id if following else None)
            if following is not None:
                await self._repository.save_run(following)
                self._start(session, following)

    async def _drop_waiting(self, session_id: str) -> None:
        for run in tuple(self._waiting.get(session_id, ())):
            await self._drop(run)

    async def _drop(self, run: Run) -> None:
        """End a run that waits; the session's lock is held."""
        self._waiting[run.session_id].remove(run)
        log = self._logs.get(run.id) or self._logs.open(run.id, run.attempt)
        await self._keep(run, Answer(), "cancelled", None)
        self._say_done(run, log, "cancelled", 0)


def _new_run(session: Session, question: str, idempotency_key: str | None, sql: str | None) -> Run:
    return Run(
        id=new_id(),
        owner=session.owner,
        session_id=session.id,
        message_id=new_id(),
        question=question,
        created_at=now_ms(),
        idempotency_key=idempotency_key,
        sql=sql,
    )


def _same(known: Run, question: str, sql: str | None) -> Run:
    if (known.question, known.sql) != (question, sql):
        raise KeyReused
    return known


def _turn(session: Session, run: Run) -> Turn:
    return Turn(
        session_id=session.id,
        db_connection_id=session.db_connection_id,
        run_id=run.id,
        message_id=run.message_id,
        question=run.question,
        metadata=session.metadata,
        session_created_at=rfc3339(session.created_at),
        asked_at=rfc3339(run.created_at),
    )


def say(log: EventLog, event: SessionEvent) -> None:
    log.append(event.event, event.model_dump_json(exclude={"event"}))


def say_done(log: EventLog, run: Run, outcome: Outcome, tokens_used: int, elapsed_ms: int) -> Done:
    """Says the last event of a run, and ends its log."""
    done = Done(
        run_id=run.id,
        session_id=run.session_id,
        message_id=run.message_id,
        status=outcome,
        tokens_used=tokens_used,
        elapsed_ms=elapsed_ms,
    )
    say(log, done)
    log.end()
    return done
