"""Keys by which documents are found by pairs of names and values."""

import hashlib
import json
from collections.abc import Mapping

from pydantic import JsonValue

_KEY_CHARACTERS = 32


def pair_keys(pairs: Mapping[str, JsonValue]) -> list[str]:
    """Returns a key of each pair whose value is a scalar. Other values cannot be searched for."""
    return [pair_key(name, value) for name, value in pairs.items() if not isinstance(value, list | dict)]


def pair_key(name: str, value: JsonValue) -> str:
    """Returns the key of a pair. JSON has one number: 1.0 is 1."""
    same = int(value) if isinstance(value, float) and value.is_integer() else value
    return hashlib.sha256(json.dumps([name, same]).encode()).hexdigest()[:_KEY_CHARACTERS]
