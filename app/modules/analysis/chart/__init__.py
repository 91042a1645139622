"""A chart of all rows of a result, as Vega-Lite that holds data and names only."""

from app.modules.analysis.chart.choosing import choose_chart

__all__ = ["choose_chart"]
