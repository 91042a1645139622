"""Operations on sessions. Requests are checked before anything streams."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.storage.port import Condition, Equals, InvalidCursor, is_uuid
from app.modules.agent.records import CallRecord, InvestigationRecords, StepRecord
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
    InvestigationsOff,
    MessageUnknown,
    ResultMissing,
    StatusHeld,
)
from app.modules.session.model import Feedback, Message, Mode, Rating, Run, Session, TitledBy
from app.modules.session.repository import SessionRepository, later
from app.modules.session.rows import RowStore
from app.modules.usage.service import Allowances
from graph import Checkpoint, SessionGraph
from graph.state import Column, Cut, SessionState


@dataclass(frozen=True)
class SessionFilter:
    """Filter of a list of sessions. `text` is searched in titles and questions."""

    db_connection_id: str | None = None
    status: str | None = None
    text: str | None = None

    def conditions(self) -> list[Condition]:
        wanted = {"db_connection_id": self.db_connection_id, "status": self.status}
        return [Equals(field, value) for field, value in wanted.items() if value is not None]


@dataclass(frozen=True, kw_only=True)
class StoredRows:
    """The shape of stored rows, and the id by which they are read."""

    id: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None

    @classmethod
    def of_answer(cls, message: Message) -> "StoredRows":
        return cls(
            id=message.id,
            columns=message.columns,
            row_count=message.row_count or 0,
            truncated=message.truncated,
            cut_by=message.cut_by,
        )


class SessionService:
    """Operations that take several parts. A single call goes to `repository`, `rows`, `submissions` or
    `follower` itself.

    Every method names the owner. It raises `SessionUnknown` for a session of another owner.
    """

    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        submissions: Submissions,
        *,
        follower: RunFollower,
        graph: SessionGraph,
        connections: DatabaseConnections,
        context: ContextStore,
        memories: ConversationMemories,
        allowances: Allowances,
        investigations: InvestigationRecords | None,
    ) -> None:
        """`investigations`: None where they are off."""
        self._investigations = investigations
        self.repository = repository
        self.rows = rows
        self.submissions = submissions
        self.follower = follower
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
        *,
        mode: Mode,
        metadata: dict[str, JsonValue],
        also: Sequence[str] = (),
    ) -> Session:
        """Raises `NotFound` for an unknown connection, or `TooManySessions`."""
        await self._check_readable(owner, also)
        connection = await self._connections.repository.get(owner, db_connection_id)
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
            also=tuple(also),
        )
        async with self._allowances.new_session(owner):
            await self.repository.add(session)
        return session

    async def latest(
        self, owner: str, wanted: SessionFilter, limit: int, *, cursor: str | None
    ) -> tuple[list[Session], str | None]:
        conditions = wanted.conditions()
        if wanted.text is not None:
            return await self.repository.search(owner, wanted.text, conditions, limit=limit, cursor=cursor)
        return await self.repository.latest(owner, conditions, limit, cursor=cursor)

    async def change(self, owner: str, session_id: str, changes: Mapping[str, JsonValue]) -> Session:
        """Change a session for its owner.

        Raises `StatusHeld` if a run prevents a change of status, and `NotFound` for an unknown connection.
        """
        session = await self.repository.get(owner, session_id)
        if isinstance(also := changes.get("also"), list):
            await self._check_readable(owner, [str(each) for each in also])
        if "title" in changes:
            changes = {**changes, "titled_by": _titled_by(changes["title"])}
        if "status" in changes:
            await self.submissions.without_ghost(session)
        where = [Equals("active_run_id", None)] if "status" in changes else []
        while True:
            moved = {**changes, "updated_at": later(session)}
            changed = await self.repository.change(session, moved, where)
            if changed is not None:
                return changed
            session = await self.repository.get(owner, session_id)
            if session.active_run_id is not None:
                raise StatusHeld(session.id, session.active_run_id)

    async def _check_readable(self, owner: str, connection_ids: Sequence[str]) -> None:
        """Raises `ConnectionNotFound`."""
        for each in connection_ids:
            await self._connections.repository.get(owner, each)

    async def delete(self, owner: str, session_id: str) -> None:
        """Stop the session's runs, then delete the session with its messages, rows, runs,
        checkpoints and memory.
        """
        session = await self.repository.get(owner, session_id)
        async with self.submissions.stopped(session):
            await self._graph.forget(session.id)
            await self._memories.forget_conversation(session.id)
            await self.repository.delete(session)
        await self._memories.forget_conversation(session.id)  # one may have been written meanwhile

    async def ask(
        self,
        owner: str,
        session_id: str,
        question: str,
        *,
        on_busy: OnBusy,
        idempotency_key: str | None,
        sql: str | None = None,
    ) -> tuple[Session, Run]:
        """Start or queue a run. Every refusal is raised here, before anything streams."""
        if sql is not None:
            self._connections.refuse_long(sql)
        session = await self.repository.get(owner, session_id)
        if session.status == "closed":
            raise SessionClosed

        async def check_connection() -> None:
            try:
                await self._connections.repository.get(owner, session.db_connection_id)
            except NotFound as error:
                raise ConnectionGone from error

        return session, await self.submissions.submit(
            session, question, on_busy, idempotency_key=idempotency_key, sql=sql, check=check_connection
        )

    async def run_of(self, owner: str, session_id: str, name: str) -> tuple[Session, Run]:
        """Returns a run by its idempotency key or by its id. Raises `RunUnknown`."""
        session = await self.repository.get(owner, session_id)
        by_key = await self.repository.find_run(run_id_of(session.id, name))
        return session, by_key or await self.repository.get_run(session, name)

    async def run(self, owner: str, session_id: str, run_id: str) -> tuple[Session, Run]:
        """Returns a run of a session. Raises `RunUnknown`."""
        session = await self.repository.get(owner, session_id)
        return session, await self.repository.get_run(session, run_id)

    async def answer(self, owner: str, session_id: str, message_id: str) -> Message:
        """Returns an answer that has rows. Raises `MessageUnknown`."""
        session = await self.repository.get(owner, session_id)
        message = await self.repository.get_answer(session, message_id)
        if message.row_count is None:
            raise MessageUnknown
        return message

    async def read_rows(
        self, result: StoredRows, limit: int, cursor: str | None
    ) -> tuple[list[Row], str | None]:
        start, count = cursor_position(cursor), result.row_count
        stop = min(start + limit, count)
        rows = await self.rows.read(result.id, start, stop)
        return rows, position_cursor(stop) if stop < count else None

    async def steps(
        self, owner: str, session_id: str, message_id: str
    ) -> list[tuple[StepRecord, list[CallRecord]]]:
        """Returns the steps of an answer's investigation; none for another answer.

        Raises `MessageUnknown`, and `InvestigationsOff`.
        """
        records = self._investigation_records()
        session = await self.repository.get(owner, session_id)
        steps = await records.of_message(message_id) if is_uuid(message_id) else []
        if not steps:
            await self.repository.get_answer(session, message_id)
        elif steps[0][0].session_id != session.id:
            raise MessageUnknown
        return steps

    async def tool_result(
        self, owner: str, session_id: str, message_id: str, *, result_id: str
    ) -> StoredRows:
        """Returns the rows that a call of an investigation has fetched.

        Raises `ResultMissing`, and `InvestigationsOff`.
        """
        records = self._investigation_records()
        session = await self.repository.get(owner, session_id)
        call = await records.call(result_id) if is_uuid(result_id) else None
        if call is None or call.result is None or call.message_id != message_id:
            raise ResultMissing
        if call.session_id != session.id:
            raise ResultMissing
        return StoredRows(
            id=call.id,
            columns=call.result["columns"],
            row_count=call.result["row_count"],
            truncated=call.result["truncated"],
            cut_by=call.result["cut_by"],
        )

    def _investigation_records(self) -> InvestigationRecords:
        if self._investigations is None:
            raise InvestigationsOff
        return self._investigations

    async def give_feedback(
        self,
        owner: str,
        session_id: str,
        message_id: str,
        *,
        rating: Rating,
        comment: str | None,
        corrected_sql: str | None,
    ) -> Feedback:
        """Store the owner's rating of an answer, in place of an earlier one.

        A liked or corrected statement is proposed as an example, for review.
        """
        session = await self.repository.get(owner, session_id)
        message = await self.repository.get_answer(session, message_id)
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
        await self.repository.save_feedback(feedback)
        right_sql = corrected_sql or (message.sql if rating == "up" else None)
        if right_sql is None:
            await self._context.withdraw(message.id)
        else:
            question = message.standalone_question or message.query
            await self._context.propose(
                owner, session.db_connection_id, question, sql=right_sql, message_id=message.id
            )
        return feedback

    async def checkpoints(
        self, owner: str, session_id: str, limit: int, *, cursor: str | None
    ) -> tuple[list[Checkpoint], str | None]:
        """Returns checkpoints, newest first. A cursor is the id of a checkpoint; raises
        `InvalidCursor` for any other.
        """
        session = await self.repository.get(owner, session_id)
        if cursor is not None and not is_uuid(cursor):
            raise InvalidCursor
        found = await self._graph.checkpoints(session.id, limit=limit + 1, before=cursor)
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def fork(self, owner: str, session_id: str, checkpoint_id: str) -> Session:
        """Create a session that continues from a checkpoint, with copies of the history up to it.

        Raises `TooManySessions`.
        """
        session = await self.repository.get(owner, session_id)
        now = now_ms()
        async with self._allowances.new_session(owner):
            state = await self._graph.state_at(session.id, checkpoint_id)
            if state is None:
                raise CheckpointUnknown(session.id)
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
            await self.repository.add(forked)
        return forked

    async def _copy_history(self, session: Session, forked: Session, last_message_id: str) -> dict[str, str]:
        """Copies messages and rows. Returns the ids of the copies, by the ids of the originals."""
        copies: dict[str, str] = {}
        async for message in self.repository.all_messages(session):
            copy = message.model_copy(update={"id": new_id(), "session_id": forked.id})
            await self.repository.add_message(copy)
            await self.rows.copy(message.id, copy)
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
