"""Comments on answers and boards, for the people who may see them."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.keyed_ids import created_id
from app.core.storage.listing import Listed, ListRequest
from app.modules.boards.errors import BoardUnknown
from app.modules.boards.repository import BoardRepository
from app.modules.comments.errors import CommentedThingUnknown, CommentUnknown, NotAuthor, TooManyComments
from app.modules.comments.model import MOST_COMMENTS, MOST_MENTIONS, Comment, CommentedThing, ThingKind
from app.modules.comments.repository import CommentRepository
from app.modules.records.model import Message
from app.modules.records.repository import SessionRepository
from app.modules.schedules.model import Mention, Notice
from app.modules.schedules.repository import ScheduleRepository
from app.modules.sharing.errors import LinkUnknown
from app.modules.sharing.service import Sharing

audit = logging.getLogger("kai.audit")

_NAME = re.compile(r"(?<![\w@.])@([^\s@,;:!?()<>\[\]\"']{1,200}(?:@[A-Za-z0-9.-]{1,200})?)")


@dataclass(frozen=True, kw_only=True)
class Where:
    """An answer or a board as a caller names it. `link_id` is the link by which another person sees it."""

    kind: ThingKind
    thing_id: str
    link_id: str | None = None


class Comments:
    """Every method names the person, who sees a thing as its owner or by a link. It raises
    `CommentedThingUnknown`, `LinkUnknown` or `CommentUnknown` for what they may not see.
    """

    def __init__(
        self,
        repository: CommentRepository,
        sharing: Sharing,
        sessions: SessionRepository,
        *,
        boards: BoardRepository,
        notices: ScheduleRepository,
    ) -> None:
        self.repository = repository
        self._sharing = sharing
        self._sessions = sessions
        self._boards = boards
        self._notices = notices

    async def page(self, reader: str, where: Where, wanted: ListRequest) -> Listed[Comment]:
        return await self.repository.page(await self._place(reader, where), wanted)

    async def people(self, reader: str, where: Where) -> list[str]:
        """Returns the owner of a thing and those who have commented on it, without the reader."""
        place = await self._place(reader, where)
        return sorted({place.owner, *await self.repository.authors(place)} - {reader})

    async def open_counts(self, reader: str, session_id: str) -> Mapping[str, int]:
        """Returns the numbers of unresolved comments on answers of a session of the reader."""
        session = await self._sessions.find(session_id)
        if session is None or session.owner != reader:
            raise CommentedThingUnknown(kind="session")
        return await self.repository.open_counts(session_id)

    async def add(self, author: str, where: Where, text: str) -> Comment:
        """Raises `TooManyComments`, too."""
        place = await self._place(author, where)
        if await self.repository.count(place.thing_id) >= MOST_COMMENTS:
            raise TooManyComments(most=MOST_COMMENTS)
        ways = await self._mentioned(author, place, text)
        comment = Comment(
            id=created_id(),
            owner=place.owner,
            author=author,
            kind=place.kind,
            thing_id=place.thing_id,
            session_id=place.session_id,
            text=text,
            mentions=tuple(ways),
            created_at=now_ms(),
        )
        comment = await self.repository.add(comment)
        await self._tell(comment, place, ways)
        _audit(comment, author, "added")
        return comment

    async def get(self, reader: str, comment_id: str, *, link_id: str | None) -> Comment:
        """Raises `CommentUnknown`, also for a comment on a thing that the reader may not see."""
        comment, _ = await self._comment(reader, comment_id, link_id)
        return comment

    async def edit(self, reader: str, comment_id: str, text: str, *, link_id: str | None) -> Comment:
        """Those whom only the new text mentions get a notice. Raises `NotAuthor`."""
        comment, place = await self._comment(reader, comment_id, link_id)
        if comment.author != reader:
            raise NotAuthor
        ways = await self._mentioned(reader, place, text)
        changed = await self.repository.edit(
            comment, {"text": text, "mentions": [*ways], "edited_at": now_ms()}
        )
        for name in set(comment.mentions) - set(ways):
            await self._notices.withdraw(id_of(comment.id, name))
        await self._tell(changed, place, ways)
        _audit(changed, reader, "changed")
        return changed

    async def resolve(self, reader: str, comment_id: str, *, resolved: bool, link_id: str | None) -> Comment:
        """Mark a comment as resolved, or open it again."""
        comment, _ = await self._comment(reader, comment_id, link_id)
        if resolved == (comment.resolved_at is not None):
            return comment
        at, by = (now_ms(), reader) if resolved else (None, None)
        changed = await self.repository.edit(comment, {"resolved_at": at, "resolved_by": by})
        _audit(changed, reader, "resolved" if resolved else "reopened")
        return changed

    async def delete(self, reader: str, comment_id: str) -> None:
        """Its author may, also without a link, and the owner of the thing."""
        comment = await self.repository.find(comment_id)
        if comment is None or reader not in (comment.author, comment.owner):
            raise CommentUnknown
        for name in comment.mentions:
            await self._notices.withdraw(id_of(comment.id, name))
        await self.repository.delete(comment)
        _audit(comment, reader, "deleted")

    async def _comment(
        self, reader: str, comment_id: str, link_id: str | None
    ) -> tuple[Comment, CommentedThing]:
        comment = await self.repository.find(comment_id)
        if comment is None:
            raise CommentUnknown
        where = Where(kind=comment.kind, thing_id=comment.thing_id, link_id=link_id)
        try:
            return comment, await self._place(reader, where)
        except (CommentedThingUnknown, LinkUnknown):
            raise CommentUnknown from None

    async def _place(self, reader: str, where: Where) -> CommentedThing:
        owner = reader
        if where.link_id is not None:
            owner = (
                await self._sharing.shows(reader, where.link_id, where.kind, thing_id=where.thing_id)
            ).owner
        if where.kind == "board":
            try:
                board = await self._boards.get(owner, where.thing_id)
            except BoardUnknown:
                raise CommentedThingUnknown(kind="board") from None
            return CommentedThing(
                kind="board", thing_id=board.id, owner=owner, session_id=None, title=board.title
            )
        answer = await self._answer(owner, where.thing_id)
        return CommentedThing(
            kind="answer",
            thing_id=answer.id,
            owner=owner,
            session_id=answer.session_id,
            title=answer.query or "",
        )

    async def _answer(self, owner: str, message_id: str) -> Message:
        answer = await self._sessions.answer_of(owner, message_id)
        session = None if answer is None else await self._sessions.find(answer.session_id)
        if answer is None or session is None:  # the session is hidden, or being deleted
            raise CommentedThingUnknown(kind="answer")
        return answer

    async def _mentioned(self, author: str, place: CommentedThing, text: str) -> dict[str, str | None]:
        """Returns the people in a text who may see the thing, each with the link by which they do; None for
        its owner. Others stay plain text, whether they are known or not.
        """
        found: dict[str, str | None] = {}
        for name in _names(text):
            if name == author:
                continue
            if name == place.owner:
                found[name] = None
            elif await self.repository.is_known(name):
                link = await self._sharing.way_to(name, place.owner, _things(place), kind=place.kind)
                if link is not None:
                    found[name] = link.id
        return found

    async def _tell(self, comment: Comment, place: CommentedThing, ways: Mapping[str, str | None]) -> None:
        """A person gets one notice of a comment."""
        for name, link_id in ways.items():
            notice = Notice(
                id=id_of(comment.id, name),
                owner=name,
                schedule_id=None,
                board_id=place.thing_id if place.kind == "board" else None,
                pin_id=None,
                db_connection_id=None,
                title=place.title,
                kind="mention",
                scheduled_for=comment.created_at,
                at=now_ms(),
                missed=0,
                session_id=place.session_id,
                author=comment.author,
                mention=Mention(
                    comment_id=comment.id, kind=place.kind, thing_id=place.thing_id, link_id=link_id
                ),
            )
            await self._notices.tell(notice)


def _names(text: str) -> Sequence[str]:
    """Returns the names after an @, each once."""
    found = (each.group(1).rstrip(".-") for each in _NAME.finditer(text))
    return [*dict.fromkeys(filter(None, found))][:MOST_MENTIONS]


def _things(place: CommentedThing) -> Sequence[str]:
    """Returns the ids of what a link that shows the place may lead to."""
    return [place.thing_id, *([] if place.session_id is None else [place.session_id])]


def _audit(comment: Comment, reader: str, action: str) -> None:
    """One line for each change, without the text."""
    named = {name: value for name, value in asdict(comment).items() if name in ("kind", "thing_id", "author")}
    audit.info("comment", extra={"owner": reader, "comment_id": comment.id, **named, "action": action})
