"""The layout of documents in Typesense, and the translation of conditions and orders.

To Typesense, `Alice@X` equals `alicex`, and a quoted value can end its quotes. So a keyword is stored and
searched as a hash. An id (a UUID) is searched as it is, and ordered by its two halves as numbers. Texts are
split into words here, so that no punctuation remains that could be syntax. The document itself is stored
as one text without an index. Internal names end in a digit, unlike names of fields.

Collections that are written together share a Typesense collection, because an import goes to one. Then a
document's Typesense id begins with the name of its collection, and so does what its keywords are hashed from:
a search by a keyword finds one collection's documents without another condition. Only a search without
keywords and ids also names the collection.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Literal, TypeAlias, cast
from uuid import UUID

from typesense.types.collection import RegularCollectionFieldSchema as FieldSchema

from app.core.storage.paging import Order, PageKey
from app.core.storage.port import (
    AnyOf,
    Collection,
    Condition,
    Contains,
    ContainsAny,
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
COLLECTION = "collection0"
HIGH = "high0"
LOW = "low0"
WORDS = "words0"

_NO_TEXT = "null"  # no hash: those have 32 digits
_LEAST = -(2**63) + 1  # Typesense sorts -2^63 wrongly
_NO_NUMBER = _LEAST
_LONGEST_WORD = 100  # longer ones would never be found
_WORD = re.compile(r"[^\W_]+")

_TYPES: dict[str, Literal["string", "string[]", "int64", "float[]"]] = {
    "keyword": "string",
    "keywords": "string[]",
    "integer": "int64",
    "vector": "float[]",
}


def fields_of(collection: Collection) -> list[FieldSchema]:
    """Returns the Typesense schema: the internal fields, then the declared fields in their order."""
    shared: list[FieldSchema] = [{"name": COLLECTION, "type": "string"}] if collection.together else []
    return [
        *shared,
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


def place_of(collection: Collection) -> str:
    """Returns the name of the Typesense collection, without KAI's prefix."""
    return collection.together or collection.name


def row_id(collection: Collection, document_id: str) -> str:
    """Returns the id in Typesense of a document, whose own id is a UUID."""
    return f"{collection.name}-{document_id}" if collection.together else document_id


def document_id(collection: Collection, row_id: str) -> str:
    """Returns the id of the document of this id in Typesense."""
    return row_id.removeprefix(f"{collection.name}-") if collection.together else row_id


def by_id(collection: Collection, document_id: str) -> str:
    """Returns the filter for one document, whose id is a UUID."""
    return f"id:={row_id(collection, document_id)}"


def row(collection: Collection, document: Document, revision: str) -> dict[str, object]:
    """Returns the Typesense document. Raises what `Collection.check` raises."""
    collection.check(document)
    high, low = _halves(str(document["id"]))
    shared = {COLLECTION: collection.name} if collection.together else {}
    return {
        "id": row_id(collection, str(document["id"])),
        **shared,
        HIGH: high,
        LOW: low,
        WORDS: " ".join(words(_texts(collection, document))),
        DOCUMENT: json.dumps(document),
        REVISION: revision,
        **{
            field.name: _stored(collection, field, document.get(field.name))
            for field in collection.fields
            if field.kind != "text"
        },
    }


def first_revision(document: Document) -> str:
    """Returns the revision of a document that is stored as new: the same each time that it is stored.

    So a late write of it, after it was stored again and changed, is known by its successors, and repaired.
    """
    return key("new", json.dumps(document, sort_keys=True))


def numbered(revision: str, number: int) -> str:
    """Returns the revision of a state that a decision of this number has made."""
    return f"{revision}.{number}"


def number_of(revision: str) -> int:
    """Returns the number of the decision that has made a state, 0 if none has."""
    return int(revision.rpartition(".")[2]) if "." in revision else 0


def document_of(found: Mapping[str, object]) -> Document:
    decoded: Document = json.loads(str(found[DOCUMENT]))
    return decoded


def catalog_entry(collection: Collection) -> dict[str, object]:
    fields = [[field.name, field.kind, field.dimensions] for field in collection.fields]
    return {"id": collection.name, DOCUMENT: json.dumps([fields, collection.together])}


def collection_of(entry: Mapping[str, object]) -> Collection:
    kept = json.loads(str(entry[DOCUMENT]))
    is_early = any(isinstance(each, list) and each and isinstance(each[0], str) for each in kept)
    fields, together = (kept, None) if is_early else kept  # early entries were the fields alone
    return Collection(str(entry["id"]), [Field(*field) for field in fields], together)


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case and without accents."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(without_accents(text).lower())]


def has_words(collection: Collection, document: Document, wanted: Sequence[str]) -> bool:
    """True if the document's texts contain all these words, the last one as a prefix."""
    return _are_among(set(words(_texts(collection, document))), wanted)


def is_of_words(row: Row, wanted: Sequence[str]) -> bool:
    """The same of a document as it is stored, of which only its words are read."""
    return _are_among(set(str(row.get(WORDS, "")).split()), wanted)


def _are_among(present: Set[str], wanted: Sequence[str]) -> bool:
    return present >= set(wanted[:-1]) and any(word.startswith(wanted[-1]) for word in present)


def key(*parts: str) -> str:
    """Returns a hash of a sequence of texts, 32 hexadecimal digits."""
    encoded = json.dumps(parts).encode()
    return hashlib.sha256(encoded).hexdigest()[:32]


def compile_all(collection: Collection, where: Sequence[Condition]) -> str | None:
    """Returns the conditions in Typesense's syntax, or None if no document can meet them."""
    compiled = [_compile(collection, collection.compared(condition), condition) for condition in where]
    if any(each is None for each in compiled):
        return None
    if collection.together and not any(_names_collection(collection, condition) for condition in where):
        compiled.append(f"{COLLECTION}:={collection.name}")
    return " && ".join(each for each in compiled if each)


def _names_collection(collection: Collection, condition: Condition) -> bool:
    """True if only documents of the collection can meet the condition, as it is compiled."""
    is_keyword = collection.field(condition.field).kind in ("keyword", "keywords")
    return is_keyword and not (isinstance(condition, Equals) and condition.value is None)


def beyond(order: Order, place: PageKey) -> str:
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


def _compile(collection: Collection, field: Field, condition: Condition) -> str | None:
    match condition:
        case Equals(value=value):
            if not _possible(field, value):
                return None
            return f"{field.name}:={_searched(collection, field, value)}"
        case AnyOf(values=values):
            possible = sorted(
                {_searched(collection, field, value) for value in values if _possible(field, value)}
            )
            return f"{field.name}:=[{','.join(possible)}]" if possible else None
        case Contains(value=value):
            return f"{field.name}:={_keyword(collection, value)}"
        case ContainsAny(values=values):
            possible = sorted({_keyword(collection, value) for value in values})
            return f"{field.name}:=[{','.join(possible)}]" if possible else None
        case Range(at_least=at_least, below=below):
            least = _NO_NUMBER + 1 if at_least is None else at_least
            return f"{field.name}:>={least}" + ("" if below is None else f" && {field.name}:<{below}")


def _possible(field: Field, value: Scalar) -> bool:
    return is_uuid(value) if field.name == "id" else field.holds(value)


def _searched(collection: Collection, field: Field, value: Scalar) -> str:
    """Returns digits, hexadecimal digits, hyphens and names only, so that no value becomes syntax."""
    if field.name == "id":
        return row_id(collection, str(value))
    if field.kind == "integer":
        return str(_NO_NUMBER if value is None else int(str(value)))
    return _keyword(collection, value)


def _keyword(collection: Collection, value: object) -> str:
    if value is None:
        return _NO_TEXT
    return key(collection.name, str(value)) if collection.together else key(str(value))


def _stored(collection: Collection, field: Field, value: object) -> object:
    if field.kind == "keyword":
        return _keyword(collection, value)
    if field.kind == "keywords":
        return [_keyword(collection, each) for each in cast("list[str]", value or [])]
    return _NO_NUMBER if field.kind == "integer" and value is None else value


def _texts(collection: Collection, document: Document) -> str:
    texts = (document.get(field.name) for field in collection.fields if field.kind == "text")
    return "\n".join(each for each in texts if isinstance(each, str))


def _halves(document_id: str) -> tuple[int, int]:
    number = UUID(document_id).int
    return max((number >> 64) - 2**63, _LEAST), max((number & (2**64 - 1)) - 2**63, _LEAST)
