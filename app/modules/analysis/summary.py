"""A line about a result for later turns."""

from app.modules.analysis.words import label
from graph.state import Rows

_MAX_SUMMARY = 300
_SUMMARY_ROWS = 3


def results_summary(rows: Rows) -> str:
    """One line about a result: row count, columns, first rows. Below 300 characters."""
    names = ", ".join(column["name"] for column in rows["columns"])
    head = "; ".join(", ".join(map(label, row)) for row in rows["rows"][:_SUMMARY_ROWS])
    line = f"{rows['row_count']} rows of {names}" + (f": {head}" if head else "")
    return line if len(line) < _MAX_SUMMARY else line[: _MAX_SUMMARY - 2] + "…"
