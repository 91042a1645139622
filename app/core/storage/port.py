"""Where KAI keeps its own records: one port for every store.

A document is a JSON object with a string `id`. A collection declares the fields it is filtered,
sorted and searched by (`id` always counts as a keyword); every other field is only kept. Conditions
are values: the adapter compiles them, and no text from outside ever becomes filter syntax.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pydantic import JsonValue

Document: TypeAlias = dict[str, JsonValue]
Scalar: TypeAlias = "str | int | bool | None"


class StorageUnavailable(Exception):
    """The store cannot be reached or did not answer in time; nothing is known about the last write."""


class DocumentExists(Exception):
    """A document of this id is already kept."""


class InvalidCursor(ValueError):
    """The cursor was not made by this store for this query."""


def _check_name(name: str) -> None:
    if re.fullmatch(r"[a-z][a-z_]{0,39}", name) is None:
        raise ValueError(f"{name!r} is no name for a collection or a field")


@dataclass(frozen=True)
class Field:
    """A declared field: `keyword` (exact text), `integer` (64 bits), or `text` (full-text searched)."""

    name: str
    kind: Literal["keyword", "integer", "text"]

    def __post_init__(self) -> None:
        _check_name(self.name)

    def holds(self, value: JsonValue) -> bool:
        """Whether the field may have this value: its own kind or null; nothing is converted."""
        if self.kind == "integer" and isinstance(value, int):
            return not isinstance(value, bool) and -(2**63) <= value < 2**63
        return value is None or (self.kind != "integer" and isinstance(value, str))


@dataclass(frozen=True)
class Collection:
    """A named set of documents and the fields it is filtered, sorted and searched by."""

    name: str
    fields: Sequence[Field]

    def __post_init__(self) -> None:
        _check_name(self.name)
        names = ["id", *(field.name for field in self.fields)]
        if len(set(names)) < len(names):
            raise ValueError(f"{self.name!r} declares a field twice, or declares id")


@dataclass(frozen=True)
class Equals:
    """The field has exactly this value: case, accents and punctuation count. None means: absent or null.

    A value of another kind than the field's matches nothing.
    """

    field: str
    value: Scalar


@dataclass(frozen=True)
class AnyOf:
    """The field has exactly one of these values; no values match nothing."""

    field: str
    values: Sequence[str]


Condition: TypeAlias = Equals | AnyOf


@dataclass(frozen=True)
class Page:
    """Some documents in order, and the cursor of those that follow (None at the end)."""

    items: Sequence[Document]
    next_cursor: str | None


class Storage(Protocol):
    """Writes are durable when they return; all methods raise `StorageUnavailable` when the store is away.

    A document whose declared field holds another kind of value is refused with `ValueError`, as is a
    `limit` outside 1 to 1,000.
    """

    async def create_collection(self, collection: Collection) -> None:
        """Make a collection; making it again, with the same fields, changes nothing.

        Raises `ValueError` when it is kept with other fields.
        """

    async def get(self, collection: str, document_id: str) -> Document | None:
        """The document of this id, or None."""

    async def create(self, collection: str, document: Document) -> None:
        """Keep a new document. Raises `DocumentExists`."""

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        """Keep documents whole, replacing those of the same ids; all of them or none."""

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
    ) -> Document | None:
        """Change top-level fields (but not the id) of one document if it meets the conditions, atomically.

        Returns the changed document, or None when no such document meets the conditions.
        """

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        """Delete all documents that meet the conditions (at least one condition); returns how many."""

    async def query(
        self,
        collection: str,
        where: Sequence[Condition],
        *,
        order_by: str = "id",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Documents that meet the conditions, by `id` or a keyword or integer field, null the least.

        Ties are ordered by id, in the same direction. A cursor goes with its collection, field and
        direction; another raises `InvalidCursor`.
        """

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        """The best documents in whose `text` fields all the words occur, the last as a prefix.

        Case and accents do not count, and nothing in the words is syntax; no words find nothing.
        """

    async def close(self) -> None:
        """Let go of the store; no call may follow."""
