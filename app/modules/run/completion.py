"""The end of an attempt whose run is over: one outcome, in the store, the stream and the metrics.

What is kept, in this order: the run is closed, which only one attempt can do, and its answer is stored with
that; the message is published; the session is released and its next run started. Then `done` is emitted.

    While this is so           the attempt
    the store is unavailable   emits `status` once and tries again every half second
    ... for longer than the    emits `done`, so that the stream does not wait for the store: with the run's
    store's patience           outcome if it is decided, else as failed; what is kept later agrees
    the bus is unavailable     tries again every half second: no stream can be read then
    an answer cannot be kept   changes the outcome to failed, without an answer, unless `done` is emitted;
    because of a defect        a second defect is raised

An outcome that another attempt has emitted is the run's outcome, too.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from app.core.bus.event_log import first_id
from app.core.bus.port import BusUnavailable, EventLogs
from app.core.clock import now_ms
from app.core.storage.port import ChangeNotWritten, StorageUnavailable
from app.modules.records.model import Run, Session, TakenStep
from app.modules.run.engine import RunServices, RunStream
from app.modules.run.messages import Ending, cost_of, done_event, ending_of, failure_of
from graph import Turn
from graph.answer import DatabaseCost, TurnAnswer
from graph.errors import CheckpointsUnavailable, CheckpointUnreadable
from graph.events import Done, Status

logger = logging.getLogger(__name__)

Saved = Literal["ended", "ended by another", "lost"]
"""`ended by another`: which finished the end of this attempt. `lost`: another attempt has begun or ended the
run, so it is that attempt's to end."""

AGAIN_SECONDS = 0.5
_WATCHED_SECONDS = 1.0


async def emitted_end(logs: EventLogs, run: Run) -> Done | None:
    """The `done` that an earlier attempt at the run has emitted, if there is one."""
    async with logs.follow(run.id) as log:
        entries = log.after(0) if log.ended else []
    last = entries[-1] if entries else None
    if last is None or last.event != "done" or last.id >= first_id(run.attempt):
        return None
    return Done.model_validate_json(last.data)


class AttemptEnd:
    """Stores the result of the run and ends its stream. `used_tokens` counts failed steps, too.

    `answer` is that of a completed turn; None has it read from the checkpoints.
    """

    def __init__(
        self,
        services: RunServices,
        stream: RunStream,
        session: Session,
        *,
        turn: Turn,
        ending: Ending,
        answer: TurnAnswer | None,
        used_tokens: int,
        cached_tokens: int | None,
        cost: DatabaseCost,
    ) -> None:
        self._services = services
        self._stream = stream
        self._session = session
        self._turn = turn
        self._ending = ending
        self._completed_answer = answer
        self._used_tokens = used_tokens
        self._counts = {"cached_tokens": cached_tokens, **cost.model_dump()}
        self._run = stream.run
        self._closed: Run | None = None
        """The run as this attempt has closed it."""
        self._is_closer = False
        """It was this attempt that closed the run, so it counts the end. Perhaps that is not written yet."""
        self._is_answer_stored = False
        """The answer was stored as the run was closed."""
        self._timeline: Sequence[TakenStep] | None = None
        """As of the first try to store the answer. The message is the same in every try: then one that comes
        late is known for what it is, also if another run has gone on with the turn by then.
        """
        self._answered = False
        """The ending has its answer: the checkpoints have been read, or the answer is left out."""
        self._emitted = False
        """`done` is emitted: the outcome can change no more."""
        self._defective = False
        self._unavailable_since: float | None = None

    async def save(self, is_stopped: Callable[[], bool]) -> Saved | None:
        """Try until everything is kept. Returns None once `is_stopped`. Raises a second defect."""
        if self._ending.failure is not None:
            self._stream.emit(self._ending.failure)
        if self._ending.outcome != "awaiting_approval":
            self._stream.emit(Status(step="saving", message="Saving the answer", run_id=self._run.id))
        if self._run.attempt > 1:
            await self._adopt_emitted(is_stopped)
        while not is_stopped():
            try:
                saved = await self._keep()
            except (StorageUnavailable, CheckpointsUnavailable) as error:
                await self._wait_for_store(error)
            except BusUnavailable as error:
                self._unavailable_since = None  # the store has answered
                logger.warning("run %s waits for the bus to end: %s", self._run.id, error)
            except Exception as error:
                if self._defective:
                    raise
                self._leave_answer_out(error)
            else:
                await self._finish(saved)
                return saved
            await asyncio.sleep(AGAIN_SECONDS)
        return None

    async def _adopt_emitted(self, is_stopped: Callable[[], bool]) -> None:
        """Take over the outcome that an earlier attempt has emitted, if one has.

        Returns when an event of this attempt is in the log: from then on no earlier attempt can emit any.
        """
        run, logs = self._run, self._services.logs
        own = first_id(run.attempt)
        async with logs.follow(run.id) as log:
            while not log.ended and log.last_id < own and not is_stopped():
                try:
                    async with asyncio.timeout(_WATCHED_SECONDS):
                        await log.news()
                except TimeoutError:
                    continue
        if (done := await emitted_end(logs, run)) is not None:
            self._ending = ending_of(done, run, self._ending)
            self._emitted = True

    async def _keep(self) -> Saved:
        if self._timeline is None:
            self._timeline = self._stream.record.timeline()
        if self._closed is None or self._closed.status != self._ending.outcome:
            closed = await self._close()
            if closed is None:
                return "lost"
            self._closed = closed
        released = await self._services.lifecycle.keep(
            self._session,
            self._closed,
            self._ending.answer,
            timeline=self._timeline,
            is_stored=self._is_answer_stored,
        )
        return "ended" if released else "ended by another"

    async def _answer(self) -> TurnAnswer:
        """The answer of the completed steps; empty if the run failed because these cannot be read.

        Its tokens are those of the run: the turn may have had another run before.
        """
        try:
            answer = self._completed_answer or await self._services.graph.answer(self._turn)
            tokens = max(0, answer.tokens_used - self._run.tokens_before)
            return answer.model_copy(update={"tokens_used": tokens})
        except CheckpointUnreadable:
            if self._ending.outcome == "failed":
                return TurnAnswer()
            raise

    async def _close(self) -> Run | None:
        """The run in its outcome; None when it is another attempt's, or gone."""
        services, run = self._services, self._run
        if not self._answered:
            answer = await self._answer()
            if self._ending.outcome in ("failed", "cancelled"):
                answer = self._stream.record.complement(answer)
            self._ending = replace(self._ending, answer=self._counted(answer))
            self._answered = True
        self._is_answer_stored = False
        try:
            closed = await services.lifecycle.close(
                self._session, run, self._ending, timeline=self._timeline or ()
            )
        except ChangeNotWritten:
            self._is_closer = True
            raise
        if closed is not None:
            self._is_closer = True
            self._is_answer_stored = run.resumes is None
            return closed
        latest = await services.repository.find_run(run.id)
        if latest is None or latest.status == "open" or latest.attempt != run.attempt:
            return None
        if self._emitted or self._defective:
            return await services.lifecycle.amend(run, self._ending)
        # Closed by this very attempt, which has not heard of it, or cancelled as it was started.
        self._is_closer = self._is_closer or latest.ended_at == self._ending.at
        self._ending = Ending(latest.status, latest.ended_at or now_ms(), None, self._ending.answer)
        self._ending = self._ending.at_tokens(latest.tokens_used)
        return latest

    async def _wait_for_store(self, error: Exception) -> None:
        if self._unavailable_since is None:
            self._unavailable_since = time.monotonic()
            self._stream.emit(
                Status(
                    step="saving", message="Waiting for the store, which is unavailable", run_id=self._run.id
                )
            )
        patience = self._services.store_patience_seconds
        if self._emitted or time.monotonic() - self._unavailable_since < patience:
            return
        if not self._is_closer and self._ending.outcome == "complete":
            failure = failure_of(error, self._run)
            answer = self._counted(self._ending.answer)
            self._ending = Ending("failed", now_ms(), failure, answer)
            self._stream.emit(failure)
        self._ending = replace(self._ending, answer=self._counted(self._ending.answer))
        await self._emit_done()

    def _leave_answer_out(self, error: Exception) -> None:
        self._defective = True
        failure = failure_of(error, self._run)
        counted = self._counted(self._ending.answer)
        bare = TurnAnswer(
            tokens_used=counted.tokens_used,
            cached_tokens=counted.cached_tokens,
            **cost_of(counted).model_dump(),
        )
        self._answered = True
        if self._emitted:
            self._ending = replace(self._ending, answer=bare)
        else:
            self._ending = Ending("failed", now_ms(), failure, bare)
            self._stream.emit(failure)

    async def _finish(self, saved: Saved) -> None:
        """An attempt that has lost its run emits no `done`. The one that closed it counts the end."""
        if saved == "lost":
            return
        if self._is_closer:
            await self._services.allowances.spent(self._run.owner, self._ending.answer.tokens_used)
        if not self._emitted:
            await self._emit_done()
        if self._is_closer:
            self._stream.count(done_event(self._run, self._ending))

    async def _emit_done(self) -> None:
        self._emitted = True
        await self._stream.end(done_event(self._run, self._ending))

    def _counted(self, answer: TurnAnswer) -> TurnAnswer:
        """Returns the answer with the counts of its `done` event, or with those of failed steps."""
        if self._emitted:
            emitted = self._ending.answer
            counts = {"tokens_used": emitted.tokens_used, "cached_tokens": emitted.cached_tokens}
            return answer.model_copy(update={**counts, **cost_of(emitted).model_dump()})
        used_tokens = max(answer.tokens_used, self._used_tokens)
        return answer.model_copy(update={"tokens_used": used_tokens, **self._counts})
