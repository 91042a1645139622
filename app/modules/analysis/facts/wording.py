"""Sentences of one language, made from a table of templates.

A template is plain text with slots:

- `{measure}` is the slot's value, formatted by its type for the language;
- `{leaders|has|share}` chooses a form by the slot's count in the language's plural rules (`one|other`); `#`
  in a form is the count itself;
- `[, {share} of the total]` is left out when a slot within it is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from app.modules.analysis.figures.calendar import Period


@dataclass(frozen=True)
class Names:
    """Labels of rows as Markdown: the first of them, and how many more there are."""

    shown: Sequence[str]
    more: int = 0
    bold: bool = False

    @property
    def count(self) -> int:
        return len(self.shown) + self.more


@dataclass(frozen=True)
class Percent:
    """A ratio, shown as per cent; `signed` shows a plus, too."""

    ratio: Decimal
    signed: bool = False


@dataclass(frozen=True)
class Points:
    """A difference of two percentages, in percentage points."""

    value: Decimal


@dataclass(frozen=True)
class Amount:
    """A value of a measure; `measure` is the column's name, which tells per cent and currencies."""

    value: Decimal
    measure: str = ""


@dataclass(frozen=True)
class Counted:
    """A number of things: `noun` is a key of the table, such as `month` or `row`."""

    count: int
    noun: str


Slot = str | int | Decimal | Names | Percent | Points | Amount | Counted | Period | date | None
