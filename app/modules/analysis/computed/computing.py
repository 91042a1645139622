"""Computing a chart's option, without loading numpy before the first one."""

from collections.abc import Mapping
from datetime import date

from pydantic import JsonValue

from app.modules.analysis.computed.option import ChartOption, ComputedChart, NotComputable
from graph.state import Rows


def computed_or_refused(
    rows: Rows, option: ChartOption, chart: Mapping[str, JsonValue] | None, *, today: date
) -> ComputedChart:
    """As `compute_chart`, with the refusal in place of an error."""
    from app.modules.analysis.computed.compute import compute_chart  # noqa: PLC0415  (numpy loads slowly)

    try:
        return ComputedChart(option=option, chart=compute_chart(rows, option, chart, today=today))
    except NotComputable as error:
        return ComputedChart(option=option, chart=None, refusal=str(error))
