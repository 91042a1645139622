"""Sessions, runs and messages in the store."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, Literal, TypeVar

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.cursor import cut_page
from app.core.storage.claims import Claims
from app.core.storage.documents import Documents, all_documents, all_pages
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import (
    AnyOf,
    Condition,
    Contains,
    Document,
    DocumentExists,
    Equals,
    Query,
    Range,
    Storage,
    StorageUnavailable,
)
from app.modules.records.cache import ConversationCache
from app.modules.records.errors import MessageUnknown, RunUnknown, SessionUnknown
from app.modules.records.finding import extended_transcript
from app.modules.records.model import (
    MAX_WAITING,
    ONE_RUN,
    AnswerVersion,
    Feedback,
    Message,
    Run,
    RunStatus,
    Session,
    SessionStatus,
    hidden_owner,
)
from app.modules.records.shared_cache import SharedConversations
from graph.answer import DatabaseCost

_OF_A_SESSION = (
    *("messages", "runs", "result_chunks", "feedback", "agent_steps", "tool_calls"),
    "message_directives",
    *("links", "comments", "notices"),
)
_SEARCHED_MATCHES = 250
_MAX_TITLE = 80
_SHARED_MESSAGES = 20
_DELETED_AT_ONCE = 50
_RUNS_AT_ONCE = 100
_PAGE = 200
_KEPT = Equals("expires_at", None)
_PLAIN = frozenset({str, int, float, bool, type(None)})
Found = TypeVar("Found")


def document(record: Session | Run | Message | Feedback) -> Document:
    if isinstance(record, Message):
        return record.model_dump()
    # `asdict` of the whole record copies each text and number by itself, which takes ten times as long.
    return {name: _plain(value) for name, value in vars(record).items()}


def _plain(value: Any) -> JsonValue:
    # `is_dataclass` takes longer than the rest, and most values are texts, numbers and None.
    if isinstance(value, DatabaseCost):
        return value.model_dump()
    is_record = type(value) not in _PLAIN and is_dataclass(value) and not isinstance(value, type)
    plain: JsonValue = asdict(value) if is_record else value
    return plain


@dataclass(frozen=True)
class SessionPage(Listed[Session]):
    """A page of sessions, and of those that were found by a question, the one that fits best.

    It is the answer to the question if there is one, and the question itself otherwise.
    """

    questions: Mapping[str, Message] = field(default_factory=dict)
    """By the id of their session."""


class SessionRepository:
    """Every read names the owner. A session of another owner is unknown."""

    def __init__(
        self,
        storage: Storage,
        cache: ConversationCache | None = None,
        shared: SharedConversations | None = None,
    ) -> None:
        self._storage = storage
        self._sessions = Documents(storage, "sessions", Session, write=document)
        self._runs = Documents(storage, "runs", Run, write=document)
        self.run_events = Claims(self._runs, "webhook_due_at")
        """Runs whose end is to be reported to webhooks."""
        self._messages = Documents(storage, "messages", Message, write=document)
        self._cache = cache
        self._shared = shared

    # Sessions

    async def add(self, session: Session) -> Session:
        """Returns the session that is stored."""
        return await self._sessions.create(session)

    async def get(self, owner: str, session_id: str) -> Session:
        """Raises `SessionUnknown`."""
        found = await self._sessions.get(session_id)
        if found is None or found.owner != owner:
            raise SessionUnknown
        return found

    async def page(self, owner: str, filters: Sequence[Condition], wanted: ListRequest) -> Listed[Session]:
        """Returns a page of the sessions that are kept."""
        return await self._sessions.list_page([Equals("owner", owner), _KEPT, *filters], wanted)

    async def latest(self, owner: str, filters: Sequence[Condition], limit: int) -> list[Session]:
        """Returns sessions that are kept, last used first."""
        return (await self.page(owner, filters, ListRequest(order_by="updated_at", limit=limit))).items

    async def select(
        self,
        owner: str,
        filters: Sequence[Condition],
        limit: int,
        *,
        offset: int,
        order_by: Literal["updated_at", "created_at"],
        descending: bool,
    ) -> list[Session]:
        """Returns sessions that are kept in an order, from an offset on."""
        own = [Equals("owner", owner), _KEPT, *filters]
        found = self._sessions.all(Query(own, order_by=order_by, descending=descending, limit=_PAGE))
        return await _cut(found, offset, offset + limit)

    async def count(self, owner: str, filters: Sequence[Condition]) -> int:
        return await self._sessions.count(Equals("owner", owner), _KEPT, *filters)

    async def search(
        self, owner: str, text: str, filters: Sequence[Condition], *, wanted: ListRequest
    ) -> "SessionPage":
        """Returns sessions whose title or questions contain the words. Only the best 250 matches count."""
        own = [Equals("owner", owner)]
        titled = await self._storage.search("sessions", text, own, limit=_SEARCHED_MATCHES)
        asked = await self._storage.search("messages", text, own, limit=_SEARCHED_MATCHES)
        ids = {str(each["id"]) for each in titled} | {str(each["session_id"]) for each in asked}
        every = replace(wanted, limit=2 * _SEARCHED_MATCHES, cursor=None)
        matching = [*own, _KEPT, AnyOf("id", sorted(ids)), *filters]
        page = cut_page(await self._sessions.first(every.query(matching)), wanted)
        questions = {key: self._messages.read(each) for key, each in _best_questions(asked).items()}
        return SessionPage(**vars(page), questions=questions)

    async def change(
        self,
        session: Session,
        changes: Mapping[str, JsonValue],
        where: Sequence[Condition] = (),
        *,
        also: Sequence[tuple[str, Document]] = (),
    ) -> Session | None:
        """Returns the changed session. Returns None if it does not meet the conditions.

        `also` are documents that are stored with the change, with their collections.
        """
        changed = await self._sessions.change(session.id, changes, where, also=also)
        return await self._retitled(changed, changes)

    async def edit(
        self, session: Session, changes: Mapping[str, JsonValue], where: Sequence[Condition]
    ) -> Session | None:
        """Change a session for its owner. Returns None if it does not meet the conditions."""
        return await self._retitled(await self._sessions.edit(session.id, changes, where), changes)

    async def _retitled(self, changed: Session | None, changes: Mapping[str, JsonValue]) -> Session | None:
        if changed is not None and self._shared is not None and "title" in changes:
            await self._shared.retitle(changed)
        return changed

    async def bind(self, session: Session, db_connection_id: str) -> Session:
        """Give a session without a database this one. Returns the session as it is then: of two that bind it
        at once, both get what the first has written.
        """
        while session.db_connection_id is None:
            unbound = [Equals("db_connection_id", None)]
            bound = await self.change(session, {"db_connection_id": db_connection_id}, unbound)
            session = bound or await self.get(session.owner, session.id)
        return session

    async def hide(self, session: Session, message_ids: Sequence[str]) -> bool:
        """Hide these messages, then their session if no run holds it. Returns False if a run holds it.

        Who no longer finds the session finds none of its messages either.
        """
        owner = hidden_owner(session.owner)
        for each in message_ids:
            await self._storage.patch("messages", each, {"owner": owner})
        changes: dict[str, JsonValue] = {"owner": owner, "updated_at": later(session)}
        return await self.change(session, changes, [Equals("active_run_id", None)]) is not None

    async def delete(self, session_ids: Sequence[str]) -> None:
        """Delete the sessions last, so that an interrupted deletion can be repeated."""
        for collection in _OF_A_SESSION:
            await self._storage.delete(collection, [AnyOf("session_id", session_ids)])
        await self._storage.delete("sessions", [AnyOf("id", session_ids)])
        if self._cache is not None:
            self._cache.forget(session_ids)
        if self._shared is not None:
            for session_id in session_ids:
                await self._shared.forget(session_id)

    async def ended_run_ids(self, owner: str | None, after: int) -> list[str]:
        """Returns the ids of ended runs that were asked since then (epoch ms). Owner None: of all."""
        own: list[Condition] = [] if owner is None else [Equals("owner", owner)]
        recent = [*own, Range("created_at", at_least=after)]
        return [
            str(found["id"])
            async for found in all_documents(self._storage, "runs", Query(recent, limit=_PAGE))
            if found["status"] != "open"
        ]

    async def late_runs(self, session_id: str, after: int) -> list[str]:
        """Returns the ids of the runs of a session that have ended since then (epoch ms), or have not."""
        own = [Equals("session_id", session_id)]
        return [
            str(found["id"])
            async for found in all_documents(self._storage, "runs", Query(own, limit=_PAGE))
            if not isinstance(ended_at := found["ended_at"], int) or ended_at >= after
        ]

    async def find(self, session_id: str) -> Session | None:
        """A session of any owner, unless it is hidden."""
        session = await self._sessions.get(session_id)
        return None if session is None or session.is_hidden else session

    async def held(self, before: int) -> AsyncGenerator[Session]:
        """Sessions of all owners that a run holds and that have not changed since then (epoch ms)."""
        held: list[Condition] = [Equals("status", "processing"), Range("updated_at", below=before)]
        async for each in self._sessions.all(Query(held, limit=_PAGE)):
            yield each

    async def left(self, before: int) -> AsyncGenerator[Session]:
        """Sessions of one run, of all owners, that no run holds and that have not changed since then (epoch
        ms).
        """
        left: list[Condition] = [
            Contains("metadata_keys", ONE_RUN),
            AnyOf("status", ["idle", "error", "awaiting_approval", "closed"]),
            Range("updated_at", below=before),
        ]
        async for each in self._sessions.all(Query(left, limit=_PAGE)):
            yield each

    async def expiring(
        self, owner: str | None = None, *, before: int | None = None
    ) -> AsyncGenerator[Session]:
        """Sessions that are not kept, of an owner or of all, whose time is over before then (epoch ms)."""
        own = [] if owner is None else [Equals("owner", owner)]
        async for each in self._sessions.all(
            Query([*own, Range("expires_at", at_least=0, below=before)], limit=_PAGE)
        ):
            yield each

    # Runs

    async def claim(
        self, session: Session, run: Run, *, awaited: bool, question: Message | None = None
    ) -> Session | None:
        """Give an idle session to a run. Returns the claimed session, or None if it is not idle.

        `awaited`: other runs may wait for it. With its `question`, a run that is not stored yet is stored
        with the claim. After `StorageUnavailable` the session may be the run's, and neither be stored.
        """
        also = [] if question is None else [("messages", document(question)), ("runs", document(run))]
        changes: dict[str, JsonValue] = {
            "status": "processing",
            "active_run_id": run.id,
            "fence": session.fence + 1,
            "turn": session.turns + 1,
            "turns": session.turns + 1,
            "awaited": awaited,
            "transcript": extended_transcript(session.transcript, run.question),
            "updated_at": max(run.created_at, session.updated_at + 1),
        }
        free: list[Condition] = [
            Equals("active_run_id", None),
            AnyOf("status", ["idle", "error"]),
            Equals("fence", session.fence),
            Equals("turns", session.turns),
        ]
        if session.titled_by is None and session.expires_at is None:
            titled: dict[str, JsonValue] = {"title": _title(run.question), "titled_by": "question"}
            untitled = Equals("titled_by", None)  # a person may name it just now
            claimed = await self.change(session, {**changes, **titled}, [*free, untitled], also=also)
            if claimed is not None:
                return claimed
        return await self.change(session, changes, free, also=also)

    async def mark_awaited(self, session: Session) -> bool:
        """Note that a run waits for a session that another holds. False if that one has released it."""
        held = Equals("active_run_id", session.active_run_id)
        return await self.change(session, {"awaited": True}, [held]) is not None

    async def raise_fence(self, session: Session) -> Session | None:
        """Fence off earlier attempts at the session's run. None if another attempt has just done so."""
        same = [Equals("active_run_id", session.active_run_id), Equals("fence", session.fence)]
        return await self.change(session, {"fence": session.fence + 1}, same)

    async def next_turn(self, session: Session) -> int:
        """The number of a turn for a run that never held the session; 0 if the session is gone."""
        now: Session | None = session
        while now is not None:
            changes: dict[str, JsonValue] = {"turns": now.turns + 1, "updated_at": later(now)}
            if await self.change(now, changes, [Equals("turns", now.turns)]) is not None:
                return now.turns + 1
            now = await self.find(session.id)
        return 0

    async def release(
        self, session: Session, run_id: str, status: SessionStatus = "idle", *, summary: str | None = None
    ) -> Session | None:
        """Release a session that this run holds, with this status; a closed one stays closed. Returns None
        if the run does not hold it, or another attempt at it has begun since the session was read.

        Without a summary the session keeps its own.
        """
        free: dict[str, JsonValue] = {"active_run_id": None, "updated_at": later(session)}
        if summary is not None:
            free["summary"] = summary
        held: list[Condition] = [Equals("active_run_id", run_id), Equals("fence", session.fence)]
        open_ones = [*held, AnyOf("status", ["processing", "awaiting_approval"])]
        released = await self.change(session, {**free, "status": status}, open_ones)
        return released or await self.change(session, free, [*held, Equals("status", "closed")])

    async def add_run(self, run: Run, question: Message) -> None:
        """Store a run and its question. A crash between the two leaves a question without a run.

        Raises `DocumentExists` when there is another run of this id.
        """
        kept = await self.add_missing_message(question)
        if kept.sequence != question.sequence:  # of an earlier try, which ended before it stored the run
            run = replace(run, question_turn=None)
        try:
            await self._runs.create(run)
        except DocumentExists:
            known = await self.find_run(run.id)
            if known is None or known.message_id != run.message_id:
                if known is None or known.question != run.question:  # the same question is one message
                    await self._messages.delete(Equals("id", question.id))
                raise

    async def add_following_run(self, run: Run) -> Run:
        """Store the run that goes on with a turn, unless it is stored. Returns the stored one."""
        return run if await self._runs.add(run) else await self.find_run(run.id) or run

    async def await_approval(self, session: Session, run_id: str) -> Session | None:
        """Let a session wait for people. Its run, which has ended, keeps it. Returns None if it is not the
        run's.
        """
        changes: dict[str, JsonValue] = {"status": "awaiting_approval", "updated_at": later(session)}
        return await self.change(
            session, changes, [Equals("active_run_id", run_id), Equals("status", "processing")]
        )

    async def hand_on(self, session: Session, waiting_id: str, run: Run) -> Session | None:
        """Give a session that waits to the run that goes on. Returns None if it does not wait any more.

        A closed session stays closed: its run ends as cancelled.
        """
        changes: dict[str, JsonValue] = {
            "active_run_id": run.id,
            "fence": session.fence + 1,
            "updated_at": later(session),
        }
        held: list[Condition] = [Equals("active_run_id", waiting_id), Equals("fence", session.fence)]
        open_ones = [*held, Equals("status", "awaiting_approval")]
        closed_ones = [*held, Equals("status", "closed")]
        handed = await self.change(session, {**changes, "status": "processing"}, open_ones)
        return handed or await self.change(session, changes, closed_ones)

    async def awaiting(self) -> AsyncGenerator[Session]:
        """Sessions of all owners that wait for people."""
        async for each in self._sessions.all(Query([Equals("status", "awaiting_approval")], limit=_PAGE)):
            yield each

    async def withdraw(self, run: Run) -> None:
        """Delete a question and its run, whose submission was not confirmed."""
        await self._runs.delete(Equals("id", run.id))
        await self._messages.delete(Equals("run_id", run.id))

    async def change_run(
        self, run: Run, changes: Mapping[str, JsonValue], answer: Message | None = None
    ) -> Run | None:
        """Returns the changed run. Returns None if it has ended, is gone, or is at another attempt.

        The answer is stored with the change. After `StorageUnavailable` the run may be changed, and the
        answer not be stored.
        """
        same = [Equals("status", "open"), Equals("attempt", run.attempt)]
        also = [] if answer is None else [("messages", document(answer))]
        return await self._runs.change(run.id, changes, same, also=also)

    async def amend_run(self, run: Run, changes: Mapping[str, JsonValue]) -> Run | None:
        """The run with another end than the one that this same attempt has given it. None when it is gone, or
        at another attempt."""
        return await self._runs.change(run.id, changes, [Equals("attempt", run.attempt)])

    async def delete_old(self, before: int) -> int:
        """Delete runs that were asked before then (epoch ms), have ended and hold no session.

        Returns their number.
        """
        ended: list[Condition] = [
            AnyOf("status", ["complete", "failed", "cancelled", "awaiting_approval"]),
            Range("created_at", below=before),
        ]
        deleted = 0
        async for runs in all_pages(self._storage, "runs", Query(ended, limit=_DELETED_AT_ONCE)):
            sessions = AnyOf("id", sorted({str(run["session_id"]) for run in runs}))
            held = await self._storage.query("sessions", Query([sessions], limit=_DELETED_AT_ONCE))
            needed = {session["active_run_id"] for session in held.items}
            ids = [str(run["id"]) for run in runs if run["id"] not in needed]
            deleted += await self._runs.delete(AnyOf("id", ids))
        return deleted

    async def get_run(self, session: Session, run_id: str) -> Run:
        """Raises `RunUnknown`."""
        run = await self.find_run(run_id)
        if run is None or run.session_id != session.id:
            raise RunUnknown
        return run

    async def find_run(self, run_id: str) -> Run | None:
        return await self._runs.get(run_id)

    async def runs(
        self, session: Session, limit: int, offset: int = 0, *, status: RunStatus | None = None
    ) -> list[Run]:
        """Returns runs of a session, newest first, in this state or in any."""
        where: list[Condition] = [Equals("session_id", session.id)]
        if status is not None:
            where.append(Equals("status", status))
        found = self._runs.all(Query(where, order_by="created_at", descending=True, limit=_PAGE))
        return await _cut(found, offset, offset + limit)

    async def page_of_runs(self, owner: str, wanted: ListRequest) -> Listed[Run]:
        """Returns a page of runs in sessions that are kept."""
        return await self._runs.list_page([Equals("owner", owner), _KEPT], wanted)

    async def page_of_session_runs(self, session: Session, wanted: ListRequest) -> Listed[Run]:
        return await self._runs.list_page([Equals("session_id", session.id)], wanted)

    async def count_runs(self, session: Session) -> int:
        return await self._runs.count(Equals("session_id", session.id))

    async def open_runs(self, session_id: str) -> list[Run]:
        """Returns the run that holds the session and those that wait, oldest first. At most
        `MAX_WAITING` + 1.
        """
        where = [Equals("session_id", session_id), Equals("status", "open")]
        found = await self._runs.first(Query(where, order_by="created_at", limit=MAX_WAITING + 1))
        return sorted(found, key=lambda run: run.place)

    async def open_runs_of(self, owner: str) -> AsyncGenerator[Run]:
        """Open runs of an owner, in all sessions."""
        own = [Equals("owner", owner), Equals("status", "open")]
        async for each in self._runs.all(Query(own, limit=_PAGE)):
            yield each

    async def all_open_runs(self, before: int) -> AsyncGenerator[Run]:
        """Open runs of all owners that were asked before then (epoch ms)."""
        where: list[Condition] = [Equals("status", "open"), Range("created_at", below=before)]
        async for each in self._runs.all(Query(where, limit=_PAGE)):
            yield each

    async def ended_runs(self, after: int) -> AsyncGenerator[Run]:
        """Ended runs of all owners that were asked after then (epoch ms), in sessions that are kept."""
        ended: list[Condition] = [
            AnyOf("status", ["complete", "failed", "cancelled"]),
            Range("created_at", at_least=after),
            _KEPT,
        ]
        async for each in self._runs.all(Query(ended, limit=_PAGE)):
            yield each

    async def cancelled_runs(self, run_ids: Sequence[str]) -> list[str]:
        """Of these runs, those whose cancellation is requested."""
        cancelled: list[str] = []
        for start in range(0, len(run_ids), _RUNS_AT_ONCE):
            ids = [AnyOf("id", run_ids[start : start + _RUNS_AT_ONCE])]
            page = await self._storage.query("runs", Query(ids, limit=_RUNS_AT_ONCE))
            cancelled.extend(str(found["id"]) for found in page.items if found["cancel_requested"])
        return cancelled

    # Messages

    async def add_message(self, message: Message) -> None:
        await self._messages.put(message)

    async def add_missing_message(self, message: Message) -> Message:
        """Keep a message unless one of its id is there. Returns the one that is kept."""
        return (
            message if await self._messages.add(message) else await self._messages.get(message.id) or message
        )

    async def replace_message(self, message: Message, of_runs: Sequence[str]) -> None:
        """Replace a message that one of these runs has written."""
        await self._messages.replace(message, [AnyOf("run_id", of_runs)])

    async def change_answer(
        self, session: Session, message_id: str, changes: Mapping[str, JsonValue]
    ) -> Message:
        """Change a stored answer. Raises `MessageUnknown` also for questions.

        The session changes after it, so that no cache keeps the answer as it was.
        """
        own = [Equals("session_id", session.id), Equals("role", "assistant")]
        changed = await self._messages.edit(message_id, changes, own)
        if changed is None:
            raise MessageUnknown
        await self._edited(session)
        return changed

    async def add_version(self, session: Session, message: Message, version: AnswerVersion) -> bool:
        """False if another version was added since the message was read."""
        kept: list[JsonValue] = [each.model_dump(mode="json") for each in (*message.versions, version)]
        changes: dict[str, JsonValue] = {"versions": kept, "version_count": message.version_count + 1}
        as_read = [Equals("session_id", session.id), Equals("version_count", message.version_count)]
        added = await self._storage.patch("messages", message.id, changes, where=as_read) is not None
        if added:
            await self._edited(session)
        return added

    async def _edited(self, session: Session) -> None:
        await self.change(session, {"edited_at": max(now_ms(), session.edited_at + 1)})

    async def move(self, message: Message, sequence: int) -> None:
        """Change a message's place in the history, unless it has got another one meanwhile."""
        same = [Equals("sequence", message.sequence)]
        await self._storage.patch("messages", message.id, {"sequence": sequence}, where=same)

    async def place_question(self, run: Run, sequence: int, *, waiting_from: int = 0) -> None:
        """Give the question of a run its place in the history, unless its place is before `waiting_from`."""
        where = [Range("sequence", at_least=waiting_from)] if waiting_from else []
        asked = [Equals("run_id", run.id), Equals("role", "human")]
        for listed in (await self._storage.query("messages", Query(asked))).items:
            message_id = str(listed["id"])
            found: Document | None = listed
            if listed["sequence"] == sequence:  # a list may lag behind, a document does not
                found = await self._storage.get("messages", message_id)
            if found is not None and found["sequence"] != sequence:
                await self._storage.patch("messages", message_id, {"sequence": sequence}, where=where)

    async def messages(
        self, session: Session, limit: int, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        """Returns the latest messages, newest last. The cursor leads to older ones."""

        async def near() -> tuple[list[Message], str | None]:
            if self._shared is None or cursor:
                return await self._load(session, limit, cursor)
            if (shared := await self._shared.page(session, limit)) is not None:
                return shared
            loaded = await self._load(session, limit, cursor)
            if session.active_run_id is None:
                names = await self.names_of_runs(session, loaded[0])
                await self._shared.put(session, limit, loaded, names=names)
            return loaded

        return await (self._cache.page(session, limit, cursor, load=near) if self._cache else near())

    async def share(self, session: Session) -> None:
        """Put the session's latest messages into the cache of all processes, if there is one.

        `session` is as it was when its latest run ended. Any later change makes the copy outdated, except a
        new title, which is written into the copy, and a deletion, which deletes the copy.
        """
        if self._shared is None:
            return
        with suppress(StorageUnavailable):  # the next reader does the same
            loaded = await self._load(session, _SHARED_MESSAGES, None)
            names = await self.names_of_runs(session, loaded[0])
            await self._shared.put(session, _SHARED_MESSAGES, loaded, names=names)
            now = await self.find(session.id)
            if now is None:
                await self._shared.forget(session.id)
            elif now.title != session.title:
                await self._shared.retitle(now)

    async def _load(
        self, session: Session, limit: int, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        return await self._latest_messages([Equals("session_id", session.id)], limit, cursor)

    async def _latest_messages(
        self, where: Sequence[Condition], limit: int, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        found, older = await self._messages.page(
            Query(where, order_by="sequence", descending=True, limit=limit, cursor=cursor)
        )
        return found[::-1], older

    async def questions(
        self, session: Session, limit: int, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        """Returns a page of the questions, oldest first. Those that wait come last."""
        asked = [Equals("session_id", session.id), Equals("role", "human")]
        return await self._messages.page(Query(asked, order_by="sequence", limit=limit, cursor=cursor))

    async def messages_before(
        self, session: Session, sequence: int, limit: int, *, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        """As `messages`, of those before a place in the history."""
        earlier: list[Condition] = [Equals("session_id", session.id), Range("sequence", below=sequence)]
        return await self._latest_messages(earlier, limit, cursor)

    async def first_messages(self, session: Session, limit: int) -> list[Message]:
        """The oldest first."""
        own = [Equals("session_id", session.id)]
        return await self._messages.first(Query(own, order_by="sequence", limit=limit))

    async def names_of_runs(self, session: Session, messages: Sequence[Message]) -> dict[str, str]:
        """Returns the idempotency key of each run of the messages, by run id; the id itself if it has no key.

        Runs of another session, in the copied part of a fork, are left out.
        """
        run_ids = {message.run_id for message in messages}
        where: list[Condition] = [Equals("session_id", session.id), AnyOf("id", sorted(run_ids))]
        known = await self._runs.first(Query(where, limit=max(1, len(run_ids))))
        return {run.id: run.idempotency_key or run.id for run in known}

    async def all_messages(self, session: Session) -> AsyncGenerator[Message]:
        """Every message, oldest first."""
        own = [Equals("session_id", session.id)]
        async for each in self._messages.all(Query(own, order_by="sequence", limit=_PAGE)):
            yield each

    async def get_answer(self, session: Session, message_id: str) -> Message:
        """Raises `MessageUnknown` also for questions."""
        message = await self.find_answer(session, message_id)
        if message is None:
            raise MessageUnknown
        return message

    async def get_message(self, session: Session, message_id: str) -> Message:
        """Returns a question or an answer. Raises `MessageUnknown`."""
        found = await self._messages.get(message_id)
        if found is None or found.session_id != session.id:
            raise MessageUnknown
        return found

    async def find_answer(self, session: Session, message_id: str) -> Message | None:
        """Returns None also for the id of a question."""
        found = await self._messages.get(message_id)
        return found if found and found.session_id == session.id and found.role == "assistant" else None

    async def answers_with_word(self, owner: str, word: str, limit: int) -> list[Message]:
        """Returns answers to the owner's questions that have a word with this prefix, best first."""
        own = [Equals("owner", owner), Equals("role", "assistant")]
        return await self._messages.search(word, own, limit=limit)

    async def answers_of_sessions(
        self, owner: str, session_ids: Collection[str], limit: int
    ) -> list[Message]:
        """Returns the answers of these sessions, the latest of each first."""
        where: list[Condition] = [
            Equals("owner", owner),
            Equals("role", "assistant"),
            AnyOf("session_id", sorted(session_ids)),
        ]
        return await self._messages.first(Query(where, order_by="sequence", descending=True, limit=limit))

    async def latest_answers(self, owner: str, limit: int) -> list[Message]:
        """Returns the latest answers to the owner's questions, of all sessions, newest first."""
        own = [Equals("owner", owner), Equals("role", "assistant")]
        return await self._messages.first(Query(own, descending=True, limit=limit))

    async def answer_of(self, owner: str, message_id: str) -> Message | None:
        """Returns None also for an answer of another owner."""
        found = await self.message_of(owner, message_id)
        return found if found and found.role == "assistant" else None

    async def message_of(self, owner: str, message_id: str) -> Message | None:
        """Returns a question or an answer. Returns None for one of another owner."""
        found = await self._messages.get(message_id)
        return found if found and found.owner == owner else None

    async def latest_sessions(self, owner: str, limit: int) -> list[Session]:
        """Returns the owner's sessions, last used first."""
        return await self.latest(owner, [], limit)

    async def save_feedback(self, feedback: Feedback) -> None:
        await self._storage.put("feedback", [document(feedback)])


def _best_questions(found: Sequence[Document]) -> dict[str, Document]:
    """Returns the best match of each session. `found` is in order, the best first."""
    best: dict[str, Document] = {}
    for each in found:
        known = best.setdefault(str(each["session_id"]), each)
        if each["run_id"] == known["run_id"] and each["role"] == "assistant":
            best[str(each["session_id"])] = each
    return best


async def _cut(found: AsyncGenerator[Found], start: int, stop: int) -> list[Found]:
    """Returns the items from `start` up to, not including, `stop`."""
    cut: list[Found] = []
    position = 0
    async with aclosing(found):
        async for each in found:
            if position >= stop:
                break
            if position >= start:
                cut.append(each)
            position += 1
    return cut


def later(session: Session) -> int:
    """Returns the time now, or one millisecond after the session's last change if this clock is behind."""
    return max(now_ms(), session.updated_at + 1)


def _title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _MAX_TITLE else line[: _MAX_TITLE - 1].rstrip() + "…"
