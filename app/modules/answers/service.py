"""Answers to wait for, and runs and messages to read."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.core.bus.port import EventLogs
from app.core.errors import Problem
from app.core.ids import id_within_owner
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import AnyOf
from app.modules.answers.errors import RunFailed
from app.modules.database_connection.lookup import find_connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.errors import RowsGone, SessionUnknown
from app.modules.records.model import Message, Row, Run, Session
from app.modules.records.steps import CallRecord
from app.modules.run.errors import KeyReused, NotKeptYet
from app.modules.session.confirmations import Confirmations
from app.modules.session.errors import SessionExists
from app.modules.session.service import SessionService

RunState = Literal["queued", "running", "complete", "failed", "cancelled", "awaiting_approval"]
"""`queued`: the run waits for its session or for a worker."""

_OPEN: tuple[RunState, ...] = ("queued", "running")
_LOOK_SECONDS = 1.0
"""Time after which a waiting request looks whether the server stops."""
_MOST_CONFIRMATIONS = 100


@dataclass(frozen=True)
class FollowedRun:
    """A run and its state."""

    run: Run
    state: RunState

    @property
    def is_open(self) -> bool:
        return self.state in _OPEN


@dataclass(frozen=True)
class FoundAnswer:
    """A stored answer, the first of its rows, and the calls that wait in its turn."""

    message: Message
    rows: Sequence[Row]
    confirmations: Sequence[CallRecord]


class RunAnswers:
    """Every method names the owner, or a session that was read for the owner."""

    def __init__(
        self,
        sessions: SessionService,
        confirmations: Confirmations,
        connections: DatabaseConnections,
        *,
        logs: EventLogs,
        is_stopping: Callable[[], bool],
    ) -> None:
        self.sessions = sessions
        self._confirmations = confirmations
        self._connections = connections
        self._logs = logs
        self._is_stopping = is_stopping

    async def begin(
        self, owner: str, database: str | None, *, is_kept: bool, idempotency_key: str | None
    ) -> Session:
        """Returns the session of a question that names none. `database` is an id or a name; None is the only
        one. The same idempotency key gives the same session.

        Raises `DatabaseUnknown`, `DatabaseUnclear`, `TooManySessions`, or `KeyReused` if the first request
        with the key was about another database.
        """
        connection = await find_connection(self._connections, owner, database)
        session_id = None if idempotency_key is None else _session_id(owner, idempotency_key)
        try:
            return await self.sessions.create(
                owner, connection.id, None, mode=None, metadata={}, session_id=session_id, is_kept=is_kept
            )
        except SessionExists as taken:
            try:
                session = await self.sessions.get(owner, session_id or "")
            except SessionUnknown:
                raise taken from None
            if session.db_connection_id != connection.id:
                raise KeyReused from None
            return session

    async def withdraw(self, session: Session, refusal: Problem) -> None:
        """Delete a session whose only question was refused, unless the question may be stored yet."""
        if not isinstance(refusal, NotKeptYet):
            await self.sessions.discard(session)

    async def wait(self, run: Run, seconds: float) -> Run:
        """Returns the run, or the one that went on with its turn, once it has ended, or as it is after so
        long. Waits no longer when the server stops.
        """
        run = await self.sessions.submissions.latest_of_turn(run)
        if run.status != "open" or seconds == 0:
            return run
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        async with self.sessions.follower.follow(run) as log:
            while not log.ended and not self._is_stopping() and (left := until - loop.time()) > 0:
                await log.wait_for_end(min(left, _LOOK_SECONDS))
        return await self.sessions.find_run(run.id) or run

    async def find(self, run: Run, most_rows: int) -> FoundAnswer | None:
        """Returns the answer of a run. Returns None while it is not stored. Raises `RunFailed`."""
        if run.status == "open":
            return None
        session = await self.sessions.get(run.owner, run.session_id)
        message = await self.sessions.find_answer(session, run.message_id)
        if message is None or message.run_id != run.id:
            return None
        if message.status == "failed" and message.error is not None:
            raise RunFailed(run, message.error)
        waiting: Sequence[CallRecord] = ()
        if message.status == "awaiting_approval":
            waiting, _ = await self._confirmations.page(
                run.owner, session.id, "waiting", limit=_MOST_CONFIRMATIONS, cursor=None
            )
        (message,) = await self.sessions.charts.completed([message])
        return FoundAnswer(message, await self._rows(message, most_rows), waiting)

    async def _rows(self, message: Message, most: int) -> Sequence[Row]:
        stop = min(most, message.row_count or 0)
        if stop == 0:
            return []
        try:
            return await self.sessions.rows.read(message.id, 0, stop)
        except RowsGone:
            return message.rows_head[:stop]

    async def page(
        self, owner: str, session_id: str | None, wanted: ListRequest, *, state: RunState | None
    ) -> Listed[FollowedRun]:
        """Returns a page of runs: of a session, or without one of all that are kept. A page of queued or
        running runs may have fewer than there are: `limit` bounds those that are looked at, and the total
        counts both.
        """
        if state is not None:
            of_state = AnyOf("status", ["open" if state in _OPEN else state])
            wanted = replace(wanted, where=[*wanted.where, of_state])
        if session_id is None:
            runs = await self.sessions.page_of_runs(owner, wanted)
        else:
            session = await self.sessions.get(owner, session_id)
            runs = await self.sessions.page_of_session_runs(session, wanted)
        found = await self.states(runs.items)
        return Listed([each for each in found if state in (None, each.state)], runs.next_cursor, runs.total)

    async def states(self, runs: Sequence[Run]) -> list[FollowedRun]:
        """Returns runs with their states."""
        is_open = [run.id for run in runs if run.status == "open"]
        begun = await self._logs.latest_attempts(is_open) if is_open else {}
        return [FollowedRun(run, _state(run, begun.get(run.id, 0))) for run in runs]


def _state(run: Run, latest_attempt: int) -> RunState:
    if run.status == "open":
        return "running" if latest_attempt else "queued"
    return run.status


def _session_id(owner: str, idempotency_key: str) -> str:
    """Returns the id of the session that a question with this key makes. That of another owner differs."""
    return id_within_owner(owner, f"ask {idempotency_key}")
