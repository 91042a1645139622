"""Rows as a prompt shows them."""

import json

from app.core.llm.tokens import approximate_tokens
from app.modules.cuts import cut_sentence
from graph.state import Rows

MAX_TOKENS = 1_500
_MAX_CELL = 200


def rows_as_lines(rows: Rows, max_tokens: int = MAX_TOKENS) -> str:
    """The column names and the first rows as JSON lines, how many rows there are, and what a limit cut."""
    lines = [json.dumps([column["name"] for column in rows["columns"]], ensure_ascii=False)]
    spent = 0
    for row in rows["rows"]:
        cells = [cell[:_MAX_CELL] if isinstance(cell, str) else cell for cell in row]
        line = json.dumps(cells, ensure_ascii=False)
        spent += approximate_tokens(line)
        if spent > max_tokens:
            break
        lines.append(line)
    foot = f"({len(lines) - 1} of {rows['row_count']} rows)"
    return "\n".join(filter(None, [*lines, foot, cut_sentence(rows)]))
