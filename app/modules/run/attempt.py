"""One attempt at a run: from its first event to its last, or to the point where another goes on.

An attempt that is not stopped ends its log with exactly one `done`, said after all else is durable.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

from app.core.bus.port import BusUnavailable, EventLogs, LogWriter
from app.core.clock import now_ms, rfc3339
from app.core.llm.calls import Meter, metered
from app.core.storage.port import StorageUnavailable
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.messages import Ending, done_event, failure_of, wire
from app.modules.run.observer import RunObserver, log_end
from app.modules.session.model import Outcome, Run, Session
from app.modules.session.repository import SessionRepository
from app.modules.usage.service import Allowances
from graph import Ports, RunControl, SessionEvent, SessionGraph, Turn
from graph.answer import Answer
from graph.errors import CheckpointsUnavailable, Drained, TurnError
from graph.events import Status, TextChunk

logger = logging.getLogger(__name__)

Bind = Callable[[Session, Run], Awaitable[Ports]]
Stop = Literal["cancelled", "handed over", "lost"]
Result = Literal["over", "ending", "handed over", "lost"]
"""`ending`: the answer is kept, but with the bus away what follows is still to be done."""

MAX_TRIES = 3
MAX_EVENTS = 10_000
"""Of one attempt; token deltas beyond are left out, for the whole text follows them anyway."""

_STORE_AWAY_SECONDS = 3
"""So long a stream waits for the store to keep the end of its run before it is told of it."""
_AGAIN_SECONDS = 0.5
_STORE_AWAY = (StorageUnavailable, CheckpointsUnavailable)


class TooManyTries(TurnError):
    """The run broke its process off each time it was tried."""

    problem = "too-many-attempts"


class StoreWasAway(TurnError):
    """Its stream was told so; the run is not answered a second time."""

    problem = "storage-unavailable"
    title = "The store is unavailable"
    status = 503
    retryable = True


class RunAttempt:
    """Answers a run; whoever holds it may let another go on with it, cancel it, or hush it."""

    def __init__(self, session: Session, run: Run, common: "Executions") -> None:
        self.turn = _turn(session, run)
        self.attempt = run.attempt
        self._session = session
        self._run = run
        self._graph = common.graph
        self._lifecycle = common.lifecycle
        self._repository = common.repository
        self._logs = common.logs
        self._bind = common.bind
        self._allowances = common.allowances
        self._watch = common.watch
        self._control = RunControl()
        self._stopped: Stop | None = None
        self._ended: Run | None = None
        self._told = False
        """Its stream has ended, before all was kept."""
        self._defect = False
        self._answering: asyncio.Task[None] | None = None
        self._meter = Meter()
        self._tokens_before = 0
        """Of the attempts before this one, as far as their steps were completed."""

    def drain(self) -> None:
        """Let another go on after the present step."""
        self._control.request_drain()

    def stop(self, why: Stop) -> None:
        """At once. `lost` means that another attempt has begun: nothing of this one counts any more.

        One that is cancelled may be hushed or handed over, too: the next attempt then ends it.
        """
        if self._stopped is None and self._answering is not None:
            self._answering.cancel()
        if self._stopped in (None, "cancelled"):
            self._stopped = why

    async def run(self) -> Result:
        """What became of this attempt. Raises `StorageUnavailable` only before anything was said."""
        if self._run.status != "open":
            await self._finish_ending(self._run.status)
            return "over"
        with self._watch.over(self._run, self._run.traceparent), metered() as self._meter:
            log = self._logs.writer(self._run.id, self._run.attempt)
            try:
                return await self._see_through(log)
            finally:
                log.leave()

    async def _see_through(self, log: LogWriter) -> Result:
        self._answering = asyncio.create_task(self._answer(log), name=f"run {self._run.id}: answer")
        if self._run.cancel_requested:
            self.stop("cancelled")
        try:
            await asyncio.wait({self._answering})
        finally:
            self._answering.cancel()
        ending = self._ending(self._answering)
        if ending is None:
            return "lost" if self._stopped == "lost" else "handed over"
        return await self._end(log, ending)

    async def _answer(self, log: LogWriter) -> None:
        run = self._run
        if run.attempt > 1:
            await self._check_tries()
            self._tokens_before = (await self._graph.answer(self.turn)).tokens_used
        ports = await self._bind(self._session, run)
        ask = self._graph.ask if run.attempt == 1 else self._graph.resume
        async with aclosing(ask(self.turn, ports, self._control)) as events:
            async for event in events:
                if log.size < MAX_EVENTS or not isinstance(event, TextChunk):
                    self._say(log, event)

    async def _check_tries(self) -> None:
        run = self._run
        if run.attempt - run.handovers > MAX_TRIES:
            logger.error("run %s of session %s is given up after %d tries", run.id, run.session_id, MAX_TRIES)
            raise TooManyTries(f"It broke off {MAX_TRIES} times and is not tried again.")
        async with self._logs.follow(run.id) as said:
            if said.ended:
                raise StoreWasAway("KAI's own store did not keep the answer. Ask again.")

    def _ending(self, answering: asyncio.Task[None]) -> Ending | None:
        """None when the run is not over."""
        if self._stopped == "cancelled":
            return Ending("cancelled", now_ms())
        if self._stopped is not None or answering.cancelled():
            return None
        match answering.exception():
            case None:
                return Ending("complete", now_ms())
            case Drained():
                return None
            case error:
                return Ending("failed", now_ms(), failure_of(error, self._run))

    async def _end(self, log: LogWriter, ending: Ending) -> Result:
        """Keep what the run gave, and say so; while the store is away that is tried again and again.

        An answer that cannot be kept for a defect is left out. Raises what then still is a defect.
        """
        if ending.failure is not None:
            self._say(log, ending.failure)
        self._say(log, Status(step="saving", message="Saving the answer", run_id=self._run.id))
        tell_at = time.monotonic() + _STORE_AWAY_SECONDS
        while self._stopped in (None, "cancelled"):
            try:
                if self._ended is None and not self._defect:
                    ending = replace(ending, answer=self._counted(await self._graph.answer(self.turn)))
                result = await self._kept(ending)
            except Exception as error:  # noqa: BLE001 - the turn's boundary: whatever happens ends the log
                ending = await self._in_spite_of(error, log, ending, late=time.monotonic() > tell_at)
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            if result == "lost":
                return result
            if result == "over":
                await self._allowances.spent(self._run.owner, ending.answer.tokens_used)
            if not self._told:
                await self._say_done(log, ending)
            return result
        return "lost" if self._stopped == "lost" else "handed over"

    async def _in_spite_of(self, error: Exception, log: LogWriter, ending: Ending, *, late: bool) -> Ending:
        """What is to be kept after this went wrong; the stream is told when it is `late`, or a defect."""
        if not isinstance(error, _STORE_AWAY):
            if self._defect:
                raise error
            self._defect, late, ending = True, True, replace(ending, answer=self._counted(Answer()))
        if self._told or not late:
            return ending
        failure = failure_of(error, self._run)
        self._told, ending = True, Ending("failed", now_ms(), failure, self._counted(Answer()))
        self._say(log, failure)
        await self._say_done(log, ending)
        return ending

    def _counted(self, answer: Answer) -> Answer:
        """The answer with all that models have used for it, also in steps that failed."""
        used = self._tokens_before + self._meter.tokens
        return replace(answer, tokens_used=max(answer.tokens_used, used))

    async def _kept(self, ending: Ending) -> Result:
        if self._ended is None:
            self._ended = await self._lifecycle.close(self._run, ending)
        if self._ended is None:
            now = await self._repository.find_run(self._run.id)
            if now is not None and now.status == "open":
                return "lost"
            if now is None or not await self._holds():
                return "over"
            self._ended = now  # by this very attempt: the store's answer to that was lost
        try:
            await self._lifecycle.keep(self._session, self._ended, ending.answer)
        except BusUnavailable:
            return "ending"
        return "over"

    async def _holds(self) -> bool:
        session = await self._repository.find(self._run.session_id)
        return session is not None and session.active_run_id == self._run.id

    def _say(self, log: LogWriter, event: SessionEvent) -> None:
        log.append(*wire(event))
        self._watch.heard(self._run, event)

    async def _say_done(self, log: LogWriter, ending: Ending) -> None:
        done = done_event(self._run, ending)
        self._watch.heard(self._run, done)
        await log.end(*wire(done))

    async def _finish_ending(self, outcome: Outcome) -> None:
        """For who ended the run and did not live to keep its answer, or to say so."""
        run = self._run
        ending = Ending(outcome, run.ended_at or now_ms(), None, await self._graph.answer(self.turn))
        await self._lifecycle.keep(self._session, run, ending.answer)
        await self._allowances.spent(run.owner, ending.answer.tokens_used)
        done = done_event(run, ending)
        await self._logs.say(run.id, run.attempt + 1, [wire(done)], ended=True)
        log_end(run, done)


@dataclass(frozen=True)
class Executions:
    """Makes them: all that they have in common."""

    graph: SessionGraph
    lifecycle: RunLifecycle
    repository: SessionRepository
    logs: EventLogs
    bind: Bind
    allowances: Allowances
    watch: RunObserver

    def __call__(self, session: Session, run: Run) -> RunAttempt:
        return RunAttempt(session, run, self)


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
        fence=session.fence,
    )
