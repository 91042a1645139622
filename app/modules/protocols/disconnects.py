"""Work that begins when a client of a protocol has left."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from app.core.bus.port import BusUnavailable
from app.core.clock import now_ms
from app.core.errors import NotFound, Problem
from app.core.storage.port import StorageUnavailable
from app.core.tasks import Loops, end_tasks
from app.modules.records.model import Run, Session
from app.modules.session.service import SessionService

logger = logging.getLogger(__name__)

_CANCEL_SECONDS = 5
"""Time for a client to come back before its run is cancelled. Its protocol has no other way to stop one."""

_HIDDEN_MS = 60_000
"""Time for a client whose connection was cut to come back, before the session of its run is deleted."""

_LEFT_MS = 600_000
"""The same where the process ended before it had hidden the session."""

_SWEEP_SECONDS = 30.0
_TRIES = 30
_TRY_AGAIN_SECONDS = 1.0


class Departures:
    """Work that begins when a client has left: it outlives the request, and ends with the process.

    A stop of the server cancels no run: other processes, or this one after its start, go on with it.
    """

    def __init__(self, sessions: SessionService, *, is_stopping: Callable[[], bool]) -> None:
        self._sessions = sessions
        self._is_stopping = is_stopping
        self._cancelling: dict[str, asyncio.Task[None]] = {}
        """By run id."""
        self._hiding: set[asyncio.Task[None]] = set()
        self._loops = Loops("departures")

    def start(self) -> None:
        """Delete sessions whose time is over, whichever process has followed their runs."""
        self._loops.every(_SWEEP_SECONDS, "delete what runs left", lambda: self.delete_left(now_ms()))

    def cancel_later(self, session: Session, run: Run, *, seconds: float = 0) -> None:
        """Cancel a run after this time, unless `keep` is called before."""
        if self._is_stopping() or run.id in self._cancelling:
            return
        work = self._cancel(session, run, seconds)
        task = asyncio.create_task(work, name=f"run {run.id}: cancel, as its client has left")
        self._cancelling[run.id] = task
        task.add_done_callback(lambda _: self._drop(run.id, task))

    def cancel_unread(self, session: Session, run: Run) -> Callable[[str], None]:
        """Returns the `on_close` of a run's stream. It cancels the run if its client has left and does not
        come back within 5 seconds (`keep`).
        """

        def close(end: str) -> None:
            if end == "left":
                self.cancel_later(session, run, seconds=_CANCEL_SECONDS)

        return close

    def keep(self, run_id: str) -> None:
        """Withdraw a cancellation that waits: a client follows the run again."""
        if (task := self._cancelling.pop(run_id, None)) is not None:
            task.cancel()

    def hide_at_end(self, session: Session, run: Run) -> None:
        """Hide a session when its run has ended: its client may come back for the rest."""
        work = self._hide(session, run)
        task = asyncio.create_task(work, name=f"session {session.id}: hide at the end of its run")
        self._hiding.add(task)
        task.add_done_callback(self._hiding.discard)

    async def delete_left(self, now: int) -> None:
        """Delete sessions that are not kept, and those of one run, of all owners, whose time is over by now
        (epoch ms).
        """
        async for session in self._sessions.expiring(before=now):
            await self._delete_session(session)
        async for session in self._sessions.left(now - _HIDDEN_MS):
            if session.is_hidden or session.updated_at < now - _LEFT_MS:
                await self._delete_session(session)

    async def aclose(self) -> None:
        await self._loops.end()
        await end_tasks([*self._cancelling.values(), *self._hiding])

    def _drop(self, run_id: str, task: "asyncio.Task[None]") -> None:
        """The run may have another one by now."""
        if self._cancelling.get(run_id) is task:
            del self._cancelling[run_id]

    async def _cancel(self, session: Session, run: Run, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await _persist(
            lambda: self._sessions.submissions.cancel(session, run), f"run {run.id} is not cancelled"
        )

    async def _hide(self, session: Session, run: Run) -> None:
        async for _ in self._sessions.follower.events(run):
            pass
        await _persist(lambda: self._sessions.hide(session, run), f"session {session.id} is not hidden")

    async def _delete_session(self, session: Session) -> None:
        await _persist(
            lambda: self._sessions.delete(session.owner, session.id), f"session {session.id} is not deleted"
        )


async def _persist(work: Callable[[], Coroutine[None, None, None]], failed: str) -> None:
    """Do the work, again if the store or the bus is unavailable for a while."""
    for tries_left in reversed(range(_TRIES)):
        try:
            await work()
        except NotFound:
            return  # deleted meanwhile
        except (StorageUnavailable, BusUnavailable, Problem) as error:
            if tries_left == 0:
                logger.warning("%s: %s", failed, error)
                return
            await asyncio.sleep(_TRY_AGAIN_SECONDS)
        else:
            return
