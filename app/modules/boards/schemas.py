"""Bodies of boards and pins. Fields left out of a change stay unchanged."""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, field_validator

from app.core.errors import problem_type
from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody, not_null
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.boards.model import (
    COLUMNS,
    MAX_HEIGHT,
    MOST_PINS,
    STALE_HOURS,
    PinPeriod,
    PinState,
)
from app.modules.boards.service import NewPin, ShownBoard, ShownPin
from app.modules.session.schemas import GivenChoice, Title
from graph.state import Column, Cut

_ID = "019ab1c2-0000-7000-8000-000000000000"


Width = Annotated[int, Field(strict=True, ge=2, le=COLUMNS)]
Height = Annotated[int, Field(strict=True, ge=1, le=MAX_HEIGHT)]
Hours = Annotated[int, Field(strict=True, ge=1, le=24 * 366)]
PeriodDays = Annotated[int, Field(strict=True, ge=1, le=3_660)]
Id = Annotated[Text, Field(max_length=100)]


class NewBoard(Body):
    """A board to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Weekly sales"}]})

    title: Title
    """Title of the board."""
    stale_after_hours: Hours = STALE_HOURS
    """Age in hours from which rows are `stale`."""


class BoardChange(Body):
    """Changes of a board. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"order": [_ID]}]})

    title: Title | None = None
    """The new title."""
    order: Annotated[list[Id], Field(max_length=2 * MOST_PINS)] | None = None
    """Ids of pins, in the order in which they shall stand. Others come last, oldest first."""
    stale_after_hours: Hours | None = None
    """Age in hours from which rows are `stale`."""
    period_days: PeriodDays | None = None
    """Length of the period in days. Null removes it. The next refresh restricts the statements that take a
    period to it; until then their rows are `stale`.
    """

    _given = field_validator("title", "order", "stale_after_hours", mode="before")(not_null)


class NewPinBody(Body):
    """An answer to pin."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"message_id": _ID, "width": 6}]})

    message_id: Id
    """Id of the answer, from `done` or the session's messages. It has to have SQL and rows."""
    title: Title | None = None
    """Title of the pin. Left out: the question."""
    chart_choice: GivenChoice | None = None
    """What is chosen of the chart. Left out: as in the answer."""
    width: Width = 6
    """Columns of the board's grid of twelve that the pin takes."""
    height: Height = 3
    """Rows of the grid that the pin takes."""

    def new(self) -> NewPin:
        return NewPin(
            message_id=self.message_id,
            title=self.title,
            chart_choice=self.chart_choice,
            width=self.width,
            height=self.height,
        )


class PinChange(Body):
    """Changes of a pin. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"width": 12, "height": 1}]})

    title: Title | None = None
    """The new title."""
    message_id: Id | None = None
    """Id of an answer whose question, SQL and rows replace those of the pin, such as a repaired one."""
    chart_choice: GivenChoice | None = None
    """What is chosen of the chart, in place of the choice before. Null goes back to the proposed one."""
    width: Width | None = None
    """The new width in columns."""
    height: Height | None = None
    """The new height in rows."""
    period_by: Annotated[Text, Field(max_length=500)] | None = None
    """One of the `choices` of its `period`: the time column by which it takes a period from the next refresh
    on. Null removes the choice.
    """

    _given = field_validator("title", "message_id", "width", "height", mode="before")(not_null)


class BoardBody(VersionedBody):
    """A page of pinned answers."""

    id: str
    """Id of the board."""
    title: str
    """Title of the board."""
    stale_after_hours: int
    """Age in hours from which rows are `stale`."""
    period_days: int | None
    """Length of the period that restricts the statements that take one. Null: they run as they are."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest change of its title or order."""


class PinFailureBody(ResponseBody):
    """Why the latest refresh gave no rows."""

    type: str
    """Type of the problem, such as `urn:kai:statement-failed`."""
    title: str
    """The kind of problem, in words."""
    detail: str
    """What is wrong, such as the name of a column that the database does not have."""
    cure: str
    """What to do about it."""
    at: Time
    """Time of the refresh."""


class PinBody(VersionedBody):
    """A pinned question with its statement and its last rows. After a failed refresh these are the last good
    ones.
    """

    id: str
    """Id of the pin."""
    board_id: str
    """Id of the board."""
    db_connection_id: str
    """Id of the database connection."""
    title: str
    """Title of the pin."""
    question: str
    """The question, in words that stand alone."""
    sql: str
    """The statement that a refresh runs, under the same guard and limits as any other."""
    dialect: str
    """SQL dialect of the statement."""
    session_id: str
    """Id of the session of the pinned answer. It may have been deleted."""
    message_id: str
    """Id of the pinned answer."""
    chart_choice: ChartChoice | None
    """What is chosen of the chart. Null for the chart as it was proposed."""
    chosen_chart: dict[str, JsonValue] | None
    """The chosen chart, as a Vega-Lite specification, in place of `chart`. Null without a choice, and if the
    rows do not allow it.
    """
    chart_refusal: str | None
    """Why the choice cannot be drawn, so that `chart` is shown. Null if it can."""
    width: int
    """Columns of the board's grid of twelve that the pin takes."""
    height: int
    """Rows of the grid that the pin takes."""
    state: PinState
    """`stale`: the rows are older than the board allows, or there are none. `running`: the statement runs or
    waits. `failed`: see `failure`. `connection_gone`: the connection was deleted. `no_right`: the owner of
    the pin may not use it any more.
    """
    failure: PinFailureBody | None
    """Why the latest refresh failed. Null if it did not."""
    columns: list[Column]
    """Columns of the rows, in order. Empty without rows."""
    rows_head: list[list[JsonValue]]
    """The first rows: at most 20, and 8 KiB of JSON."""
    row_count: int | None
    """Number of stored rows. Null if there are none yet."""
    truncated: bool
    """A limit cut the rows."""
    cut_by: Cut | None
    """The limit that cut the rows: `rows` or `bytes` if rows are missing, `values` if long values are cut.
    Null otherwise.
    """
    chart: dict[str, JsonValue] | None
    """A Vega-Lite specification with its data inline. Null if there is none."""
    ran_at: Time | None
    """Time of the rows. Null if there are none yet."""
    database_ms: int | None
    """Milliseconds that the statements of the rows took. Null if there are none yet."""
    rows_read: int | None
    """Rows that the database read for them. Null if it does not say."""
    bytes_read: int | None
    """Bytes that the database read for them. Null if it does not say."""
    period_by: str | None
    """The time column that the owner chose for periods. Null: the one found by the statement."""
    period: PinPeriod | None
    """The period of the rows. Null if the board had none when they were read."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest change of the pin, refreshes not counted."""

    @classmethod
    def of(cls, shown: ShownPin) -> "PinBody":
        pin = shown.pin
        result = pin.result
        failure = pin.failure
        return cls.model_validate(
            {
                **vars(pin),
                "state": shown.state,
                "failure": None if failure is None else _failure_body(vars(failure)),
                "columns": result.columns if result else [],
                "rows_head": result.rows_head if result else [],
                "row_count": result.row_count if result else None,
                "truncated": result is not None and result.truncated,
                "cut_by": result.cut_by if result else None,
                "chart": result.chart if result else None,
                "ran_at": result.ran_at if result else None,
                "database_ms": result.database_ms if result else None,
                "rows_read": result.rows_read if result else None,
                "bytes_read": result.bytes_read if result else None,
                "period": result.period if result else None,
            }
        )


def _failure_body(failure: dict[str, object]) -> dict[str, object]:
    return {**failure, "type": problem_type(str(failure["problem"]))}


class BoardWithPins(BoardBody):
    """A board with its pins in order."""

    pins: list[PinBody]
    """The pins, at most 30."""

    @classmethod
    def of(cls, shown: ShownBoard) -> "BoardWithPins":
        pins = [PinBody.of(each) for each in shown.pins]
        return cls.model_validate({**vars(shown.board), "pins": pins})
