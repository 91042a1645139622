"""Rows as a prompt shows them."""

import json
import re

from pydantic import JsonValue

from app.core.llm.tokens import approximate_tokens
from app.core.redaction.text import HIDDEN
from app.core.redaction.values import names_secret
from app.modules.cuts import cut_sentence
from graph.state import Rows

MAX_TOKENS = 1_500
_MAX_CELL = 200
_MADE_OF = re.compile(
    r"(?:\w{1,40}\s?\(\s?(?:distinct\s)?)+(?P<made>[^(),]{1,200})(?:[,)].*)?", re.IGNORECASE
)
"""The name that databases give to what a function makes of a column, such as `max(password)`."""
_SIDE = re.compile(r"(?P<compared>.+) (?:left|right)")
"""The name of one side in a comparison of two results."""


def rows_as_lines(rows: Rows, max_tokens: int = MAX_TOKENS) -> str:
    """The column names and the first rows as JSON lines, how many rows there are, and what a limit cut.

    Values of columns that are named as secrets are, such as `password` and `max(password)`, are redacted.
    """
    lines = [json.dumps([column["name"] for column in rows["columns"]], ensure_ascii=False)]
    spent = 0
    for row in without_secrets(rows)["rows"]:
        cells = [cell[:_MAX_CELL] if isinstance(cell, str) else cell for cell in row]
        line = json.dumps(cells, ensure_ascii=False)
        spent += approximate_tokens(line)
        if spent > max_tokens:
            break
        lines.append(line)
    foot = f"({len(lines) - 1} of {rows['row_count']} rows)"
    return "\n".join(filter(None, [*lines, foot, cut_sentence(rows)]))


def without_secrets(rows: Rows) -> Rows:
    """Returns the rows with the values of columns such as `password` redacted."""
    secret = [at for at, column in enumerate(rows["columns"]) if _is_secret(column["name"])]
    made = [at for at, column in enumerate(rows["columns"]) if _is_made_of_secret(column["name"])]
    if not secret and not made:
        return rows
    shown: list[list[JsonValue]] = []
    for row in rows["rows"]:
        cells = list(row)
        for at in secret:
            cells[at] = None if cells[at] is None else HIDDEN
        for at in made:
            cells[at] = HIDDEN if isinstance(cells[at], str) else cells[at]
        shown.append(cells)
    return Rows(**{**rows, "rows": shown})


def _is_secret(name: str) -> bool:
    found = _SIDE.fullmatch(name)
    return names_secret(name if found is None else found["compared"])


def _is_made_of_secret(name: str) -> bool:
    """True for `max(password)`. A number, such as `count(password)` has, is no secret."""
    found = _MADE_OF.fullmatch(name)
    return found is not None and names_secret(found["made"].strip(' "`[]'))
