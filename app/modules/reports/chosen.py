"""The chart of a report: as it was computed or chosen, as far as a report can draw that."""

from collections.abc import Mapping

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import Spec
from app.modules.analysis.computed import ComputedChart

_MARKS = {"bar": "bar", "line": "line", "area": "line", "point": "point"}
"""Marks that draw the points of the proposed chart as well. An area is drawn as its line."""
_OTHER_POINTS = ("across", "values", "series", "time")
_OTHERWISE = "On the page another chart was chosen; this is the one that KAI proposed."


def drawn_chart(
    chart: Spec | None, computed: ComputedChart | None, choice: Mapping[str, JsonValue] | None
) -> Spec | None:
    """The specification to draw. It says so if a person has chosen another chart than a report can draw."""
    if computed is not None and computed.chart is not None:
        return computed.chart
    if chart is None or not choice:
        return chart
    mark = choice.get("mark")
    fits = mark is None or (isinstance(mark, str) and mark in _MARKS)
    if not fits or any(name in choice for name in _OTHER_POINTS):
        return _with_note(chart, _OTHERWISE)
    return chart if mark is None else {**chart, "mark": {"type": _MARKS[str(mark)]}}


def _with_note(chart: Spec, note: str) -> Spec:
    meta = chart.get("usermeta")
    kai = meta.get("kai") if isinstance(meta, dict) else None
    known = kai if isinstance(kai, dict) else {}
    said = known.get("how")
    how = f"{said} {note}" if isinstance(said, str) and said else note
    return {**chart, "usermeta": {"kai": {**known, "how": how}}}
