"""Keyset paging: a cursor is the place of the last document seen, bound to its collection and order."""

import base64
import json

from sqlalchemy import Column, ColumnElement, and_, or_

from app.core.storage.port import InvalidCursor


def beyond(
    order: Column[str | int], identity: Column[str], place: tuple[str | int | None, str], *, descending: bool
) -> ColumnElement[bool]:
    """After the place, in an order where null is the least value."""
    value, document_id = place
    same = and_(
        order.is_not_distinct_from(value), identity < document_id if descending else identity > document_id
    )
    if value is None:
        return same if descending else or_(order.is_not(None), same)
    further = or_(order < value, order.is_(None)) if descending else order > value
    return or_(further, same)


def write_cursor(collection: str, order: str, value: str | int | None, document_id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([collection, order, value, document_id]).encode()).decode()


def read_cursor(cursor: str, collection: str, order: str) -> tuple[str | int | None, str]:
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except ValueError as error:
        raise InvalidCursor from error
    match place:
        case [str(of), str(by), str() | int() | None as value, str(document_id)] if (of, by) == (
            collection,
            order,
        ):
            return value, document_id
    raise InvalidCursor
