"""What a caller asks of a list, and the page that answers it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.core.storage.port import Condition, Query

Record = TypeVar("Record")


@dataclass(frozen=True, kw_only=True)
class ListRequest:
    """A page of a list: its order, further conditions, and `is_counted` to have all items counted."""

    limit: int
    cursor: str | None = None
    order_by: str = "created_at"
    descending: bool = True
    where: Sequence[Condition] = ()
    is_counted: bool = False

    def query(self, own: Sequence[Condition]) -> Query:
        """Returns the query for the page among the documents that meet the conditions of the list."""
        return Query(
            [*own, *self.where],
            order_by=self.order_by,
            descending=self.descending,
            limit=self.limit,
            cursor=self.cursor,
        )


@dataclass(frozen=True)
class Listed(Generic[Record]):
    """A page of records, and the cursor of the next page (None on the last one)."""

    items: list[Record]
    next_cursor: str | None
    total: int | None = None
    """Number of records in all pages. None if it was not asked for."""
