"""Cells of tables as text, and times."""

import json
from datetime import UTC, datetime

from pydantic import JsonValue

_LONGEST = 2_000


def cell_text(value: JsonValue) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            text = value
        case int() | float():
            return str(value)
        case _:
            text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%d %b %Y, %H:%M UTC")
