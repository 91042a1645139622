"""Format cells and column names as text for Markdown; `formats` formats figures."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

_SPECIAL = re.compile(r"([\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|^#(?=#{0,5}(?: |$))|^>|&(?=#?\w+;))")
_MAX_CELL = 60
_CALL = re.compile(r'"?(\w+)\(([\w*. ]*)\)"?')
_FUNCTIONS = {"count_star": "count", "avg": "average", "min": "minimum", "max": "maximum", "sum": "total"}


def label(cell: JsonValue) -> str:
    """Format a cell as one line of at most 60 characters, before what Markdown would read is escaped."""
    return _SPECIAL.sub(r"\\\1", plain_label(cell, _MAX_CELL))


def plain_label(cell: JsonValue, max_characters: int) -> str:
    """Format a cell as one line without escapes. A longer text is cut."""
    if cell is None:
        return "(none)"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = " ".join(str(cell).split())
    if not text:
        return "(empty)"
    return text if len(text) <= max_characters else f"{text[: max_characters - 1].rstrip()}…"


def title(name: str) -> str:
    """A column's name as words: `total_amount` and `TotalAmount` become `total amount`.

    `avg(price)`, a database's name for a column without an alias, becomes `average price`.
    """
    call = _CALL.fullmatch(name.strip())
    if call is not None:
        function = call.group(1).lower()
        argument = title(call.group(2))
        word = _FUNCTIONS.get(function, function)
        return word if argument in ("", "*", "1") else f"{word} {argument.removeprefix('distinct ')}"
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")
    return " ".join(spaced.split()).lower()


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def word_sets(module: str) -> Mapping[str, frozenset[str]]:
    """The sets of words in the TOML file beside a module, by their names. `module` is its `__file__`."""
    texts = tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: word_set(words) for name, words in texts.items()}
