"""JSON Merge Patch (RFC 7396)."""

import json
from collections.abc import Mapping

from pydantic import JsonValue


def merge_patch(target: Mapping[str, JsonValue], patch: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns an object with what a patch sets. Null removes a name, and an object is merged as deep as both
    have one.
    """
    merged = {**target}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            known = merged.get(name)
            merged[name] = merge_patch(known if isinstance(known, dict) else {}, value)
        else:
            merged[name] = value
    return merged


def json_size(value: JsonValue) -> int:
    """Returns the bytes of a value as JSON. Raises `UnicodeEncodeError` for half a surrogate pair, and
    `ValueError` for a number that JSON lacks.
    """
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
