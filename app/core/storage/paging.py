"""Keyset paging. A cursor holds the place of the last document read, with its collection and order."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.storage.port import Collection, Document, Field, InvalidCursor, Query, is_uuid

MAX_PAGE = 1_000


@dataclass(frozen=True)
class Order:
    """The order of a collection by one field. Null sorts lowest; ties are ordered by id."""

    collection: str
    field: Field
    descending: bool

    @classmethod
    def of(cls, collection: Collection, query: Query) -> "Order":
        """Raises `ValueError` unless the field is `id` or an integer."""
        declared = collection.field(query.order_by)
        if query.order_by != "id" and declared.kind != "integer":
            raise ValueError(f"{collection.name} is not ordered by {query.order_by}")
        return cls(collection.name, declared, query.descending)

    def place_of(self, document: Document) -> "PageKey":
        value = document.get(self.field.name)
        return PageKey(value if isinstance(value, int | str) else None, str(document["id"]))


@dataclass(frozen=True)
class PageKey:
    """The place of a document in an order: its value of the field, and its id."""

    value: int | str | None
    document_id: str


def write_cursor(order: Order, place: PageKey) -> str:
    parts = [order.collection, order.field.name, order.descending, place.value, place.document_id]
    return base64.urlsafe_b64encode(json.dumps(parts, ensure_ascii=False).encode()).decode()


def read_cursor(cursor: str, order: Order) -> PageKey:
    """Returns the place in a cursor. Raises `InvalidCursor` unless `write_cursor` made it for this order."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor))
        match parts:
            case [_, _, _, value, document_id] if order.field.holds(value) and is_uuid(document_id):
                place = PageKey(value, document_id)
                if cursor == write_cursor(order, place):
                    return place
    except (ValueError, RecursionError) as error:
        raise InvalidCursor from error
    raise InvalidCursor


def check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise ValueError(f"limit must be from 1 to {MAX_PAGE}")


def check_vector(field: Field, vector: Sequence[float]) -> None:
    if field.kind != "vector" or not field.holds(list(vector)):
        raise ValueError(f"{field.name} is not compared with a vector of {len(vector)} dimensions")
