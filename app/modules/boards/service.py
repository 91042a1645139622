"""Boards: pages of pinned answers, each of which can be refreshed without a model."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.keyed_ids import created_id
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.stored import read_choice
from app.modules.analysis.chart.words import ReadWords
from app.modules.analysis.drawn_result import ChosenChart
from app.modules.boards.drawing import result_of_pin
from app.modules.boards.errors import (
    AnswerUnknown,
    NothingToPin,
    PinRowsMissing,
    TooManyBoards,
    TooManyPins,
)
from app.modules.boards.model import (
    MOST_BOARDS,
    MOST_PINS,
    STALE_HOURS,
    Board,
    ConnectionAccess,
    Pin,
    PinResult,
    PinState,
)
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.errors import ConnectionNotFound, PersonUnknown
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.errors import RowsGone
from app.modules.records.model import Message, Row, Session
from app.modules.run.messages import cost_of
from app.modules.session.errors import ChartRefused
from app.modules.session.service import SessionService
from graph.state import Rows

audit = logging.getLogger("kai.audit")

_NO_RIGHTS = ""
"""Fingerprint of no one: no rows were read with it."""


@dataclass(frozen=True, kw_only=True)
class NewPin:
    """What to pin, and how it is shown."""

    message_id: str
    title: str | None
    chart_choice: ChartChoice | None
    width: int
    height: int


@dataclass(frozen=True)
class ShownPin:
    """A pin and its state."""

    pin: Pin
    state: PinState


@dataclass(frozen=True)
class ShownBoard:
    """A board with its pins in order."""

    board: Board
    pins: Sequence[ShownPin]


@dataclass(frozen=True)
class _Answer:
    """An answer that can be pinned, with its session."""

    message: Message
    session: Session
    runs_again: bool
    """The pin's statement has to run again: the rows may have been read with other rights, or from another
    database of the session."""


class Boards:
    """Every method names the owner. It raises `BoardUnknown` for a board of another owner, and `PinUnknown`
    for a pin of another board.
    """

    def __init__(
        self,
        repository: BoardRepository,
        refreshing: Refreshing,
        sessions: SessionService,
        *,
        connections: DatabaseConnections,
    ) -> None:
        self.repository = repository
        self._refreshing = refreshing
        self._sessions = sessions
        self._connections = connections

    async def create(self, owner: str, title: str, *, stale_after_hours: int = STALE_HOURS) -> Board:
        """Raises `TooManyBoards`."""
        if await self.repository.count(owner) >= MOST_BOARDS:
            raise TooManyBoards(most=MOST_BOARDS)
        now = now_ms()
        board = Board(
            id=created_id(),
            owner=owner,
            title=title,
            stale_after_hours=stale_after_hours,
            created_at=now,
            updated_at=now,
        )
        board = await self.repository.add(board)
        _audit(board, "added")
        return board

    async def read(self, owner: str, board_id: str) -> ShownBoard:
        return await self.shown(await self.repository.get(owner, board_id))

    async def shown(self, board: Board) -> ShownBoard:
        """Returns a board with its pins as the person sees them who reads."""
        return ShownBoard(
            board, await _show_pins(self._connections, board, await self.repository.pins(board))
        )

    async def change(self, owner: str, board_id: str, changes: Mapping[str, JsonValue]) -> ShownBoard:
        before = await self.repository.get(owner, board_id)
        board = await self.repository.edit(before, changes)
        if board.period_days != before.period_days:
            for pin in await self.repository.pins(board):  # what runs now is for the period before
                await self.repository.change_pin(pin, {"refreshing_since": None})
        _audit(board, "changed")
        return await self.shown(board)

    async def delete(self, owner: str, board_id: str) -> None:
        board = await self.repository.get(owner, board_id)
        await self.repository.delete(board)
        _audit(board, "deleted")

    async def pin(self, owner: str, board_id: str, new: NewPin) -> ShownPin:
        """Pin an answer with the rows that it has. If they are no longer stored, its statement runs.

        Raises `AnswerUnknown`, `NothingToPin`, `ConnectionNotFound`, `TooManyPins` or `ChartRefused`.
        """
        board = await self.repository.get(owner, board_id)
        pins = await self.repository.pins(board)
        if len(pins) >= MOST_PINS:
            raise TooManyPins(most=MOST_PINS)
        answer = await self._answer(owner, new.message_id)
        chosen = await self._chosen_of(answer, new.chart_choice)
        message, session = answer.message, answer.session
        now = now_ms()
        pin = Pin(
            id=created_id(),
            owner=owner,
            board_id=board.id,
            db_connection_id=session.connection_id,
            title=new.title or message.standalone_question or message.query,
            question=message.standalone_question or message.query,
            sql=message.sql or "",
            dialect=message.dialect,
            session_id=session.id,
            message_id=message.id,
            chart_choice=chosen.choice,
            chosen_chart=chosen.chart,
            chart_refusal=chosen.refusal,
            width=new.width,
            height=new.height,
            created_at=now,
            updated_at=now,
        )
        pin = await self.repository.add_pin(pin)
        _audit(board, "pinned", pin)
        return await self._give_rows(board, pin, answer)

    async def change_pin(
        self, owner: str, board_id: str, pin_id: str, *, changes: Mapping[str, JsonValue]
    ) -> ShownPin:
        """Change what a pin shows. `message_id` replaces its statement and its rows by those of an answer.

        Raises what `pin` raises.
        """
        board = await self.repository.get(owner, board_id)
        pin = await self._pin(board, pin_id)
        moved = {**changes, "updated_at": max(now_ms(), pin.updated_at + 1)}
        if changes.get("period_by", pin.period_by) != pin.period_by:
            moved["refreshing_since"] = None
        given = read_choice(changes.get("chart_choice"))
        answer: _Answer | None = None
        if isinstance(message_id := changes.get("message_id"), str):
            answer = await self._answer(owner, message_id)
            message, session = answer.message, answer.session
            moved |= {
                "db_connection_id": session.connection_id,
                "question": message.standalone_question or message.query,
                "sql": message.sql,
                "dialect": message.dialect,
                "session_id": session.id,
                "refreshing_since": None,  # what runs now is of the statement before
            }
        if "chart_choice" in changes and given is None:
            moved |= ChosenChart(None).as_fields()
        elif answer is not None:
            moved |= (await self._chosen_of(answer, given)).as_fields()
        elif given is not None:
            moved |= (await self._chosen_for(pin, given)).as_fields()
        changed = await self.repository.edit_pin(pin, moved)
        _audit(board, "changed", changed)
        if answer is None:
            return await self._shown_pin(board, changed)
        return await self._give_rows(board, changed, answer)

    async def read_pin(self, owner: str, board_id: str, pin_id: str) -> ShownPin:
        board = await self.repository.get(owner, board_id)
        return await self._shown_pin(board, await self.repository.pin(board, pin_id))

    async def read_chart_words(
        self, owner: str, board_id: str, pin_id: str, *, words: str
    ) -> tuple[ReadWords, ChosenChart]:
        """Read what words make of a pin's chart, and draw it. Nothing is stored.

        Raises `PinRowsMissing` and `TokensSpent`.
        """
        board = await self.repository.get(owner, board_id)
        pin = await self._pin(board, pin_id)
        if pin.result is None:
            raise PinRowsMissing
        shown = pin.chosen_chart or pin.result.chart or {}
        read = await self._sessions.charts.choice_of(
            owner, words, pin.result.columns, present=pin.chart_choice, shown=shown
        )
        if read.choice is None:
            return read, ChosenChart(None, pin.result.chart)
        return read, await self.drawn(pin, read.choice)

    async def unpin(self, owner: str, board_id: str, pin_id: str) -> None:
        board = await self.repository.get(owner, board_id)
        pin = await self.repository.pin(board, pin_id)
        await self.repository.delete_pin(pin)
        _audit(board, "unpinned", pin)

    async def refresh(self, owner: str, board_id: str) -> ShownBoard:
        """Begin to run the statements of all pins again."""
        board = await self.repository.get(owner, board_id)
        await self._refreshing.start(board, await self.repository.pins(board))
        return await self.shown(board)

    async def refresh_pin(self, owner: str, board_id: str, pin_id: str) -> ShownPin:
        """Begin to run the statement of a pin again."""
        board = await self.repository.get(owner, board_id)
        await self._refreshing.start(board, [await self.repository.pin(board, pin_id)])
        return await self._shown_pin(board, await self.repository.pin(board, pin_id))

    async def rows(
        self, owner: str, board_id: str, pin_id: str, *, limit: int, cursor: str | None
    ) -> tuple[PinResult, list[Row], str | None]:
        """Returns the last result of a pin with a page of its rows, and the cursor of the next page.

        Raises `PinRowsMissing`.
        """
        board = await self.repository.get(owner, board_id)
        return await self.rows_of(await self._pin(board, pin_id), limit=limit, cursor=cursor)

    async def rows_of(
        self, pin: Pin, *, limit: int, cursor: str | None
    ) -> tuple[PinResult, list[Row], str | None]:
        """Returns what `rows` returns, of a pin as its reader sees it."""
        if pin.result is None:
            raise PinRowsMissing
        start = cursor_position(cursor)
        stop = min(start + limit, pin.result.row_count)
        rows = await self.repository.rows.read(pin.result.id, start, stop)
        return pin.result, rows, position_cursor(stop) if stop < pin.result.row_count else None

    async def _chosen_of(self, answer: _Answer, given: ChartChoice | None) -> ChosenChart:
        """A choice drawn from the rows of an answer, or by the refresh if these are no longer stored, or the
        statement runs again; None is the answer's own. Raises `ChartRefused` for one that is given.
        """
        message = answer.message
        if answer.runs_again:
            return ChosenChart(given or read_choice(message.chart_choice))
        if given is None or given == message.chart_choice:
            (own,) = await self._sessions.charts.completed([message])
            return ChosenChart(own.chart_choice, own.chosen_chart, own.chart_refusal)
        try:
            chosen = await self._sessions.charts.draw(message, given)
        except RowsGone:
            return ChosenChart(given)
        if chosen.refusal is not None:
            raise ChartRefused(chosen.refusal)
        return chosen

    async def _chosen_for(self, pin: Pin, given: ChartChoice) -> ChosenChart:
        """A choice drawn from the rows of a pin, or by its next refresh if it has none.

        Raises `ChartRefused`.
        """
        chosen = await self.drawn(pin, given)
        if chosen.refusal is not None:
            raise ChartRefused(chosen.refusal)
        return chosen

    async def drawn(self, pin: Pin, choice: ChartChoice) -> ChosenChart:
        """Draw a choice from the rows of a pin without storing it. It has no picture without rows."""
        result = pin.result
        if result is None:
            return ChosenChart(choice)
        rows = Rows(
            columns=result.columns,
            rows=await self.repository.rows.read(result.id, 0, result.row_count),
            row_count=result.row_count,
            truncated=result.truncated,
            cut_by=result.cut_by,
        )
        drawn = await result_of_pin(
            self._connections, pin, rows, sql=pin.statement_of_rows, ran_at=result.ran_at
        )
        return await asyncio.to_thread(drawn.chosen, choice)

    async def _answer(self, owner: str, message_id: str) -> _Answer:
        """Raises `AnswerUnknown`, `NothingToPin` or `ConnectionNotFound`."""
        message = await self._sessions.repository.answer_of(owner, message_id)
        if message is None:
            raise AnswerUnknown
        session = await self._sessions.repository.get(owner, message.session_id)
        if message.sql is None or message.row_count is None:
            raise NothingToPin
        connection = await self._connections.repository.get(owner, session.connection_id)
        return _Answer(message, session, connection.policies is not None or bool(session.further_ids))

    async def _give_rows(self, board: Board, pin: Pin, answer: _Answer) -> ShownPin:
        """Give a pin the rows of an answer. Its statement runs if it `runs_again`, if they are no longer
        stored, and if the board has a period.
        """
        message = answer.message
        count = message.row_count or 0
        if answer.runs_again:
            await self._refreshing.start(board, [await self.repository.drop_result(pin)])
            return await self._shown_pin(board, await self.repository.pin(board, pin.id))
        try:
            rows = Rows(
                columns=message.columns,
                rows=await self._sessions.rows.read(message.id, 0, count),
                row_count=count,
                truncated=message.truncated,
                cut_by=message.cut_by,
            )
        except RowsGone:
            await self._refreshing.start(board, [await self.repository.drop_result(pin)])
        else:
            ran_at = message.created_at
            kept = await self.repository.keep_result(
                pin, rows, chart=message.chart, ran_at=ran_at, cost=cost_of(message)
            )
            if kept is not None and board.period_days is not None:
                await self._refreshing.start(board, [kept])
        return await self._shown_pin(board, await self.repository.pin(board, pin.id))

    async def _shown_pin(self, board: Board, pin: Pin) -> ShownPin:
        (shown,) = await _show_pins(self._connections, board, [pin])
        return shown

    async def _pin(self, board: Board, pin_id: str) -> Pin:
        """Returns a pin as the person sees it who reads. Raises `PinUnknown`."""
        return (await self._shown_pin(board, await self.repository.pin(board, pin_id))).pin


async def _show_pins(connections: DatabaseConnections, board: Board, pins: Sequence[Pin]) -> list[ShownPin]:
    """Returns pins as the person sees them who reads."""
    connection_ids = sorted({pin.db_connection_id for pin in pins})
    found = await asyncio.gather(*(_find_access(connections, board.owner, each) for each in connection_ids))
    known = dict(zip(connection_ids, found, strict=True))
    now = now_ms()
    shown: list[ShownPin] = []
    for pin in pins:
        access, rights = known[pin.db_connection_id]
        seen = pin.limit_to(rights)
        shown.append(ShownPin(seen, seen.state(board, access, now)))
    return shown


async def _find_access(
    connections: DatabaseConnections, owner: str, connection_id: str
) -> tuple[ConnectionAccess, str | None]:
    """Returns whether the owner may use a connection, and the rights of the person who reads."""
    try:
        connection = await connections.repository.get(owner, connection_id)
    except ConnectionNotFound:
        exists = await connections.repository.exists(connection_id)
        return "no_right" if exists else "connection_gone", None
    try:
        return "open", connections.rights_on(connection)
    except PersonUnknown:
        return "open", _NO_RIGHTS


def _audit(board: Board, action: str, pin: Pin | None = None) -> None:
    """One line for each change, without titles and statements."""
    audit.info(
        "board",
        extra={
            "owner": board.owner,
            "board_id": board.id,
            "pin_id": None if pin is None else pin.id,
            "connection_id": None if pin is None else pin.db_connection_id,
            "action": action,
        },
    )
