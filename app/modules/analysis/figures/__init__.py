"""Key figures of a result, computed from all its rows and never extrapolated."""

from app.modules.analysis.figures.ends import Direction
from app.modules.analysis.figures.measure import NumericColumn
from app.modules.analysis.figures.result import Figures, Shape, figures
from app.modules.analysis.figures.trend import DataSpan

__all__ = ["DataSpan", "Direction", "Figures", "NumericColumn", "Shape", "figures"]
