"""Operations on sessions. Requests are checked before anything streams."""

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from pydantic import JsonValue

from app.core.bus.event_log import Entry, EventLog
from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.storage.port import Condition, Equals, InvalidCursor, is_uuid
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.run.errors import SessionClosed
from app.modules.run.follower import RunFollower
from app.modules.run.records import Row
from app.modules.run.submission import OnBusy, Submissions, run_id_of
from app.modules.session.errors import (
    CheckpointUnknown,
    ConnectionGone,
    MessageUnknown,
    StatusHeld,
)
from app.modules.session.model import Feedback, Message, Mode, Rating, Run, Session, TitledBy
from app.modules.session.repository import SessionRepository, later
from app.modules.session.rows import RowStore
from app.modules.usage.service import Allowances
from graph import Checkpoint, SessionGraph
from graph.state import SessionState


@dataclass(frozen=True)
class SessionFilter:
    """Filter of a list of sessions. `text` is searched in titles and questions."""

    db_connection_id: str | None = None
    status: str | None = None
    text: str | None = None

    def conditions(self) -> list[Condition]:
        wanted = {"db_connection_id": self.db_connection_id, "status": self.status}
        return [Equals(field, value) for field, value in wanted.items() if value is not None]


class SessionService:
    """Every method names the owner. It raises `SessionUnknown` for a session of another owner."""

    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        submissions: Submissions,
        following: RunFollower,
        graph: SessionGraph,
        connections: DatabaseConnections,
        context: ContextStore,
        memories: ConversationMemories,
        allowances: Allowances,
    ) -> None:
        self._repository = repository
        self._rows = rows
        self._submissions = submissions
        self._following = following
        self._graph = graph
        self._connections = connections
        self._context = context
        self._memories = memories
        self._allowances = allowances

    async def create(
        self,
        owner: str,
        db_connection_id: str,
        title: str | None,
        mode: Mode,
        metadata: dict[str, JsonValue],
    ) -> Session:
        """Raises `NotFound` for an unknown connection, or `TooManySessions`."""
        connection = await self._connections.get(owner, db_connection_id)
        now = now_ms()
        session = Session(
            id=new_id(),
            owner=owner,
            db_connection_id=connection.id,
            title=title,
            mode=mode,
            metadata=metadata,
            created_at=now,
            updated_at=now,
            titled_by=_titled_by(title),
        )
        async with self._allowances.new_session(owner):
            await self._repository.add(session)
        return session

    async def get(self, owner: str, session_id: str) -> Session:
        return await self._repository.get(owner, session_id)

    async def latest(
        self, owner: str, wanted: SessionFilter, limit: int, cursor: str | None
    ) -> tuple[list[Session], str | None]:
        conditions = wanted.conditions()
        if wanted.text is not None:
            return await self._repository.search(owner, wanted.text, conditions, limit, cursor)
        return await self._repository.latest(owner, conditions, limit, cursor)

    async def messages(
        self, session: Session, limit: int, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        return await self._repository.messages(session, limit, cursor)

    async def change(self, owner: str, session_id: str, changes: Mapping[str, JsonValue]) -> Session:
        """Change a session for its owner. Raises `StatusHeld` if a run prevents a change of status."""
        session = await self._repository.get(owner, session_id)
        if "title" in changes:
            changes = {**changes, "titled_by": _titled_by(changes["title"])}
        if "status" in changes:
            await self._submissions.without_ghost(session)
        where = [Equals("active_run_id", None)] if "status" in changes else []
        while True:
            moved = {**changes, "updated_at": later(session)}
            changed = await self._repository.change(session, moved, where)
            if changed is not None:
                return changed
            session = await self._repository.get(owner, session_id)
            if session.active_run_id is not None:
                raise StatusHeld(session.id, session.active_run_id)

    async def delete(self, owner: str, session_id: str) -> None:
        """Stop the session's runs, then delete the session with its messages, rows, runs,
        checkpoints and memory.
        """
        session = await self._repository.get(owner, session_id)
        async with self._submissions.stopped(session):
            await self._graph.forget(session.id)
            await self._memories.forget_conversation(session.id)
            await self._repository.delete(session)
        await self._memories.forget_conversation(session.id)  # one may have been written meanwhile

    async def ask(
        self,
        owner: str,
        session_id: str,
        question: str,
        on_busy: OnBusy,
        idempotency_key: str | None,
        sql: str | None = None,
    ) -> tuple[Session, Run]:
        """Start or queue a run. Every refusal is raised here, before anything streams."""
        session = await self._repository.get(owner, session_id)
        if session.status == "closed":
            raise SessionClosed
        try:
            await self._connections.get(owner, session.db_connection_id)
        except NotFound as error:
            raise ConnectionGone from error
        return session, await self._submissions.submit(session, question, on_busy, idempotency_key, sql)

    async def run_of(self, owner: str, session_id: str, name: str) -> tuple[Session, Run]:
        """Returns a run by its idempotency key or by its id. Raises `RunUnknown`."""
        session = await self._repository.get(owner, session_id)
        by_key = await self._repository.find_run(run_id_of(session.id, name))
        return session, by_key or await self._repository.get_run(session, name)

    async def names_of_runs(self, session: Session, run_ids: Collection[str]) -> dict[str, str]:
        """Returns the idempotency key of each run, by run id; the run id itself if it has no key."""
        return await self._repository.names_of_runs(session, run_ids)

    async def run(self, owner: str, session_id: str, run_id: str) -> tuple[Session, Run]:
        """Returns a run of a session. Raises `RunUnknown`."""
        session = await self._repository.get(owner, session_id)
        return session, await self._repository.get_run(session, run_id)

    def follow(self, session: Session, run: Run) -> AbstractAsyncContextManager[EventLog]:
        """Follow the events of a run. If its log has expired, the stored answer is emitted instead."""
        return self._following.follow(session, run)

    async def events(self, session: Session, run: Run) -> AsyncGenerator[Entry]:
        """Yields all events of a run as they are emitted."""
        async with self.follow(session, run) as log:
            async for entry in log.read(after=0, stop=lambda: False):
                yield entry

    async def cancel(self, owner: str, session_id: str, run_id: str) -> None:
        await self._submissions.cancel(*await self.run(owner, session_id, run_id))

    async def answer(self, owner: str, session_id: str, message_id: str) -> Message:
        """Returns an answer that has rows. Raises `MessageUnknown`."""
        session = await self._repository.get(owner, session_id)
        message = await self._repository.get_answer(session, message_id)
        if message.row_count is None:
            raise MessageUnknown
        return message

    async def rows(self, message: Message, limit: int, cursor: str | None) -> tuple[list[Row], str | None]:
        start, count = cursor_position(cursor), message.row_count or 0
        stop = min(start + limit, count)
        rows = await self._rows.read(message.id, start, stop)
        return rows, position_cursor(stop) if stop < count else None

    def all_rows(self, message: Message) -> AsyncGenerator[list[Row]]:
        """All rows of an answer, a chunk at a time."""
        return self._rows.all(message.id, message.row_count or 0)

    async def give_feedback(
        self,
        owner: str,
        session_id: str,
        message_id: str,
        rating: Rating,
        comment: str | None,
        corrected_sql: str | None,
    ) -> Feedback:
        """Store the owner's rating of an answer, in place of an earlier one.

        A liked or corrected statement is proposed as an example, for review.
        """
        session = await self._repository.get(owner, session_id)
        message = await self._repository.get_answer(session, message_id)
        feedback = Feedback(
            id=message.id,
            owner=owner,
            session_id=session.id,
            message_id=message.id,
            rating=rating,
            comment=comment,
            corrected_sql=corrected_sql,
            created_at=now_ms(),
        )
        await self._repository.save_feedback(feedback)
        right_sql = corrected_sql or (message.sql if rating == "up" else None)
        if right_sql is None:
            await self._context.withdraw(message.id)
        else:
            question = message.standalone_question or message.query
            await self._context.propose(owner, session.db_connection_id, question, right_sql, message.id)
        return feedback

    async def checkpoints(
        self, owner: str, session_id: str, limit: int, cursor: str | None
    ) -> tuple[list[Checkpoint], str | None]:
        """Returns checkpoints, newest first. A cursor is the id of a checkpoint; raises
        `InvalidCursor` for any other.
        """
        session = await self._repository.get(owner, session_id)
        if cursor is not None and not is_uuid(cursor):
            raise InvalidCursor
        found = await self._graph.checkpoints(session.id, limit=limit + 1, before=cursor)
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def fork(self, owner: str, session_id: str, checkpoint_id: str) -> Session:
        """Create a session that continues from a checkpoint, with copies of the history up to it.

        Raises `TooManySessions`.
        """
        session = await self._repository.get(owner, session_id)
        now = now_ms()
        async with self._allowances.new_session(owner):
            state = await self._graph.state_at(session.id, checkpoint_id)
            if state is None:
                raise CheckpointUnknown
            forked = replace(
                session,
                id=new_id(),
                status="idle",
                active_run_id=None,
                fence=0,
                created_at=now,
                updated_at=now,
                summary=state.get("summary"),
            )
            if remembered := state.get("messages"):
                copies = await self._copy_history(session, forked, remembered[-1]["id"])
                state = _with_results_of(copies, state)
            await self._graph.begin(forked.id, state)
            await self._repository.add(forked)
        return forked

    async def _copy_history(self, session: Session, forked: Session, last_message_id: str) -> dict[str, str]:
        """Copies messages and rows. Returns the ids of the copies, by the ids of the originals."""
        copies: dict[str, str] = {}
        async for message in self._repository.all_messages(session):
            copy = message.model_copy(update={"id": new_id(), "session_id": forked.id})
            await self._repository.add_message(copy)
            await self._rows.copy(message.id, copy)
            copies[message.id] = copy.id
            if message.id == last_message_id:
                break
        return copies


def _with_results_of(copies: Mapping[str, str], state: SessionState) -> SessionState:
    """Returns the state with its rows taken from the copied message, because the original may be deleted."""
    results_of = state.get("results_message_id")
    if results_of is None:
        return state
    return SessionState(**{**state, "results_message_id": copies.get(results_of, results_of)})


def _titled_by(title: JsonValue) -> TitledBy | None:
    return None if title is None else "person"
