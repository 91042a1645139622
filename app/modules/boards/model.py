"""Boards and their pins. Times are epoch milliseconds."""

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from app.modules.analysis.chart.stored import StoredChoice
from graph.described import described
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
    period_days: int | None = None
    """Length of the period that restricts the statements that take one. None: they run as they are."""
    created_at: int
    updated_at: int
    version: int = 0
    """Number of edits."""


@described
@dataclass(frozen=True, kw_only=True)
class PinPeriod:
    """The period of a board, as it was applied to the rows of a pin."""

    days: int
    """Length in whole days. The last is the day before the refresh, by UTC."""
    column: str | None
    """The restricted time column, such as `orders.order_date`. Null if the statement takes no period."""
    since: str | None
    """First day. Null if the statement takes no period."""
    until: str | None
    """Last day. Null if the statement takes no period."""
    sql: str | None
    """The statement that ran. Null if it is that of the pin."""
    previous: list[JsonValue] | None
    """The row of the period of equal length before, if both periods have exactly one. Null otherwise."""
    reason: str | None
    """Why the statement takes no period, in a sentence. Null if it takes one."""
    choices: list[str]
    """Time columns that `period_by` of the pin may name."""


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
    period: PinPeriod | None = None
    """None if the board had no period."""
    database_ms: int = 0
    rows_read: int | None = None
    bytes_read: int | None = None
    rights: str | None = None
    """Fingerprint of what the person who read the rows may see. None if everyone sees the same."""


@dataclass(frozen=True, kw_only=True)
class PinFailure:
    """Why the last refresh gave no rows, and what helps."""

    problem: str
    title: str
    detail: str
    cure: str
    at: int
    rights: str | None = None
    """Fingerprint of what the person may see for whom it failed. None as for rows."""


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
    chart_choice: StoredChoice
    width: int
    height: int
    created_at: int
    updated_at: int
    period_by: str | None = None
    """The time column that the owner chose for periods. None: the one found by the statement."""
    chosen_chart: dict[str, JsonValue] | None = None
    """The chosen chart, drawn from all rows again with every refresh. None if the proposed one is shown."""
    chart_refusal: str | None = None
    """Why the rows do not allow the choice. None if they do."""
    result: PinResult | None = None
    failure: PinFailure | None = None
    refreshing_since: int | None = None
    version: int = 0
    """Number of edits. Refreshes are none."""

    @property
    def shown_chart(self) -> dict[str, JsonValue] | None:
        """The chart that readers see: the chosen one, or else the proposed one. None without rows."""
        return None if self.result is None else self.chosen_chart or self.result.chart

    @property
    def statement_of_rows(self) -> str:
        """The statement that gave the last rows: that of the pin, or for a period."""
        period = None if self.result is None else self.result.period
        return self.sql if period is None or period.sql is None else period.sql

    def limit_to(self, rights: str | None) -> "Pin":
        """Returns the pin for a reader with these rights: without rows that were read with others, and a
        failure that came after them.
        """
        if self.result is None or self.result.rights == rights:
            return self
        failure = self.failure if self.failure and self.failure.rights == rights else None
        return replace(self, result=None, chosen_chart=None, chart_refusal=None, failure=failure)

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
        if self.result is None:
            return "stale"
        is_old = self.result.ran_at < now - board.stale_after_hours * _HOUR_MS
        days = None if self.result.period is None else self.result.period.days
        return "stale" if is_old or days != board.period_days else "current"
