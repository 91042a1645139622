"""The computed option of a chart, and what came of it."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from app.modules.analysis.figures.calendar import CalendarUnit
from graph.described import Described

MAX_WINDOW = 366

OptionKind = Literal["moving_average", "change", "outliers", "projection"]
Together = Literal["sum", "mean", "count", "median"]
ColumnIndex = Annotated[int, Field(strict=True, ge=0, le=10_000)]


class NotComputable(Exception):
    """The rows do not allow the option. The message says why, and what helps."""


class ChartOption(Described):
    """What is computed for a chart over time, from all rows."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"kind": "moving_average", "across": 0, "value": 1, "window": 3}]},
    )

    kind: OptionKind
    """`moving_average`: the mean of each period and those before it. `change`: the change to the period
    before. `outliers`: periods far above or below what the same weekday or month, the trend and other years
    lead to expect. `projection`: the next periods, with a band.
    """
    across: ColumnIndex
    """Zero-based column of the times."""
    value: ColumnIndex
    """Zero-based column of the values."""
    unit: CalendarUnit | None = None
    """Unit to which the times are put together. Null for the unit that they have."""
    how: Together | None = None
    """How several values of a period become one. Null if every period has one value."""
    window: Annotated[int, Field(strict=True, ge=2, le=MAX_WINDOW)] | None = None
    """Number of periods of a moving average. Null for a week of days, four weeks, three months, four
    quarters or three years, and for the other kinds.
    """

    @model_validator(mode="after")
    def _window_of_an_average(self) -> "ChartOption":
        if self.window is not None and self.kind != "moving_average":
            raise ValueError("only a moving average has a window")
        return self


class ComputedChart(Described):
    """A chart with its computed option."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    option: ChartOption
    """The option."""
    chart: dict[str, JsonValue] | None
    """A Vega-Lite specification with its data inline. `usermeta.kai.how` holds the method, its error in a
    backtest, and what it leaves out. Null if the rows do not allow the option any more.
    """
    refusal: str | None = None
    """Why there is no chart. Null if there is one."""
