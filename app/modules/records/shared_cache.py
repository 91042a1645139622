"""Cache of hot conversations in Redis, shared by all processes, between their memory and the store.

A session's latest page is kept for a day under `session:{id}`. It is valid as long as the session has not
changed. The session itself is always read from the store, so it does not matter if Redis loses data, lags,
or holds an outdated copy. The process that ends a turn stores the new page, so that the next read is a hit.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from prometheus_client import CollectorRegistry, Counter
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from app.core.clock import rfc3339
from app.core.secrets import SecretBox, SecretUnreadable
from app.modules.records.cache import MessagePage
from app.modules.records.model import Message, Session
from app.modules.records.plain import plain_content, plain_id, plain_role

if TYPE_CHECKING:
    from app.core.best_effort_cache import BestEffortCache

LIFETIME = timedelta(hours=24)


class _Copied(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class _Said(_Copied):
    """A message in the form of the chat routes."""

    message_id: str
    role: Literal["user", "assistant"]
    content: str
    timestamp: str


class _Page(_Copied):
    """The same messages in the form of the session routes."""

    limit: int
    next_cursor: str | None
    edited_at: int
    messages: list[Message]


class _Conversation(_Copied):
    """The stored copy. `last_activity` identifies the state of the session that its messages belong to."""

    session_id: str
    user_id: str
    created_at: str
    last_activity: str
    title: str | None
    messages: list[_Said]
    page: _Page

    def is_of(self, session: Session) -> bool:
        return (self.session_id, self.user_id) == (session.id, session.owner)

    def answers(self, session: Session, limit: int) -> bool:
        """True if this is that page of the session in its present state."""
        page = self.page
        whole = page.next_cursor is None and len(page.messages) <= limit
        return (
            self.is_of(session)
            and self.last_activity == rfc3339(session.updated_at)
            and page.edited_at == session.edited_at
            and (whole or page.limit == limit)
            and all((each.session_id, each.owner) == (session.id, session.owner) for each in page.messages)
        )


class SharedConversations:
    """Encrypts copies if it has a key, and then ignores copies that are not encrypted."""

    def __init__(
        self, texts: "BestEffortCache", prefix: str, box: SecretBox | None, *, registry: CollectorRegistry
    ) -> None:
        self._texts = texts
        self._prefix = prefix
        self._box = box
        read = Counter(
            "kai_shared_conversation_reads",
            "Pages that were not in memory, looked for in Redis",
            ["outcome"],
            registry=registry,
        )
        self._hits, self._misses = read.labels("hit"), read.labels("miss")

    async def page(self, session: Session, limit: int) -> MessagePage | None:
        """Returns the latest page of the session's messages. `session` is as the store has it now.

        Returns None if there is no copy of that page, or a run holds the session.
        """
        if session.active_run_id is not None:
            return None
        kept = self._read(await self._texts.get(self._key(session.id)))
        if kept is not None and kept.answers(session, limit):
            self._hits.inc()
            return kept.page.messages, kept.page.next_cursor
        self._misses.inc()
        return None

    async def put(self, session: Session, limit: int, page: MessagePage, *, names: Mapping[str, str]) -> None:
        """Store the latest page. `names` are the idempotency keys of its runs, by run id."""
        messages, next_cursor = page
        kept = _Conversation(
            session_id=session.id,
            user_id=session.owner,
            created_at=rfc3339(session.created_at),
            last_activity=rfc3339(session.updated_at),
            title=session.title,
            messages=[_said(each, names.get(each.run_id, each.run_id)) for each in messages],
            page=_Page(limit=limit, next_cursor=next_cursor, edited_at=session.edited_at, messages=messages),
        )
        await self._texts.put(self._key(session.id), self._written(kept))

    async def retitle(self, session: Session) -> None:
        """Write the session's title into its copy, if there is one."""
        kept = self._read(await self._texts.get(self._key(session.id)))
        if kept is not None and kept.is_of(session) and kept.title != session.title:
            renamed = kept.model_copy(update={"title": session.title})
            await self._texts.put(self._key(session.id), self._written(renamed))

    async def forget(self, session_id: str) -> None:
        await self._texts.remove(self._key(session_id))

    def _key(self, session_id: str) -> str:
        return f"{self._prefix}session:{session_id}"

    def _read(self, text: bytes | None) -> _Conversation | None:
        if text is None:
            return None
        try:
            return _Conversation.model_validate_json(self._box.decrypt(text.decode()) if self._box else text)
        except (ValidationError, SecretUnreadable, UnicodeDecodeError):
            return None

    def _written(self, kept: _Conversation) -> bytes:
        text = kept.model_dump_json(by_alias=True)
        return (self._box.encrypt(text) if self._box else text).encode()


def _said(message: Message, name: str) -> _Said:
    return _Said(
        message_id=plain_id(message, name),
        role=plain_role(message),
        content=plain_content(message),
        timestamp=rfc3339(message.created_at),
    )
