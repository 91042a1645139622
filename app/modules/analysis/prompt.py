"""The prompt for an analysis: exact figures of all rows, then the first rows themselves."""

from collections.abc import Sequence
from pathlib import Path

from app.core.llm.model import PromptMessage
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.course import Course
from app.modules.analysis.figures.ranking import Ranking
from app.modules.analysis.text import describe
from app.modules.analysis.words import amount, title
from app.modules.prompt_rows import rows_as_lines
from app.modules.prompt_sections import sections
from graph.state import Rows

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "analysis.md").read_text(encoding="utf-8")
_MEASURES = 6
_LABELS = 20
_PERIODS = 36


def messages(
    question: str, sql: str, rows: Rows, *, found: Figures, rules: str = "", memory: Sequence[str] = ()
) -> list[PromptMessage]:
    """`rules` is a section of the system message, `memory` are sections of the user's."""
    parts = {
        "Question": question,
        "Statement": sql,
        "Reading": describe(rows, found),
        "Figures": "\n".join(_figures(rows, found)),
        "Rows": rows_as_lines(rows),
    }
    system = "\n\n".join(filter(None, [_INSTRUCTIONS, rules]))
    return [
        PromptMessage("system", system),
        PromptMessage("user", "\n\n".join(filter(None, [*memory, sections(parts.items())]))),
    ]


def _figures(rows: Rows, found: Figures) -> list[str]:
    """One line for each figure; none for an empty result or a single row."""
    if found.shape in ("empty", "single"):
        return []
    lines = [_statistics(measure) for measure in found.measures[:_MEASURES]]
    if found.main is not None and found.ranking is not None and found.shape != "ranking":
        lines.append(_ranked(found.main, found.ranking))
    if found.main is not None and found.second is not None:
        lines.append(_ranked(found.main, found.second))
    if found.main is not None and found.course is not None:
        lines += _by_period(found.main, found.months or found.course)
    return lines


def _statistics(measure: NumericColumn) -> str:
    parts = [f"{measure.count:,} values"]
    if measure.missing:
        parts.append(f"{measure.missing:,} rows without one")
    parts += [f"lowest {amount(measure.minimum)}", f"highest {amount(measure.maximum)}"]
    if measure.averaged:
        parts.append(f"average of the rows {amount(measure.mean)}")
    parts.append(f"sum {amount(measure.sum)}" if measure.additive else "not to be added up")
    return f"{title(measure.name)}: {', '.join(parts)}"


def _ranked(main: NumericColumn, ranking: Ranking) -> str:
    shown = [f"{entry.label} {amount(entry.value)}" for entry in ranking.top(_LABELS)]
    columns = " and ".join(title(column["name"]) for column in ranking.columns)
    more = len(ranking) - len(shown)
    rest = f"; {more:,} more" if more > 0 else ""
    summed = "sum" if ranking.summed else "value"
    return f"{title(main.name)}, {summed} per {columns}: {'; '.join(shown)}{rest}"


def _by_period(main: NumericColumn, course: Course) -> list[str]:
    """The values by period, in order, at most the latest 36; partial periods are marked."""
    partial = {each.period for each in course.partial}
    shown = course.points[-_PERIODS:]
    values = [
        f"{point.period} {amount(point.value)}{' (partial)' if point.period in partial else ''}"
        for point in shown
    ]
    which = f"the latest {len(shown)} of {len(course.points)}" if len(shown) < len(course.points) else "all"
    return [f"{title(main.name)} by {course.unit}, {which}: {'; '.join(values)}"]
