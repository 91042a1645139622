"""The states of a run in the store: it waits for its session, holds it, ends, and the next run gets the
session.

The store decides: every change here can be made by one process only, even if the queue has lost a run or
delivered it twice.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeGuard

from pydantic import JsonValue

from app.core.bus.port import BusUnavailable, EventLogs, JobQueue, LeasedJob, RunRef
from app.core.clock import now_ms
from app.modules.records.model import Message, Run, Session, SessionStatus, TakenStep
from app.modules.records.repository import SessionRepository
from app.modules.records.steps import InvestigationRecords
from app.modules.run.messages import (
    WAITING_FROM,
    Ending,
    answer_message,
    done_event,
    ending_of_answer,
    following_run,
    next_run_id,
    question_sequence,
    turn_of,
    waiting_event,
    waiting_sequence,
    wire,
    withdrawn_message,
)
from app.modules.run.observer import log_end
from app.modules.webhooks.events import WebhookEvents
from graph.answer import TurnAnswer

logger = logging.getLogger(__name__)


class RunLifecycle:
    """State changes of runs, for submission and workers."""

    def __init__(
        self,
        repository: SessionRepository,
        queue: JobQueue,
        logs: EventLogs,
        *,
        calls: InvestigationRecords,
        events: WebhookEvents,
    ) -> None:
        self._repository = repository
        self._queue = queue
        self._logs = logs
        self._calls = calls
        self._events = events

    async def start(self, session: Session, run: Run, sequence: int, *, awaited: bool = False) -> bool:
        """Give an idle session to a run and put the run into the queue. Returns False if the session is not
        idle.

        `sequence` is that of the run's question; `awaited`: other runs may wait, too. If the queue is
        unavailable, the next sweep puts the run in: it already holds its session.
        """
        held = await self._repository.claim(session, run, awaited=awaited)
        if held is None:
            return False
        if sequence != question_sequence(held.turn):
            # One that is cancelled now may have its place already.
            await self._repository.place_question(
                run, question_sequence(held.turn), waiting_from=WAITING_FROM
            )
        await self._put(run)
        return True

    async def start_new(
        self, session: Session, run: Run, question: Message, *, place: Callable[[], int]
    ) -> bool:
        """Store a run and its question, give it the idle session and put it into the queue: all is stored at
        once. Returns False, with nothing stored, if the session is not idle.

        Once it is stored, its first event tells that it waits, and its `place`. No worker has it before.

        If the process dies before anything is stored, the session may be held by a run that does not exist.
        The next who asks, or the next start, releases it.
        """
        if await self._repository.claim(session, run, awaited=False, question=question) is None:
            return False
        await self._logs.say(run.id, 0, [wire(waiting_event(run, place()))], ended=False)
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
            if first is not None and first.status == "open":
                others = len(waiting) > 1
                if await self.start(session, first, waiting_sequence(first), awaited=others):
                    return
            session = await self._repository.find(session.id)

    async def line_up(self, session_id: str) -> None:
        """Have the session start the runs that wait for it: now if it is idle, else when it is released.

        A run that begins to wait is stored before this. So either the mark comes before the release, whose
        process then looks for runs that wait, or this process does. If it dies before either, the next sweep
        does.
        """
        session = await self._repository.find(session_id)
        while session is not None and session.status != "closed":
            if session.active_run_id is not None and await self._repository.mark_awaited(session):
                return
            await self.start_next(session_id)
            session = await self._repository.find(session_id)
            if session is not None and session.active_run_id is None:
                return

    async def close(
        self, session: Session, run: Run, ending: Ending, *, timeline: Sequence[TakenStep] = ()
    ) -> Run | None:
        """Close the run and store its answer, at once. Returns None if it has ended already, or another
        attempt has begun.

        If the process dies before the answer is stored, the run still holds its session, by which it is found
        and kept.
        """
        turn = run.turn or session.turn
        answer = answer_message(ending.applied_to(run), ending.answer, turn, timeline=timeline)
        # The message of a turn that went on in another run is there already, and is replaced by `keep`.
        changes = await self._changes(run, ending)
        return await self._repository.change_run(run, changes, None if run.resumes else answer)

    async def amend(self, run: Run, ending: Ending) -> Run | None:
        """Give a run another end than the one that this same attempt has given it. Returns None if it is
        gone, or at another attempt.
        """
        return await self._repository.amend_run(run, await self._changes(run, ending))

    async def _changes(self, run: Run, ending: Ending) -> dict[str, JsonValue]:
        """Returns the fields that the end changes. One marks it for webhooks: no crash comes between."""
        return {**ending.of_run(), "webhook_due_at": await self._events.due_at(run.owner)}

    async def keep(
        self,
        session: Session,
        ended: Run,
        answer: TurnAnswer,
        *,
        timeline: Sequence[TakenStep] = (),
        is_stored: bool = False,
    ) -> bool:
        """Store the answer, publish `message-completed` and release the session. Repeat until it succeeds.
        `is_stored`: the answer was stored as the run was closed.

        Returns True if this call released the session; of several calls, exactly one does.

        The session stays the run's until the event is out, so a run whose end was interrupted is found
        by the session it holds, and its message is published at least once.
        """
        turn = ended.turn or session.turn
        if ended.question_turn != turn:  # who started it may have died before this
            await self._repository.place_question(ended, question_sequence(turn))
        if not is_stored:
            await self._add_answer(answer_message(ended, answer, turn, timeline=timeline), ended)
        if ended.status == "awaiting_approval":
            return await self._keep_waiting(session, ended)
        if ended.status != "complete" and answer.route == "investigate":
            await self._calls.settle(ended.message_id, answer.steps)
        await self._publish_completed(ended)
        status: SessionStatus = "error" if ended.status == "failed" else "idle"
        released = await self._repository.release(session, ended.id, status, summary=answer.summary)
        if released is None:
            await self.start_next(session.id)
        elif released.awaited:
            await self._start_next(released)
        if released is not None:
            await self._repository.share(released)
        return released is not None

    async def _publish_completed(self, ended: Run) -> None:
        """A session that is not kept gets no title and no memory."""
        if ended.expires_at is None:
            await self._queue.publish_completed(ref_of(ended))

    async def _add_answer(self, message: Message, run: Run) -> None:
        """Keep the answer; one that is there already stays as it is, unless it belongs to another end.

        The answer of a run that went on with the turn stays, too.
        """
        kept = await self._repository.add_missing_message(message)
        if _end_of(kept) != _end_of(message):
            own = [run.id] if run.resumes is None else [run.id, run.resumes]
            if kept.run_id == run.resumes:  # the steps before the calls were decided
                message = message.model_copy(update={"timeline": [*kept.timeline, *message.timeline]})
            await self._repository.replace_message(message, own)

    # Waiting for people

    async def _keep_waiting(self, session: Session, ended: Run) -> bool:
        """Let the session wait. Returns True if this call has changed it.

        Who decided in the meantime may have found the run still open: then the next run begins here. Who
        cancelled it may have come when it had nothing left to stop: then its calls are withdrawn here.
        """
        waits = await self._repository.await_approval(session, ended.id)
        now = waits or await self._repository.find(session.id)
        if now is not None:
            following = await self._repository.find_run(next_run_id(ended.id))
            if following is not None and following.is_withdrawn:
                await self._end_withdrawn(now, ended, following)
            elif now.active_run_id == ended.id and (now.status == "closed" or ended.cancel_requested):
                await self.withdraw(now, ended)
            else:
                await self.go_on(now)
        return waits is not None

    async def go_on(self, session: Session) -> Run | None:
        """Go on with a turn whose calls are all decided. Returns its next run.

        Returns None if a call still waits, or the session does not wait. Any process may call it at any time:
        what one has begun, another one completes.
        """
        waiting = await self._waiting_run(session)
        if waiting is None:
            return None
        following = await self._repository.find_run(next_run_id(waiting.id))
        if following is None:
            message = await self._repository.find_answer(session, waiting.message_id)
            if not _is_of(message, waiting) or not await self._calls.is_decided(message.id, message.steps):
                return None
            following = await self._repository.add_following_run(following_run(waiting))
        await self._hand_on(session, waiting, following)
        return None if following.is_withdrawn else following

    async def withdraw(self, session: Session, waiting: Run) -> Run | None:
        """End a turn that waits: its calls are never made. Returns the run that goes on with it instead, if
        the last decision came before.
        """
        message = await self._repository.find_answer(session, waiting.message_id)
        if message is not None:
            await self._calls.settle(message.id, message.steps)
        now = now_ms()
        end = replace(
            following_run(waiting),
            status="cancelled",
            ended_at=now,
            is_withdrawn=True,
            webhook_due_at=await self._events.due_at(waiting.owner),
        )
        following = await self._repository.add_following_run(end)
        # The run that has asked may still be ending: then there is no answer, or that of the run before it.
        # Who stores its own one finds the run that follows.
        if not _is_of(message, waiting, following):
            message = await self._repository.find_answer(session, waiting.message_id)
        if _is_of(message, waiting, following):
            await self._hand_on(session, waiting, following)
        return None if following.is_withdrawn else following

    async def find_waiting_calls(self, session: Session) -> list[str]:
        """Returns the ids of the calls that wait in a session."""
        return await self._calls.waiting_in(session.id)

    async def expire(self) -> None:
        """Expire the calls whose time is over, and go on with their turns."""
        for session_id in await self._calls.expire_all(now_ms()):
            session = await self._repository.find(session_id)
            if session is not None:
                await self.go_on(session)

    async def sweep_waiting(self, before: int, since: int | None) -> None:
        """Go on with turns that have not changed since `before` (epoch ms) although all their calls are
        decided: the process that decided has died, or the queue was unavailable.

        Reads only what was decided after `since`; with None, everything that waits.
        """
        await self.expire()
        if since is None:
            waiting = await self._calls.sessions_that_wait()
            due = [each.id async for each in self._repository.awaiting() if each.id not in waiting]
        else:
            due = sorted(await self._calls.sessions_decided_since(since))
        for session_id in due:
            session = await self._repository.find(session_id)
            if session is not None and session.updated_at < before:
                await self.go_on(session)

    async def _waiting_run(self, session: Session) -> Run | None:
        """Returns the ended run that keeps a session while people decide, or None."""
        if session.status not in ("awaiting_approval", "closed") or session.active_run_id is None:
            return None
        run = await self._repository.find_run(session.active_run_id)
        return run if run is not None and run.status == "awaiting_approval" else None

    async def _hand_on(self, session: Session, waiting: Run, following: Run) -> None:
        if following.is_withdrawn:
            await self._end_withdrawn(session, waiting, following)
        elif await self._repository.hand_on(session, waiting.id, following) is not None:
            await self._put(following)

    async def _end_withdrawn(self, session: Session, waiting: Run, ended: Run) -> None:
        message = await self._repository.find_answer(session, waiting.message_id)
        if message is not None and not _is_of(message, waiting, ended):
            return  # as in `withdraw`
        if message is not None:
            await self._calls.settle(message.id, message.steps)
            withdrawn = withdrawn_message(message, ended)
            await self._repository.replace_message(withdrawn, [waiting.id, ended.id])
        await self._publish_completed(ended)
        released = await self._repository.release(session, waiting.id)
        if released is None or released.awaited:
            await self.start_next(session.id)
        if released is not None:
            await self._repository.share(released)
        answer = TurnAnswer(steps=message.steps, tool_calls=message.tool_calls) if message else TurnAnswer()
        done = done_event(ended, Ending("cancelled", ended.ended_at or ended.created_at, None, answer))
        await self._logs.say(ended.id, ended.attempt, [wire(done)], ended=True)
        log_end(ended, done)

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
        await self._repository.place_question(run, question_sequence(turn), waiting_from=WAITING_FROM)
        ended = await self._repository.change_run(run, {**await self._changes(run, ending), "turn": turn})
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

        Both are read at once, so the fence of the session may be that of a later attempt than the run's. An
        attempt that no write has counted asks `is_current` before it writes by that fence.
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

    async def is_current(self, run: Run) -> bool:
        """Returns False if a later attempt at the run has been taken up."""
        known = await self._repository.find_run(run.id)
        return known is not None and known.attempt == run.attempt

    async def take_up(self, leased: LeasedJob, session: Session, run: Run) -> tuple[Session, Run] | None:
        """The run at its new attempt; as it is, if only its ending is to be finished.

        None when another process has taken it up meanwhile. An open run that has an answer has ended: an
        early write of it has come late, and its end is stored again.

        In the store the attempt is counted as handed over until `begin`, so one that never begins, because
        the store fails, does not count against the run.
        """
        if run.status != "open" or (leased.first and run.attempt == 1):
            return session, run
        answer = await self._repository.find_answer(session, run.message_id)
        if answer is not None and answer.run_id == run.id:
            # The session may have been given to it once more, with another turn.
            end = await self._changes(run, ending_of_answer(answer, run))
            ended = await self._repository.change_run(run, {**end, "turn": turn_of(answer)})
            return None if ended is None else (session, ended)
        await self._repository.place_question(run, question_sequence(session.turn))
        changes: dict[str, JsonValue] = {"attempt": run.attempt + 1, "handovers": run.handovers + 1}
        again = await self._repository.change_run(run, changes)
        if again is None:  # the attempt that has ended it releases the session by the fence as it is
            return None
        fenced = await self._repository.raise_fence(session)
        if fenced is None:
            return None
        return fenced, replace(again, handovers=run.handovers)

    async def begin(self, run: Run) -> None:
        """Count the attempt that has been taken up; from now on its unclean end counts. May be repeated."""
        await self._repository.change_run(run, {"handovers": run.handovers})


def _is_of(message: Message | None, *runs: Run) -> TypeGuard[Message]:
    """Returns True if one of these runs has stored the answer, and not another one of the same turn."""
    return message is not None and message.run_id in {run.id for run in runs}


def _end_of(message: Message) -> tuple[str, str, int, int]:
    return message.run_id, message.status, message.tokens_used, message.sequence


def ref_of(run: Run) -> RunRef:
    return RunRef(run.owner, run.session_id, run.id)
