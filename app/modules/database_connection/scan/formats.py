"""Formats of dates and codes in text columns, derived from the values without exposing any."""

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
_LOWER = re.compile(r"[^\W\d_A-Z]")
_UPPER = re.compile(r"[A-Z]")
_DIGIT = re.compile(r"\d")
_MERE_WORDS = re.compile(r"[Aa ]*")
_LONGEST_CODE = 40
_FEWEST = 3
"""Fewer values than this prove no format."""


def text_format(values: Sequence[str]) -> str:
    """Returns the format of all values, such as YYYY-MM-DD, or AA-9999 for codes.

    Returns an empty text if they share none or are plain words.
    """
    if len(values) < _FEWEST:
        return ""
    for name, shape in _FORMATS:
        if all(shape.fullmatch(value) for value in values):
            return name
    return _slashed(values) or _code(values)


def _code(values: Sequence[str]) -> str:
    shapes = {_DIGIT.sub("9", _UPPER.sub("A", _LOWER.sub("a", value))) for value in values}
    shape = shapes.pop() if len(shapes) == 1 else ""
    return shape if len(shape) <= _LONGEST_CODE and not _MERE_WORDS.fullmatch(shape) else ""


def _slashed(values: Sequence[str]) -> str:
    matches = [match for value in values if (match := _SLASHED.fullmatch(value))]
    if len(matches) < len(values):
        return ""
    if any(int(match[1]) > 12 for match in matches):
        return "DD/MM/YYYY"
    if any(int(match[2]) > 12 for match in matches):
        return "MM/DD/YYYY"
    return "DD/MM/YYYY or MM/DD/YYYY"
