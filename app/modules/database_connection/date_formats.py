"""How dates are written in a text column, told from its values."""

import re
from collections.abc import Sequence

_FORMATS: Sequence[tuple[str, re.Pattern[str]]] = (
    ("YYYY-MM-DD", re.compile(r"\d{4}-[01]\d-[0-3]\d")),
    ("YYYY-MM-DD HH:MM", re.compile(r"\d{4}-[01]\d-[0-3]\d [0-2]\d:[0-5]\d")),
    ("YYYY-MM-DD HH:MM:SS", re.compile(r"\d{4}-[01]\d-[0-3]\d [0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?")),
    ("YYYY-MM-DDTHH:MM:SS", re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\S*")),
    ("YYYY-MM", re.compile(r"[12]\d{3}-[01]\d")),
    ("YYYY/MM/DD", re.compile(r"\d{4}/[01]?\d/[0-3]?\d")),
    ("YYYYMMDD", re.compile(r"(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")),
    ("DD.MM.YYYY", re.compile(r"[0-3]?\d\.[01]?\d\.\d{4}")),
)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}")
_FEWEST = 3
"""Fewer values than this prove no format."""


def date_format(values: Sequence[str]) -> str:
    """The one format that all values have, such as YYYY-MM-DD; empty when there is none."""
    if len(values) < _FEWEST:
        return ""
    for name, shape in _FORMATS:
        if all(shape.fullmatch(value) for value in values):
            return name
    return _slashed(values)


def _slashed(values: Sequence[str]) -> str:
    matches = [match for value in values if (match := _SLASHED.fullmatch(value))]
    if len(matches) < len(values):
        return ""
    if any(int(match[1]) > 12 for match in matches):
        return "DD/MM/YYYY"
    if any(int(match[2]) > 12 for match in matches):
        return "MM/DD/YYYY"
    return "DD/MM/YYYY or MM/DD/YYYY"
