"""Bodies of links, and of what they show."""

from typing import Annotated

from pydantic import ConfigDict, Field

from app.core.clock import rfc3339
from app.http.routes import Body, PageOf, ResponseBody, Text, Time
from app.modules.boards.schemas import BoardWithPins
from app.modules.records.model import Message
from app.modules.session.schemas import MessageBody
from app.modules.sharing.model import DEFAULT_DAYS, MAX_DAYS, LinkKind, ShareLink
from app.modules.sharing.service import SharedThing


class NewLink(Body):
    """A link to make."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"kind": "board", "target_id": "019ab1c2-0000-7000-8000-000000000000", "days": 7}]
        }
    )

    kind: LinkKind
    """Kind of the thing: `answer`, `session` or `board`."""
    target_id: Annotated[Text, Field(max_length=100)]
    """Id of the answer's message, the session or the board."""
    days: Annotated[int, Field(strict=True, ge=1, le=MAX_DAYS)] = DEFAULT_DAYS
    """Days until the link expires."""
    preview: bool = False
    """Let all who have its address read title, headline and picture without a sign-in. Not for databases that
    show each person other rows.
    """


class LinkBody(ResponseBody):
    """A read-only link."""

    id: str
    """Id of the link: `/shared/{id}` shows it."""
    kind: LinkKind
    """Kind of the thing."""
    target_id: Annotated[str, Field(validation_alias="thing_id")]
    """Id of the thing."""
    session_id: str | None
    """Session of the answer, or the session itself. Null for a board."""
    title: str | None
    """Title of the session or board, or question of the answer, when the link was made. Null without one."""
    created_at: Time
    """Time of creation."""
    expires_at: Time
    """Time from which the link shows nothing."""
    preview: bool
    """Title, headline and picture can be read without a sign-in."""


class SharedBody(ResponseBody):
    """What a link shows, read-only."""

    link_id: str
    """Id of the link."""
    kind: LinkKind
    """Kind of the thing."""
    title: str | None
    """Title of the session or question of the answer when the link was made, or title of the board. Null
    without one.
    """
    owner: str
    """Owner who has made the link."""
    expires_at: Time
    """Time from which the link shows nothing."""
    messages: PageOf[MessageBody]
    """The answer, or a page of the session's messages until the link was made, newest last. Empty for a
    board.
    """
    board: BoardWithPins | None
    """The board with the pins whose databases the caller may use. Null for others."""

    @classmethod
    def of(cls, shared: SharedThing) -> "SharedBody":
        items = [_without_private(each, shared.link) for each in shared.messages]
        return cls.model_validate(
            {
                **vars(shared.link),
                "link_id": shared.link.id,
                "title": shared.title,
                "messages": PageOf[MessageBody](items=items, next_cursor=shared.next_cursor),
                "board": None if shared.board is None else BoardWithPins.of(shared.board),
            }
        )


def _without_private(message: Message, link: ShareLink) -> MessageBody:
    """Leaves out what is the owner's own: which facts KAI remembers of them, the ids of their client, their
    ratings, how often they have edited, and the message that a fork was made from; and what they have added
    since the link was made.
    """
    made_at = rfc3339(link.created_at)
    shown = message.model_copy(
        update={
            "remembered": [],
            "client_message_id": None,
            "feedback": None,
            "source_message_id": None,
            "version": 0,
            "versions": [each for each in message.versions if each.created_at <= made_at],
        }
    )
    return MessageBody.model_validate(shown)
