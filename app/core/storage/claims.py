"""Claims: documents that are due, each of which one process at a time takes."""

from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from pydantic import JsonValue

from app.core.storage.documents import Documents
from app.core.storage.port import Condition, Equals, Query, Range


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Identified)


class Claims(Generic[T]):
    """Documents of a collection that are due at the time in a field (epoch ms), which their model has, too.

    A process claims a document by moving its time to the end of a lease; only one of several can. If the
    process dies, the lease ends and the document is due again. Methods raise `StorageUnavailable`.
    """

    def __init__(self, documents: Documents[T], field: str) -> None:
        self._documents = documents
        self._field = field

    async def due(self, now: int, limit: int, *, where: Sequence[Condition] = ()) -> list[T]:
        """Documents that are due by now, the longest due first."""
        due = [*where, Range(self._field, below=now + 1)]
        return await self._documents.first(Query(due, order_by=self._field, limit=limit))

    async def change(self, document: T, changes: Mapping[str, JsonValue]) -> T | None:
        """Claim a document, renew its lease or settle it: `changes` have its next time, None for no other.

        Returns the changed document. Returns None if it is due at another time by now, or gone.
        """
        same = [Equals(self._field, getattr(document, self._field))]
        return await self._documents.change(document.id, changes, same)
