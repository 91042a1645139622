"""What is computed for charts from all rows: moving average, change, outliers and projection."""

from app.modules.analysis.computed.option import NotComputable

__all__ = ["NotComputable"]
