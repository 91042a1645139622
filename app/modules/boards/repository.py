"""Boards, pins and the rows of pins in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.storage.documents import Documents, adapter_of
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Condition, Document, Equals, Query, Storage
from app.modules.analysis.chart.stored import read_chosen_chart
from app.modules.analysis.drawn_result import ChosenChart
from app.modules.boards.errors import BoardUnknown, PinUnknown
from app.modules.boards.model import MOST_PINS, Board, Pin, PinPeriod, PinResult
from app.modules.records.rows import RowStore
from graph.answer import DatabaseCost, head_of
from graph.state import Rows

_COLLECTIONS = ("pin_rows", "pins", "boards")


class BoardRepository:
    """Every read names the owner, except `find`. A board of another owner is unknown."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._boards = Documents(storage, "boards", Board)
        self._pins = Documents(storage, "pins", Pin, write=_document, upgrade=read_chosen_chart)
        self.rows = RowStore(storage, "pin_rows", belongs_to="pin_id")

    async def add(self, board: Board) -> Board:
        """Returns the board that is stored."""
        return await self._boards.create(board)

    async def count(self, owner: str) -> int:
        return await self._boards.count(Equals("owner", owner))

    async def get(self, owner: str, board_id: str) -> Board:
        """Raises `BoardUnknown`."""
        board = await self.find(board_id)
        if board is None or board.owner != owner:
            raise BoardUnknown
        return board

    async def find(self, board_id: str) -> Board | None:
        """A board of any owner."""
        return await self._boards.get(board_id)

    async def page(self, owner: str, wanted: ListRequest) -> Listed[Board]:
        return await self._boards.list_page([Equals("owner", owner)], wanted)

    async def edit(self, board: Board, changes: Mapping[str, JsonValue]) -> Board:
        """Change a board for its owner. Raises `BoardUnknown` if it was deleted meanwhile."""
        moved = {**changes, "updated_at": max(now_ms(), board.updated_at + 1)}
        changed = await self._boards.edit(board.id, moved)
        if changed is None:
            raise BoardUnknown
        return changed

    async def delete(self, board: Board) -> None:
        """Delete the board last, so that an interrupted deletion can be repeated."""
        of_board = [Equals("board_id", board.id)]
        for pin in await self.pins(board):
            await self._storage.delete("pin_rows", [Equals("pin_id", pin.id)])
        await self._storage.delete("pins", of_board)
        await self._storage.delete("schedules", of_board)
        await self._storage.delete("notices", of_board)
        for collection in ("links", "comments"):
            await self._storage.delete(collection, [Equals("thing_id", board.id)])
        await self._boards.delete(Equals("id", board.id))

    async def delete_all(self, owner: str) -> None:
        """Delete the boards of an owner."""
        for collection in _COLLECTIONS:
            await self._storage.delete(collection, [Equals("owner", owner)])

    async def pins(self, board: Board) -> list[Pin]:
        """Returns the pins in the order of the board; those that it does not name come last, oldest first."""
        pins = await self._pins.first(Query([Equals("board_id", board.id)], limit=2 * MOST_PINS))
        places = {pin_id: place for place, pin_id in enumerate(board.order)}
        return sorted(pins, key=lambda pin: (places.get(pin.id, len(places)), pin.id))

    async def pin(self, board: Board, pin_id: str) -> Pin:
        """Raises `PinUnknown`."""
        pin = await self._pins.get(pin_id)
        if pin is None or pin.board_id != board.id:
            raise PinUnknown
        return pin

    async def find_pin(self, pin_id: str) -> Pin | None:
        """A pin of any owner."""
        return await self._pins.get(pin_id)

    async def add_pin(self, pin: Pin) -> Pin:
        """Returns the pin that is stored."""
        return await self._pins.create(pin)

    async def change_pin(
        self, pin: Pin, changes: Mapping[str, JsonValue], where: Sequence[Condition] = ()
    ) -> Pin | None:
        """Returns the changed pin. Returns None if it is gone or does not meet the conditions."""
        return await self._pins.change(pin.id, changes, where)

    async def edit_pin(self, pin: Pin, changes: Mapping[str, JsonValue]) -> Pin:
        """Change a pin for its owner. Raises `PinUnknown` if it is gone."""
        changed = await self._pins.edit(pin.id, changes)
        if changed is None:
            raise PinUnknown
        return changed

    async def keep_result(
        self,
        pin: Pin,
        rows: Rows,
        *,
        chart: dict[str, JsonValue] | None,
        ran_at: int,
        cost: DatabaseCost,
        period: PinPeriod | None = None,
        chosen: ChosenChart | None = None,
        rights: str | None = None,
    ) -> Pin | None:
        """Store all rows in place of the last ones, which stay until then. A `chosen` of None changes nothing
        of the chart that was chosen before.

        Returns the changed pin. Returns None if the pin is gone, or another refresh has begun meanwhile.
        """
        result = PinResult(
            id=new_id(),
            columns=rows["columns"],
            row_count=rows["row_count"],
            truncated=rows["truncated"],
            cut_by=rows.get("cut_by"),
            rows_head=head_of(rows["rows"]),
            chart=chart,
            ran_at=ran_at,
            period=period,
            rights=rights,
            **cost.model_dump(),
        )
        await self.rows.keep(pin.owner, pin.id, result.id, rows=rows["rows"])
        drawn = {} if chosen is None else chosen.as_fields()
        kept = await self.settle(pin, {"result": asdict(result), "failure": None, **drawn})
        if kept is None:
            await self._delete_rows(pin, result.id)
        elif pin.result is not None:
            await self._delete_rows(pin, pin.result.id)
        return kept

    async def drop_result(self, pin: Pin) -> Pin:
        """Delete the last rows of a pin, which are of another statement. Raises `PinUnknown`."""
        dropped = await self.change_pin(pin, {"result": None, "failure": None})
        if dropped is None:
            raise PinUnknown
        if pin.result is not None:
            await self._delete_rows(pin, pin.result.id)
        return dropped

    async def settle(self, pin: Pin, changes: Mapping[str, JsonValue]) -> Pin | None:
        """End the refresh of a pin. Returns None if the pin is gone, or another refresh has begun."""
        same = [Equals("refreshing_since", pin.refreshing_since)]
        return await self.change_pin(pin, {**changes, "refreshing_since": None}, same)

    async def delete_pin(self, pin: Pin) -> None:
        await self._pins.delete(Equals("id", pin.id))
        for collection in ("pin_rows", "schedules", "notices"):
            await self._storage.delete(collection, [Equals("pin_id", pin.id)])

    async def _delete_rows(self, pin: Pin, result_id: str) -> None:
        await self._storage.delete("pin_rows", [Equals("pin_id", pin.id), Equals("message_id", result_id)])


def _document(pin: Pin) -> Document:
    document: Document = adapter_of(Pin).dump_python(pin)
    return document
