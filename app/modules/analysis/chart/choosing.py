"""The choice of a chart, from the shape of the figures and the wording of the question."""

import re
from collections.abc import Sequence

from app.modules.analysis.chart.by_category import bars, matrix
from app.modules.analysis.chart.drawing import MAX_POINTS, Drawing, Mark, Point, Spec, axis, spec_of
from app.modules.analysis.chart.over_time import at_times, over_time
from app.modules.analysis.chart.values import plotted
from app.modules.analysis.figures import Figures, NumericColumn
from graph.state import Rows

_MIN_SCATTERED = 8
_TIMES = ("date", "datetime")
_WISHES: Sequence[tuple[str, Mark]] = (
    (r"\bpie\b|\bdonut\b", "arc"),
    (r"\bscatter", "point"),
    (r"\bline (?:chart|graph)|\bas a line\b", "line"),
    (r"\bbars?\b", "bar"),
)


def choose_chart(question: str, rows: Rows, found: Figures) -> Spec | None:
    """The Vega-Lite chart of the rows, or None when a chart would say no more than the table."""
    wish = next((mark for pattern, mark in _WISHES if re.search(pattern, question.lower())), None)
    if found.main is None or len(rows["rows"]) < 2 or found.main.count < 2:
        return None
    if found.shape == "list" and wish is None:
        return None
    drawing = _drawing(rows, found, found.main, wish=wish)
    return None if drawing is None else spec_of(drawing, rows)


def _drawing(rows: Rows, found: Figures, main: NumericColumn, *, wish: Mark | None) -> Drawing | None:
    if found.time is not None:
        return over_time(rows, found, main, time=found.time, wish=wish)
    times = _times(rows, found)
    if times is not None:
        return at_times(rows, found, main, time=times, wish=wish)
    if found.label is None or (wish == "point" and len(found.measures) > 1):
        return _scatter(rows, found, main)
    if found.group is not None:
        return matrix(rows, found, main, label=found.label, group=found.group)
    return bars(rows, found, main, label=found.label, wish=wish)


def _times(rows: Rows, found: Figures) -> int | None:
    """The date or datetime column whose values differ in every row, when no other column names the rows."""
    types = [column["type"] for column in rows["columns"]]
    for at in range(len(types)) if found.label is None else [found.label]:
        if types[at] in _TIMES:
            moments = {row[at] for row in rows["rows"] if isinstance(row[at], str)}
            return at if len(moments) == len(rows["rows"]) else None
    return None


def _scatter(rows: Rows, found: Figures, main: NumericColumn) -> Drawing | None:
    """The main measure against the next one; None with fewer than two measures or eight pairs."""
    if len(found.measures) < 2:
        return None
    across = found.measures[1]
    pairs = [
        (x, y)
        for row in rows["rows"]
        if (x := plotted(row[across.column])) is not None and (y := plotted(row[main.column])) is not None
    ]
    if len(pairs) < _MIN_SCATTERED:
        return None
    step = -(-len(pairs) // MAX_POINTS)
    left = len(rows["rows"]) - len(pairs)
    how = [f"Of {len(pairs):,} rows, one in {step} is shown."] if step > 1 else []
    if left:
        were = "1 row is" if left == 1 else f"{left:,} rows are"
        how.append(f"{were} left out for want of a value.")
    return Drawing(
        mark="point",
        across=axis(rows, across.column, "quantitative"),
        value=axis(rows, main.column, "quantitative"),
        points=[Point(x, y) for x, y in pairs[::step]],
        how=how,
        adds=False,
    )
