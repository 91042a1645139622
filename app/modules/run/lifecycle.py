"""The states of a run in the store: it waits for its session, holds it, ends, and the next run gets the
session.

The store decides: every change here can be made by one process only, even if the queue has lost a run or
delivered it twice.
"""

import asyncio
import logging

from app.core.bus.completed import Completed, CompletedEvents
from app.core.bus.port import BusUnavailable, EventLogs, LeasedRun, RunQueue, RunRef
from app.core.clock import now_ms
from app.modules.run.messages import (
    Ending,
    answer_message,
    done_event,
    question_sequence,
    waiting_sequence,
    wire,
)
from app.modules.run.observer import log_end
from app.modules.run.records import SessionRecords
from app.modules.session.model import Run, Session, SessionStatus
from graph.answer import TurnAnswer

logger = logging.getLogger(__name__)


class RunLifecycle:
    """State changes of runs, for submission and workers."""

    def __init__(
        self, repository: SessionRecords, queue: RunQueue, logs: EventLogs, completed: CompletedEvents
    ) -> None:
        self._repository = repository
        self._queue = queue
        self._logs = logs
        self._completed = completed

    async def start(self, session: Session, run: Run, sequence: int) -> bool:
        """Give an idle session to a run and put the run into the queue. Returns False if the session is not
        idle.

        `sequence` is that of the run's question. If the queue is unavailable, the next sweep puts the run
        in: it already holds its session.
        """
        held = await self._repository.claim(session, run)
        if held is None:
            return False
        if sequence != question_sequence(held.turn):
            await self._repository.place_question(run, question_sequence(held.turn))
        try:
            await self._queue.put(ref_of(run), first=run.attempt == 1)
        except BusUnavailable as error:
            logger.warning("run %s of session %s waits for a sweep: %s", run.id, run.session_id, error)
        return True

    async def start_next(self, session_id: str) -> None:
        """Give an idle session to the run that waits longest."""
        await self._start_next(await self._repository.find(session_id))

    async def _start_next(self, session: Session | None) -> None:
        """Starts from the session as read last, and reads it again only if it has changed."""
        while session is not None and session.active_run_id is None and session.status != "closed":
            waiting = await self._repository.open_runs(session.id)
            if not waiting or await self.start(session, waiting[0], waiting_sequence(waiting[0])):
                return
            session = await self._repository.find(session.id)

    async def close(self, run: Run, ending: Ending) -> Run | None:
        """Close the run. Returns None if it has ended already, or another attempt has begun."""
        return await self._repository.change_run(run, ending.of_run())

    async def keep(self, session: Session, ended: Run, answer: TurnAnswer) -> None:
        """Publish the end of a run and release its session. Repeat until it succeeds.

        The run holds its session until the event is published. So a run whose end was interrupted is found
        by the session that it holds, and its event is published at least once.
        """
        await self._repository.add_message(answer_message(ended, answer, session.turn))
        await self._completed.publish(
            Completed(ended.owner, ended.session_id, ended.message_id, ended.id, ended.status)
        )
        status: SessionStatus = "error" if ended.status == "failed" else "idle"
        released = await self._repository.release(session, ended.id, status, answer.summary)
        await self._start_next(released or await self._repository.find(session.id))
        if released is not None:
            await self._repository.share(released)

    async def release_session(self, session: Session, run_id: str) -> None:
        """Release the session if this run holds it, and start the next run."""
        released = await self._repository.release(session, run_id)
        await self._start_next(released or await self._repository.find(session.id))

    async def drop(self, session: Session, run: Run) -> None:
        """End a run that no worker has begun, as cancelled. There is no answer, so no event is published."""
        ending = Ending("cancelled", now_ms())
        ended = await self.close(run, ending)
        if ended is not None:
            turn = await self._repository.next_turn(session)
            await self._repository.place_question(run, question_sequence(turn))
            await self._repository.add_message(answer_message(ended, ending.answer, turn))
            await self.release_session(session, run.id)
            done = done_event(run, ending)
            await self._logs.say(run.id, run.attempt + 1, [wire(done)], ended=True)
            log_end(run, done)

    async def hand_over(self, run: Run) -> None:
        """Count an attempt that ended because its worker stopped."""
        await self._repository.change_run(run, {"handovers": run.handovers + 1})

    async def take_up(self, leased: LeasedRun) -> tuple[Session, Run] | None:
        """Returns the run to answer, at its new attempt, or an ended run whose end is to be completed.

        Returns None if there is nothing to do: the run or session is gone, or another worker has it.
        """
        ref = leased.ref
        session, run = await asyncio.gather(
            self._repository.find(ref.session_id), self._repository.find_run(ref.run_id)
        )
        if session is None or session.active_run_id != ref.run_id:
            await self._queue.ack(ref)
            return None
        if run is None:
            await self.release_session(session, ref.run_id)
            await self._queue.ack(ref)
            return None
        if run.status != "open" or (leased.first and run.attempt == 1):
            return session, run
        await self._repository.place_question(run, question_sequence(session.turn))
        again = await self._repository.change_run(run, {"attempt": run.attempt + 1})
        fenced = await self._repository.raise_fence(session)
        return None if again is None or fenced is None else (fenced, again)


def ref_of(run: Run) -> RunRef:
    return RunRef(run.session_id, run.id)
