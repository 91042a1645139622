"""Questions that could follow an answer, ready to send as they stand.

They are short edits of the previous question, so that the built-in writer understands them too.
"""

from app.modules.analysis.figures import Figures
from app.modules.analysis.words import title
from graph.state import Rows

_MANY = 5
_MOST = 3


def suggest(question: str, rows: Rows, found: Figures) -> list[str]:
    """Up to three; none where there are no rows to compare."""
    if len(rows["rows"]) < 2:
        return []
    asked = question.lower()
    wanted: list[str] = []
    if found.time is not None and found.main is not None:
        year = _latest_year(rows, found.time)
        wanted += [f"Only for {year}"] if year else []
        wanted += ["By year instead"] if "year" not in asked else ["By month instead"]
    if found.label is not None and found.main is not None:
        if rows["row_count"] > _MANY and "top" not in asked:
            wanted.append("Only the top 5")
        wanted.append(f"Which of these has the lowest {title(found.main.name)}?")
    wanted.append("Summarize that")
    return [text for text in wanted if text.lower() not in asked][:_MOST]


def _latest_year(rows: Rows, time: int) -> str | None:
    years = {str(row[time])[:4] for row in rows["rows"] if row[time] is not None}
    return max(years) if len(years) > 1 and all(year.isdigit() for year in years) else None
