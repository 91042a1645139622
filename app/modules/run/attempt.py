"""One attempt at a run: from its first event to its last, or to the step after which another continues.

An attempt that is not stopped ends its log with exactly one `done`, emitted after all else is durable.
"""

import asyncio
import logging
from contextlib import aclosing
from typing import Literal

from app.core.clock import now_ms, rfc3339
from app.core.llm.calls import Meter, metered
from app.modules.run.ending import AttemptEnd, Saved
from app.modules.run.engine import RunServices, RunStream
from app.modules.run.messages import Ending, done_event, failure_of, wire
from app.modules.run.observer import log_end
from app.modules.session.model import Outcome, Run, Session
from graph import RunControl, Turn
from graph.errors import Drained, TurnError

logger = logging.getLogger(__name__)

Stop = Literal["cancelled", "handed over", "lost"]
AttemptResult = Saved | Literal["handed over"]

MAX_TRIES = 3


class TooManyTries(TurnError):
    """The process died at each attempt at the run."""

    problem = "too-many-attempts"


class StoreWasAway(TurnError):
    """The stream has the error; the run is not answered a second time."""

    problem = "storage-unavailable"
    title = "The store is unavailable"
    status = 503
    retryable = True


class RunAttempt:
    """One attempt at a run. The worker can drain it (hand over after the current step), cancel it, or abandon
    it when its lease is lost.
    """

    def __init__(self, session: Session, run: Run, services: RunServices) -> None:
        self.number = run.attempt
        self._turn = _turn(session, run)
        self._session = session
        self._run = run
        self._services = services
        self._control = RunControl()
        self._stopped: Stop | None = None
        self._answering: asyncio.Task[None] | None = None
        self._tokens_before = 0
        """Tokens of the completed steps of earlier attempts."""

    def drain(self) -> None:
        """Hand over after the current step."""
        self._control.request_drain()

    def stop(self, why: Stop) -> None:
        """Stop at once. `lost` means that another attempt has begun, so the writes and events of this one
        are discarded.

        A cancelled attempt may be handed over or lost, too; the next attempt then ends the run as
        cancelled.
        """
        if self._stopped is None and self._answering is not None:
            self._answering.cancel()
        if self._stopped in (None, "cancelled"):
            self._stopped = why

    async def run(self) -> AttemptResult:
        """Answer the run, or complete the end of a run that has ended. Raises `StorageUnavailable` only
        before the first event.
        """
        services, run = self._services, self._run
        if run.status != "open":
            await self._finish_end(run.status)
            return "ended"
        with services.observer.attempt(run), metered() as meter:
            log = services.logs.writer(run.id, run.attempt)
            try:
                return await self._answer_and_end(RunStream(run, log, services.observer), meter)
            finally:
                log.leave()

    async def _answer_and_end(self, stream: RunStream, meter: Meter) -> AttemptResult:
        self._answering = asyncio.create_task(self._answer(stream), name=f"run {self._run.id}: answer")
        if self._run.cancel_requested:
            self.stop("cancelled")
        try:
            await asyncio.wait({self._answering})
        finally:
            self._answering.cancel()
        saved: Saved | None = None
        if (ending := self._ending(self._answering)) is not None:
            end = AttemptEnd(
                self._services,
                stream,
                self._session,
                turn=self._turn,
                ending=ending,
                used_tokens=self._tokens_before + meter.tokens,
            )
            saved = await end.save(is_stopped=lambda: self._stopped in ("handed over", "lost"))
        return saved or ("lost" if self._stopped == "lost" else "handed over")

    async def _answer(self, stream: RunStream) -> None:
        run, graph = self._run, self._services.graph
        if run.attempt > 1:
            await self._check_tries()
            self._tokens_before = (await graph.answer(self._turn)).tokens_used
        ports = await self._services.bind(self._session, run)
        ask = graph.ask if run.attempt == 1 else graph.resume
        async with aclosing(ask(self._turn, ports, self._control)) as events:
            async for event in events:
                stream.emit(event)

    async def _check_tries(self) -> None:
        run = self._run
        if run.attempt - run.handovers > MAX_TRIES:
            logger.error("run %s of session %s is given up after %d tries", run.id, run.session_id, MAX_TRIES)
            raise TooManyTries(f"It failed {MAX_TRIES} times and is not tried again.")
        async with self._services.logs.follow(run.id) as log:
            if log.ended:
                raise StoreWasAway("KAI's own store did not keep the answer. Ask again.")

    def _ending(self, answering: asyncio.Task[None]) -> Ending | None:
        """Returns how the run ended. Returns None if it has not ended."""
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

    async def _finish_end(self, outcome: Outcome) -> None:
        """Complete the end of a run that an earlier attempt closed before its process died."""
        services, run = self._services, self._run
        ending = Ending(outcome, run.ended_at or now_ms(), None, await services.graph.answer(self._turn))
        await services.lifecycle.keep(self._session, run, ending.answer)
        await services.allowances.spent(run.owner, ending.answer.tokens_used)
        done = done_event(run, ending)
        await services.logs.say(run.id, run.attempt + 1, [wire(done)], ended=True)
        log_end(run, done)


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
