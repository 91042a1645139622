"""Opaque cursors for lists whose order is a plain position."""

import base64
import binascii
from collections.abc import Sequence

from app.core.storage.listing import Listed, ListRequest, Record
from app.core.storage.port import InvalidCursor


def position_cursor(position: int) -> str:
    return base64.urlsafe_b64encode(f"p{position}".encode()).decode()


def cursor_position(cursor: str | None) -> int:
    """Position of a cursor, 0 for None. Raises `InvalidCursor`."""
    if cursor is None:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor.encode()).decode()
        position = int(text.removeprefix("p"))
    except (binascii.Error, ValueError) as error:
        raise InvalidCursor from error
    if position < 0 or cursor != position_cursor(position):
        raise InvalidCursor
    return position


def cut_page(found: Sequence[Record], wanted: ListRequest) -> Listed[Record]:
    """Returns a page of what was found, in its order. Raises `InvalidCursor`."""
    start = cursor_position(wanted.cursor)
    stop = start + wanted.limit
    following = position_cursor(stop) if len(found) > stop else None
    return Listed(list(found[start:stop]), following, len(found) if wanted.is_counted else None)
