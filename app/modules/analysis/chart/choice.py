"""What a reader has chosen of a chart. What is None stays as KAI proposed it."""

from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import ConfigDict, Field, JsonValue

from app.modules.analysis.computed.option import ColumnIndex, OptionKind
from app.modules.analysis.figures.aggregates import Aggregate
from graph.described import Described

ChosenMark = Literal[
    "bar", "stacked", "percent", "line", "area", "point", "arc", "histogram", "heat", "combo", "map"
]
ChosenUnit = Literal["day", "week", "month", "quarter", "year"]
Sort = Literal["rows", "value", "name", "natural"]
NumberFormat = Literal["auto", "compact", "percent", "exact"]

T = TypeVar("T")

NO_SERIES = -1
MOST_VALUES = 6
MAX_LIMIT = 100
MAX_WINDOW = 366


Left: TypeAlias = Annotated[T | None, Field(exclude_if=lambda value: value is None)]
"""A field that is left out where nothing is chosen."""


class ChosenValue(Described):
    """A column, and how several of its values become one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    column: ColumnIndex
    """Zero-based column."""
    how: Left[Aggregate] = None
    """Null for the way that KAI proposes."""


class Computed(Described):
    """What is computed for a chart over time."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: OptionKind
    """What to compute."""
    window: Left[Annotated[int, Field(strict=True, ge=2, le=MAX_WINDOW)]] = None
    """Number of periods of a moving average."""


class ChartChoice(Described):
    """What a reader has chosen of a chart; what is null stays as proposed. Columns are zero-based."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"examples": [{"mark": "line"}]})

    mark: Left[ChosenMark] = None
    """Kind of the picture. `combo` is two panels with one axis of time."""
    across: Left[ColumnIndex] = None
    """Column of the periods or names."""
    values: Left[Annotated[list[ChosenValue], Field(min_length=1, max_length=MOST_VALUES)]] = None
    """Columns of the values."""
    series: Left[Annotated[int, Field(ge=NO_SERIES, le=10_000)]] = None
    """Column of the series, or -1 for none."""
    time: Left[ChosenUnit] = None
    """Unit of the periods."""
    sort: Left[Sort] = None
    """Order of the names: as the rows come, by value, by letters, or as calendars and numbers go."""
    limit: Left[Annotated[int, Field(ge=1, le=MAX_LIMIT)]] = None
    """The most names; the rest is said in a sentence."""
    share: Left[bool] = None
    """Draw each value as a share of the total."""
    facet: Left[bool] = None
    """Draw each series in a small picture of its own."""
    labels: Left[bool] = None
    """Write the values at the marks."""
    color: Left[Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]] = None
    """Colour of the marks of a chart without series."""
    format: Left[NumberFormat] = None
    """How numbers are written."""
    unit: Left[Annotated[str, Field(max_length=12)]] = None
    """Unit after the numbers."""
    title: Left[Annotated[str, Field(max_length=200)]] = None
    """Heading above the chart; empty for none."""
    computed: Left[Computed] = None
    """What is computed for the chart from all rows."""
    specification: Left[dict[str, JsonValue]] = None
    """A Vega-Lite specification of the reader's own over the data `rows`; the other fields are ignored."""

    @property
    def is_given(self) -> bool:
        """True if anything is chosen."""
        return bool(self.model_dump())
