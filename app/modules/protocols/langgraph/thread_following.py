"""Streams of a thread: the frames of its runs, one run after the other, open between them."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from app.core.clock import now_ms
from app.core.errors import NotFound
from app.modules.protocols.frame_stream import START, Fold, Frame, FrameStream, StreamState, encoded, folded
from app.modules.protocols.langgraph.conversations import Conversations
from app.modules.protocols.langgraph.fold import RunFold, ThreadRun
from app.modules.protocols.langgraph.thread_events import Place
from app.modules.records.model import Run, Session
from app.modules.run.sse import EventStream, pieces
from app.modules.session.service import SessionService

_PAGE = 100
_COMING_BACK_SECONDS = 60
"""Time after its end in which a run is sent to a client that names no place: one that lost its stream, or
that asked and was answered before it listened.
"""


class ThreadRunFold(Fold, Protocol):
    """A fold of one run of a thread."""

    @property
    def run_fold(self) -> RunFold:
        """The fold that makes the values."""


@dataclass(frozen=True)
class NumberedRun:
    """A run and its number among the runs of its thread, from 0 in the order in which they were asked."""

    number: int
    run: Run


class ThreadFollower:
    """Follows the runs of threads."""

    def __init__(self, sessions: SessionService, conversations: Conversations) -> None:
        self._sessions = sessions
        self._conversations = conversations

    async def first_open(self, session: Session, run: Run) -> int:
        """Returns the number of the oldest run that may still have events: this one, or one before it."""
        listed = await self._listed(session, None)
        numbers = [each.number for each in listed if each.run.status == "open" or each.run.id == run.id]
        return min(numbers, default=len(listed))

    async def stream(
        self,
        session: Session,
        after: Place | None,
        fold_of: Callable[[ThreadRun, Run], ThreadRunFold],
        *,
        frame_of: Callable[[str, Place, Frame], tuple[str, Frame]],
        is_complete: bool,
        takes_ended: bool = False,
    ) -> EventStream:
        """The frames of a thread's runs behind a place. Without one, from the run that is open or waits for
        a person, or from the next; with `takes_ended`, from a latest run that has just ended, too.

        `frame_of` returns the id of a frame, and the frame as it is sent. If the stream is complete, its
        frames hold the messages of earlier turns.
        """
        # Before the head is sent: a run that starts afterwards is sent, however fast it ends.
        listed = await self._listed(session, after.run if after else None)
        begun = listed if after else _current(session, listed, takes_ended=takes_ended)
        reading = StreamState()

        async def runs() -> AsyncGenerator[NumberedRun]:
            for each in begun:
                yield each
            number, latest = (listed[-1].number, listed[-1].run) if listed else (-1, None)
            async with aclosing(self._sessions.follow_runs(session, latest)) as started:
                async for run in started:
                    number += 1
                    yield NumberedRun(number, run)

        async def frames() -> AsyncGenerator[bytes]:
            async with aclosing(runs()) as found:
                async for each in found:
                    if after is not None and each.number < after.run:
                        continue
                    position = after.position if after and each.number == after.run else START
                    try:
                        started = await self._conversations.run(session.owner, session.id, each.run.id)
                    except NotFound:  # deleted meanwhile
                        return
                    turn, is_waiting = await self._conversations.turn(started, is_complete=is_complete)
                    fold = fold_of(turn, each.run)
                    following = self._conversations.following(started, fold.run_fold, is_waiting=is_waiting)
                    async with following as log:
                        reading.leaving.wake(log)
                        batches = folded(log, fold, after=position, stop=reading.leaving.is_set)
                        async with aclosing(batches):
                            async for batch in batches:
                                await self._conversations.note_shown(fold.run_fold)
                                sent = (
                                    frame_of(each.run.id, Place(each.number, place), frame)
                                    for place, frame in batch
                                )
                                for piece in pieces(encoded(name, frame) for name, frame in sent):
                                    yield piece
                    if reading.leaving.is_set():
                        return

        return FrameStream(frames(), reading, headers={"Cache-Control": "no-cache, no-store"})

    async def _listed(self, session: Session, first: int | None) -> Sequence[NumberedRun]:
        """Returns the runs from a number on, at least the latest; without one, a page of the latest."""
        while True:
            total = await self._sessions.count_runs(session)
            wanted = _PAGE if first is None else max(1, total - first)
            runs = sorted(await self._sessions.runs(session, wanted), key=lambda run: run.place)
            if await self._sessions.count_runs(session) == total:
                break
        return [NumberedRun(total - len(runs) + place, run) for place, run in enumerate(runs)]


def _current(session: Session, listed: Sequence[NumberedRun], *, takes_ended: bool) -> Sequence[NumberedRun]:
    """Returns the runs from the oldest on that may still have events, or perhaps the latest."""
    for place, each in enumerate(listed):
        if each.run.status == "open":
            return listed[place:]
    latest = listed[-1:]
    is_sent = session.status == "awaiting_approval" or (takes_ended and any(map(_has_just_ended, latest)))
    return latest if is_sent else ()


def _has_just_ended(numbered: NumberedRun) -> bool:
    ended_at = numbered.run.ended_at
    return ended_at is not None and now_ms() - ended_at < _COMING_BACK_SECONDS * 1_000
