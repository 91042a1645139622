"""Where KAI keeps its own records: one port for every store.

A document is a JSON object whose `id` is a UUID in its usual form. A collection declares the fields it
is filtered, sorted and searched by; every other field is only kept. Conditions are values: the adapter
compiles them, and no text from outside ever becomes filter syntax.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast

from pydantic import JsonValue

from app.core.errors import CannotRun

Document: TypeAlias = dict[str, JsonValue]
Scalar: TypeAlias = "str | int | bool | None"


class StorageUnavailable(CannotRun):
    """The store cannot be reached or did not answer in time; nothing is known about the last write."""


class StorageRefused(StorageUnavailable):
    """The store answers, but not to this KAI: its key is wrong."""


class StorageStarting(StorageUnavailable):
    """The store has been started and cannot be read yet; the text says why and for how long.

    `retry_after_seconds` is an estimate, None if there is none.
    """

    def __init__(self, message: str, retry_after_seconds: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class DocumentExists(Exception):
    """A document of this id is already kept."""


class InvalidCursor(ValueError):
    """The cursor was not made by this store for this query."""


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_uuid(value: JsonValue) -> bool:
    """Whether it is a UUID in its usual form, lower case with hyphens."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def _check_name(name: str) -> None:
    if re.fullmatch(r"[a-z][a-z_]{0,39}", name) is None:
        raise ValueError(f"{name!r} is no name for a collection or a field")


_GREATEST = 2**53
"""The integers up to here, and down to its negative, are exact in every JSON reader."""


@dataclass(frozen=True)
class Field:
    """A declared field.

    `keyword` is exact text, `integer` a whole number from -2^53 to 2^53, `text` is searched by words,
    and `vector` by nearness: a list of as many numbers as `dimensions` says.
    """

    name: str
    kind: Literal["keyword", "integer", "text", "vector"]
    dimensions: int = 0

    def __post_init__(self) -> None:
        _check_name(self.name)
        if (self.kind == "vector") != (self.dimensions > 0):
            raise ValueError(f"{self.name!r}: a vector has dimensions, and nothing else has")

    def holds(self, value: JsonValue) -> bool:
        """Whether the field may have this value: its own kind or null; nothing is converted."""
        match self.kind:
            case "keyword" | "text":
                return value is None or isinstance(value, str)
            case "integer":
                whole = isinstance(value, int) and not isinstance(value, bool)
                return value is None or (whole and -_GREATEST <= cast("int", value) <= _GREATEST)
            case "vector":
                return value is None or (
                    isinstance(value, list)
                    and len(value) == self.dimensions
                    and all(isinstance(each, float | int) and not isinstance(each, bool) for each in value)
                )


_ID = Field("id", "keyword")


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

    def field(self, name: str) -> Field:
        """Raises `KeyError` when it is not declared."""
        return {"id": _ID, **{field.name: field for field in self.fields}}[name]

    def compared(self, condition: "Condition") -> Field:
        """The field that a condition is on. Raises `ValueError` when that is no field to compare."""
        field = self.field(condition.field)
        if field.kind in ("text", "vector") or (isinstance(condition, Range) and field.kind != "integer"):
            raise ValueError(f"{self.name}.{field.name} is declared as {field.kind}")
        return field

    def check(self, document: Document) -> None:
        """Raises `ValueError` for a document that may not be kept here."""
        if not is_uuid(document.get("id")):
            raise ValueError(f"a document of {self.name!r} needs a UUID as its id")
        for field in self.fields:
            if not field.holds(document.get(field.name)):
                raise ValueError(f"{self.name}.{field.name} is declared as {field.kind}")


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


@dataclass(frozen=True)
class Range:
    """The integer field is `at_least` this and `below` that, where given; null is in no range."""

    field: str
    at_least: int | None = None
    below: int | None = None


Condition: TypeAlias = Equals | AnyOf | Range


@dataclass(frozen=True)
class Page:
    """Some documents in order, and the cursor of those that follow (None at the end)."""

    items: Sequence[Document]
    next_cursor: str | None


class Storage(Protocol):
    """Writes are durable when they return; all methods raise `StorageUnavailable` if the store is
    unavailable.

    A document whose id is no UUID, or whose declared field holds another kind of value, is refused with
    `ValueError`, as are a `limit` outside 1 to 1,000 and a condition on a `text` or `vector` field.
    """

    def collections(self) -> Sequence[str]:
        """The names of the collections it holds."""

    async def create_collection(self, collection: Collection) -> None:
        """Make a collection; making it again, with the same fields, changes nothing. What others have made or
        declared until then is known afterwards.

        Raises `ValueError` when it is kept with other fields.
        """

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        """Declare more fields; the documents that have them already are found by them when this returns.

        Fields that are declared already are left as they are, so an interrupted call can be repeated.
        """

    async def get(self, collection: str, document_id: str) -> Document | None:
        """The document of this id, or None."""

    async def create(self, collection: str, document: Document) -> None:
        """Keep a new document. Raises `DocumentExists`."""

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        """Keep documents whole, replacing those of the same ids.

        None of them is kept when one is refused. After `StorageUnavailable` some may be; putting them
        again is harmless.
        """

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
    ) -> Document | None:
        """Change top-level fields (but not the id) of one document if it meets the conditions.

        No other patch comes between the look and the change, from whatever process.

        Returns the changed document, or None when no such document meets the conditions.
        """

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        """Delete all documents that meet the conditions (at least one condition); returns how many."""

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        """How many documents meet the conditions."""

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
        """Documents that meet the conditions, by `id` or an integer field, null the least.

        Ties are ordered by id, in the same direction. A cursor goes with its collection, field and
        direction; another raises `InvalidCursor`.
        """

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        """The best documents in whose `text` fields all the words occur, the last as a prefix.

        Case and accents do not count, and nothing in the words is syntax; no words find nothing.
        """

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        where: Sequence[Condition],
        *,
        limit: int = 10,
    ) -> Sequence[Document]:
        """The documents whose vector points most in the direction of this one, the nearest first.

        Up to 10,000 documents that meet the conditions are all compared; among more, a store may miss
        some. Those without a vector are left out. A vector of other than the declared dimensions is
        refused with `ValueError`.
        """
