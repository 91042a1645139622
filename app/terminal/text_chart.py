"""A small chart in characters, for terminals: a bar for each of a few points, or a line of blocks."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.specification import mapping, note_of
from app.terminal.console import make_inert

_MOST_BARS = 24
_MOST_POINTS = 120
_WIDTH = 40
_LONGEST_LABEL = 32
_LEVELS = "▁▂▃▄▅▆▇█"


def text_chart(spec: Spec) -> str:
    """Returns the chart in lines; empty for one with series, below zero, or of too many points."""
    data = mapping(spec.get("data")).get("values")
    fields = _fields(spec)
    if fields is None or not isinstance(data, list):
        return ""
    points = [(_label(each, fields[0]), each.get(fields[1])) for each in map(mapping, data)]
    values = [value if isinstance(value, int | float) else None for _, value in points]
    known = [value for value in values if value is not None]
    if len(points) < 2 or not known or min(known) < 0 or max(known) <= 0:
        return ""
    labels = [label for label, _ in points]
    if len(points) <= _MOST_BARS and len(set(labels)) == len(labels):
        return _bars(labels, values, max(known))
    return _sparkline(labels, values, max(known)) if len(points) <= _MOST_POINTS else ""


def _bars(labels: Sequence[str], values: Sequence[float | None], most: float) -> str:
    width = min(max(map(len, labels)), _LONGEST_LABEL)
    cut = [label if len(label) <= width else f"{label[: width - 1]}…" for label in labels]
    bars = ["" if value is None else "█" * max(round(value / most * _WIDTH), value > 0) for value in values]
    return "\n".join(f"{label:<{width}} {bar}".rstrip() for label, bar in zip(cut, bars, strict=True))


def _sparkline(labels: Sequence[str], values: Sequence[float | None], most: float) -> str:
    blocks = (" " if value is None else _LEVELS[round(value / most * 7)] for value in values)
    return f"{labels[0]} {''.join(blocks)} {labels[-1]}"


def _fields(spec: Spec) -> tuple[str, str] | None:
    """The fields of names and values. None for a chart with series, or not of names and numbers."""
    kai = note_of(spec)
    drawn = kai.get("values")
    if isinstance(drawn, list) and kai.get("series") is None and len(drawn) == 1:
        return f"c{kai.get('across')}", f"c{mapping(drawn[0]).get('column')}"
    encoding = mapping(spec.get("encoding"))
    x, y = mapping(encoding.get("x")), mapping(encoding.get("y"))
    across, value = (y, x) if x.get("type") == "quantitative" else (x, y)
    if "color" in encoding or value.get("type") != "quantitative" or across.get("type") == "quantitative":
        return None
    return str(across.get("field")), str(value.get("field"))


def _label(datum: Mapping[str, JsonValue], field: str) -> str:
    return make_inert(str(datum.get("said") or datum.get(field)))
