"""Key figures of a result, computed from all its rows and never extrapolated."""

from app.modules.analysis.figures.course import Span
from app.modules.analysis.figures.ends import Direction
from app.modules.analysis.figures.result import Figures, NumericColumn, Shape, figures

__all__ = ["Direction", "Figures", "NumericColumn", "Shape", "Span", "figures"]
