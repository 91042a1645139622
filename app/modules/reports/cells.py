"""Cells of tables as text."""

from pydantic import JsonValue

from app.core.values.text import text_of

_LONGEST = 2_000


def cell_text(value: JsonValue) -> str:
    text = "" if value is None else text_of(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
