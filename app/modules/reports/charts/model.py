"""A chart as plain data, in the same form in which the page has it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias, get_args

from pydantic import JsonValue

from app.modules.analysis.chart.covered import Covered
from app.modules.analysis.chart.drawing import FieldType

Mark = Literal["bar", "stacked", "percent", "line", "area", "point", "arc", "histogram", "heat", "combo"]
MARKS: Sequence[Mark] = get_args(Mark)
NumberFormat = Literal["auto", "plain", "compact", "percent"]
Datum: TypeAlias = Mapping[str, JsonValue]

_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Channel:
    """A field of the data, its kind of scale and its title."""

    field: str
    kind: FieldType
    title: str


@dataclass(frozen=True)
class Numbers:
    """How numbers are written. `unit` is put after them, such as EUR."""

    format: NumberFormat = "auto"
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """`across` is what is compared, `value` the amount, `series` what colours distinguish, and `second` the
    line of a chart of bars and a line.

    `adds` says that values may be added up, `how` what the points add up or leave out, `rows` how many rows
    of the result they are made of, and `computed` that an option computed them from these. `covered` are the
    days that the data of a proposed chart's time axis covers.
    """

    mark: Mark
    across: Channel
    value: Channel
    series: Channel | None
    second: Channel | None
    adds: bool
    how: str
    rows: int
    computed: bool
    covered: Covered | None
    data: Sequence[Datum]
    heading: str
    numbers: Numbers


def name_of(cell: JsonValue) -> str:
    """The name of a cell on an axis or in a legend."""
    return _UNKNOWN if cell is None or cell == "" else text_of(cell)


def text_of(cell: JsonValue) -> str:
    """The cell as the page writes it: whole numbers have no decimal point, objects are compact JSON."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e21:
        return str(int(cell))
    return json.dumps(cell, separators=(",", ":"), ensure_ascii=False)


def number_of(cell: JsonValue) -> float | None:
    """The cell if it is a number that a double holds. Text is none."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    try:
        return float(cell) if isfinite(cell) else None
    except OverflowError:
        return None


def places_of(chart: Chart) -> int:
    """How many places are beside each other."""
    return len({name_of(datum.get(chart.across.field)) for datum in chart.data})
