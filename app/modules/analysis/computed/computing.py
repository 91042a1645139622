"""Computing a chart's option, without loading numpy before the first one."""

from collections.abc import Mapping
from datetime import date

from pydantic import JsonValue

from app.modules.analysis.computed.option import ChartOption, ComputedChart, NotComputable
from app.modules.analysis.figures.statement import read_statement
from graph.state import Rows


def computed_or_refused(
    rows: Rows,
    option: ChartOption,
    chart: Mapping[str, JsonValue] | None,
    *,
    sql: str,
    dialect: str,
    today: date,
) -> ComputedChart:
    """As `compute_chart` for the statement, with the refusal in place of an error."""
    from app.modules.analysis.computed.compute import compute_chart  # noqa: PLC0415  (numpy loads slowly)

    try:
        spec = compute_chart(rows, option, chart, statement=read_statement(sql, dialect), today=today)
        return ComputedChart(option=option, chart=spec)
    except NotComputable as error:
        return ComputedChart(option=option, chart=None, refusal=str(error))
