"""Reads a chart from a specification of KAI's own, field by field. Fields not named here are ignored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import FieldType, Spec, covered_of, mapping, note_of
from app.modules.reports.charts.model import Channel, Chart, Datum, Mark, Numbers

_GIVEN: Mapping[JsonValue, Mark] = {
    "bar": "bar",
    "line": "line",
    "area": "area",
    "point": "point",
    "arc": "arc",
}
_FIELD = re.compile(r"[a-z]\d{1,3}")
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_MOST_DATA = 5_000
_LONGEST_TITLE = 200
_LONGEST_HOW = 2_000
_Axes = tuple[Channel, Channel, Channel | None]


def read_chart(spec: Spec | None) -> Chart | None:
    """Returns None if the specification has nothing to draw."""
    if spec is None:
        return None
    layers = spec.get("layer")
    upper = mapping(layers[-1]) if isinstance(layers, list) and layers else spec
    encoding = mapping(upper.get("encoding"))
    drawn = _mark(upper.get("mark"))
    axes = _axes(encoding, drawn)
    data = _data(mapping(spec.get("data")).get("values"))
    if drawn is None or axes is None or not data:
        return None
    across, value, series = axes
    adds = all(mapping(encoding.get(each)).get("stack", "zero") is not None for each in ("x", "y"))
    kai = note_of(spec)
    how, rows = kai.get("how"), kai.get("rows")
    heading = mapping(spec.get("title")).get("text")
    return Chart(
        mark="stacked" if drawn == "bar" and series is not None and adds else drawn,
        across=on_time(across, data),
        value=value,
        series=series,
        second=None,
        adds=adds,
        how=how[:_LONGEST_HOW] if isinstance(how, str) else "",
        rows=rows if isinstance(rows, int) else len(data),
        computed=False,
        covered=covered_of(spec),
        data=data,
        heading=heading[:_LONGEST_TITLE] if isinstance(heading, str) else "",
        numbers=Numbers("percent" if _is_share(encoding) else "auto"),
    )


def on_time(across: Channel, data: Sequence[Datum]) -> Channel:
    """Months are drawn on a scale of time, which writes them as people do."""
    cells = [datum.get(across.field) for datum in data]
    months = all(isinstance(cell, str) and _MONTH.fullmatch(cell) for cell in cells)
    return replace(across, kind="temporal") if months else across


def _axes(encoding: Mapping[str, JsonValue], mark: Mark | None) -> _Axes | None:
    color = _channel(encoding.get("color"))
    x, y = _channel(encoding.get("x")), _channel(encoding.get("y"))
    if mark == "arc":
        across, value, series = color, _channel(encoding.get("theta")), None
    elif x is not None and y is not None and x.kind == "quantitative" and y.kind != "quantitative":
        across, value, series = y, x, color
    else:
        across, value, series = x, y, color
    return None if across is None or value is None else (across, value, series)


def _channel(raw: JsonValue) -> Channel | None:
    given = mapping(raw)
    name, title = given.get("field"), given.get("title")
    kind: FieldType | None = next((each for each in get_args(FieldType) if each == given.get("type")), None)
    if kind is None or not isinstance(name, str) or not _FIELD.fullmatch(name):
        return None
    return Channel(name, kind, title[:_LONGEST_TITLE] if isinstance(title, str) else name)


def _mark(raw: JsonValue) -> Mark | None:
    drawn = raw if isinstance(raw, str) else mapping(raw).get("type")
    return _GIVEN.get(drawn) if isinstance(drawn, str) else None


def _is_share(encoding: Mapping[str, JsonValue]) -> bool:
    axis = mapping(mapping(encoding.get("y")).get("axis"))
    return str(axis.get("format", "")).endswith("%")


def _data(raw: JsonValue) -> list[Datum]:
    return [
        {
            name: cell
            for name, cell in mapping(each).items()
            if _FIELD.fullmatch(name) and not isinstance(cell, dict | list)
        }
        for each in (raw[:_MOST_DATA] if isinstance(raw, list) else [])
    ]
