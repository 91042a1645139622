"""Sortable ids (UUIDv7): later ids are greater; and ids that follow from a name."""

from uuid import UUID, uuid5

import uuid_utils


def new_id(at_ms: int | None = None) -> str:
    """Of this moment, or of this epoch millisecond."""
    if at_ms is None:
        return str(uuid_utils.uuid7())
    return str(uuid_utils.uuid7(timestamp=at_ms // 1_000, nanos=at_ms % 1_000 * 1_000_000))


def id_of(owner_id: str, name: str) -> str:
    """The id of what has this name within a thing that has an id: always the same."""
    return str(uuid5(UUID(owner_id), name))
