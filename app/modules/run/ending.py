"""The end of an attempt whose run is over, as a state machine.

    State        Kept in the store           Emitted                            Next state
    saving       the outcome, the answer     on entry: `error` if the run       saved, unavailable, defective
                                             failed, then `status` saving
    unavailable  failed, the answer          on entry: `error`, `done`          saved, defective
    defective    failed, without an answer   on entry: `error`, `done`, unless  saved
                                             `done` is emitted already
    saved        everything                  on entry: `done`, unless it is     none
                                             emitted already

Each of the first three states keeps things in this order: the run is closed, which only one attempt can do;
the answer is stored as a message; the message is published; the session is released and its next run started.

While the store is unavailable the state tries again every half second. After three seconds `saving` becomes
`unavailable`, so that the stream does not wait for the store. An answer that cannot be kept because of a
defect is left out (`defective`); a second defect is raised.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from app.core.bus.port import BusUnavailable
from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.modules.run.engine import RunServices, RunStream
from app.modules.run.messages import Ending, done_event, failure_of
from app.modules.session.model import Run, Session
from graph import Turn
from graph.answer import TurnAnswer
from graph.errors import CheckpointsUnavailable, CheckpointUnreadable
from graph.events import Status

State = Literal["saving", "unavailable", "defective", "saved"]
Saved = Literal["ended", "unpublished", "lost"]
"""`unpublished`: the answer is kept, but the bus is unavailable, so the session is not released yet. `lost`:
another attempt has begun."""

_STORE_PATIENCE_SECONDS = 3
_AGAIN_SECONDS = 0.5


class AttemptEnd:
    """Stores the result of the run and ends its stream. `used_tokens` counts failed steps, too."""

    def __init__(
        self,
        services: RunServices,
        stream: RunStream,
        session: Session,
        *,
        turn: Turn,
        ending: Ending,
        used_tokens: int,
    ) -> None:
        self._services = services
        self._stream = stream
        self._session = session
        self._turn = turn
        self._ending = ending
        self._used_tokens = used_tokens
        self._run = stream.run
        self._closed: Run | None = None
        """The run as this attempt has closed it."""
        self._state: State = "saving"

    async def save(self, is_stopped: Callable[[], bool]) -> Saved | None:
        """Go through the states until `saved`. Returns None once `is_stopped`. Raises a second defect."""
        if self._ending.failure is not None:
            self._stream.emit(self._ending.failure)
        self._stream.emit(Status(step="saving", message="Saving the answer", run_id=self._run.id))
        patient_until = time.monotonic() + _STORE_PATIENCE_SECONDS
        while not is_stopped():
            try:
                saved = await self._keep()
            except (StorageUnavailable, CheckpointsUnavailable) as error:
                if self._state == "saving" and time.monotonic() > patient_until:
                    await self._fail("unavailable", error)
            except Exception as error:
                if self._state == "defective":
                    raise
                await self._fail("defective", error)
            else:
                await self._enter_saved(saved)
                return saved
            await asyncio.sleep(_AGAIN_SECONDS)
        return None

    async def _keep(self) -> Saved:
        services, run = self._services, self._run
        if self._closed is None:
            if self._state != "defective":
                answer = await self._answer()
                self._ending = replace(self._ending, answer=self._counted(answer))
            self._closed = await services.lifecycle.close(run, self._ending)
        if self._closed is None:
            latest = await services.repository.find_run(run.id)
            if latest is not None and latest.status == "open":
                return "lost"
            if latest is None or not await self._holds_session():
                return "ended"
            self._closed = latest  # by this very attempt: the store's response to that was lost
        try:
            await services.lifecycle.keep(self._session, self._closed, self._ending.answer)
        except BusUnavailable:
            return "unpublished"
        return "ended"

    async def _answer(self) -> TurnAnswer:
        """The answer of the completed steps; empty if the run failed because these cannot be read."""
        try:
            return await self._services.graph.answer(self._turn)
        except CheckpointUnreadable:
            if self._ending.outcome == "failed":
                return TurnAnswer()
            raise

    async def _holds_session(self) -> bool:
        session = await self._services.repository.find(self._run.session_id)
        return session is not None and session.active_run_id == self._run.id

    async def _fail(self, state: Literal["unavailable", "defective"], error: Exception) -> None:
        """Enter a state that ends the stream before everything is kept."""
        was_saving = self._state == "saving"
        self._state = state
        failure = failure_of(error, self._run)
        if was_saving:
            self._ending = Ending("failed", now_ms(), failure, self._counted(TurnAnswer()))
            self._stream.emit(failure)
            await self._stream.end(done_event(self._run, self._ending))
        else:
            self._ending = replace(self._ending, answer=self._counted(TurnAnswer()))

    async def _enter_saved(self, saved: Saved) -> None:
        """An attempt that has lost its run emits no `done`: the other attempt does."""
        was_saving = self._state == "saving"
        self._state = "saved"
        if saved == "ended":
            await self._services.allowances.spent(self._run.owner, self._ending.answer.tokens_used)
        if saved != "lost" and was_saving:
            await self._stream.end(done_event(self._run, self._ending))

    def _counted(self, answer: TurnAnswer) -> TurnAnswer:
        return answer.model_copy(update={"tokens_used": max(answer.tokens_used, self._used_tokens)})
