"""Read-only links to answers, sessions and boards, for users who may use their databases."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from app.core.clock import now_ms
from app.core.keyed_ids import created_id
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.drawn_result import ChosenChart
from app.modules.boards.errors import BoardUnknown
from app.modules.boards.service import Boards, ShownBoard
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.errors import RowsGone
from app.modules.records.model import Message, Row, Session
from app.modules.session.answers import StoredRows
from app.modules.session.service import SessionService
from app.modules.sharing.errors import (
    LinkUnknown,
    NothingToContinue,
    NotOffered,
    ThingUnknown,
    TooManyLinks,
)
from app.modules.sharing.model import MOST_LINKS, LinkKind, SharedChart, ShareLink
from app.modules.sharing.repository import LinkRepository

audit = logging.getLogger("kai.audit")

_DAY_MS = 86_400_000


@dataclass(frozen=True, kw_only=True)
class SharedThing:
    """What a link shows. `board` is None but for a board, whose pins are those that the reader may see."""

    link: ShareLink
    title: str | None
    """Of the link, or of the board as it is now."""
    messages: list[Message]
    next_cursor: str | None
    board: ShownBoard | None


@dataclass(frozen=True)
class Preview:
    """What programs show of a link beside its address."""

    link_id: str
    title: str
    description: str
    """The headline; empty without one."""
    chart: Spec | None


@dataclass(frozen=True, kw_only=True)
class _Thing:
    """What a link is made to: see `ShareLink` for the fields."""

    title: str | None
    connection_ids: Sequence[str]
    session_id: str | None = None
    before_sequence: int | None = None
    charts: dict[str, SharedChart] = field(default_factory=dict)


class Sharing:
    """Methods that read raise `LinkUnknown`, the same for every reason."""

    def __init__(
        self,
        repository: LinkRepository,
        sessions: SessionService,
        boards: Boards,
        *,
        connections: DatabaseConnections,
    ) -> None:
        self.repository = repository
        self._sessions = sessions
        self._boards = boards
        self._connections = connections

    async def add(
        self, owner: str, kind: LinkKind, thing_id: str, *, days: int, preview: bool = False
    ) -> ShareLink:
        """Raises `ThingUnknown`, `NotOffered` or `TooManyLinks`."""
        thing = await self._thing(owner, kind, thing_id)
        for each in thing.connection_ids:
            if await self._connection(owner, each) is None:
                raise ThingUnknown(kind="database for this")
            if not await self._is_open(owner, each):
                raise NotOffered
        if await self.repository.count(owner) >= MOST_LINKS:
            raise TooManyLinks(most=MOST_LINKS)
        now = now_ms()
        link = ShareLink(
            id=created_id(),
            owner=owner,
            kind=kind,
            thing_id=thing_id,
            session_id=thing.session_id,
            before_sequence=thing.before_sequence,
            connection_ids=tuple(thing.connection_ids),
            created_at=now,
            expires_at=now + days * _DAY_MS,
            title=thing.title,
            charts=thing.charts,
            preview=preview,
        )
        link = await self.repository.add(link)
        _audit(link, owner, "added")
        return link

    async def revoke(self, owner: str, link_id: str) -> None:
        """Raises `LinkUnknown` for a link of another owner."""
        link = await self.repository.find(link_id)
        if link is None or link.owner != owner:
            raise LinkUnknown
        await self.repository.delete(link)
        _audit(link, owner, "revoked")

    async def open(self, reader: str, link_id: str, limit: int, *, cursor: str | None) -> SharedThing:
        """Returns what a link shows, and for a session a page of its messages, newest last."""
        link = await self._valid(link_id)
        if link.kind == "board":
            board = await self._board(reader, link)
            _audit(link, reader, "opened")
            return SharedThing(link=link, title=board.board.title, messages=[], next_cursor=None, board=board)
        session = await self._session(reader, link)
        if link.kind == "answer":
            messages, next_cursor = [await self._answer(session, link, link.thing_id)], None
        else:
            before = link.before_sequence or 0
            messages, next_cursor = await self._sessions.repository.messages_before(
                session, before, limit, cursor=cursor
            )
        _audit(link, reader, "opened")
        messages = [await self._as_shared(each, link) for each in messages]
        return SharedThing(
            link=link, title=link.title, messages=messages, next_cursor=next_cursor, board=None
        )

    async def preview(self, link_id: str) -> Preview:
        """Returns what anyone with the address may see. Raises `LinkUnknown` also for a link without one."""
        link = await self._valid(link_id)
        if not link.preview:
            raise LinkUnknown
        _audit(link, "", "previewed")
        if link.kind == "board":
            board = await self._board(link.owner, link)
            charts = (each.pin.shown_chart for each in board.pins)
            return Preview(link.id, board.board.title, "", chart=next(filter(None, charts), None))
        session = await self._session(link.owner, link)
        if link.kind == "answer":
            message = await self._as_shared(await self._answer(session, link, link.thing_id), link)
            return Preview(link.id, message.query, message.headline or "", chart=message.shown_chart)
        before = link.before_sequence or 0
        latest, _ = await self._sessions.repository.messages_before(session, before, 1, cursor=None)
        if not latest or latest[-1].role != "assistant":
            return Preview(link.id, link.title or "", "", chart=None)
        message = await self._as_shared(latest[-1], link)
        return Preview(
            link.id, link.title or message.query, message.headline or "", chart=message.shown_chart
        )

    async def _as_shared(self, message: Message, link: ShareLink) -> Message:
        """Returns an answer with its chart as it was chosen when the link was made."""
        choice = link.charts.get(message.id, SharedChart()).choice
        if choice is not None and choice == message.chart_choice:
            (message,) = await self._sessions.charts.completed([message])
            return message
        try:
            chosen = ChosenChart(None)
            if choice is not None:
                chosen = await self._sessions.charts.draw(message, choice)
        except RowsGone as gone:
            chosen = ChosenChart(choice, refusal=gone.detail)
        return message.model_copy(
            update={
                "chart_choice": chosen.choice,
                "chosen_chart": chosen.chart,
                "chart_refusal": chosen.refusal,
            }
        )

    async def shows(
        self, reader: str, link_id: str, kind: Literal["answer", "board"], *, thing_id: str
    ) -> ShareLink:
        """Returns a link if it shows this answer or board to the reader."""
        link = await self._valid(link_id)
        if (kind == "board") != (link.kind == "board"):
            raise LinkUnknown
        if kind == "answer":
            await self._answer(await self._session(reader, link), link, thing_id)
        elif link.thing_id == thing_id:
            await self._board(reader, link)
        else:
            raise LinkUnknown
        return link

    async def way_to(
        self, reader: str, owner: str, link_to: Sequence[str], *, kind: Literal["answer", "board"]
    ) -> ShareLink | None:
        """Returns a link of the owner that shows the first of these things to the reader. It leads to one of
        them.
        """
        for link in await self.repository.links_to(owner, link_to):
            with suppress(LinkUnknown):
                return await self.shows(reader, link.id, kind, thing_id=link_to[0])
        return None

    async def go_on(self, reader: str, link_id: str) -> Session:
        """Create a session of the reader with copies of what a link shows. Raises `LinkUnknown`,
        `NothingToContinue` or `TooManySessions`.
        """
        link = await self._valid(link_id)
        if link.kind == "board":
            await self._board(reader, link)
            raise NothingToContinue
        session = await self._session(reader, link)
        if link.kind == "answer":
            answer = await self._answer(session, link, link.thing_id)
            begin, end = answer.sequence - 1, answer.sequence + 1
        else:
            begin, end = 0, link.before_sequence or 0
        copied = await self._sessions.copies.adopt(
            reader,
            session,
            range(begin, end),
            title=link.title,
            as_shown=lambda message: self._as_shared(message, link),
        )
        _audit(link, reader, "continued")
        return copied

    async def answer_rows(
        self, reader: str, link_id: str, message_id: str, *, limit: int, cursor: str | None
    ) -> tuple[StoredRows, list[Row], str | None]:
        """Returns a page of the rows of an answer that a link shows."""
        link = await self._valid(link_id)
        message = await self._answer(await self._session(reader, link), link, message_id)
        if message.row_count is None:
            raise LinkUnknown
        result = StoredRows.of_answer(message)
        rows, next_cursor = await self._sessions.answers.read_rows(result, limit, cursor)
        return result, rows, next_cursor

    async def _thing(self, owner: str, kind: LinkKind, thing_id: str) -> _Thing:
        """Raises `ThingUnknown`."""
        if kind == "board":
            try:
                board = await self._boards.repository.get(owner, thing_id)
            except BoardUnknown:
                raise ThingUnknown(kind=kind) from None
            pins = await self._boards.repository.pins(board)
            return _Thing(title=board.title, connection_ids=sorted({pin.db_connection_id for pin in pins}))
        session_id, question, charts = thing_id, None, dict[str, SharedChart]()
        if kind == "answer":
            answer = await self._sessions.repository.answer_of(owner, thing_id)
            if answer is None or not _has_ended(answer):
                raise ThingUnknown(kind=kind)
            session_id, question, charts = answer.session_id, answer.query, _chart_of(answer)
        session = await self._sessions.repository.find(session_id)
        if session is None or session.owner != owner or session.db_connection_id is None:
            raise ThingUnknown(kind=kind)
        history = await self._sessions.history(session)
        before = max((each.sequence for each in history if _has_ended(each)), default=-1) + 1
        first = next((each.query for each in history if each.sequence < before), None)
        if kind == "session":
            async for each in self._sessions.repository.all_messages(session):
                charts |= _chart_of(each)
        return _Thing(
            title=question or session.title or first,
            connection_ids=sorted({session.db_connection_id, *session.further_ids}),
            session_id=session.id,
            before_sequence=before,
            charts=charts,
        )

    async def _valid(self, link_id: str) -> ShareLink:
        link = await self.repository.find(link_id)
        if link is None or link.expires_at <= now_ms():
            raise LinkUnknown
        return link

    async def _session(self, reader: str, link: ShareLink) -> Session:
        session = None if link.session_id is None else await self._sessions.repository.find(link.session_id)
        if session is None or session.owner != link.owner or session.db_connection_id is None:
            raise LinkUnknown
        for each in {session.db_connection_id, *session.further_ids, *link.connection_ids}:
            if not await self._is_open(reader, each):
                raise LinkUnknown
        return session

    async def _answer(self, session: Session, link: ShareLink, message_id: str) -> Message:
        """Returns an answer that the link shows."""
        message = await self._sessions.repository.find_answer(session, message_id)
        is_whole = link.kind == "session"
        if message is None or (not is_whole and message.id != link.thing_id):
            raise LinkUnknown
        if is_whole and message.sequence >= (link.before_sequence or 0):
            raise LinkUnknown
        return message

    async def _board(self, reader: str, link: ShareLink) -> ShownBoard:
        board = await self._boards.repository.find(link.thing_id)
        if board is None or board.owner != link.owner:
            raise LinkUnknown
        shown = await self._boards.shown(board)
        connection_ids = {each.pin.db_connection_id for each in shown.pins}
        readable = {each for each in connection_ids if await self._is_open(reader, each)}
        if reader != link.owner and not readable:
            raise LinkUnknown
        pins = [each for each in shown.pins if each.pin.db_connection_id in readable]
        return ShownBoard(board, pins)

    async def _is_open(self, reader: str, connection_id: str) -> bool:
        """True for a database that the reader may use, and of which all people see the same rows."""
        connection = await self._connection(reader, connection_id)
        return connection is not None and not connection.is_per_person

    async def _connection(self, reader: str, connection_id: str) -> Connection | None:
        try:
            return await self._connections.repository.get(reader, connection_id)
        except ConnectionNotFound:
            return None


def _has_ended(message: Message) -> bool:
    """An answer whose calls wait for people is replaced when its turn goes on."""
    return message.role == "assistant" and message.status != "awaiting_approval"


def _chart_of(message: Message) -> dict[str, SharedChart]:
    """How the chart of an answer is drawn, by its id; empty if it is drawn as it was proposed."""
    return {} if message.chart_choice is None else {message.id: SharedChart(choice=message.chart_choice)}


def _audit(link: ShareLink, reader: str, action: str) -> None:
    """One line for each change and each reading, without titles and rows."""
    audit.info(
        "link",
        extra={
            "owner": reader,
            "link_id": link.id,
            "link_owner": link.owner,
            "kind": link.kind,
            "thing_id": link.thing_id,
            "action": action,
        },
    )
