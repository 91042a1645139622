"""The layout of documents in Typesense, and the translation of conditions and orders.

To Typesense, `Alice@X` equals `alicex`, and a quoted value can end its quotes. So a keyword is stored and
searched as a hash. An id (a UUID) is searched as it is, and ordered by its two halves as numbers. Texts are
split into words here, so that no punctuation remains that could be syntax. The document itself is stored
as one text without an index. Internal names end in a digit, unlike names of fields.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias
from uuid import UUID

from typesense.types.collection import RegularCollectionFieldSchema as FieldSchema

from app.core.storage.paging import Order, Place
from app.core.storage.port import (
    AnyOf,
    Collection,
    Condition,
    Document,
    Equals,
    Field,
    Range,
    Scalar,
    is_uuid,
)
from app.core.words import without_accents

Row: TypeAlias = Mapping[str, object]
"""A document as it is stored in Typesense."""

DOCUMENT = "document0"
REVISION = "revision0"
HIGH = "high0"
LOW = "low0"
WORDS = "words0"

_NO_TEXT = "null"  # no hash: those have 32 digits
_LEAST = -(2**63) + 1  # Typesense sorts -2^63 wrongly
_NO_NUMBER = _LEAST
_LONGEST_WORD = 100  # longer ones would never be found
_WORD = re.compile(r"[^\W_]+")

_TYPES: dict[str, Literal["string", "int64", "float[]"]] = {
    "keyword": "string",
    "integer": "int64",
    "vector": "float[]",
}


def fields_of(collection: Collection) -> list[FieldSchema]:
    """Returns the Typesense schema: the internal fields, then the declared fields in their order."""
    return [
        {"name": HIGH, "type": "int64", "sort": True},
        {"name": LOW, "type": "int64", "sort": True},
        {"name": WORDS, "type": "string", "optional": True},
        stored(DOCUMENT),
        stored(REVISION),
        *(declared(field) for field in collection.fields if field.kind != "text"),
    ]


def stored(name: str) -> FieldSchema:
    """Returns the schema of a text field without an index."""
    return {"name": name, "type": "string", "index": False, "optional": True}


def declared(field: Field) -> FieldSchema:
    made: FieldSchema = {"name": field.name, "type": _TYPES[field.kind], "optional": True}
    if field.kind == "integer":
        return {**made, "sort": True}
    return {**made, "num_dim": field.dimensions} if field.kind == "vector" else made


def row(collection: Collection, document: Document, revision: str) -> dict[str, object]:
    """Returns the Typesense document. Raises what `Collection.check` raises."""
    collection.check(document)
    high, low = _halves(str(document["id"]))
    return {
        "id": document["id"],
        HIGH: high,
        LOW: low,
        WORDS: " ".join(words(_texts(collection, document))),
        DOCUMENT: json.dumps(document),
        REVISION: revision,
        **{
            field.name: _stored(field, document.get(field.name))
            for field in collection.fields
            if field.kind != "text"
        },
    }


def document_of(found: Mapping[str, object]) -> Document:
    decoded: Document = json.loads(str(found[DOCUMENT]))
    return decoded


def catalog_entry(collection: Collection) -> dict[str, object]:
    fields = [[field.name, field.kind, field.dimensions] for field in collection.fields]
    return {"id": collection.name, DOCUMENT: json.dumps(fields)}


def collection_of(entry: Mapping[str, object]) -> Collection:
    fields = json.loads(str(entry[DOCUMENT]))
    return Collection(str(entry["id"]), [Field(*field) for field in fields])


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case and without accents."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(without_accents(text).lower())]


def has_words(collection: Collection, document: Document, wanted: Sequence[str]) -> bool:
    """True if the document's texts contain all these words, the last one as a prefix."""
    present = set(words(_texts(collection, document)))
    return present.issuperset(wanted[:-1]) and any(word.startswith(wanted[-1]) for word in present)


def key(*parts: str) -> str:
    """Returns a hash of a sequence of texts, 32 hexadecimal digits."""
    encoded = json.dumps(parts).encode()
    return hashlib.sha256(encoded).hexdigest()[:32]


def compile_all(collection: Collection, where: Sequence[Condition]) -> str | None:
    """Returns the conditions in Typesense's syntax, or None if no document can meet them."""
    compiled = [_compile(collection.compared(condition), condition) for condition in where]
    if any(each is None for each in compiled):
        return None
    return " && ".join(each for each in compiled if each)


def beyond(order: Order, place: Place) -> str:
    """Returns the filter for documents after a place in an order."""
    sign = "<" if order.descending else ">"
    high, low = _halves(place.document_id)
    further = f"({HIGH}:{sign}{high} || ({HIGH}:={high} && {LOW}:{sign}{low}))"
    if order.field.name == "id":
        return further
    value = _NO_NUMBER if place.value is None else place.value
    name = order.field.name
    return f"({name}:{sign}{value} || ({name}:={value} && {further}))"


def sorting(order: Order) -> str:
    way = "desc" if order.descending else "asc"
    names = [HIGH, LOW] if order.field.name == "id" else [order.field.name, HIGH, LOW]
    return ",".join(f"{name}:{way}" for name in names)


def _compile(field: Field, condition: Condition) -> str | None:
    match condition:
        case Equals(value=value):
            return f"{field.name}:={_searched(field, value)}" if _possible(field, value) else None
        case AnyOf(values=values):
            possible = sorted({_searched(field, value) for value in values if _possible(field, value)})
            return f"{field.name}:=[{','.join(possible)}]" if possible else None
        case Range(at_least=at_least, below=below):
            least = _NO_NUMBER + 1 if at_least is None else at_least
            return f"{field.name}:>={least}" + ("" if below is None else f" && {field.name}:<{below}")


def _possible(field: Field, value: Scalar) -> bool:
    return is_uuid(value) if field.name == "id" else field.holds(value)


def _searched(field: Field, value: Scalar) -> str:
    """Returns digits, hexadecimal digits and hyphens only, so that no value becomes syntax."""
    if field.name == "id":
        return str(value)
    if field.kind == "integer":
        return str(_NO_NUMBER if value is None else int(str(value)))
    return _NO_TEXT if value is None else key(str(value))


def _stored(field: Field, value: object) -> object:
    if field.kind == "keyword":
        return _NO_TEXT if value is None else key(str(value))
    return _NO_NUMBER if field.kind == "integer" and value is None else value


def _texts(collection: Collection, document: Document) -> str:
    texts = (document.get(field.name) for field in collection.fields if field.kind == "text")
    return "\n".join(each for each in texts if isinstance(each, str))


def _halves(document_id: str) -> tuple[int, int]:
    number = UUID(document_id).int
    return max((number >> 64) - 2**63, _LEAST), max((number & (2**64 - 1)) - 2**63, _LEAST)
