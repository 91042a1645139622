"""Rows as a prompt shows them."""

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from app.core.llm.tokens import approximate_tokens
from app.core.redaction.names import names_secret
from app.core.redaction.text import HIDDEN
from app.modules.database_connection.results import cut_sentence
from graph.state import Column, Rows

MAX_TOKENS = 1_500
_MAX_CELL = 200
_SIDE = re.compile(r"(?P<compared>.+) (?:left|right)")
"""The name of one side in a comparison of two results."""


def rows_as_lines(rows: Rows, max_tokens: int = MAX_TOKENS) -> str:
    """The column names and the first rows as JSON lines, how many rows there are, and what a limit cut.

    Values of secret columns are redacted. Names and cells are cut to 200 characters. The names take at most
    1,500 tokens and the rows `max_tokens`: columns whose names do not fit are left out, which a line says.
    """
    names = _fitting([column["name"][:_MAX_CELL] for column in rows["columns"]], MAX_TOKENS)
    lines = [json.dumps(names, ensure_ascii=False)]
    spent = 0
    for row in without_secrets(rows)["rows"]:
        cells = [cell[:_MAX_CELL] if isinstance(cell, str) else cell for cell in row[: len(names)]]
        line = json.dumps(cells, ensure_ascii=False)
        spent += _cost(line)
        if spent > max_tokens:
            break
        lines.append(line)
    foot = f"({len(lines) - 1} of {rows['row_count']} rows)"
    left_out = len(rows["columns"]) - len(names)
    more = f"({left_out} more columns are not shown)" if left_out else ""
    return "\n".join(filter(None, [*lines, foot, more, cut_sentence(rows)]))


def _fitting(names: Sequence[str], max_tokens: int) -> list[str]:
    """Returns the first names that take at most `max_tokens` together, and at least one."""
    kept: list[str] = []
    for name in names:
        max_tokens -= _cost(name) + 1
        if kept and max_tokens < 0:
            break
        kept.append(name)
    return kept


def _cost(text: str) -> int:
    """Returns about the tokens of a text. A long run of one character is no cheaper than an eighth of it."""
    return max(approximate_tokens(text), len(text) // 8)


def without_secrets(rows: Rows) -> Rows:
    """Returns the rows with the values of secret columns redacted: of those that are named as secrets are, or
    made of such columns.
    """
    are_secret = [is_secret(column) for column in rows["columns"]]
    if not any(are_secret):
        return rows
    return Rows(**{**rows, "rows": [_shown(row, are_secret) for row in rows["rows"]]})


def is_secret(column: Column) -> bool:
    """True if no model may read the values of a column."""
    found = _SIDE.fullmatch(column["name"])
    return column.get("secret", False) or names_secret(column["name"] if found is None else found["compared"])


def _shown(row: Sequence[JsonValue], are_secret: Sequence[bool]) -> list[JsonValue]:
    return [
        HIDDEN if hides and cell is not None else cell for cell, hides in zip(row, are_secret, strict=True)
    ]
