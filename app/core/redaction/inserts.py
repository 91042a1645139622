"""Values that an INSERT gives columns named as secrets."""

import re
from collections.abc import Iterator

from app.core.redaction.names import names_secret
from app.core.redaction.shapes import Span
from app.core.redaction.words import is_password

_VALUES = "values"
_LONGEST_NAMES = 2_000
_AROUND = ' \t\r\n"`[]'
_FIRST = re.compile(r"\s{0,20}\(")
_NEXT = re.compile(r"\s{0,20},\s{0,20}\(")
_CELL = re.compile(r"(?:'(?:[^'\\]|''|\\.)*+'|[^'(),]|\([^()]*+\))*+", re.DOTALL)
_LITERAL = re.compile(r"'((?:[^'\\]|''|\\.)*+)'", re.DOTALL)


def inserted_spans(text: str) -> Iterator[Span]:
    """Yields the places of secrets in the rows of `INSERT INTO t (names) VALUES (...), (...)`, in order.

    The text has ASCII characters only.
    """
    lowered = text.lower()
    at = lowered.find(_VALUES)
    while at >= 0:
        end = at + len(_VALUES)
        if columns := _secret_columns(text, at):
            yield from _in_rows(text, end, columns)
        at = lowered.find(_VALUES, end)


def _secret_columns(text: str, at: int) -> set[int]:
    """Returns which of the columns in the parentheses before a place are secret, from 0."""
    names = text[max(0, at - _LONGEST_NAMES) : at].rstrip()
    if not names.endswith(")"):
        return set()
    names = names[names.rfind("(") + 1 : -1]
    return {place for place, name in enumerate(names.split(",")) if names_secret(name.strip(_AROUND))}


def _in_rows(text: str, at: int, columns: set[int]) -> Iterator[Span]:
    """Yields the places of literals in these columns. Cells after one that cannot be read are passed over."""
    row = _FIRST.match(text, at)
    while row is not None:
        cells = [_cell(text, row.end())]
        while text[cells[-1][1] : cells[-1][1] + 1] == ",":
            cells.append(_cell(text, cells[-1][1] + 1))
        for number in columns.intersection(range(len(cells))):
            literal = _LITERAL.search(text, *cells[number])
            if literal is not None and is_password(literal[1], is_prose=False, is_variable=True):
                yield literal.span(1)
        end = cells[-1][1]
        row = _NEXT.match(text, end + 1) if text[end : end + 1] == ")" else None


def _cell(text: str, start: int) -> Span:
    found = _CELL.match(text, start)
    return start, start if found is None else found.end()
