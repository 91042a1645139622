"""Key figures of a result, computed from all its rows and never extrapolated."""

from app.modules.analysis.figures.asked import Direction
from app.modules.analysis.figures.course import Span
from app.modules.analysis.figures.result import Figures, Measure, Shape, figures

__all__ = ["Direction", "Figures", "Measure", "Shape", "Span", "figures"]
