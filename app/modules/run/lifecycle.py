"""The states of a run in the store: it waits for its session, holds it, ends, and the next run gets the
session.

The store decides: every change here can be made by one process only, even if the queue has lost a run or
delivered it twice.
"""

import asyncio
import logging
from dataclasses import replace

from pydantic import JsonValue

from app.core.bus.port import BusUnavailable, EventLogs, JobQueue, LeasedJob, RunRef
from app.core.clock import now_ms
from app.modules.run.messages import (
    WAITING_FROM,
    Ending,
    answer_message,
    done_event,
    question_sequence,
    turn_of,
    waiting_sequence,
    wire,
)
from app.modules.run.observer import log_end
from app.modules.run.records import SessionRecords
from app.modules.session.model import Message, Run, Session, SessionStatus
from graph.answer import TurnAnswer

logger = logging.getLogger(__name__)


class RunLifecycle:
    """State changes of runs, for submission and workers."""

    def __init__(self, repository: SessionRecords, queue: JobQueue, logs: EventLogs) -> None:
        self._repository = repository
        self._queue = queue
        self._logs = logs

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
        await self._put(run)
        return True

    async def put(self, run: Run, held: Session) -> None:
        """Have the run that holds this session answered, if it is not under way already."""
        await self._repository.place_question(run, question_sequence(held.turn))
        await self._put(run)

    async def _put(self, run: Run) -> None:
        try:
            await self._queue.put(ref_of(run), first=run.attempt == 1)
        except BusUnavailable as error:
            logger.warning("run %s of session %s waits for a sweep: %s", run.id, run.session_id, error)

    async def start_next(self, session_id: str) -> None:
        """Give an idle session to the run that waits longest."""
        await self._start_next(await self._repository.find(session_id))

    async def _start_next(self, session: Session | None) -> None:
        """Starts from the session as read last, and reads it again only if it has changed."""
        while session is not None and session.active_run_id is None and session.status != "closed":
            waiting = await self._repository.open_runs(session.id)
            if not waiting:
                return
            # A list may lag behind, a document does not.
            first = await self._repository.find_run(waiting[0].id)
            is_open = first is not None and first.status == "open"
            if first is not None and is_open and await self.start(session, first, waiting_sequence(first)):
                return
            session = await self._repository.find(session.id)

    async def close(self, run: Run, ending: Ending) -> Run | None:
        """Close the run. Returns None if it has ended already, or another attempt has begun."""
        return await self._repository.change_run(run, ending.of_run())

    async def keep(self, session: Session, ended: Run, answer: TurnAnswer) -> bool:
        """Store the answer, publish `message-completed` and release the session. Repeat until it succeeds.

        Returns True if this call released the session; of several calls, exactly one does.

        The session stays the run's until the event is out, so a run whose end was interrupted is found
        by the session it holds, and its message is published at least once.
        """
        turn = ended.turn or session.turn
        await self._repository.place_question(ended, question_sequence(turn))  # who started it may have died
        await self._add_answer(answer_message(ended, answer, turn))
        await self._queue.publish_completed(ref_of(ended))
        status: SessionStatus = "error" if ended.status == "failed" else "idle"
        released = await self._repository.release(session, ended.id, status, summary=answer.summary)
        await self._start_next(released or await self._repository.find(session.id))
        if released is not None:
            await self._repository.share(released)
        return released is not None

    async def _add_answer(self, message: Message) -> None:
        """Keep the answer; one that is there already stays as it is, unless it belongs to another end."""
        kept = await self._repository.add_missing_message(message)
        if _end_of(kept) != _end_of(message):
            await self._repository.add_message(message)

    async def release_session(self, session: Session, run_id: str) -> None:
        """Release the session if this run holds it, and start the next run."""
        released = await self._repository.release(session, run_id)
        await self._start_next(released or await self._repository.find(session.id))

    async def drop(self, session: Session, run: Run) -> None:
        """End a run that waits for its session, as cancelled; with nothing answered, there is no event.

        Its message is stored first, so that a run that is over always has one. A run that has been given its
        session meanwhile is stopped instead.
        """
        ending = Ending("cancelled", now_ms())
        turn = await self._repository.next_turn(session)
        cancelled = replace(run, status="cancelled", ended_at=ending.at)
        kept = await self._repository.add_missing_message(answer_message(cancelled, ending.answer, turn))
        turn = turn_of(kept)  # as of the first cancellation
        await self._repository.place_waiting_question(run, question_sequence(turn), WAITING_FROM)
        ended = await self._repository.change_run(run, {**ending.of_run(), "turn": turn})
        if ended is None:
            return
        if await self._is_given(session, run):
            await self._queue.cancel(run.id)
            return
        await self._repository.place_question(run, question_sequence(turn))
        done = done_event(run, ending)
        await self._logs.say(run.id, run.attempt + 1, [wire(done)], ended=True)
        log_end(run, done)

    async def _is_given(self, session: Session, run: Run) -> bool:
        """Returns True if the session was given to this run, which has just ended. If not, it never will be.

        A process that saw the run open may be about to claim the idle session for it: a raised fence makes
        that claim fail.
        """
        now = await self._repository.find(session.id)
        while now is not None and now.active_run_id is None:
            if await self._repository.raise_fence(now) is not None:
                return False
            now = await self._repository.find(session.id)
        return now is not None and now.active_run_id == run.id

    async def hand_over(self, run: Run) -> None:
        """Count an attempt that ended because its worker stopped."""
        await self._repository.change_run(run, {"handovers": run.handovers + 1})

    async def look_up(self, ref: RunRef) -> tuple[Session, Run] | None:
        """The run with the session that it holds. None when there is nothing to do: its run or session is
        gone, or the session is another run's.
        """
        session, run = await asyncio.gather(
            self._repository.find(ref.session_id), self._repository.find_run(ref.run_id)
        )
        if session is None or session.active_run_id != ref.run_id:
            return None
        if run is None:
            await self.release_session(session, ref.run_id)
            return None
        return session, run

    async def take_up(self, leased: LeasedJob, session: Session, run: Run) -> tuple[Session, Run] | None:
        """The run at its new attempt; as it is, if only its ending is to be finished.

        None when another process has taken it up meanwhile. In the store the attempt is counted as handed
        over until `begin`, so one that never begins, because the store fails, does not count against the run.
        """
        if run.status != "open" or (leased.first and run.attempt == 1):
            return session, run
        await self._repository.place_question(run, question_sequence(session.turn))
        changes: dict[str, JsonValue] = {"attempt": run.attempt + 1, "handovers": run.handovers + 1}
        again = await self._repository.change_run(run, changes)
        fenced = await self._repository.raise_fence(session)
        if again is None or fenced is None:
            return None
        return fenced, replace(again, handovers=run.handovers)

    async def begin(self, run: Run) -> None:
        """Count the attempt that has been taken up; from now on its unclean end counts. May be repeated."""
        await self._repository.change_run(run, {"handovers": run.handovers})


def _end_of(message: Message) -> tuple[str, int, int]:
    return message.status, message.tokens_used, message.sequence


def ref_of(run: Run) -> RunRef:
    return RunRef(run.owner, run.session_id, run.id)
