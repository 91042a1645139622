"""Boards and their pins. Times are epoch milliseconds."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from graph.state import Column, Cut

MOST_BOARDS = 200
"""Boards of an owner."""
MOST_PINS = 30
"""Pins of a board."""
COLUMNS = 12
"""Columns of a board's grid."""
MAX_HEIGHT = 6
"""Rows of the grid that a pin may take."""
STALE_HOURS = 24
"""Age from which the rows of a board are stale, unless the board says otherwise."""

_HOUR_MS = 3_600_000
_GIVEN_UP_MS = 15 * 60_000
"""Longer than all statements of a board can take: the process that began then has died."""

PinState = Literal["current", "stale", "running", "failed", "connection_gone", "no_right"]
ConnectionAccess = Literal["open", "connection_gone", "no_right"]
"""`no_right`: the connection is there, and the owner of the pin may not use it any more."""


@dataclass(frozen=True, kw_only=True)
class Board:
    """A page of pins. `order` holds the ids of pins as they were last arranged."""

    id: str
    owner: str
    title: str
    order: tuple[str, ...] = ()
    stale_after_hours: int = STALE_HOURS
    created_at: int
    updated_at: int


@dataclass(frozen=True, kw_only=True)
class PinResult:
    """The last rows of a pin. All of them are stored under the id of the result."""

    id: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None
    rows_head: list[list[JsonValue]]
    chart: dict[str, JsonValue] | None
    ran_at: int


@dataclass(frozen=True, kw_only=True)
class PinFailure:
    """Why the last refresh gave no rows, and what helps."""

    problem: str
    title: str
    detail: str
    cure: str
    at: int


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A question with the statement that answers it. `result` stays when a later refresh fails."""

    id: str
    owner: str
    board_id: str
    db_connection_id: str
    title: str
    question: str
    sql: str
    dialect: str
    session_id: str
    """Session of the answer that was pinned. It may be deleted."""
    message_id: str
    chart_choice: dict[str, JsonValue] | None
    width: int
    height: int
    created_at: int
    updated_at: int
    result: PinResult | None = None
    failure: PinFailure | None = None
    refreshing_since: int | None = None

    def is_running(self, now: int) -> bool:
        """True while a process refreshes the pin."""
        return self.refreshing_since is not None and now - self.refreshing_since < _GIVEN_UP_MS

    def state(self, board: Board, access: ConnectionAccess, now: int) -> PinState:
        if access != "open":
            return access
        if self.is_running(now):
            return "running"
        if self.failure is not None:
            return "no_right" if self.failure.problem == "database-role" else "failed"
        oldest = now - board.stale_after_hours * _HOUR_MS
        return "stale" if self.result is None or self.result.ran_at < oldest else "current"
