"""What can be done with a session, refused early and said clearly."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from app.core.bus.event_log import EventLog, EventLogs
from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.storage.port import Condition, Equals, InvalidCursor, is_uuid
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.service import DatabaseConnections
from app.modules.session.errors import (
    CheckpointUnknown,
    ConnectionGone,
    MessageUnknown,
    SessionBusy,
    SessionClosed,
)
from app.modules.session.model import Feedback, Message, Mode, Rating, Run, Session
from app.modules.session.record import said
from app.modules.session.repository import SessionRepository
from app.modules.session.rows import HEAD_ROWS, Row, RowStore
from app.modules.session.turns import OnBusy, Turns, say, say_done
from graph import Checkpoint, SessionGraph
from graph.events import Reset
from graph.state import Rows


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions a list holds; `text` is searched in titles and questions."""

    db_connection_id: str | None = None
    status: str | None = None
    text: str | None = None

    def conditions(self) -> list[Condition]:
        wanted = {"db_connection_id": self.db_connection_id, "status": self.status}
        return [Equals(field, value) for field, value in wanted.items() if value is not None]


class SessionService:
    """Every method names the owner; what belongs to somebody else raises `SessionUnknown`."""

    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        turns: Turns,
        logs: EventLogs,
        graph: SessionGraph,
        connections: DatabaseConnections,
        context: ContextStore,
    ) -> None:
        self._repository = repository
        self._rows = rows
        self._turns = turns
        self._logs = logs
        self._graph = graph
        self._connections = connections
        self._context = context

    async def create(
        self,
        owner: str,
        db_connection_id: str,
        title: str | None,
        mode: Mode,
        metadata: dict[str, JsonValue],
    ) -> Session:
        """Raises `NotFound` for an unknown connection."""
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
        )
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
        """Raises `SessionBusy` when a run stands against a change of status."""
        session = await self._repository.get(owner, session_id)
        if "status" in changes:
            await self._turns.release(session)
        where = [Equals("active_run_id", None)] if "status" in changes else []
        changed = await self._repository.change(session, {**changes, "updated_at": now_ms()}, where)
        if changed is None:
            raise SessionBusy((await self._repository.get(owner, session_id)).active_run_id)
        return changed

    async def delete(self, owner: str, session_id: str) -> None:
        """Stops what runs, then deletes the session with all that hangs on it."""
        session = await self._repository.get(owner, session_id)
        async with self._turns.stopped(session):
            await self._graph.forget(session.id)
            await self._repository.delete(session)

    async def ask(
        self,
        owner: str,
        session_id: str,
        question: str,
        on_busy: OnBusy,
        idempotency_key: str | None,
        sql: str | None = None,
    ) -> tuple[Run, EventLog]:
        """Start or queue a run; whatever can be refused is refused here, before anything streams."""
        session = await self._repository.get(owner, session_id)
        if session.status == "closed":
            raise SessionClosed
        try:
            await self._connections.get(owner, session.db_connection_id)
        except NotFound as error:
            raise ConnectionGone from error
        run = await self._turns.submit(session, question, on_busy, idempotency_key, sql)
        return run, await self._log_of(session, run)

    async def log(self, owner: str, session_id: str, run_id: str) -> EventLog:
        """The events of a run; of one that ended long ago, its answer said again."""
        session = await self._repository.get(owner, session_id)
        return await self._log_of(session, await self._repository.get_run(session, run_id))

    async def cancel(self, owner: str, session_id: str, run_id: str) -> None:
        session = await self._repository.get(owner, session_id)
        await self._turns.cancel(await self._repository.get_run(session, run_id))

    async def answer(self, owner: str, session_id: str, message_id: str) -> Message:
        """An answer that has rows. Raises `MessageUnknown`."""
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
        """Keep what the owner thinks of an answer, in place of what was said before.

        A liked or corrected statement is proposed as an example, for a person to review.
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
        """Newest first; a cursor is the id of a checkpoint. Raises `InvalidCursor` for what is none."""
        session = await self._repository.get(owner, session_id)
        if cursor is not None and not is_uuid(cursor):
            raise InvalidCursor
        found = await self._graph.checkpoints(session.id, limit=limit + 1, before=cursor)
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def fork(self, owner: str, session_id: str, checkpoint_id: str) -> Session:
        """A new session that goes on from a checkpoint, with the history up to it."""
        session = await self._repository.get(owner, session_id)
        now = now_ms()
        forked = replace(
            session, id=new_id(), status="idle", active_run_id=None, created_at=now, updated_at=now
        )
        state = await self._graph.fork(session.id, checkpoint_id, forked.id)
        if state is None:
            raise CheckpointUnknown
        if remembered := state.get("messages"):
            await self._copy_history(session, forked, remembered[-1]["id"])
        await self._repository.add(forked)
        return forked

    async def _copy_history(self, session: Session, forked: Session, last_message_id: str) -> None:
        async for message in self._repository.all_messages(session):
            if message.id > last_message_id:
                return
            copy = replace(message, id=new_id(), session_id=forked.id)
            await self._repository.add_message(copy)
            await self._rows.copy(message.id, copy)

    async def _log_of(self, session: Session, run: Run) -> EventLog:
        return self._logs.get(run.id) or await self._said_again(session, run)

    async def _said_again(self, session: Session, run: Run) -> EventLog:
        message = await self._repository.get_answer(session, run.message_id)
        head: Rows | None = None
        if message.row_count is not None:
            head = Rows(
                columns=message.columns,
                rows=await self._rows.read(message.id, 0, min(HEAD_ROWS, message.row_count)),
                row_count=message.row_count,
                truncated=message.truncated,
            )
        log = EventLog(run.attempt + 1)
        say(log, Reset(reason="The run ended a while ago; this is its answer."))
        for event in said(message, head):
            say(log, event)
        say_done(log, run, message.status, message.tokens_used, message.elapsed_ms)
        return log
