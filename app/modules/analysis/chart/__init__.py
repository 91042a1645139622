"""Charts of a result's rows as Vega-Lite specifications, without theme or size."""

from app.modules.analysis.chart.choosing import choose_chart

__all__ = ["choose_chart"]
