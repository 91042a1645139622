"""The text of an analysis, made of facts, and the references of its statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.modules.analysis.facts.fact import MOST_CELLS, Fact, FactSheet
from app.modules.analysis.facts.wording import Wording
from graph.state import FactCell, Reference


@dataclass(frozen=True)
class Composed:
    """A text in Markdown. The spans of its references count code points of it."""

    text: str
    references: list[Reference]
    headline: str | None


def compose(sheet: FactSheet, chosen: Sequence[Fact], *, reading: str | None, wording: Wording) -> Composed:
    """Write the notice and the statements as one paragraph, and the reading, in Markdown, as another."""
    text = sheet.notice
    references = list[Reference]()
    for fact in chosen:
        text += " " if text else ""
        start = len(text)
        text += fact.statement
        references.append(reference(fact, span=(start, len(text))))
    if reading is not None:
        text += f"\n\n*{wording.say('reading')}:* {reading}"
    return Composed(text.lstrip(), references, (chosen[0].headline or None) if chosen else None)


def reference(fact: Fact, *, span: tuple[int, int], result_id: str | None = None) -> Reference:
    """Return the source of a statement that stands at `span`, with its first 50 cells."""
    return Reference(
        key=fact.key,
        span=list(span),
        result_id=result_id,
        how=fact.how,
        value=written(fact.value),
        cells=[FactCell(row=row, column=column) for row, column in fact.cells[:MOST_CELLS]],
        cell_count=fact.cell_count,
    )


def written(value: Decimal | str | None) -> str | None:
    """Return an exact value in digits: without an exponent, a group separator or rounding."""
    if not isinstance(value, Decimal):
        return value
    digits = f"{value:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
