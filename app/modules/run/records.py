"""Ports of the engine to stored sessions, runs, messages and rows. The session module implements them.

Implementations are structural. Every method raises `StorageUnavailable`.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol, TypedDict

from pydantic import JsonValue

from app.core.errors import NotFound
from app.core.storage.port import Condition
from app.modules.session.model import Message, Run, Session, SessionStatus
from graph.state import Column, Cut, Rows

MAX_WAITING = 10
"""Questions that may wait for one session."""

HEAD_ROWS = 100
"""Rows that a run emits and its state holds. The others are read by reference."""

Row = list[JsonValue]


class RowsGone(NotFound):
    """The rows of an answer are no longer stored."""

    sentence = "The rows of this answer are no longer stored. Ask the question again."


class StoredResult(TypedDict):
    """The statement and the shape of stored rows, and whether a limit cut them."""

    sql: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None


class SessionRecords(Protocol):
    """Sessions, their runs and their messages.

    Every change is conditional: of several processes, one makes it. The others get None or False.
    """

    async def get(self, owner: str, session_id: str) -> Session:
        """Raises `NotFound` if the owner has no such session."""

    async def find(self, session_id: str) -> Session | None:
        """A session of any owner."""

    async def change(
        self, session: Session, changes: Mapping[str, JsonValue], where: Sequence[Condition] = ()
    ) -> Session | None:
        """Returns the changed session. Returns None if it does not meet the conditions."""

    def held(self, before: int) -> AsyncGenerator[Session]:
        """Sessions of all owners that a run holds and that have not changed since then (epoch ms)."""

    async def claim(
        self, session: Session, run: Run, *, awaited: bool, question: Message | None = None
    ) -> Session | None:
        """Give an idle session to a run. Returns the claimed session, or None if it is not idle.

        `awaited`: other runs may wait for it. With its `question`, a run that is not stored yet is stored
        with the claim. After `StorageUnavailable` the session may be the run's, and neither be stored.
        """

    async def mark_awaited(self, session: Session) -> bool:
        """Note that a run waits for a session that another holds. False if that one has released it."""

    async def raise_fence(self, session: Session) -> Session | None:
        """Fence out the earlier attempt at the session's run. Returns None if another process has done so."""

    async def next_turn(self, session: Session) -> int:
        """Number of a turn for a run that never held the session. Returns 0 if the session is gone."""

    async def release(
        self, session: Session, run_id: str, status: SessionStatus = "idle", *, summary: str | None = None
    ) -> Session | None:
        """Take the session from the run that holds it. A closed session stays closed.

        Without a summary the session keeps its own. Returns None if the run does not hold the session, or if
        another attempt has begun since the session was read.
        """

    async def share(self, session: Session) -> None:
        """Put the session's latest messages into the cache of all processes, if there is one.

        `session` is as it was when its latest run ended.
        """

    async def add_run(self, run: Run, question: Message) -> None:
        """Store both. A crash between the two leaves a question without a run.

        Raises `DocumentExists` if there is another run of this id.
        """

    async def withdraw(self, run: Run) -> None:
        """Delete a run that no client knows yet, and its question."""

    async def change_run(
        self, run: Run, changes: Mapping[str, JsonValue], answer: Message | None = None
    ) -> Run | None:
        """Returns the changed run. Returns None if it has ended, is gone, or is at another attempt.

        The answer is stored with the change. After `StorageUnavailable` the run may be changed, and the
        answer not be stored.
        """

    async def amend_run(self, run: Run, changes: Mapping[str, JsonValue]) -> Run | None:
        """Change a run that this same attempt has ended. Returns None if it is gone or at another attempt."""

    async def get_run(self, session: Session, run_id: str) -> Run:
        """Raises `NotFound` if the session has no such run."""

    async def find_run(self, run_id: str) -> Run | None: ...

    async def add_following_run(self, run: Run) -> Run:
        """Store the run that goes on with a turn, unless it is stored. Returns the stored one."""

    async def await_approval(self, session: Session, run_id: str) -> Session | None:
        """Let a session wait for people. Its run, which has ended, keeps it. Returns None if it is not the
        run's.
        """

    async def hand_on(self, session: Session, waiting_id: str, run: Run) -> Session | None:
        """Give a session that waits to the run that goes on. Returns None if it does not wait any more."""

    def awaiting(self) -> AsyncGenerator[Session]:
        """Sessions of all owners that wait for people."""

    async def open_runs(self, session_id: str) -> list[Run]:
        """The run that holds the session and those that wait, oldest first. At most `MAX_WAITING` + 1."""

    def all_open_runs(self, before: int) -> AsyncGenerator[Run]:
        """Open runs of all owners that were asked before then (epoch ms)."""

    def ended_runs(self, after: int) -> AsyncGenerator[Run]:
        """Ended runs of all owners that were asked after then (epoch ms)."""

    async def cancelled_runs(self, run_ids: Sequence[str]) -> list[str]:
        """Of these runs, those whose cancellation is requested."""

    async def replace_message(self, message: Message, of_runs: Sequence[str]) -> None:
        """Replace a message that one of these runs has written."""

    async def add_missing_message(self, message: Message) -> Message:
        """Store a message unless one of its id is stored. Returns the stored one."""

    async def find_answer(self, session: Session, message_id: str) -> Message | None:
        """Returns None also for the id of a question."""

    async def move(self, message: Message, sequence: int) -> None:
        """Change a message's place in the history, unless it has got another one meanwhile."""

    async def place_question(self, run: Run, sequence: int) -> None:
        """Give the question of a run its place in the history."""

    async def place_waiting_question(self, run: Run, sequence: int, waiting_from: int) -> None:
        """Do so only if its present place is `waiting_from` or beyond."""


class WaitingCalls(Protocol):
    """Calls of tools that wait for people, by the answer and the step that they belong to."""

    async def is_decided(self, message_id: str, step: int) -> bool:
        """Returns True if no call of the step waits."""

    async def settle(self, message_id: str, step: int) -> None:
        """End what is open of a turn that has ended: what waits is withdrawn, and of an action that has begun
        it is not known how it ended. `step` is the turn's last one that is known.
        """

    async def expire_all(self, before: int) -> set[str]:
        """Expire the calls that had to be decided before then (epoch ms). Returns their sessions."""

    async def sessions_that_wait(self) -> set[str]:
        """Returns the sessions of all owners in which a call waits."""

    async def sessions_decided_since(self, at: int) -> set[str]:
        """Returns the sessions of all owners with calls that were decided since then (epoch ms) and not made,
        and perhaps others.
        """

    async def waiting_in(self, session_id: str) -> list[str]:
        """Returns the ids of the calls of a session that wait."""


class AgedRecords(Protocol):
    """Records that may be deleted by their age."""

    async def delete_old(self, before: int) -> int:
        """Delete records made before then (epoch ms) that no open run needs. Returns their number."""


class ResultRows(Protocol):
    """Rows of results, by the message that they answer."""

    async def keep(
        self,
        owner: str,
        session_id: str,
        message_id: str,
        *,
        rows: Sequence[Row],
        result: StoredResult | None = None,
    ) -> None:
        """Store all rows of a message, in place of those stored before."""

    async def kept(self, message_id: str, sql: str) -> Rows | None:
        """The head of the stored result of this statement. Returns None if there is none."""

    async def read(self, message_id: str, start: int, stop: int) -> list[Row]:
        """The rows from `start` up to, not including, `stop`. Raises `RowsGone`."""

    def all(self, message_id: str, row_count: int) -> AsyncGenerator[list[Row]]:
        """All rows, some chunks at a time. Raises `RowsGone`."""
