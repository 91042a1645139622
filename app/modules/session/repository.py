"""Sessions, runs and messages in the store."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict
from typing import cast

from pydantic import JsonValue, TypeAdapter

from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.storage.port import AnyOf, Condition, Document, Equals, Storage
from app.modules.session.errors import MessageUnknown, RunUnknown, SessionUnknown
from app.modules.session.model import Feedback, Message, Run, Session, SessionStatus

_OF_A_SESSION = ("messages", "runs", "result_chunks", "feedback")
_SEARCHED_MATCHES = 250
_MAX_TITLE = 80

_SESSION = TypeAdapter(Session)
_RUN = TypeAdapter(Run)
_MESSAGE = TypeAdapter(Message)


def document(record: Session | Run | Message | Feedback) -> Document:
    return cast("Document", asdict(record))


class SessionRepository:
    """Every read names the owner; what belongs to somebody else is unknown."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    # Sessions

    async def add(self, session: Session) -> None:
        await self._storage.create("sessions", document(session))

    async def get(self, owner: str, session_id: str) -> Session:
        """Raises `SessionUnknown`."""
        found = await self._storage.get("sessions", session_id)
        if found is None or found["owner"] != owner:
            raise SessionUnknown
        return _SESSION.validate_python(found)

    async def latest(
        self, owner: str, filters: Sequence[Condition], limit: int, cursor: str | None
    ) -> tuple[list[Session], str | None]:
        """Sessions used last come first."""
        page = await self._storage.query(
            "sessions",
            [Equals("owner", owner), *filters],
            order_by="updated_at",
            descending=True,
            limit=limit,
            cursor=cursor,
        )
        return [_SESSION.validate_python(each) for each in page.items], page.next_cursor

    async def search(
        self, owner: str, text: str, filters: Sequence[Condition], limit: int, cursor: str | None
    ) -> tuple[list[Session], str | None]:
        """Sessions whose title or questions hold the words, used last first; the best 250 matches count."""
        own = [Equals("owner", owner)]
        titled = await self._storage.search("sessions", text, own, limit=_SEARCHED_MATCHES)
        asked = await self._storage.search("messages", text, own, limit=_SEARCHED_MATCHES)
        ids = {str(each["id"]) for each in titled} | {str(each["session_id"]) for each in asked}
        page = await self._storage.query(
            "sessions",
            [*own, AnyOf("id", sorted(ids)), *filters],
            order_by="updated_at",
            descending=True,
            limit=2 * _SEARCHED_MATCHES,
        )
        start = cursor_position(cursor)
        found = [_SESSION.validate_python(each) for each in page.items[start : start + limit]]
        more = len(page.items) > start + limit
        return found, position_cursor(start + limit) if more else None

    async def change(
        self, session: Session, changes: Mapping[str, JsonValue], where: Sequence[Condition] = ()
    ) -> Session | None:
        """The changed session, or None when it does not meet the conditions (any more)."""
        changed = await self._storage.patch("sessions", session.id, changes, where=where)
        return None if changed is None else _SESSION.validate_python(changed)

    async def delete(self, session: Session) -> None:
        """The session last, so that a deletion broken off can be asked for again."""
        for collection in _OF_A_SESSION:
            await self._storage.delete(collection, [Equals("session_id", session.id)])
        await self._storage.delete("sessions", [Equals("id", session.id)])

    async def held(self) -> Sequence[Session]:
        """Sessions of all owners that a run holds."""
        page = await self._storage.query("sessions", [Equals("status", "processing")], limit=1_000)
        return [_SESSION.validate_python(each) for each in page.items]

    # Runs

    async def claim(self, session: Session, run: Run) -> bool:
        """Give an idle session to a run; False when another run holds it or it is closed."""
        changes: dict[str, JsonValue] = {
            "status": "processing",
            "active_run_id": run.id,
            "updated_at": run.created_at,
            "title": session.title or _title(run.question),
        }
        free: list[Condition] = [Equals("active_run_id", None), AnyOf("status", ["idle", "error"])]
        return await self.change(session, changes, free) is not None

    async def hand_over(self, session_id: str, run_id: str, following_run_id: str | None) -> None:
        """Give the session a run holds to the run that follows, or make it idle."""
        status: SessionStatus = "idle" if following_run_id is None else "processing"
        changes: dict[str, JsonValue] = {
            "status": status,
            "active_run_id": following_run_id,
            "updated_at": now_ms(),
        }
        await self._storage.patch("sessions", session_id, changes, where=[Equals("active_run_id", run_id)])

    async def add_run(self, run: Run, question: Message) -> None:
        """Both are kept when this returns; a crash between them leaves a question without a run."""
        await asyncio.gather(
            self._storage.put("messages", [document(question)]), self._storage.put("runs", [document(run)])
        )

    async def save_run(self, run: Run) -> None:
        await self._storage.put("runs", [document(run)])

    async def get_run(self, session: Session, run_id: str) -> Run:
        """Raises `RunUnknown`."""
        found = await self._storage.get("runs", run_id)
        if found is None or found["session_id"] != session.id:
            raise RunUnknown
        return _RUN.validate_python(found)

    async def find_run(self, run_id: str) -> Run | None:
        found = await self._storage.get("runs", run_id)
        return None if found is None else _RUN.validate_python(found)

    async def run_of_key(self, session: Session, idempotency_key: str) -> Run | None:
        where = [Equals("session_id", session.id), Equals("idempotency_key", idempotency_key)]
        page = await self._storage.query("runs", where, limit=1)
        return _RUN.validate_python(page.items[0]) if page.items else None

    async def queued_runs(self) -> Sequence[Run]:
        """Runs of all owners that wait, oldest first."""
        page = await self._storage.query("runs", [Equals("status", "queued")], limit=1_000)
        return [_RUN.validate_python(each) for each in page.items]

    # Messages

    async def add_message(self, message: Message) -> None:
        await self._storage.put("messages", [document(message)])

    async def messages(
        self, session: Session, limit: int, cursor: str | None
    ) -> tuple[list[Message], str | None]:
        """The latest messages, newest last; the cursor leads to older ones."""
        page = await self._storage.query(
            "messages", [Equals("session_id", session.id)], descending=True, limit=limit, cursor=cursor
        )
        return [_MESSAGE.validate_python(each) for each in reversed(page.items)], page.next_cursor

    async def all_messages(self, session: Session) -> AsyncGenerator[Message]:
        """Every message, oldest first."""
        cursor: str | None = None
        while True:
            page = await self._storage.query(
                "messages", [Equals("session_id", session.id)], limit=200, cursor=cursor
            )
            for each in page.items:
                yield _MESSAGE.validate_python(each)
            if (cursor := page.next_cursor) is None:
                return

    async def get_answer(self, session: Session, message_id: str) -> Message:
        """Raises `MessageUnknown` also for questions."""
        found = await self._storage.get("messages", message_id)
        if found is None or found["session_id"] != session.id or found["role"] != "assistant":
            raise MessageUnknown
        return _MESSAGE.validate_python(found)

    async def save_feedback(self, feedback: Feedback) -> None:
        await self._storage.put("feedback", [document(feedback)])


def _title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _MAX_TITLE else line[: _MAX_TITLE - 1].rstrip() + "…"
