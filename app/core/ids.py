"""Ids: UUIDv7, which sort by time, UUIDv5, which follow from a name, and digests of values."""

import hashlib
import json
from uuid import NAMESPACE_OID, UUID, uuid5

import uuid_utils
from pydantic import JsonValue


def new_id(at_ms: int | None = None) -> str:
    """A UUIDv7 of now, or of this epoch millisecond."""
    if at_ms is None:
        return str(uuid_utils.uuid7())
    return str(uuid_utils.uuid7(timestamp=at_ms // 1_000, nanos=at_ms % 1_000 * 1_000_000))


def made_at(id_v7: str) -> int:
    """The epoch millisecond of a UUIDv7."""
    return UUID(id_v7).int >> 80


def id_of(owner_id: str, name: str) -> str:
    """The UUIDv5 of a name within the thing that has `owner_id`; the same arguments give the same id."""
    return str(uuid5(UUID(owner_id), name))


def id_within_owner(owner: str, name: str) -> str:
    """The UUIDv5 of a name that an owner gives. The same name of another owner has another id."""
    return id_of(id_of(str(NAMESPACE_OID), f"owner {owner}"), name)


def digest(value: JsonValue) -> str:
    """Returns the SHA-256 of the canonical JSON of a value: keys sorted, no spaces, UTF-8."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
