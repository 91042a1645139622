"""The interface of the store that holds KAI's own records; every adapter implements it.

A document is a JSON object whose `id` is a UUID in its usual form. A collection declares the fields it
is filtered, sorted and searched by; all other fields are only stored. Conditions are values: the adapter
compiles them, so that no text from outside becomes filter syntax.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Protocol, TypeAlias

from pydantic import JsonValue

from app.core.errors import CannotRun

Document: TypeAlias = dict[str, JsonValue]
Scalar: TypeAlias = "str | int | bool | None"
Amend: TypeAlias = Callable[[Document], Document | None]
"""Returns a document with fields that follow from what it says now, or None if it is not to be changed."""


class StorageUnavailable(CannotRun):
    """The store cannot be reached or did not answer in time. The last write may or may not be stored."""


class ChangeNotWritten(StorageUnavailable):
    """A conditional change is decided, but the store could not be reached to write it. Who reads the document
    next writes it, unless the bus has lost an earlier change. What was to be put with the change is perhaps
    not stored.
    """


class StorageRefused(StorageUnavailable):
    """The store refused the key of this KAI."""


class StorageFull(StorageUnavailable):
    """The store has no disk or memory left and takes no writes; the text says which."""


class StorageHeld(StorageUnavailable):
    """Another process uses the store, which only one may; the text says which. Stop it, or wait."""


class StorageStarting(StorageUnavailable):
    """The store has been started and cannot be read yet; the text says why and for how long.

    `retry_after_seconds` is an estimate, None if there is none.
    """

    def __init__(self, message: str, retry_after_seconds: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class DocumentExists(Exception):
    """A document with this id is already stored."""


class InvalidCursor(ValueError):
    """The cursor was not made by this store for this query."""


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_uuid(value: JsonValue) -> bool:
    """True for a UUID in its usual form: lower case, with hyphens."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def _check_name(name: str) -> None:
    if re.fullmatch(r"[a-z][a-z_]{0,39}", name) is None:
        raise ValueError(f"{name!r} is no name for a collection or a field")


_GREATEST = 2**53
"""Every JSON reader is exact for integers from its negative up to this one."""


@dataclass(frozen=True)
class Field:
    """A declared field.

    A `keyword` is compared as exact text; `keywords` are a list of such texts. An `integer` is a whole number
    from -2^53 to 2^53. A `text` is searched by words. A `vector` is a list of `dimensions` numbers, searched
    by nearness.
    """

    name: str
    kind: Literal["keyword", "keywords", "integer", "text", "vector"]
    dimensions: int = 0

    def __post_init__(self) -> None:
        _check_name(self.name)
        if (self.kind == "vector") != (self.dimensions > 0):
            raise ValueError(f"{self.name!r}: a vector has dimensions, and nothing else has")

    def holds(self, value: JsonValue) -> bool:
        """True if the value is null or of the field's kind. Nothing is converted."""
        match self.kind:
            case "keyword" | "text":
                return value is None or isinstance(value, str)
            case "keywords":
                return value is None or (
                    isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
                )
            case "integer":
                if isinstance(value, bool) or not isinstance(value, int):
                    return value is None
                return -_GREATEST <= value <= _GREATEST
            case "vector":
                return value is None or (
                    isinstance(value, list)
                    and len(value) == self.dimensions
                    and all(isinstance(each, float | int) and not isinstance(each, bool) for each in value)
                )


_ID = Field("id", "keyword")


@dataclass(frozen=True)
class Collection:
    """A named set of documents and the fields it is filtered, sorted and searched by.

    Collections with the same `together` are often written at once, so a store may keep them in one place.
    Fields of the same name are then of the same kind.
    """

    name: str
    fields: Sequence[Field]
    together: str | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_name(self.together or self.name)
        names = ["id", *(field.name for field in self.fields)]
        if len(set(names)) < len(names):
            raise ValueError(f"{self.name!r} declares a field twice, or declares id")

    def field(self, name: str) -> Field:
        """Returns a declared field, or `id`. Raises `KeyError` for another name."""
        return {"id": _ID, **{field.name: field for field in self.fields}}[name]

    def compared(self, condition: "Condition") -> Field:
        """Returns the field of a condition. Raises `ValueError` if the condition does not fit its kind."""
        field = self.field(condition.field)
        is_list = field.kind == "keywords"
        if field.kind in ("text", "vector") or is_list != isinstance(condition, Contains | ContainsAny):
            raise ValueError(f"{self.name}.{field.name} is declared as {field.kind}")
        if isinstance(condition, Range) and field.kind != "integer":
            raise ValueError(f"{self.name}.{field.name} is declared as {field.kind}")
        return field

    def check(self, document: Document) -> None:
        """Raises `ValueError` unless the id is a UUID and every declared field has its kind."""
        if not is_uuid(document.get("id")):
            raise ValueError(f"a document of {self.name!r} needs a UUID as its id")
        for field in self.fields:
            if not field.holds(document.get(field.name)):
                raise ValueError(f"{self.name}.{field.name} is declared as {field.kind}")


@dataclass(frozen=True)
class Equals:
    """The field has exactly this value; case, accents and punctuation count. None matches absent and null.

    A value of another kind than the field's matches nothing.
    """

    field: str
    value: Scalar


@dataclass(frozen=True)
class AnyOf:
    """The field has one of these values exactly. An empty sequence matches nothing."""

    field: str
    values: Sequence[str]


@dataclass(frozen=True)
class Range:
    """The integer field is at least `at_least` and less than `below` (None: no bound). Null never matches."""

    field: str
    at_least: int | None = None
    below: int | None = None


@dataclass(frozen=True)
class Contains:
    """The field of `keywords` has this text among its own exactly."""

    field: str
    value: str


@dataclass(frozen=True)
class ContainsAny:
    """The field of `keywords` has one of these texts among its own exactly. An empty sequence matches
    nothing.
    """

    field: str
    values: Sequence[str]


Condition: TypeAlias = Equals | AnyOf | Range | Contains | ContainsAny


def meets(document: Document, condition: Condition, collection: Collection) -> bool:
    """Return True if a document meets a condition exactly, for stores whose own filters are not exact."""
    field = collection.compared(condition)
    value = document.get(field.name)
    match condition:
        case Equals(value=wanted):
            return field.holds(wanted) and value == wanted
        case AnyOf(values=values):
            return isinstance(value, str) and value in values
        case Contains(value=text):
            return isinstance(value, list | tuple) and text in value
        case ContainsAny(values=values):
            return isinstance(value, list | tuple) and any(text in value for text in values)
        case Range(at_least=at_least, below=below):
            if not isinstance(value, int):
                return False
            return (at_least is None or value >= at_least) and (below is None or value < below)


@dataclass(frozen=True)
class Query:
    """Documents that meet all conditions, in order of `id` or of an integer field; null sorts lowest.

    Ties are ordered by id, in the same direction. A cursor is of the page before, with the same field and
    direction. `limit` is from 1 to 1,000.
    """

    where: Sequence[Condition] = ()
    _: KW_ONLY
    order_by: str = "id"
    descending: bool = False
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True)
class Page:
    """Some documents in order, and the cursor of the next page (None on the last page)."""

    items: Sequence[Document]
    next_cursor: str | None


@dataclass(frozen=True)
class Near:
    """The id of a document, and the cosine of its vector with the one that was asked for."""

    document_id: str
    cosine: float


class Storage(Protocol):
    """Writes are durable when they return; all methods raise `StorageUnavailable` if the store is
    unavailable.

    A document whose id is no UUID, or whose declared field holds another kind of value, is refused with
    `ValueError`, as are a `limit` outside 1 to 1,000 and a condition on a `text` or `vector` field. A
    collection that no process has created is refused with `KeyError`.
    """

    def collections(self) -> Sequence[str]:
        """Returns the names of the collections that this process knows."""

    async def create_collection(self, collection: Collection) -> None:
        """Create a collection. An existing one with these fields is left as it is.

        Afterwards this process also knows the collections and fields that other processes have created.
        Raises `ValueError` when the collection exists without one of the fields.
        """

    async def add_fields(self, collection: str, fields: Sequence[Field]) -> None:
        """Declare more fields of a collection. Existing documents can be searched by them when this returns.

        Declared fields are left as they are, so an interrupted call can be repeated.
        """

    async def get(self, collection: str, document_id: str) -> Document | None:
        """Returns the document with this id, or None."""

    async def create(self, collection: str, document: Document) -> None:
        """Store a new document. Raises `DocumentExists`."""

    async def create_missing(self, collection: str, documents: Sequence[Document]) -> None:
        """Store, in one write, the documents whose ids are not stored yet. The others stay as they are.

        If one document is refused, none is stored. After `StorageUnavailable` some may be stored; the call
        can be repeated.
        """

    async def put(self, collection: str, documents: Sequence[Document]) -> None:
        """Store documents, each replacing the one with the same id.

        If one document is refused, none is stored. After `StorageUnavailable` some may be stored; the call
        can be repeated.
        """

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
        also: Sequence[tuple[str, Document]] = (),
        amend: Amend | None = None,
    ) -> Document | None:
        """Change top-level fields (but not the id) of one document if it meets the conditions.

        Check and change are one atomic step among the patches of all processes, `amend` included, which gets
        the document before the changes. `also` are documents, with
        their collections, that are put if the change is made; that costs nothing more if the collections are
        kept together. A document that is deleted at the same moment may be there again afterwards.

        Returns the changed document, or None if there is none with this id that meets the conditions. After
        `StorageUnavailable` the change may be made, with none or all of the documents of `also`.
        """

    async def delete(self, collection: str, where: Sequence[Condition]) -> int:
        """Delete all documents that meet the conditions; returns their number. `where` must not be empty."""

    async def forget_earlier(self, collection: str, document_id: str) -> None:
        """Erase what earlier states of a document said, where the store keeps them for a while after `patch`.

        Not for collections whose changes are decided over the bus.
        """

    async def scrub(self) -> None:
        """Overwrite what deleted documents have left in files that KAI writes itself. Costs as much as there
        is to overwrite, and nothing where a server keeps the files.
        """

    async def count(self, collection: str, where: Sequence[Condition]) -> int:
        """Returns the number of documents that meet the conditions."""

    async def query(self, collection: str, query: Query) -> Page:
        """Returns a page. Raises `InvalidCursor` for a cursor of another collection, field or direction."""

    async def search(
        self, collection: str, words: str, where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Document]:
        """Returns documents whose `text` fields contain all the words, the last one as a prefix; best first.

        Case and accents are ignored, and nothing in `words` is syntax. Empty `words` find nothing.
        """

    async def search_ids(
        self, collection: str, queries: Sequence[str], where: Sequence[Condition], *, limit: int = 100
    ) -> Sequence[Sequence[str]]:
        """Returns for each query the ids of what `search` finds by its words; best first.

        A caller that reads few of the documents reads them by these ids, with the same conditions.
        """

    async def nearest(
        self,
        collection: str,
        field: str,
        vector: Sequence[float],
        *,
        where: Sequence[Condition],
        limit: int = 10,
    ) -> Sequence[Near]:
        """Returns the ids of the documents whose vectors have the greatest cosine with `vector`, nearest
        first. The documents themselves are not read: each has a vector that few callers want.

        If at most 10,000 documents meet the conditions, all are compared; among more, a store may miss
        some. Documents without a vector are left out. Raises `ValueError` unless the vector has the declared
        dimensions.
        """
