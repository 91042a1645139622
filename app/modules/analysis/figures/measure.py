"""A measure of a result: a numeric column with its values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from pydantic import JsonValue

from app.core.values.numbers import as_decimal
from app.modules.analysis.figures.names import is_change, is_rate
from app.modules.analysis.figures.statement import ColumnKind


@dataclass(frozen=True, kw_only=True)
class NumericColumn:
    """A numeric column; its statistics leave nulls out and are computed when they are first read.

    `additive` says that its values may be added over groups; over periods too, unless it `is_level`, a stock
    at a point in time. `truncated` says that the statement keeps only rows whose values lie above or below a
    bound.
    """

    column: int
    name: str
    kind: ColumnKind
    additive: bool
    cells: Sequence[JsonValue] = field(repr=False)
    is_level: bool = False
    truncated: bool = False

    @property
    def adds_over_time(self) -> bool:
        return self.additive and not self.is_level

    @cached_property
    def values(self) -> Sequence[Decimal | None]:
        """One value for each row, in order; None for null and for what is not a number."""
        return [as_decimal(cell) for cell in self.cells]

    @cached_property
    def known(self) -> Sequence[Decimal]:
        return [value for value in self.values if value is not None]

    @cached_property
    def rows(self) -> Sequence[int]:
        """The rows with a value."""
        return [row for row, value in enumerate(self.values) if value is not None]

    @property
    def count(self) -> int:
        return len(self.known)

    @property
    def missing(self) -> int:
        return len(self.cells) - self.count

    @cached_property
    def minimum(self) -> Decimal:
        return min(self.known)

    @cached_property
    def maximum(self) -> Decimal:
        return max(self.known)

    @cached_property
    def sum(self) -> Decimal:
        return sum(self.known, Decimal(0))

    @property
    def mean(self) -> Decimal:
        return self.sum / self.count

    @property
    def averaged(self) -> bool:
        """True when the mean of the rows is meaningful: not for averages, shares or distinct counts."""
        return self.kind in ("plain", "count", "sum") and not self.is_rate and not self.truncated

    @property
    def is_rate(self) -> bool:
        """True for averages, percentages and other ratios."""
        return is_rate(self.name, self.kind)

    @property
    def is_change(self) -> bool:
        """True for changes and growth, which are not compared again."""
        return is_change(self.name, self.kind)

    @property
    def total(self) -> Decimal | None:
        """The exact sum; None when the values may not be added up."""
        return self.sum if self.additive else None
