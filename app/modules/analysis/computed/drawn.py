"""Computed options as Vega-Lite: the values, and the computed ones in a layer or a series of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import SCHEMA, FieldType, Spec
from app.modules.analysis.computed.option import ChartOption
from app.modules.analysis.computed.periods import PeriodValues
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.words import title
from app.modules.cuts import cut_sentence
from graph.state import Rows

ACROSS, VALUE, SERIES, LOW, HIGH, RING = "a0", "v0", "s0", "b0", "b1", "o0"
_DIGITS = 12


@dataclass(frozen=True)
class Extra:
    """Computed values by period. `band` are the ends of a band around them; `rings` go around values."""

    name: str
    points: Mapping[Period, float | None]
    kind: Literal["line", "rings"] = "line"
    band: Mapping[Period, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Values with their computed ones. `replaces`: the values themselves are left out. `is_share`: the
    computed values are shares of one.
    """

    values: PeriodValues
    said: Sequence[str]
    extras: Sequence[Extra]
    axis_title: str
    is_share: bool
    replaces: bool


def computed_spec(rows: Rows, option: ChartOption, drawn: Drawn) -> Spec:
    """The specification. Its last layer is the chart itself; a band or rings are in the layer before it."""
    time = title(rows["columns"][option.across]["name"])
    name = title(rows["columns"][option.value]["name"])
    values = _data(drawn, name)
    said = [*_coverage(rows), *drawn.said]
    across: Spec = {"field": ACROSS, "type": _kind(drawn.values), "title": time}
    if across["type"] != "temporal":
        across["sort"] = None
    amount: Spec = {
        "field": VALUE,
        "type": "quantitative",
        "title": drawn.axis_title or name,
        "axis": {"format": ".1~%" if drawn.is_share else ",~r"},
        "stack": None,
    }
    series: Spec = {"field": SERIES, "type": "nominal", "title": "", "sort": None}
    encoding: Spec = {"x": across, "y": amount}
    if not drawn.replaces:
        encoding["color"] = series
    heading = f"{drawn.axis_title or name} by {time}"
    return {
        "$schema": SCHEMA,
        "title": {"text": heading[:1].upper() + heading[1:], "subtitle": [*said]},
        "description": f"chart of {heading}",
        "data": {"values": [*values]},
        "layer": [
            *_below(drawn, across),
            {"mark": {"type": "bar"} if drawn.replaces else {"type": "line"}, "encoding": encoding},
        ],
        "usermeta": {"kai": {"rows": rows["row_count"], "shown": len(values), "how": " ".join(said)}},
    }


def _below(drawn: Drawn, across: Spec) -> list[JsonValue]:
    layers: list[JsonValue] = []
    for extra in drawn.extras:
        if extra.band:
            low: Spec = {"field": LOW, "type": "quantitative"}
            high: Spec = {"field": HIGH}
            mark: Spec = {"type": "area", "opacity": 0.25}
            layers.append({"mark": mark, "encoding": {"x": across, "y": low, "y2": high}})
        if extra.kind == "rings":
            ring: Spec = {"field": RING, "type": "quantitative"}
            layers.append({"mark": {"type": "point", "size": 120}, "encoding": {"x": across, "y": ring}})
    return layers


def _data(drawn: Drawn, name: str) -> list[Spec]:
    """A datum for each value, then one for each computed value; rings are with the values they go around."""
    found = drawn.values
    rings = {each for extra in drawn.extras if extra.kind == "rings" for each in extra.points}
    data: list[Spec] = []
    if not drawn.replaces:
        for period, value in zip(found.periods, found.values, strict=True):
            datum: Spec = {ACROSS: found.name(period), VALUE: _rounded(value), SERIES: name}
            if period in rings:
                datum[RING] = _rounded(value)
            data.append(datum)
    for extra in drawn.extras:
        if extra.kind == "rings":
            continue
        for period, point in extra.points.items():
            datum = {ACROSS: found.name(period), VALUE: _rounded(point)}
            if not drawn.replaces:
                datum[SERIES] = extra.name
            if period in extra.band:
                low, high = extra.band[period]
                datum |= {LOW: _rounded(low), HIGH: _rounded(high)}
            data.append(datum)
    return data


def _kind(found: PeriodValues) -> FieldType:
    """Time for dates and for months such as 2025-03; the names of other periods have no scale."""
    months = found.unit == "month" and all(name == str(period) for period, name in found.names.items())
    return "temporal" if found.has_dates or months else "ordinal"


def _rounded(value: float | Decimal | None) -> JsonValue:
    """Without the noise of the last digits; whole numbers are written as such."""
    if value is None:
        return None
    short = float(f"{float(value):.{_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _coverage(rows: Rows) -> list[str]:
    at_hand = len(rows["rows"])
    gone = (
        f"Made of the first {at_hand:,} of {rows['row_count']:,} rows." if at_hand < rows["row_count"] else ""
    )
    return list(filter(None, [cut_sentence(rows), gone]))
