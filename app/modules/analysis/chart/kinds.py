"""Kinds of pictures, and the rows that each of them needs."""

import math
from typing import Literal, TypeAlias

from app.modules.analysis.chart.canvas import MAX_POINTS
from app.modules.analysis.chart.choice import ChosenValue
from app.modules.analysis.chart.plan import NotDrawable, Plan
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.chart.values import plotted
from app.modules.analysis.chart.world_map import check_places

Kind: TypeAlias = Literal[
    "ranking",
    "groups",
    "columns",
    "periods",
    "lines",
    "ordered lines",
    "computed",
    "parts",
    "points",
    "histogram",
    "heat",
    "map",
]
"""`columns` are upright bars of names with an order of their own, `ordered lines` are lines over such names,
and `periods` are bars of times.
"""

MAX_SERIES = 6
"""The most series that have a colour of their own."""
_LARGEST = 1e300
_LONGEST_BELOW = 10
_WITHOUT_SCALE = ("ranking", "groups", "parts", "heat")


def kind_of(plan: Plan, table: ChartTable) -> Kind:
    """The kind of picture that a plan is drawn as. Raises `NotDrawable` if the mark needs other columns."""
    is_timed = plan.across is not None and table.is_timed(plan.across)
    is_single = plan.series is None and len(plan.values) == 1
    match plan.mark:
        case "map":
            check_places(plan, table)
            return "map"
        case "point":
            return "points"
        case "histogram" | "heat":
            return plan.mark
        case "arc":
            return "parts"
        case "percent" if is_single:
            return "parts"
        case "line" if plan.is_ordered_lines and not is_timed:
            return "ordered lines"
        case "line" | "area" | "combo":
            if not is_timed:
                raise NotDrawable("Lines are drawn over time. Choose a column of times across, or bars.")
            is_stacked = plan.mark == "area" and plan.series is not None and not plan.facet
            return "periods" if plan.share or is_stacked else "computed" if plan.computed else "lines"
    if plan.computed is not None:
        return "computed"
    if is_timed and len(plan.values) == 1:
        return "periods"
    if is_single and plan.sort == "natural" and _fit_below(plan.across or 0, table):
        return "columns"
    return "ranking" if is_single and plan.mark == "bar" else "groups"


def check_rows(kind: Kind, plan: Plan, table: ChartTable) -> None:
    """Raises `NotDrawable` if a kind of picture needs other rows. Draws nothing, so that it is fast."""
    value = plan.values[0]
    rows = _rows_with(value, table)
    match kind:
        case "ranking" | "columns" | "map" if _count(plan, rows, table) < 2 or (kind, plan.limit) == (
            "columns",
            1,
        ):
            raise NotDrawable("There are fewer than two names with a value.")
        case "points" if len({*rows} & {*_rows_with(ChosenValue(column=plan.across or 0), table)}) < 2:
            raise NotDrawable("There are fewer than two rows with both values.")
        case "histogram":
            cells = table.cells(value.column)
            numbers = [found for cell in cells if (found := plotted(cell)) is not None]
            if len(numbers) < 2 or math.isclose(min(numbers), max(numbers)):  # floats differ by a little
                raise NotDrawable("A histogram needs values that differ.")
        case "parts":
            cells = table.cells(value.column)
            parts = _count(plan, [at for at in rows if (plotted(cells[at]) or 0) > 0], table)
            if parts < 2:
                raise NotDrawable("There are fewer than two parts.")
            if parts > MAX_SERIES:
                raise NotDrawable(f"There are {parts} parts, and {MAX_SERIES} have a colour. Choose bars.")
        case "ordered lines" if not 2 <= len(_different(plan.across or 0, rows, table)) <= MAX_POINTS:
            raise NotDrawable(f"Lines need 2 to {MAX_POINTS:,} names with a value. Choose bars.")
        case "groups" | "periods" | "ordered lines":
            series = 0 if plan.series is None else len(_different(plan.series, rows, table))
            if series > MAX_SERIES:
                cure = "Choose lines." if kind == "periods" else "Choose a heat map."
                raise NotDrawable(f"There are {series} series, and {MAX_SERIES} have a colour. {cure}")
        case "lines" if len(table.times(plan.across or 0, plan.time)) < 2:
            raise NotDrawable("A line needs two times with a row. Choose bars.")
    if not all(_rows_with(each, table) for each in plan.values):
        raise NotDrawable("There are no values to draw.")
    if kind not in _WITHOUT_SCALE:
        columns = [plan.across or 0] * (kind == "points") + [each.column for each in plan.values]
        if any(sum(abs(plotted(cell) or 0) for cell in table.cells(at)) > _LARGEST for at in columns):
            raise NotDrawable("The values are too large for a scale. Show the table.")


def _fit_below(across: int, table: ChartTable) -> bool:
    """True for names that are short enough to stand below upright bars."""
    return max(len(str(cell)) for cell in table.cells(across)) <= _LONGEST_BELOW


def _rows_with(value: ChosenValue, table: ChartTable) -> list[int]:
    """The rows that have a number; all of them if rows are counted."""
    is_count = value.how == "count"
    return [at for at, cell in enumerate(table.cells(value.column)) if is_count or plotted(cell) is not None]


def _count(plan: Plan, rows: list[int], table: ChartTable) -> int:
    """The number of names in some rows, which are all drawn if nothing puts them together."""
    together = plan.values[0].how is not None and plan.across is not None
    return len(_different(plan.across or 0, rows, table)) if together else len(rows)


def _different(column: int, rows: list[int], table: ChartTable) -> set[str]:
    cells = table.cells(column)
    return {str(cells[at]).strip() for at in rows}
