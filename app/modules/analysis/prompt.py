"""The prompt for an analysis: the question, and the statements to choose from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from app.core.llm.model import PromptMessage
from app.modules.analysis.facts import FactSheet
from app.modules.analysis.facts.calls import FORMS
from app.modules.analysis.words import plain_label
from app.modules.prompts.sections import sections
from graph.state import Rows

_INSTRUCTIONS = (
    (Path(__file__).parent / "prompts" / "analysis.md")
    .read_text(encoding="utf-8")
    .replace("{kinds}", "\n".join(f"  - `{form}`" for form in FORMS))
)
_COLUMNS = 24
_LABELS = 12
_LONGEST_LABEL = 40
_LONGEST_STATEMENT = 400
_MOST_ROWS = 2_000
"""Rows whose labels are looked at."""


def messages(
    question: str, rows: Rows, sheet: FactSheet, *, rules: str = "", memory: Sequence[str] = ()
) -> list[PromptMessage]:
    """`rules` is a section of the system message, `memory` are sections of the user's."""
    parts = {
        "Question": question,
        "Statements": "\n".join(_numbered(sheet)),
        "Columns": "\n".join(_columns(rows)),
    }
    system = "\n\n".join(filter(None, [_INSTRUCTIONS, rules]))
    return [
        PromptMessage("system", system),
        PromptMessage("user", "\n\n".join(filter(None, [*memory, sections(parts.items())]))),
    ]


def _numbered(sheet: FactSheet) -> Iterator[str]:
    if sheet.notice:
        yield sheet.notice
    for number, fact in enumerate(sheet.facts, start=1):
        yield f"f{number} = {plain_label(fact.statement.replace('**', ''), _LONGEST_STATEMENT)}"


def _columns(rows: Rows) -> Iterator[str]:
    """Yield the first columns with their types, and some labels of those that hold texts."""
    for at, column in enumerate(rows["columns"][:_COLUMNS]):
        name = plain_label(column["name"], _LONGEST_LABEL)
        cells = (row[at] for row in rows["rows"][:_MOST_ROWS])
        labels = list(dict.fromkeys(cell for cell in cells if isinstance(cell, str)))
        shown = ", ".join(plain_label(each, _LONGEST_LABEL) for each in labels[:_LABELS])
        more = ", …" if len(labels) > _LABELS else ""
        yield f"{name} ({column['type']})" + (f": {shown}{more}" if shown else "")
