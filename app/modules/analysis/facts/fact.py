"""A fact of a result, and the sheet of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

FactKind = Literal[
    "value",
    "total",
    "average",
    "median",
    "highest",
    "lowest",
    "second",
    "order",
    "share",
    "gap",
    "change",
    "rises",
    "below_zero",
    "count",
    "frequent",
    "same",
    "span",
    "leader",
    "missing",
    "forecast",
    "outliers",
    "note",
]

MOST_FACTS = 24
"""Facts of a sheet."""
MOST_CELLS = 50
"""Cells that a fact names; `Fact.cell_count` counts all."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A sentence about a result, with the figures and cells that it rests on.

    `key` names the fact within its sheet: ASCII snake_case of kind, measure and labels, at most 60
    characters. `statement` is a whole sentence of Markdown with its full stop; `headline` says the same, or
    its begin, in at most twelve words without one; it is empty if these would lack its number. `how` says
    what was computed from what: "sum of revenue over 24 rows where region = West". `value` is the exact
    figure. `cells` are the first cells, as pairs of a zero-based row of all rows at hand and a column's name.
    """

    key: str
    kind: FactKind
    statement: str
    headline: str
    how: str
    value: Decimal | str | None = None
    cells: Sequence[tuple[int, str]] = ()
    cell_count: int = 0
    columns: Sequence[str] = ()
    """Names of the columns that the fact speaks of, for its relevance to a question."""
    labels: Sequence[str] = ()
    """Labels of the rows that the fact names, as they are written in the cells."""


@dataclass(frozen=True, kw_only=True)
class FactSheet:
    """The facts of one result, the most relevant to the question first; at most 24.

    `notice` opens every analysis of a partial result ("" when all rows are at hand). `lead` are the facts
    that make the analysis without a model, in order of the text; all of them are in `facts`. `language` is
    that of the statements.
    """

    facts: Sequence[Fact]
    lead: Sequence[Fact]
    notice: str
    language: str
    by_key: dict[str, Fact] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_key", {fact.key: fact for fact in self.facts})
