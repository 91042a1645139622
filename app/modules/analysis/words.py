"""Figures and cells as words in Markdown."""

import re

from pydantic import JsonValue

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")
_MAX_CELL = 80


def amount(value: float) -> str:
    """With thousands separators, and no more decimals than mean something."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"


def share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}"


def label(cell: JsonValue) -> str:
    """A cell as text that is neither Markdown nor HTML, on one line and not too long."""
    if cell is None:
        return "(none)"
    text = " ".join(str(cell).split())
    text = text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"
    return _SPECIAL.sub(r"\\\1", text)


def title(name: str) -> str:
    """A column's name as words: `total_amount` and `TotalAmount` become `total amount`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")
    return " ".join(spaced.split()).lower()
