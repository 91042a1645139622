"""Draws charts as SVG. The same chart always gives the same SVG, and no text of it becomes markup."""

from app.modules.reports.drawing.figure import Figure, draw_figure

__all__ = ["Figure", "draw_figure"]
