"""One attempt at a run: from its first event to its last, or to the step after which another continues.

An attempt that is not stopped ends its log with exactly one `done`, emitted after all else is durable.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Literal, TypeVar

from app.core.auth.caller import acting_for
from app.core.bus.port import BusUnavailable
from app.core.clock import now_ms, rfc3339
from app.core.llm.calls import Meter, metered
from app.core.storage.port import StorageUnavailable
from app.modules.records.model import Outcome, Run, Session
from app.modules.run.completion import AttemptEnd, Saved, emitted_end
from app.modules.run.engine import RunServices, RunStream
from app.modules.run.messages import Ending, done_event, ending_of, failure_of, metered_cost, wire
from graph import CompletedTurn, Ports, ReadCheckpoint, RunControl, SessionEvent, Turn
from graph.errors import CheckpointsUnavailable, Drained, Replaced, TurnError
from graph.events import Status

logger = logging.getLogger(__name__)

T = TypeVar("T")

StopReason = Literal["cancelled", "handed over", "lost"]
AttemptResult = Saved | Literal["handed over"]

MAX_TRIES = 3

_AGAIN_SECONDS = 0.5


class TooManyTries(TurnError):
    """The process died at each attempt at the run."""

    problem = "too-many-attempts"


class RunAttempt:
    """One attempt at a run. The worker can drain it (hand over after the current step), cancel it, or abandon
    it when its lease is lost.
    """

    def __init__(
        self, session: Session, run: Run, services: RunServices, *, latest: ReadCheckpoint | None = None
    ) -> None:
        """`latest`: the session's latest checkpoint, if it was found with the run."""
        self.number = run.attempt
        self.began_at = time.monotonic()
        self._latest = latest
        self._turn = _turn(session, run)
        self._session = session
        self._run = run
        self._services = services
        self._control = RunControl()
        self._completed = CompletedTurn()
        self._stopped: StopReason | None = None
        self._answering: asyncio.Task[None] | None = None
        self._tokens_before = 0
        """Tokens of the completed steps of earlier attempts."""

    def drain(self) -> None:
        """Hand over after the current step."""
        self._control.request_drain()

    def stop(self, why: StopReason) -> None:
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
        with acting_for(run.owner, run.attributes), services.observer.attempt(run), metered() as meter:
            if run.status != "open":
                await self._finish_end(run.status)
                return "ended"
            emitted = await emitted_end(services.logs, run) if run.attempt > 1 else None
            log = services.logs.writer(run.id, run.attempt)
            stream = RunStream(run, log, services.observer, lambda: self._tokens_before + meter.tokens)
            try:
                if emitted is not None:
                    return await self._end(stream, ending_of(emitted, run, Ending("failed", 0)), meter)
                return await self._answer_and_end(stream, meter)
            finally:
                log.leave()
                services.graph.leave(self._turn)

    async def _answer_and_end(self, stream: RunStream, meter: Meter) -> AttemptResult:
        self._answering = asyncio.create_task(self._answer(stream), name=f"run {self._run.id}: answer")
        if self._run.cancel_requested:
            self.stop("cancelled")
        try:
            await asyncio.wait({self._answering})
        finally:
            self._answering.cancel()
        ending = self._ending(self._answering)
        return self._unfinished() if ending is None else await self._end(stream, ending, meter)

    async def _end(self, stream: RunStream, ending: Ending, meter: Meter) -> AttemptResult:
        end = AttemptEnd(
            self._services,
            stream,
            self._session,
            turn=self._turn,
            ending=ending,
            answer=self._completed.answer,
            used_tokens=self._tokens_before + meter.tokens,
            cached_tokens=meter.cached_tokens,
            cost=metered_cost(meter),
        )
        saved = await end.save(is_stopped=lambda: self._stopped in ("handed over", "lost"))
        return saved or self._unfinished()

    def _unfinished(self) -> AttemptResult:
        return "lost" if self._stopped == "lost" else "handed over"

    async def _answer(self, stream: RunStream) -> None:
        """Go through the steps. While the store is unavailable, wait for it and continue."""
        run, graph = self._run, self._services.graph
        if run.unclean_ends >= MAX_TRIES:
            logger.error("run %s of session %s is given up after %d tries", run.id, run.session_id, MAX_TRIES)
            raise TooManyTries(f"It failed {MAX_TRIES} times and is not tried again.")
        retries = StoreRetries(stream, self._services.store_patience_seconds)
        ports = await retries.retry(self._bind)
        if run.attempt > 1:
            await retries.retry(lambda: self._services.lifecycle.begin(run))
            tokens = (await retries.retry(lambda: graph.answer(self._turn))).tokens_used
            self._tokens_before = max(0, tokens - run.tokens_before)
        begin = graph.ask if run.resumes is None else graph.go_on
        ask = begin if run.attempt == 1 else graph.resume
        while True:
            try:
                async with aclosing(
                    ask(self._turn, ports, self._control, completed=self._completed)
                ) as events:
                    async for event in events:
                        stream.emit(event)
                        retries.observe(event)
            except (StorageUnavailable, CheckpointsUnavailable) as error:
                await retries.wait(error)
                await retries.retry(lambda: graph.answer(self._turn))
                ask = graph.resume
            else:
                return

    async def _bind(self) -> Ports:
        """Bind the ports, and read what the first step reads: together these are one request.

        Raises `Replaced` if a later attempt has been taken up: the fence that was read may be its own.
        """
        latest, self._latest = self._latest, None
        ports, _, is_current = await asyncio.gather(
            self._services.bind(self._session, self._run),
            self._services.graph.read_ahead(self._turn, latest),
            self._services.lifecycle.is_current(self._run),
        )
        if not is_current:
            raise Replaced
        return ports

    def _ending(self, answering: asyncio.Task[None]) -> Ending | None:
        """Returns how the run ended. Returns None if it has not ended."""
        if self._stopped == "cancelled":
            return Ending("cancelled", now_ms())
        if self._stopped is not None or answering.cancelled():
            return None
        match answering.exception():
            case None:
                return Ending("awaiting_approval" if self._completed.is_waiting else "complete", now_ms())
            case Drained():
                return None
            case Replaced():
                self._stopped = "lost"
                return None
            case error:
                return Ending("failed", now_ms(), failure_of(error, self._run))

    async def _finish_end(self, outcome: Outcome) -> None:
        """Complete the end of a run that an earlier attempt closed before its process died.

        It is not counted here: the earlier attempt may have done so.
        """
        services, run = self._services, self._run
        answer = await services.graph.answer(self._turn)
        counts = {"cached_tokens": run.cached_tokens, **run.cost.model_dump()}
        answer = answer.model_copy(update=counts)
        ending = Ending(outcome, run.ended_at or now_ms(), None, answer).at_tokens(run.tokens_used)
        emitted = await emitted_end(services.logs, run)
        if emitted is not None and emitted.status != run.status:
            # The store's response to the closing was lost for so long that the stream was ended as failed.
            ending = ending_of(emitted, run, ending)
            run = await services.lifecycle.amend(run, ending) or run
        await services.lifecycle.keep(self._session, run, ending.answer)
        done = done_event(run, ending)
        await services.logs.say(run.id, run.attempt + 1, [wire(done)], ended=True)


def _turn(session: Session, run: Run) -> Turn:
    return Turn(
        session_id=session.id,
        db_connection_id=session.connection_id,
        run_id=run.id,
        message_id=run.message_id,
        question=run.question,
        metadata=session.metadata,
        session_created_at=rfc3339(session.created_at),
        asked_at=rfc3339(run.created_at),
        fence=session.fence,
        resumes=run.resumes,
        from_checkpoint=None if run.branch is None else run.branch.checkpoint_id,
    )


class StoreRetries:
    """Retries of one attempt while the store is unavailable. The time limit starts again after each step
    that was stored.
    """

    def __init__(self, stream: RunStream, seconds: float) -> None:
        self._stream = stream
        self._seconds = seconds
        self._failing_since: float | None = None
        self._steps = 0
        """Steps that began since the latest failure of the store."""

    async def retry(self, call: Callable[[], Awaitable[T]]) -> T:
        """Returns the result of a call, which is repeated until the store answers.

        Without the bus no stream can be read, so there is no time limit. Raises `StorageUnavailable` or
        `CheckpointsUnavailable` at the time limit.
        """
        while True:
            try:
                return await call()
            except BusUnavailable:
                await asyncio.sleep(_AGAIN_SECONDS)
            except (StorageUnavailable, CheckpointsUnavailable) as error:
                await self.wait(error)

    async def wait(self, error: Exception) -> None:
        """Pause before the next try. Raises the error at the time limit."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
            message = "Waiting for the store, which is unavailable"
            self._stream.emit(Status(step="saving", message=message, run_id=self._stream.run.id))
        elif now - self._failing_since > self._seconds:
            raise error
        self._steps = 0
        await asyncio.sleep(_AGAIN_SECONDS)

    def observe(self, event: SessionEvent) -> None:
        """Count the steps of the turn. A second step begins only after the first was stored."""
        if isinstance(event, Status):
            self._steps += 1
            if self._steps > 1:
                self._failing_since = None
