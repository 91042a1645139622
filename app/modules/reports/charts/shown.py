"""The chart of an answer or a pin as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import Spec
from app.modules.analysis.computed import ComputedChart
from app.modules.reports.charts.built import Settings, Table, built, settings_of
from app.modules.reports.charts.choice import Choice, dressed, needs_rows, read_choice
from app.modules.reports.charts.given import read_chart
from app.modules.reports.charts.model import Chart
from app.modules.run.records import Row
from graph.state import Column

_OTHERWISE = "The chart that was chosen needs all rows, which are no longer stored; this is the proposed one."


def needs_all_rows(spec: Spec | None, choice: Mapping[str, JsonValue] | None, columns: int) -> bool:
    """True if the chart is made of all rows. Without a choice it is the proposed one."""
    return bool(choice) and needs_rows(read_chart(spec), read_choice(choice, columns))


def shown_chart(
    spec: Spec | None,
    computed: ComputedChart | None,
    chosen: Mapping[str, JsonValue] | None,
    *,
    columns: Sequence[Column] = (),
    rows: Sequence[Row] | None = None,
) -> Chart | None:
    """The chart to draw. `rows` are all of the answer, or None if they are not stored.

    It says so if it is not the one that was chosen.
    """
    chart, choice = read_chart(spec), read_choice(chosen, len(columns))
    table = Table(columns, rows or [])
    if columns:
        settings = settings_of(chart, choice, table)
        found = _computed(computed, settings, choice)
        if found is not None:
            return found
        if chosen and needs_rows(chart, choice):
            if rows is not None:
                return built(chart, settings, choice, table=table)
            return chart and replace(chart, how=f"{chart.how} {_OTHERWISE}".strip())
    return chart and dressed(chart, choice)


def _computed(computed: ComputedChart | None, settings: Settings, choice: Choice) -> Chart | None:
    """The computed chart, if it is of the columns and the unit of time that are chosen."""
    if computed is None or computed.chart is None or settings.series is not None:
        return None
    option, value = computed.option, settings.values[0]
    fits = (
        len(settings.values) == 1
        and (option.across, option.value, option.unit) == (settings.across, value.column, settings.time)
        and value.how in (None, "none", option.how)
    )
    chart = read_chart(computed.chart) if fits else None
    own = Choice(format=choice.format, unit=choice.unit, title=choice.title)
    return chart and dressed(replace(chart, computed=True), own)
