"""The plan of a picture: which columns are drawn, and how."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from app.core.language import Language
from app.modules.analysis.chart.choice import ChosenMark, ChosenValue, Computed, NumberFormat, Sort
from app.modules.analysis.figures.calendar import CalendarUnit

Spec: TypeAlias = dict[str, JsonValue]


class NotDrawable(Exception):
    """The rows do not allow the picture. The message says why, as a sentence for readers."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is drawn of a result. Columns are zero-based.

    `across` is the column of the periods or names, or of the numbers from left to right in a scatter plot; it
    is None for a histogram. `values` are the columns of numbers, the most important first; in a scatter plot
    the second one is the size of the points. `how` is None for a value that is drawn row by row, and the way
    several rows of one place become one otherwise. `series` is the column of the series, and of the lines of
    a heat map. `time` is the unit of the periods; it is None when `across` has none. `limit` is the most
    names; what is left out is said in a sentence. `asked` are the columns of numbers that the question names:
    the picture says which of them it has no room for. A `title` of None is KAI's own. `refused` is why the
    picture that the question asks for is not drawn, as a key of the texts.
    """

    mark: ChosenMark
    across: int | None
    values: Sequence[ChosenValue]
    series: int | None = None
    time: CalendarUnit | None = None
    sort: Sort = "rows"
    limit: int | None = None
    share: bool = False
    facet: bool = False
    labels: bool = True
    color: str | None = None
    format: NumberFormat = "auto"
    unit: str | None = None
    title: str | None = None
    computed: Computed | None = None
    refused: str = ""
    asked: Sequence[int] = ()
    language: Language = "en"

    @property
    def is_ordered_lines(self) -> bool:
        """True for lines over names that have an order of their own. One line alone would be columns."""
        is_single = self.series is None and len(self.values) == 1
        return self.mark == "line" and self.sort == "natural" and not is_single
