"""Values as text."""

import json

from pydantic import JsonValue


def text_of(value: JsonValue) -> str:
    """Returns a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
