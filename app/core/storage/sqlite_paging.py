"""Keyset paging: a cursor is the place of the last document seen, bound to its collection and order."""

import base64
import json
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, and_, or_

from app.core.storage.port import Field, InvalidCursor


@dataclass(frozen=True)
class Order:
    """By a field of a collection, null the least, ties by id."""

    collection: str
    field: Field
    descending: bool


@dataclass(frozen=True)
class Place:
    """Where a document stands in an order."""

    value: str | int | None
    document_id: str


def beyond(
    order: Column[str | int], identity: Column[str], place: Place, *, descending: bool
) -> ColumnElement[bool]:
    further_id = identity < place.document_id if descending else identity > place.document_id
    same = and_(order.is_not_distinct_from(place.value), further_id)
    if place.value is None:
        return same if descending else or_(order.is_not(None), same)
    further = or_(order < place.value, order.is_(None)) if descending else order > place.value
    return or_(further, same)


def write_cursor(order: Order, place: Place) -> str:
    parts = [order.collection, order.field.name, order.descending, place.value, place.document_id]
    return base64.urlsafe_b64encode(json.dumps(parts, ensure_ascii=False).encode()).decode()


def read_cursor(cursor: str, order: Order) -> Place:
    """Raises `InvalidCursor` for every text but those that `write_cursor` makes for this order."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor))
        match parts:
            case [_, _, _, value, str(document_id)] if order.field.holds(value):
                place = Place(value, document_id)
                if cursor == write_cursor(order, place):
                    return place
    except (ValueError, RecursionError) as error:
        raise InvalidCursor from error
    raise InvalidCursor
