"""Choosing a chart: Vega-Lite by rules, from the columns' types and the question.

The specification holds data and names only: no expression, no transform, no address.
"""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from app.modules.analysis.figures import Figures
from app.modules.analysis.figures.numbers import number
from app.modules.analysis.words import title
from graph.state import Rows

Mark = Literal["bar", "line", "arc", "point"]
Spec = dict[str, JsonValue]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
MAX_CATEGORIES = 30
_MAX_SLICES = 8
_MAX_SERIES = 8
_MIN_POINTS = 8
_WISHES: Sequence[tuple[str, Mark]] = (
    (r"\bpie\b|\bdonut\b", "arc"),
    (r"\bscatter", "point"),
    (r"\bline (?:chart|graph)|\bas a line\b", "line"),
    (r"\bbars?\b", "bar"),
)


def choose_chart(question: str, rows: Rows, found: Figures) -> Spec | None:
    """A chart of the rows at hand, or None where a picture says no more than the table."""
    if found.main is None or len(rows["rows"]) < 2 or found.main.count < 2:
        return None
    wish = next((mark for pattern, mark in _WISHES if re.search(pattern, question.lower())), None)
    if found.time is not None:
        return _over_time(question, rows, found, found.time, wish)
    if found.label is not None:
        return _by_category(question, rows, found.label, found.main.column, wish)
    return _scatter(question, rows, found)


def _over_time(question: str, rows: Rows, found: Figures, time: int, wish: Mark | None) -> Spec | None:
    assert found.main is not None  # noqa: S101 - asked by the caller
    axis: Spec = {"sort": None, **_field(rows, time, "ordinal")}
    if rows["columns"][time]["type"] in ("date", "datetime"):
        axis = _field(rows, time, "temporal")
    encoding: Spec = {"x": axis, "y": _field(rows, found.main.column, "quantitative")}
    if found.label is not None:
        if len({str(row[found.label]) for row in rows["rows"]}) > _MAX_SERIES:
            return None
        encoding["color"] = _field(rows, found.label, "nominal")
    return _spec(question, rows, "bar" if wish == "bar" else "line", encoding)


def _by_category(question: str, rows: Rows, label: int, measure: int, wish: Mark | None) -> Spec | None:
    positive = all((number(row[measure]) or 0) >= 0 for row in rows["rows"])
    if wish == "arc" and len(rows["rows"]) <= _MAX_SLICES and positive:
        return _spec(
            question,
            rows,
            "arc",
            {
                "theta": _field(rows, measure, "quantitative"),
                "color": {**_field(rows, label, "nominal"), "sort": None},
            },
        )
    if len(rows["rows"]) > MAX_CATEGORIES:
        return None
    category: Spec = {**_field(rows, label, "nominal"), "sort": None}
    encoding: Spec = {"y": category, "x": _field(rows, measure, "quantitative")}
    second = _second_label(rows, label)
    if second is not None:
        encoding["color"] = _field(rows, second, "nominal")
    return _spec(question, rows, "bar", encoding)


def _scatter(question: str, rows: Rows, found: Figures) -> Spec | None:
    if len(found.measures) < 2 or len(rows["rows"]) < _MIN_POINTS:
        return None
    across, up = found.measures[-2], found.measures[-1]
    encoding: Spec = {
        "x": _field(rows, across.column, "quantitative"),
        "y": _field(rows, up.column, "quantitative"),
    }
    return _spec(question, rows, "point", encoding)


def _second_label(rows: Rows, label: int) -> int | None:
    texts = [index for index, column in enumerate(rows["columns"]) if column["type"] == "text"]
    others = [index for index in texts if index != label]
    if not others or len({str(row[label]) for row in rows["rows"]}) == len(rows["rows"]):
        return None
    return others[0] if len({str(row[others[0]]) for row in rows["rows"]}) <= _MAX_SERIES else None


def _field(rows: Rows, index: int, kind: str) -> Spec:
    """Columns are called c0, c1, … in the data, for dots and brackets in a field mean something to Vega."""
    field: Spec = {"field": f"c{index}", "type": kind, "title": title(rows["columns"][index]["name"])}
    if kind == "quantitative":
        field["axis"] = {"format": ",~r"}
    return field


def _spec(question: str, rows: Rows, mark: Mark, encoding: Spec) -> Spec:
    axes = [value for value in encoding.values() if isinstance(value, dict)]
    if mark == "arc":
        axes = [{key: value for key, value in axis.items() if key != "axis"} for axis in axes]
        encoding = dict(zip(encoding, axes, strict=True))
    used = {str(axis["field"]) for axis in axes}
    names = " by ".join(str(axis["title"]) for axis in reversed(axes))
    tooltip: list[JsonValue] = [
        {"field": axis["field"], "type": axis["type"], "title": axis["title"]} for axis in axes
    ]
    values: list[JsonValue] = [
        {f"c{index}": cell for index, cell in enumerate(row) if f"c{index}" in used} for row in rows["rows"]
    ]
    return {
        "$schema": SCHEMA,
        "description": f"{mark} chart of {names}",
        "data": {"values": values},
        "mark": {"type": mark, "point": True} if mark == "line" else {"type": mark},
        "encoding": {**encoding, "tooltip": tooltip},
    }
