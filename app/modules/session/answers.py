"""Answers of sessions: their rows, later versions, steps and ratings."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.auth.caller import current_database_claim
from app.core.clock import now_ms, rfc3339
from app.core.cursor import cursor_position, position_cursor
from app.core.ids import new_id
from app.core.storage.port import (
    is_uuid,
)
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.errors import as_problems
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.memory.facts import Facts
from app.modules.memory.lessons import propose_lesson
from app.modules.records.errors import MessageUnknown
from app.modules.records.model import (
    MOST_VERSIONS,
    AnswerVersion,
    Feedback,
    GivenFeedback,
    Message,
    Rating,
    Row,
)
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.records.steps import CallRecord, InvestigationRecords, StepRecord
from app.modules.run.errors import SessionClosed
from app.modules.session.errors import (
    InvestigationsOff,
    ResultMissing,
    TooManyVersions,
    VersionUnknown,
)
from app.modules.session.footnotes import source_notes
from graph.state import Column, Cut


@dataclass(frozen=True, kw_only=True)
class StoredRows:
    """The shape of stored rows, and the id by which they are read."""

    id: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None
    notes: Sequence[str] = ()
    """Statements of the answer, with what they were computed from."""

    @classmethod
    def of_answer(cls, message: Message) -> "StoredRows":
        return cls(
            id=message.id,
            columns=message.columns,
            row_count=message.row_count or 0,
            truncated=message.truncated,
            cut_by=message.cut_by,
            notes=source_notes(message.analysis or "", message.references),
        )


class SessionAnswers:
    """Every method names the owner. It raises `SessionUnknown` for a session of another owner, and
    `MessageUnknown` for an answer that the session does not have.
    """

    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        connections: DatabaseConnections,
        *,
        investigations: InvestigationRecords | None,
    ) -> None:
        """`investigations`: None where they are off."""
        self._repository = repository
        self._rows = rows
        self._connections = connections
        self._investigations = investigations

    async def with_rows(self, owner: str, session_id: str, message_id: str) -> Message:
        """Returns an answer that has rows. Raises `MessageUnknown`."""
        session = await self._repository.get(owner, session_id)
        message = await self._repository.get_answer(session, message_id)
        if message.row_count is None:
            raise MessageUnknown
        return message

    async def add_version(self, owner: str, session_id: str, message_id: str, *, sql: str) -> AnswerVersion:
        """Run another statement for the question of an answer, and keep it with its rows.

        Raises `MessageUnknown` for an answer without a statement, `SessionClosed`, `ConnectionNotFound`,
        `TooManyVersions`, `StatementNotRun` and `DatabaseDown`.
        """
        session = await self._repository.get(owner, session_id)
        if (await self._repository.get_answer(session, message_id)).sql is None:
            raise MessageUnknown
        if session.status == "closed":
            raise SessionClosed
        connection = await self._connections.repository.get(owner, session.connection_id)
        laid_out = await self._connections.inspect(owner, connection.id, sql)
        asker = Asker(owner=owner, purpose="version", claim=current_database_claim())
        with as_problems():
            fetched = await self._connections.run(connection, sql, asker)
        found = fetched.as_rows()
        rows_id = new_id()
        await self._rows.keep(owner, session.id, rows_id, rows=found["rows"])
        while True:
            message = await self._repository.get_answer(session, message_id)
            if len(message.versions) >= MOST_VERSIONS:
                raise TooManyVersions(most=MOST_VERSIONS)
            version = AnswerVersion(
                number=len(message.versions) + 2,
                rows_id=rows_id,
                created_at=rfc3339(now_ms()),
                sql=sql,
                sql_pretty=laid_out.sql,
                columns=found["columns"],
                row_count=found["row_count"],
                truncated=fetched.truncated,
                cut_by=fetched.cut_by,
            )
            if await self._repository.add_version(session, message, version):
                return version

    async def version(self, owner: str, session_id: str, message_id: str, *, number: int) -> StoredRows:
        """Returns the rows of a version of an answer, from 2. Raises `MessageUnknown` or `VersionUnknown`."""
        session = await self._repository.get(owner, session_id)
        message = await self._repository.get_answer(session, message_id)
        found = next((each for each in message.versions if each.number == number), None)
        if found is None:
            raise VersionUnknown
        return StoredRows(
            id=found.rows_id,
            columns=found.columns,
            row_count=found.row_count,
            truncated=found.truncated,
            cut_by=found.cut_by,
        )

    async def read_rows(
        self, result: StoredRows, limit: int, cursor: str | None
    ) -> tuple[list[Row], str | None]:
        start, count = cursor_position(cursor), result.row_count
        stop = min(start + limit, count)
        rows = await self._rows.read(result.id, start, stop)
        return rows, position_cursor(stop) if stop < count else None

    async def steps(
        self, owner: str, session_id: str, message_id: str
    ) -> list[tuple[StepRecord, list[CallRecord]]]:
        """Returns the steps of an answer's investigation; none for another answer.

        Raises `MessageUnknown`, and `InvestigationsOff`.
        """
        records = self._investigation_records()
        session = await self._repository.get(owner, session_id)
        steps = await records.of_message(message_id) if is_uuid(message_id) else []
        if not steps:
            await self._repository.get_answer(session, message_id)
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
        session = await self._repository.get(owner, session_id)
        call = await records.call(result_id) if is_uuid(result_id) else None
        if call is None or call.result is None:
            raise ResultMissing
        if (call.session_id, call.message_id) != (session.id, message_id):
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


class AnswerFeedback:
    """Ratings of answers, and what they teach."""

    def __init__(self, repository: SessionRepository, context: ContextStore, facts: Facts) -> None:
        self._repository = repository
        self._context = context
        self._facts = facts

    async def give(
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

        A liked or corrected statement is proposed as an example, and the comment as a lesson, for review.
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
        given = GivenFeedback(rating=rating, comment=comment, corrected_sql=corrected_sql)
        await self._repository.change_answer(session, message.id, {"feedback": given.model_dump()})
        await propose_lesson(
            self._facts,
            owner,
            session.connection_id,
            session_id=session.id,
            message_id=message.id,
            comment=comment,
        )
        is_right = rating == "up" and message.status == "complete"
        right_sql = corrected_sql or (message.sql if is_right else None)
        if right_sql is None:
            await self._context.proposals.withdraw(message.id)
        else:
            question = message.standalone_question or message.query
            await self._context.proposals.propose(
                owner,
                session.connection_id,
                question,
                sql=right_sql,
                answer=None if corrected_sql else message.analysis,
                message_id=message.id,
                session_id=session.id,
            )
        return feedback
