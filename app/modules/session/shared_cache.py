"""Hot conversations in Redis, for all processes, between each one's memory and the store.

A session's latest page is kept for a day under `session:{id}`. It is good as long as the session has not
moved since, which the store is always asked, so it does not matter when Redis forgets, lags, or has what
somebody else has put there. Whoever ends a turn leaves the new page, so that the next read is a hit.
"""

from datetime import timedelta

from prometheus_client import CollectorRegistry, Counter
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from app.core.clock import rfc3339
from app.core.passing_texts import PassingTexts
from app.core.secrets import SecretBox, SecretUnreadable
from app.modules.session.cache import Load, Page
from app.modules.session.model import Message, Session

LIFETIME = timedelta(hours=24)


class _Conversation(BaseModel):
    """What Redis holds; `last_activity` is the state of the session that the page belongs to."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    session_id: str
    user_id: str
    created_at: str
    last_activity: str
    title: str | None
    messages: list[Message]
    limit: int
    next_cursor: str | None

    def answers(self, session: Session, limit: int) -> bool:
        """Whether this is that page of the session as it is now, and of no other."""
        whole = self.next_cursor is None and len(self.messages) <= limit
        return (
            (self.session_id, self.user_id) == (session.id, session.owner)
            and self.last_activity == rfc3339(session.updated_at)
            and (whole or self.limit == limit)
            and all((each.session_id, each.owner) == (session.id, session.owner) for each in self.messages)
        )


class SharedConversations:
    """Encrypts what it keeps if it is given a box, and then believes nothing that is not."""

    def __init__(
        self, texts: PassingTexts, prefix: str, box: SecretBox | None, registry: CollectorRegistry
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

    async def page(self, session: Session, limit: int, load: Load) -> Page:
        """The latest page of the session's messages; `session` is as the store has it now."""
        if session.active_run_id is not None:
            return await load()
        kept = self._read(await self._texts.get(self._key(session)))
        if kept is not None and kept.answers(session, limit):
            self._hits.inc()
            return kept.messages, kept.next_cursor
        self._misses.inc()
        loaded = await load()
        await self._texts.put(self._key(session), self._written(session, limit, loaded))
        return loaded

    async def forget(self, session: Session) -> None:
        await self._texts.remove(self._key(session))

    def _key(self, session: Session) -> str:
        return f"{self._prefix}session:{session.id}"

    def _read(self, text: bytes | None) -> _Conversation | None:
        if text is None:
            return None
        try:
            return _Conversation.model_validate_json(self._box.decrypt(text.decode()) if self._box else text)
        except (ValidationError, SecretUnreadable, UnicodeDecodeError):
            return None

    def _written(self, session: Session, limit: int, page: Page) -> bytes:
        kept = _Conversation(
            session_id=session.id,
            user_id=session.owner,
            created_at=rfc3339(session.created_at),
            last_activity=rfc3339(session.updated_at),
            title=session.title,
            messages=page[0],
            limit=limit,
            next_cursor=page[1],
        ).model_dump_json(by_alias=True)
        return (self._box.encrypt(kept) if self._box else kept).encode()
