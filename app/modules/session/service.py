"""Operations on sessions. Requests are checked before anything streams."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from cachetools import LRUCache
from pydantic import JsonValue

from app.core.auth.caller import current_database_claim
from app.core.bus.port import StartedRuns
from app.core.clock import now_ms, rfc3339
from app.core.cursor import cursor_position, position_cursor
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.keyed_ids import created_id, is_repeat
from app.core.pairs import pair_key, pair_keys
from app.core.storage.port import (
    AnyOf,
    Condition,
    Contains,
    DocumentExists,
    Equals,
    InvalidCursor,
    Range,
    is_uuid,
)
from app.modules.analysis.chart_words import ChartWordsModel
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.errors import as_problems
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.memory.facts import Facts
from app.modules.memory.lessons import propose_lesson
from app.modules.records.errors import MessageUnknown, SessionUnknown
from app.modules.records.finding import transcript_of
from app.modules.records.model import (
    MOST_VERSIONS,
    ONE_RUN,
    AnswerVersion,
    DocumentationRequest,
    Feedback,
    GivenFeedback,
    Message,
    Mode,
    NewQuestion,
    Rating,
    Row,
    Run,
    RunStatus,
    Session,
    SessionStatus,
    TitledBy,
)
from app.modules.records.repository import SessionPage, SessionRepository, later
from app.modules.records.rows import RowStore
from app.modules.records.steps import CallRecord, InvestigationRecords, StepRecord
from app.modules.rules.errors import RuleNamesUnknown
from app.modules.rules.service import Rules
from app.modules.run.errors import SessionBusy, SessionClosed
from app.modules.run.follower import RunFollower
from app.modules.run.submission import Submissions, run_id_of
from app.modules.session.adopted_state import state_after
from app.modules.session.branches import path_to_last
from app.modules.session.charts import MessageCharts
from app.modules.session.erasure import SessionForgetting
from app.modules.session.errors import (
    BoundElsewhere,
    CheckpointUnknown,
    ConnectionGone,
    ConnectionNeeded,
    InvestigationsOff,
    ResultMissing,
    SessionExists,
    StatusHeld,
    TooManyVersions,
    VersionUnknown,
)
from app.modules.session.footnotes import source_notes
from app.modules.usage.service import Allowances
from graph import Checkpoint, SessionGraph
from graph.state import Column, Cut, PastExchange, SessionState

_KNOWN_SESSIONS = 10_000
_NOT_KEPT_MS = 86_400_000
_SAME_CONVERSATIONS = 10
_FOLLOWED_RUNS = 100
_LOOK_AGAIN_SECONDS = 5.0
"""Pause after which a stream of a session looks for runs whose start has not reached it."""
_PINNED = Range("pinned_at", at_least=0)
_NOT_PINNED = Equals("pinned_at", None)
_OPEN: tuple[SessionStatus, ...] = ("idle", "processing", "awaiting_approval", "error")


@dataclass(frozen=True)
class SessionFilter:
    """Filter of a list of sessions. `text` is searched in titles and questions."""

    db_connection_id: str | None = None
    status: str | None = None
    text: str | None = None
    statuses: Sequence[SessionStatus] | None = None
    """Any of these."""
    ids: Sequence[str] | None = None
    """Any of these."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """All of these pairs. Their values are scalars; others are in no session."""
    is_pinned: bool | None = None

    def conditions(self) -> list[Condition]:
        wanted = {"db_connection_id": self.db_connection_id, "status": self.status}
        any_of = {"status": self.statuses, "id": self.ids}
        return [
            *(Equals(name, value) for name, value in wanted.items() if value is not None),
            *(AnyOf(name, values) for name, values in any_of.items() if values is not None),
            *(Contains("metadata_keys", pair_key(*pair)) for pair in self.metadata.items()),
            *([] if self.is_pinned is None else [_PINNED if self.is_pinned else _NOT_PINNED]),
        ]


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


_NOT_ADOPTED: Mapping[str, object] = {
    "client_message_id": None,
    "source_message_id": None,
    "feedback": None,
    "remembered": [],
    "versions": [],
    "version_count": 0,
}
"""Fields of a message that stay with its owner, as a copy in the session of another owner has them."""


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
        forgetting: SessionForgetting,
        facts: Facts,
        allowances: Allowances,
        investigations: InvestigationRecords | None,
        started: StartedRuns,
        default_mode: Mode = "ask",
        rules: Rules | None = None,
        chart_model: ChartWordsModel | None = None,
    ) -> None:
        """`investigations`, `rules` and `chart_model`: None where they are off."""
        self._rules = rules
        self._default_mode = default_mode
        self._started = started
        self._investigations = investigations
        self.repository = repository
        self.rows = rows
        self.submissions = submissions
        self.follower = follower
        self._graph = graph
        self._connections = connections
        self.charts = MessageCharts(repository, rows, connections, allowances=allowances, model=chart_model)
        self._context = context
        self.forgetting = forgetting
        self._facts = facts
        self._allowances = allowances
        self._connection_of: LRUCache[str, str] = LRUCache(_KNOWN_SESSIONS)
        """Connections of sessions that questions came for. The connection of a session never changes."""

    async def create(
        self,
        owner: str,
        db_connection_id: str | None,
        title: str | None,
        *,
        mode: Mode | None,
        metadata: dict[str, JsonValue],
        also: Sequence[str] = (),
        documentation: DocumentationRequest | None = None,
        session_id: str | None = None,
        thread_name: str | None = None,
        is_for_one_run: bool = False,
        is_kept: bool = True,
    ) -> Session:
        """Without a connection, the first question has to name one. `session_id` is a UUID that follows from
        the owner and from what the client has chosen, such as `thread_name`. A session for one run is deleted
        after it, and one that is not kept after a day.

        Raises `NotFound` for an unknown connection, `TooManySessions`, or `SessionExists` if the id is taken.
        """
        connections = [*([] if db_connection_id is None else [db_connection_id]), *also]
        await self._check_readable(owner, connections)
        now = now_ms()
        session = Session(
            id=session_id or created_id(),
            owner=owner,
            db_connection_id=db_connection_id,
            title=title,
            mode=mode or self._default_mode,
            metadata=metadata,
            created_at=now,
            updated_at=now,
            titled_by=_titled_by(title),
            also=tuple(also),
            documentation=documentation,
            metadata_keys=(*pair_keys(metadata), *([ONE_RUN] if is_for_one_run else [])),
            made_by=None if session_id is None else new_id(),
            thread_name=thread_name,
            expires_at=None if is_kept else now + _NOT_KEPT_MS,
        )
        async with self._allowances.new_session(owner) if is_kept else nullcontext():
            try:
                session = await self.repository.add(session)
            except DocumentExists as error:
                raise SessionExists from error
            if session_id is not None and await self.forgetting.is_forgotten(session_id):
                # Late writes of the deleted one are still looked for, and would take this one with them.
                await self.repository.delete([session_id])
                raise SessionExists
        if db_connection_id is not None:
            self._connection_of[session.id] = db_connection_id
        return session

    async def latest(
        self, owner: str, wanted: SessionFilter, limit: int, *, cursor: str | None
    ) -> SessionPage:
        conditions = wanted.conditions()
        if wanted.text is not None:
            return await self.repository.search(owner, wanted.text, conditions, limit=limit, cursor=cursor)
        sessions, next_cursor = await self.repository.latest(owner, conditions, limit, cursor=cursor)
        return SessionPage(sessions, next_cursor)

    async def select(
        self,
        owner: str,
        wanted: SessionFilter,
        limit: int,
        *,
        offset: int = 0,
        order_by: Literal["updated_at", "created_at"] = "updated_at",
        descending: bool = True,
    ) -> list[Session]:
        """Returns sessions that a filter without text lets through, from an offset on."""
        return await self.repository.select(
            owner, wanted.conditions(), limit, offset=offset, order_by=order_by, descending=descending
        )

    async def count(self, owner: str, wanted: SessionFilter) -> int:
        """Returns the number of sessions that a filter without text lets through."""
        return await self.repository.count(owner, wanted.conditions())

    async def find_conversations(
        self, owner: str, db_connection_id: str, questions: Sequence[str]
    ) -> list[Session]:
        """Returns the open sessions about a database whose questions were exactly these, last used first. At
        most ten.
        """
        transcript = transcript_of(questions)
        if transcript is None:
            return []
        asked = [
            *SessionFilter(db_connection_id, statuses=_OPEN).conditions(),
            Equals("transcript", transcript),
        ]
        return (await self.repository.latest(owner, asked, _SAME_CONVERSATIONS, cursor=None))[0]

    async def change(self, owner: str, session_id: str, changes: Mapping[str, JsonValue]) -> Session:
        """Change a session for its owner.

        Raises `StatusHeld` if a run prevents a change of status, and `NotFound` for an unknown connection.
        """
        session = await self.repository.get(owner, session_id)
        if isinstance(also := changes.get("also"), list):
            await self._check_readable(owner, [str(each) for each in also])
        if "title" in changes:
            changes = {**changes, "titled_by": _titled_by(changes["title"])}
        if isinstance(metadata := changes.get("metadata"), dict):
            kept = [ONE_RUN] if session.is_for_one_run else []
            changes = {**changes, "metadata_keys": [*pair_keys(metadata), *kept]}
        if isinstance(pinned := changes.get("pinned"), bool):
            changes = {each: value for each, value in changes.items() if each != "pinned"}
            changes["pinned_at"] = now_ms() if pinned else None
        if "status" in changes:
            session = await self.submissions.without_ghost(session)
        if changes.get("status") == "closed" and session.status == "awaiting_approval":
            await self.submissions.withdraw(session)
        where = [Equals("active_run_id", None)] if "status" in changes else []
        while True:
            is_use = any(each != "pinned_at" for each in changes)
            moved = {**changes, "updated_at": later(session)} if is_use else changes
            changed = await self.repository.edit(session, moved, where)
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
        """Stop the session's runs, then delete the session and all that belongs to it."""
        session = await self.repository.get(owner, session_id)
        async with self.submissions.stopped(session):
            await self.forgetting.forget(session)

    async def hide(self, session: Session, run: Run) -> None:
        """Hide a session that was made for this run, which has ended: only readers of the run find it then.
        Calls that wait in it are withdrawn.
        """
        messages = (run.question_id, run.message_id)
        if session.is_hidden or await self.repository.hide(session, messages):
            return
        with suppress(SessionUnknown):  # deleted meanwhile
            await self.submissions.withdraw(await self.repository.get(session.owner, session.id))
            await self.repository.hide(session, messages)

    async def ask(self, owner: str, session_id: str, question: NewQuestion) -> tuple[Session, Run]:
        """Start or queue a run. Every refusal is raised here, before anything streams.

        Raises `ConnectionNeeded` if neither session nor question names a database, and `BoundElsewhere` if
        the session has another. Raises `SessionBusy` if another question has come after those of `after`.
        Raises `RuleNamesUnknown` for a name of no rule. Names are ignored where rules are off.
        """
        if not is_uuid(session_id):
            raise SessionUnknown  # the id of a keyed run follows from a UUID
        if question.sql is not None:
            self._connections.refuse_long(question.sql)
        named, rules = question.db_connection_id, question.rules
        transcript = None if question.after is None else transcript_of(question.after)

        async def read() -> Session:
            known = self._connection_of.get(session_id)
            session, refusal = await asyncio.gather(
                self.repository.get(owner, session_id), self._refusal(owner, known, rules)
            )
            if session.status == "closed":
                raise SessionClosed
            if question.after is not None and session.transcript != transcript:
                raise SessionBusy(session.active_run_id)
            if session.db_connection_id is None:
                session = await self._bind(session, named, rules)
            if named not in (None, session.connection_id):
                raise BoundElsewhere(db_connection_id=session.connection_id)
            if known is None:
                refusal = await self._refusal(owner, session.connection_id, rules)
                self._connection_of[session_id] = session.connection_id
            if refusal is not None:
                raise refusal
            return session

        return await self.submissions.submit(owner, session_id, question, transcript=transcript, read=read)

    async def _bind(self, session: Session, db_connection_id: str | None, rules: Sequence[str]) -> Session:
        """Give a session its database, unless another request has just done so. What would refuse the
        question does so before.
        """
        if db_connection_id is None:
            raise ConnectionNeeded
        await self._check_readable(session.owner, [db_connection_id])
        refusal = await self._refusal(session.owner, db_connection_id, rules)
        if refusal is not None:
            raise refusal
        return await self.repository.bind(session, db_connection_id)

    async def _refusal(
        self, owner: str, connection_id: str | None, rules: Sequence[str]
    ) -> ConnectionGone | RuleNamesUnknown | None:
        """Returns what speaks against questions about a connection. Of an unknown one nothing is known."""
        if connection_id is None:
            return None
        try:
            await self._connections.repository.get(owner, connection_id)
            if self._rules is not None:
                await self._rules.check_names(owner, connection_id, rules)
        except RuleNamesUnknown as unknown:
            return unknown
        except NotFound:
            return ConnectionGone()
        return None

    async def run_of(self, owner: str, session_id: str, name: str) -> tuple[Session, Run]:
        """Returns a run by its idempotency key or by its id, or the run that went on with its turn.

        Raises `RunUnknown`.
        """
        session = await self.repository.get(owner, session_id)
        by_key = await self.repository.find_run(run_id_of(session.id, name))
        run = by_key or await self.repository.get_run(session, name)
        return session, await self.submissions.latest_of_turn(run)

    async def run(self, owner: str, session_id: str, run_id: str) -> tuple[Session, Run]:
        """Returns a run of a session. Raises `SessionUnknown` and `RunUnknown`."""
        session = await self.repository.get(owner, session_id)
        return session, await self.repository.get_run(session, run_id)

    async def runs(
        self, session: Session, limit: int, offset: int = 0, *, status: RunStatus | None = None
    ) -> list[Run]:
        """Returns runs of a session, newest first; all, or those in this state."""
        return await self.repository.runs(session, limit, offset, status=status)

    async def count_runs(self, session: Session) -> int:
        return await self.repository.count_runs(session)

    async def follow_runs(self, session: Session, after: Run | None = None) -> AsyncGenerator[Run]:
        """Yields runs of a session that were asked after this one, oldest first: the latest 100 that there
        are, then those that start, until the session is deleted. Without `after`, from its first run on.

        Raises `BusUnavailable`.
        """
        known: set[str] = set()
        async with self._started.runs_of(session.id) as started:
            while await self.repository.find(session.id) is not None:
                listed = await self.runs(session, _FOLLOWED_RUNS)
                while not started.empty():  # a list may lag behind, a document does not
                    latest = await self.repository.find_run(started.get_nowait())
                    if latest is not None:
                        listed.append(latest)
                for run in sorted(listed, key=lambda each: each.place):
                    if run.id not in known and (after is None or run.place > after.place):
                        known.add(run.id)
                        yield run
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_AGAIN_SECONDS):
                        started.put_nowait(await started.get())

    async def history(self, session: Session, limit: int = 100) -> list[Message]:
        """Returns the latest messages of a session, oldest first. Questions that wait come last."""
        return (await self.repository.messages(session, limit, None))[0]

    async def answer(self, owner: str, session_id: str, message_id: str) -> Message:
        """Returns an answer that has rows. Raises `MessageUnknown`."""
        session = await self.repository.get(owner, session_id)
        message = await self.repository.get_answer(session, message_id)
        if message.row_count is None:
            raise MessageUnknown
        return message

    async def add_version(self, owner: str, session_id: str, message_id: str, *, sql: str) -> AnswerVersion:
        """Run another statement for the question of an answer, and keep it with its rows.

        Raises `MessageUnknown` for an answer without a statement, `SessionClosed`, `ConnectionNotFound`,
        `TooManyVersions`, `StatementNotRun` and `DatabaseDown`.
        """
        session = await self.repository.get(owner, session_id)
        if (await self.repository.get_answer(session, message_id)).sql is None:
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
        await self.rows.keep(owner, session.id, rows_id, rows=found["rows"])
        while True:
            message = await self.repository.get_answer(session, message_id)
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
            if await self.repository.add_version(session, message, version):
                return version

    async def version(self, owner: str, session_id: str, message_id: str, *, number: int) -> StoredRows:
        """Returns the rows of a version of an answer, from 2. Raises `MessageUnknown` or `VersionUnknown`."""
        session = await self.repository.get(owner, session_id)
        message = await self.repository.get_answer(session, message_id)
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

        A liked or corrected statement is proposed as an example, and the comment as a lesson, for review.
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
        given = GivenFeedback(rating=rating, comment=comment, corrected_sql=corrected_sql)
        await self.repository.change_answer(session, message.id, {"feedback": given.model_dump()})
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
            await self._context.withdraw(message.id)
        else:
            question = message.standalone_question or message.query
            await self._context.propose(
                owner,
                session.connection_id,
                question,
                sql=right_sql,
                answer=None if corrected_sql else message.analysis,
                message_id=message.id,
                session_id=session.id,
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

    async def prune(self, owner: str, session_id: str) -> None:
        """Delete all checkpoints of a session but the latest."""
        session = await self.repository.get(owner, session_id)
        await self._graph.prune(session.id)

    async def fork(self, owner: str, session_id: str, checkpoint_id: str) -> Session:
        """Create a session that continues from a checkpoint, with copies of the history up to it.

        Raises `TooManySessions`.
        """
        session = await self.repository.get(owner, session_id)
        now = now_ms()
        fork_id = created_id()
        if is_repeat():
            if (forked := await self.repository.find(fork_id)) is not None:
                return forked
            await self.repository.delete([fork_id])  # copies of an interrupted try
        async with self._allowances.new_session(owner):
            state = await self._graph.state_at(session.id, checkpoint_id)
            if state is None:
                raise CheckpointUnknown(session_id=session.id)
            forked = replace(
                session,
                thread_name=None,
                id=fork_id,
                status="idle",
                active_run_id=None,
                awaited=False,
                fence=0,
                created_at=now,
                updated_at=now,
                summary=state.get("summary"),
                transcript=None,
                turn=0,
                turns=0,
                pinned_at=None,
                expires_at=None,
                metadata_keys=(*pair_keys(session.metadata),),
            )
            if remembered := state.get("messages"):
                copies, questions, turns = await self._copy_history(session, forked, remembered[-1]["id"])
                state = _naming(copies, state)
                forked = replace(forked, transcript=transcript_of(questions), turn=turns, turns=turns)
            await self._graph.begin(forked.id, state)
            await self.repository.add(forked)
        return forked

    async def adopt(
        self,
        owner: str,
        source: Session,
        places: range,
        *,
        title: str | None,
        as_shown: Callable[[Message], Awaitable[Message]],
    ) -> Session:
        """Create a session of an owner with copies of another owner's messages, to continue from them.

        `places` are the sequences of the messages. `as_shown` returns a message as the owner may see it. The
        caller has checked that the owner may read them. What is private to the other owner is not copied:
        feedback, later versions, remembered facts, ids of their client, and their metadata. Raises
        `TooManySessions`.
        """
        now = now_ms()
        adopted = Session(
            id=new_id(),
            owner=owner,
            db_connection_id=source.db_connection_id,
            title=title,
            titled_by=None if title is None else "question",
            mode=self._default_mode,
            metadata={},
            created_at=now,
            updated_at=now,
            also=source.also,
        )
        async with self._allowances.new_session(owner):
            copies = [
                await self._copy(await as_shown(message), adopted, **_NOT_ADOPTED)
                async for message in self.repository.all_messages(source)
                if message.sequence in places
            ]
            questions = [each.query for each in copies if each.role == "human"]
            await self._graph.begin(adopted.id, state_after(copies))
            adopted = replace(
                adopted,
                transcript=transcript_of(questions),
                turn=max((each.sequence // 2 for each in copies), default=0),
                turns=len(questions),
            )
            await self.repository.add(adopted)
        return adopted

    async def _copy_history(
        self, session: Session, forked: Session, last_message_id: str
    ) -> tuple[dict[str, str], list[str], int]:
        """Copies messages and rows. Returns the ids of the copies, by the ids of the originals, the
        questions, and the number of the last turn.
        """
        copies: dict[str, str] = {}
        questions: list[str] = []
        turns = 0
        found: list[Message] = []
        async for message in self.repository.all_messages(session):
            found.append(message)
            if message.id == last_message_id:
                break
        for message in path_to_last(found):
            versions = [each.model_copy(update={"rows_id": new_id()}) for each in message.versions]
            copy = await self._copy(
                message, forked, source_message_id=message.id, feedback=None, versions=versions
            )
            for version, own in zip(message.versions, versions, strict=True):
                await self.rows.copy(version.rows_id, copy, to_id=own.rows_id, row_count=own.row_count)
            copies[message.id] = copy.id
            turns = message.sequence // 2
            if message.role == "human":
                questions.append(message.query)
        return copies, questions, turns

    async def _copy(self, message: Message, into: Session, **own: object) -> Message:
        """Stores a copy of a message and of its rows in another session, which has no other branch."""
        named = {"id": new_id(), "session_id": into.id, "owner": into.owner, "parent_message_id": None}
        copy = message.model_copy(update={**own, **named})
        await self.repository.add_message(copy)
        if copy.row_count is not None:
            await self.rows.copy(message.id, copy, to_id=copy.id, row_count=copy.row_count)
        return copy


def _naming(copies: Mapping[str, str], state: SessionState) -> SessionState:
    """Returns the state with copied messages in the place of their originals, which may be deleted."""
    exchanges = [
        PastExchange(**{**each, "id": copies.get(each["id"], each["id"])}) for each in state["messages"]
    ]
    named: SessionState = {**state, "messages": exchanges}
    if (results_of := state.get("results_message_id")) is not None:
        named["results_message_id"] = copies.get(results_of, results_of)
    if (message_id := state.get("message_id")) is not None:
        named["message_id"] = copies.get(message_id, message_id)
    return named


def _titled_by(title: JsonValue) -> TitledBy | None:
    return None if title is None else "person"
