"""Questions that could follow an answer, ready to send as they stand.

Each is a short edit of the previous question, so that the built-in writer understands it too.
"""

from app.modules.analysis.figures import Figures
from app.modules.analysis.words import title
from graph.state import Rows

_MANY = 5
_MOST = 3


def suggest(question: str, rows: Rows, found: Figures) -> list[str]:
    """Return up to three questions; none without rows to compare, or without a measure."""
    if found.main is None or found.shape in ("empty", "single", "list", "measures"):
        return []
    wanted = _of_time(question, found)
    if found.shape == "ranking" and found.group is None and rows["row_count"] > _MANY and found.limit is None:
        wanted.append("Only the top 5")
    if found.shape in ("ranking", "series") and found.group is None:
        other_end = "highest" if found.direction == "lowest" else "lowest"
        wanted.append(f"Which of these has the {other_end} {title(found.main.name)}?")
    return [text for text in wanted if text.lower() not in question.lower()][:_MOST]


def _of_time(question: str, found: Figures) -> list[str]:
    """Suggest the latest year only, or the same series by year or by month."""
    years = {period.start.year for period in found.periods if period is not None}
    wanted = [f"Only for {max(years)}"] if len(years) > 1 and found.unit != "year" else []
    if found.shape != "series" or not found.statement.grouped:
        return wanted
    if found.unit == "year":
        return [*wanted, "By month instead"]
    return [*wanted, "By year instead"] if len(years) > 1 else wanted
