"""Key figures of a result, computed from all its rows and never extrapolated."""

from app.modules.analysis.figures.result import Figures, Measure, Shape, figures

__all__ = ["Figures", "Measure", "Shape", "figures"]
