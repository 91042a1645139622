"""The one door to pictures: an answer, a reader's change, a tile and a report get their charts here."""

from app.modules.analysis.chart.changing import change
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.drawing import draw
from app.modules.analysis.chart.foreign import read_foreign
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.chart.proposing import propose
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.figures import Figures
from graph.state import Rows


def choose_chart(
    question: str, rows: Rows, found: Figures, *, choice: ChartChoice | None = None
) -> Spec | None:
    """The picture of the rows as Vega-Lite: the proposed one, or as a reader has chosen it.

    Returns None when a picture would say no more than the table. Raises `NotDrawable` if the rows do not
    allow the choice.
    """
    if choice is not None and choice.specification is not None:
        return read_foreign(choice.specification, rows)
    table = ChartTable(rows, found)
    plan = propose(question, table)
    if choice is not None:
        return draw(change(plan, choice, table), table)
    if plan is None:
        return None
    try:
        return draw(plan, table)
    except NotDrawable:
        return None
