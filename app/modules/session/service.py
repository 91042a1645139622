"""Operations on sessions. Requests are checked before anything streams."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Literal

from cachetools import LRUCache
from pydantic import JsonValue

from app.core.bus.port import StartedRuns
from app.core.clock import now_ms
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.keyed_ids import created_id
from app.core.merge_patch import json_size, merge_patch
from app.core.pairs import pair_key, pair_keys
from app.core.storage.listing import ListRequest
from app.core.storage.port import (
    AnyOf,
    Condition,
    Contains,
    DocumentExists,
    Equals,
    Range,
    is_uuid,
)
from app.modules.analysis.chart_words import ChartWordsModel
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.facts import Facts
from app.modules.records.errors import SessionUnknown
from app.modules.records.finding import transcript_of
from app.modules.records.model import (
    MAX_METADATA_BYTES,
    ONE_RUN,
    DocumentationRequest,
    Message,
    Mode,
    NewQuestion,
    Run,
    Session,
    SessionStatus,
    TitledBy,
)
from app.modules.records.repository import SessionPage, SessionRepository, later
from app.modules.records.rows import RowStore
from app.modules.records.steps import InvestigationRecords
from app.modules.rules.errors import RuleNamesUnknown
from app.modules.rules.service import Rules
from app.modules.run.errors import SessionBusy, SessionClosed
from app.modules.run.follower import RunFollower
from app.modules.run.submission import Submissions, run_id_of
from app.modules.session.answers import AnswerFeedback, SessionAnswers
from app.modules.session.charts import MessageCharts
from app.modules.session.copies import SessionCopies
from app.modules.session.erasure import SessionForgetting
from app.modules.session.errors import (
    BoundElsewhere,
    ConnectionGone,
    ConnectionNeeded,
    MetadataTooLarge,
    SessionExists,
    StatusHeld,
)
from app.modules.usage.service import Allowances
from graph import SessionGraph

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


class SessionReads:
    """Reads of stored sessions, runs and messages, as the repository has them."""

    def __init__(self, repository: SessionRepository) -> None:
        self.repository = repository
        self.get = repository.get
        self.left = repository.left
        self.expiring = repository.expiring
        self.messages = repository.messages
        self.get_message = repository.get_message
        self.get_answer = repository.get_answer
        self.find_answer = repository.find_answer
        self.runs = repository.runs
        self.find_run = repository.find_run
        self.count_runs = repository.count_runs
        self.names_of_runs = repository.names_of_runs
        self.open_runs_of = repository.open_runs_of
        self.page_of_runs = repository.page_of_runs
        self.page_of_session_runs = repository.page_of_session_runs

    async def history(self, session: Session, limit: int = 100) -> list[Message]:
        """Returns the latest messages of a session, oldest first. Questions that wait come last."""
        return (await self.messages(session, limit, None))[0]


class SessionService(SessionReads):
    """Operations that take several parts. A single call goes to `rows`, `submissions` or `follower` itself.

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
        super().__init__(repository)
        self._rules = rules
        self._default_mode = default_mode
        self._started = started
        self.rows = rows
        self.submissions = submissions
        self.follower = follower
        self._connections = connections
        self.answers = SessionAnswers(repository, rows, connections, investigations=investigations)
        self.feedback = AnswerFeedback(repository, context, facts)
        self.copies = SessionCopies(repository, rows, graph, allowances=allowances, default_mode=default_mode)
        self.charts = MessageCharts(repository, rows, connections, allowances=allowances, model=chart_model)
        self.forgetting = forgetting
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

    async def page(self, owner: str, wanted: SessionFilter, request: ListRequest) -> SessionPage:
        conditions = wanted.conditions()
        if wanted.text is not None:
            return await self.repository.search(owner, wanted.text, conditions, wanted=request)
        return SessionPage(**vars(await self.repository.page(owner, conditions, request)))

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
        return await self.repository.latest(owner, asked, _SAME_CONVERSATIONS)

    async def change(self, owner: str, session_id: str, changes: Mapping[str, JsonValue]) -> Session:
        """Change a session for its owner. `metadata` is merged into what it has.

        Raises `StatusHeld` if a run prevents a change of status, `NotFound` for an unknown connection, and
        `MetadataTooLarge`.
        """
        session = await self.repository.get(owner, session_id)
        if isinstance(also := changes.get("also"), list):
            await self._check_readable(owner, [str(each) for each in also])
        if "title" in changes:
            changes = {**changes, "titled_by": _titled_by(changes["title"])}
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
            merged = _merge(session, changes)  # as another may do at the same moment
            as_read = [Equals("updated_at", session.updated_at)] if merged else []
            changed = await self.repository.edit(session, {**moved, **merged}, [*where, *as_read])
            if changed is not None:
                return changed
            session = await self.repository.get(owner, session_id)
            if "status" in changes and session.active_run_id is not None:
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

    async def discard(self, session: Session) -> None:
        """Delete a session that nothing was asked in."""
        await self.repository.delete([session.id])

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

    async def follow_runs(self, session: Session, after: Run | None = None) -> AsyncGenerator[Run]:
        """Yields runs of a session that were asked after this one, oldest first: the latest 100 that there
        are, then those that start, until the session is deleted. Without `after`, from its first run on.

        Raises `BusUnavailable`.
        """
        known: set[str] = set()
        async with self._started.runs_of(session.id) as started:
            while await self.repository.find(session.id) is not None:
                listed = await self.repository.runs(session, _FOLLOWED_RUNS)
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


def _merge(session: Session, changes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns the fields of a session that follow from these changes and from what it has: a merge patch of
    its metadata, and the databases that are taken away. Raises `MetadataTooLarge`.
    """
    merged: dict[str, JsonValue] = {}
    if isinstance(also := changes.get("also"), list):
        merged["also_before"] = [*session.further_ids.difference(map(str, also))]
    if not isinstance(patch := changes.get("metadata"), dict):
        return merged
    metadata = merge_patch(session.metadata, patch)
    size = json_size(metadata)
    if size > MAX_METADATA_BYTES:
        raise MetadataTooLarge(size=size, most=MAX_METADATA_BYTES)
    kept = [ONE_RUN] if session.is_for_one_run else []
    return {**merged, "metadata": metadata, "metadata_keys": [*pair_keys(metadata), *kept]}


def _titled_by(title: JsonValue) -> TitledBy | None:
    return None if title is None else "person"
