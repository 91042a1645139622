"""Drawing a plan as a Vega-Lite specification."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import get_args

from app.modules.analysis.chart.bars import draw_bars, draw_groups
from app.modules.analysis.chart.canvas import Canvas, Picture, finish
from app.modules.analysis.chart.changing import change
from app.modules.analysis.chart.choice import ChartChoice, ChosenMark
from app.modules.analysis.chart.columns import draw_columns, draw_columns_over_time
from app.modules.analysis.chart.computed_lines import draw_computed
from app.modules.analysis.chart.heat import draw_heat
from app.modules.analysis.chart.kinds import Kind, check_rows, kind_of
from app.modules.analysis.chart.lines import draw_lines
from app.modules.analysis.chart.ordered_lines import draw_ordered_lines
from app.modules.analysis.chart.parts import draw_parts
from app.modules.analysis.chart.plan import NotDrawable, Plan, Spec
from app.modules.analysis.chart.spread import draw_histogram, draw_points
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.chart.world_map import draw_map

_DRAWN_BY: Mapping[Kind, Callable[[Canvas], Picture]] = {
    "ranking": draw_bars,
    "groups": draw_groups,
    "columns": draw_columns,
    "periods": draw_columns_over_time,
    "lines": draw_lines,
    "ordered lines": draw_ordered_lines,
    "computed": draw_computed,
    "parts": draw_parts,
    "points": draw_points,
    "histogram": draw_histogram,
    "heat": draw_heat,
    "map": draw_map,
}


def draw(plan: Plan, table: ChartTable) -> Spec:
    """Draw the plan as a Vega-Lite specification. Raises `NotDrawable` if the rows do not allow it."""
    kind = kind_of(plan, table)
    check_rows(kind, plan, table)
    canvas = Canvas(plan, table)
    if plan.refused and plan.mark == "bar":
        canvas.note(plan.refused, canvas.title(plan.values[0].column))
    drawn = {plan.across, plan.series, *(each.column for each in plan.values)}
    if left := [canvas.title(each) for each in plan.asked if each not in drawn]:
        canvas.note("only in the table", canvas.formats.listed(left))
    return finish(canvas, _DRAWN_BY[kind](canvas), allowed_marks(plan, table))


def allowed_marks(plan: Plan, table: ChartTable) -> list[ChosenMark]:
    """The marks that the rows allow for the columns of a plan. None of them is drawn."""
    allowed: list[ChosenMark] = []
    for mark in get_args(ChosenMark):
        with suppress(NotDrawable):
            changed = change(plan, ChartChoice(mark=mark), table)
            check_rows(kind_of(changed, table), changed, table)
            allowed.append(mark)
    return allowed
