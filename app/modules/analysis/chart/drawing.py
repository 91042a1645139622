"""A chart's axes, points and notes, and its translation into Vega-Lite."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import JsonValue

from app.modules.analysis.chart.covered import Covered, read_covered
from app.modules.analysis.words import title
from app.modules.cuts import cut_sentence
from graph.state import Rows

Mark = Literal["bar", "line", "arc", "point"]
FieldType = Literal["quantitative", "temporal", "ordinal", "nominal"]
Spec: TypeAlias = dict[str, JsonValue]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
MAX_POINTS = 2_000
MAX_SERIES = 8
"""The most series with a colour of their own; the others become one more."""


@dataclass(frozen=True)
class Axis:
    """An axis: a zero-based column of the result, its title and its kind of scale."""

    column: int
    title: str
    kind: FieldType


@dataclass(frozen=True)
class Point:
    """A point of the chart. A `value` of None is a gap."""

    across: JsonValue
    value: JsonValue
    series: JsonValue = None


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A chart, independent of Vega-Lite.

    `how` holds sentences on what was added up, selected or left out; it is empty when every row is a point.
    `lying` means horizontal bars. `adds` means that values of several series may be added up, so their bars
    are stacked. `covered` are the days that the data of a time axis covers; None for another axis.
    """

    mark: Mark
    across: Axis
    value: Axis
    series: Axis | None = None
    points: Sequence[Point]
    how: Sequence[str] = ()
    lying: bool = False
    adds: bool
    covered: Covered | None = None


def mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    """Returns a part of a specification that is an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def note_of(spec: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Returns KAI's own note in a specification: its rows and how they were put together."""
    return mapping(mapping(spec.get("usermeta")).get("kai"))


def covered_of(spec: Mapping[str, JsonValue]) -> Covered | None:
    """The days that the time axis of a specification covers. None if it has none."""
    return read_covered(mapping(note_of(spec).get("covered")))


def axis(rows: Rows, column: int, kind: FieldType) -> Axis:
    return Axis(column, title(rows["columns"][column]["name"]), kind)


def spec_of(drawing: Drawing, rows: Rows) -> Spec:
    """The Vega-Lite specification. Its fields are named c0, c1, …: Vega reads dots and brackets as paths."""
    how = [*_coverage(rows), *drawing.how]
    axes = [drawing.across, drawing.value, *([drawing.series] if drawing.series else [])]
    tooltip: list[JsonValue] = [_field(each) for each in axes]
    named = _named(drawing)
    note: Spec = {"rows": rows["row_count"], "shown": len(drawing.points), "how": " ".join(how)}
    if drawing.covered is not None:
        note["covered"] = drawing.covered.as_json()
    encoding: Spec = {**_encoding(drawing), "tooltip": tooltip}
    heading: Spec = {"text": named[:1].upper() + named[1:]}
    if how:
        heading["subtitle"] = [*how]
    return {
        "$schema": SCHEMA,
        "title": heading,
        "description": f"{drawing.mark} chart of {named}",
        "data": {"values": [_datum(drawing, point) for point in drawing.points]},
        "mark": {"type": "line", "point": True} if drawing.mark == "line" else {"type": drawing.mark},
        "encoding": encoding,
        "usermeta": {"kai": note},
    }


def _coverage(rows: Rows) -> list[str]:
    """Sentences that say so when the chart does not cover all rows of the result."""
    at_hand = len(rows["rows"])
    count = rows["row_count"]
    gone = f"Made of the first {at_hand:,} of {count:,} rows; the others are no longer stored."
    return list(filter(None, [cut_sentence(rows), gone if at_hand < count else ""]))


def _named(drawing: Drawing) -> str:
    by = [drawing.across, *([drawing.series] if drawing.series else [])]
    return f"{drawing.value.title} by {' and '.join(each.title for each in by)}"


def _datum(drawing: Drawing, point: Point) -> Spec:
    datum: Spec = {f"c{drawing.across.column}": point.across, f"c{drawing.value.column}": point.value}
    if drawing.series is not None:
        datum[f"c{drawing.series.column}"] = point.series
    return datum


def _encoding(drawing: Drawing) -> Spec:
    across = _field(drawing.across)
    value = _field(drawing.value)
    value["axis"] = {"format": ",~r"}
    if drawing.across.kind == "quantitative":
        across["axis"] = {"format": ",~r"}
    elif drawing.across.kind != "temporal":
        across["sort"] = None
    if not drawing.adds:
        value["stack"] = None
    if drawing.mark == "arc":
        return {"theta": _field(drawing.value), "color": across}
    encoding: Spec = {"y": across, "x": value} if drawing.lying else {"x": across, "y": value}
    if drawing.series is not None:
        encoding["color"] = {**_field(drawing.series), "sort": None}
        if drawing.mark == "bar" and not drawing.adds:
            encoding["yOffset" if drawing.lying else "xOffset"] = {**_field(drawing.series), "sort": None}
    return encoding


def _field(of: Axis) -> Spec:
    return {"field": f"c{of.column}", "type": of.kind, "title": of.title}
