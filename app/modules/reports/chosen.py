"""The chart of a report: as it was computed, built or chosen, as far as a report can draw that."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import Spec
from app.modules.analysis.computed import ComputedChart
from app.modules.reports.rebuilt import can_be_drawn, is_rebuilt, rebuilt_chart
from app.modules.run.records import Row
from graph.state import Column

_PLAIN = {"bar": "bar", "line": "line", "area": "line", "point": "point"}
_OTHERWISE = "On the page another chart was chosen; this is the one that KAI proposed."

Choice = Mapping[str, JsonValue]


def needs_all_rows(chart: Spec | None, computed: ComputedChart | None, choice: Choice | None) -> bool:
    """True if the chart is made again of all rows."""
    if computed is not None and computed.chart is not None:
        return False
    return choice is not None and is_rebuilt(chart, choice) and can_be_drawn(choice)


def drawn_chart(
    chart: Spec | None,
    computed: ComputedChart | None,
    choice: Choice | None,
    *,
    columns: Sequence[Column] = (),
    rows: Sequence[Row] | None = None,
) -> Spec | None:
    """The specification to draw. `rows` are all of the answer, or None if they are not stored.

    It says so if a person has chosen another chart than a report can draw.
    """
    if computed is not None and computed.chart is not None:
        return computed.chart
    if not choice:
        return chart
    if not is_rebuilt(chart, choice):
        mark = choice.get("mark")
        return chart if chart is None or mark is None else {**chart, "mark": {"type": _PLAIN[str(mark)]}}
    if rows is not None and can_be_drawn(choice):
        rebuilt = rebuilt_chart(chart, choice, columns=columns, rows=rows)
        if rebuilt is not None:
            return rebuilt
    return None if chart is None else _with_note(chart, _OTHERWISE)


def _with_note(chart: Spec, note: str) -> Spec:
    meta = chart.get("usermeta")
    kai = meta.get("kai") if isinstance(meta, dict) else None
    known = kai if isinstance(kai, dict) else {}
    said = known.get("how")
    how = f"{said} {note}" if isinstance(said, str) and said else note
    return {**chart, "usermeta": {"kai": {**known, "how": how}}}
