"""Chart options that are computed from all rows: moving average, change, outliers and projection."""

from app.modules.analysis.computed.computing import computed_or_refused
from app.modules.analysis.computed.option import ChartOption, ComputedChart, NotComputable

__all__ = ["ChartOption", "ComputedChart", "NotComputable", "computed_or_refused"]
